"""The skills that a session may take: meta skills of its stage, and the atomic ones of these."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from simcounsel.agents.talk import TalkView
from simcounsel.agents.views import closed
from simcounsel.events import Candidate, Reasoned, Retrieved
from simcounsel.llm.question import Ask, Traced, ask, embedding
from simcounsel.therapies.course.facts import Library
from simcounsel.therapies.course.measure import Measure
from simcounsel.therapies.course.prompting import labelled, listed, worded
from simcounsel.therapies.course.schemas import (
    FineAnswer,
    GroupsAnswer,
    PreparedAnswer,
    PreparedGroupsAnswer,
    SkillsAnswer,
)
from simcounsel.therapies.specs.therapy import MetaSkill, Skill, Therapy

FEWEST_METAS, FEWEST_SKILLS = 2, 3
"""How many of each a short session has."""
LEAST_SKILLS = 2
"""With so many different ones a choice is taken where others are named twice: a schema that any
server takes cannot say that each is named once.
"""
MOST_LISTED, MOST_GROUPS = 60, 40
"""No request lists more ids than the first says, and of meta skills alone not more than the second.
A model that chooses among hundreds hardly reads them, and servers bound what they take.
"""
Part = Literal["all", "groups", "skills"]
SkillsChosen = SkillsAnswer | PreparedAnswer | GroupsAnswer | PreparedGroupsAnswer | FineAnswer


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """The library of a session with its words, and what of a choice out of it holds."""

    view: TalkView
    library: Library
    names: Mapping[str, str]
    """What each skill is called, by id."""
    left_out: Mapping[str, str]
    """Why the therapy's other meta skills are none of it, by id."""
    part: Part = "all"
    """What is asked about: meta skills and skills at once, or one after the other."""

    @property
    def small(self) -> bool:
        """Whether one request may list all of it."""
        return len(self.library.metas) + len(self.library.skills) <= MOST_LISTED

    def groups(self) -> "Shelf":
        """Its meta skills alone."""
        return replace(self, part="groups", library=replace(self.library, skills={}, parents={}))

    def within(self, metas: tuple[str, ...]) -> "Shelf":
        """The skills of these meta skills alone."""
        of = self.library
        skills = {one: of.skills[one] for one in of.of(metas)}
        parents = {one: of.parents[one] for one in skills}
        kept = {one: of.metas[one] for one in metas}
        return replace(
            self, part="skills", library=replace(of, metas=kept, skills=skills, parents=parents)
        )

    def near(self, about: str) -> "Ask[Shelf]":
        """What of it is nearest to what a session is about, so many as a request may list."""
        of, groups = self.library, self.part == "groups"
        options = of.metas if groups else of.skills
        most = MOST_GROUPS if groups else MOST_LISTED
        if len(options) <= most:
            return self
        told = replace(embedding("course_near", self.view.me, tuple(options.values())), once=True)
        vectors = (yield from ask(told)).value
        wanted = (yield from ask(embedding("course_near", self.view.me, (about,)))).value
        order = sorted(zip((-vectors @ wanted[0]).tolist(), options, strict=True))
        near = {one for _, one in order[:most]}
        if groups:
            far = {
                one: "is far from what the session is about" for one in options if one not in near
            }
            kept = {one: text for one, text in of.metas.items() if one in near}
            return replace(self, library=replace(of, metas=kept), left_out={**self.left_out, **far})
        skills = {one: text for one, text in of.skills.items() if one in near}
        parents = {one: of.parents[one] for one in skills}
        return replace(self, library=replace(of, skills=skills, parents=parents))

    @property
    def text(self) -> str:
        """For a prompt: each meta skill, the names of its skills below it; what these are in full
        is told with the lines of the session that takes them.
        """
        if self.part == "skills":
            return labelled(self.view, "their skills", listed(self.library.skills))
        found = []
        for meta, described in self.library.metas.items():
            below = (f"  - {one}. {self.names[one]}" for one in self.library.of((meta,)))
            found.append("\n".join((f"{meta}. {described}", *below)))
        return labelled(self.view, "library", "\n".join(found))

    @property
    def task(self) -> str:
        """What is asked about it."""
        of = self.library
        asked = worded(
            self.view,
            {"all": "choose skills", "groups": "choose groups", "skills": "choose among"}[
                self.part
            ],
            fewest_metas=min(of.fewest_metas, len(of.metas)),
            most_metas=of.most_metas,
            fewest=of.fewest,
            most=of.most,
        )
        lately = labelled(self.view, "lately", ", ".join(of.lately))
        return f"{asked} {lately}".strip()

    def first(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Without a model: the first meta skills and of their skills the first that were not used
        lately.
        """
        of, metas = self.library, tuple(self.library.metas)
        count = min(of.fewest_metas, len(metas))
        while count < min(of.most_metas, len(metas)) and len(of.of(metas[:count])) < of.fewest:
            count += 1
        skills = of.of(metas[:count])
        return metas[:count], tuple(sorted(skills, key=of.lately.__contains__))[: of.fewest]

    def problem(self, answer: SkillsChosen) -> str | None:
        """What is wrong with a choice; None when nothing is."""
        if self.part == "groups":
            return None
        metas, skills = self.taken(answer)
        few = min(self.library.fewest, len(self.library.of(metas)))
        if len(skills) < min(few, LEAST_SKILLS):
            return f"name at least {few} different skills of the intentions that you chose"
        return None

    def taken(self, answer: SkillsChosen) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Meta skills, and of the skills those that belong to them; each once. Where there are too
        few, the meta skills of the other skills count as chosen, too.
        """
        of, named = self.library, tuple(dict.fromkeys(getattr(answer, "skills", ())))
        metas = tuple(dict.fromkeys(getattr(answer, "intentions", of.metas)))
        for one in named:
            below = of.of(metas)
            wanted = min(of.fewest, len(named), len(below))
            if len(metas) < of.fewest_metas or sum(two in below for two in named) < wanted:
                metas = tuple(dict.fromkeys((*metas, of.parents[one])))
        return metas, tuple(one for one in named if of.parents[one] in metas)

    def retrieved(self, answer: SkillsChosen, calls: Traced) -> tuple[Retrieved, ...]:
        """The choice as events: of meta skills, and of skills of these."""
        metas, skills = self.taken(answer)
        out = tuple(Candidate(id=one, kept=False, why=why) for one, why in self.left_out.items())
        of_groups = chosen(
            self.view, "meta skill", self.library.metas, metas, answer.why, calls, out
        )
        of_skills = chosen(self.view, "skill", self.library.of(metas), skills, answer.why, calls)
        parts = {"groups": (of_groups,), "skills": (of_skills,), "all": (of_groups, of_skills)}
        return parts[self.part]


def shelf_of(
    view: TalkView, therapy: Therapy, schools: tuple[Therapy, ...], stage: str, measure: Measure
) -> Shelf:
    """What a session of that stage may take of its therapy and, as THERAPY.ID, of those that it
    draws on today.
    """
    metas = {meta.id: meta for meta in therapy.metas(stage)} | {
        f"{other.id}.{meta.id}": meta for other in schools for meta in other.metas(stage)
    }
    skills = {
        f"{_school(one)}{skill.id}": (one, skill)
        for one, meta in metas.items()
        for skill in meta.skills
    }
    return Shelf(
        view=view,
        library=Library(
            metas={one: described(view, meta) for one, meta in metas.items()},
            skills={one: described(view, skill) for one, (_, skill) in skills.items()},
            parents={one: parent for one, (parent, _) in skills.items()},
            lately=_lately(view, set(skills)),
            fewest_metas=measure.fewest(FEWEST_METAS),
            most_metas=measure.metas,
            fewest=measure.fewest(FEWEST_SKILLS),
            most=measure.skills,
        ),
        names={one: skill.name for one, (_, skill) in skills.items()},
        left_out={
            meta.id: f"has its place in {', '.join(meta.stages)}"
            for meta in therapy.skills
            if stage not in meta.stages
        },
    )


def chosen(
    view: TalkView,
    of: str,
    options: Mapping[str, str] | tuple[str, ...],
    taken: tuple[str, ...],
    why: str,
    calls: Traced,
    left_out: tuple[Candidate, ...] = (),
) -> Retrieved:
    """A choice as an event."""
    return Retrieved(
        who=view.me,
        chat=view.chat,
        of=of,  # type: ignore[arg-type]
        candidates=(*(Candidate(id=one, kept=True, why="may serve") for one in options), *left_out),
        chosen=taken,
        reason=why,
        **calls,
    )


def _school(one: str) -> str:
    """'cbt.' of 'cbt.pin_down'; '' of an id of the therapy itself."""
    return f"{one.split('.', 1)[0]}." if "." in one else ""


def described(view: TalkView, skill: MetaSkill | Skill) -> str:
    """What a skill is, when it has its place and what calls for it, for a prompt."""
    parts = [
        skill.name,
        skill.description,
        skill.when and worded(view, "when", text=skill.when),
        skill.cue and worded(view, "cue", text=skill.cue),
        isinstance(skill, Skill)
        and skill.not_when
        and worded(view, "not when", text=skill.not_when),
    ]
    return ("" if view.language == "zh" else " ").join(closed(part) for part in parts if part)


def _lately(view: TalkView, ids: set[str]) -> tuple[str, ...]:
    """Skills that were used in the last two sessions, most often first."""
    before = [entry.event for entry in view.kept if isinstance(entry.event, Reasoned)]
    chats = list(dict.fromkeys(event.chat for event in before))[-2:]
    used = [one for event in before if event.chat in chats for one in event.skills]
    return tuple(
        sorted({one for one in used if one in ids}, key=lambda one: (-used.count(one), one))
    )
