"""Before a session: what it is for, and the few skills for it, chosen from coarse to fine."""

from collections.abc import Mapping

from simcounsel.agents.talk import TalkView
from simcounsel.events import Candidate, PracticeEvent, Reasoned, Retrieved, SessionPlanned
from simcounsel.llm.question import Ask, traced
from simcounsel.policies.course.facts import ChoiceFacts, ObjectiveFacts
from simcounsel.policies.course.material import opened_text
from simcounsel.policies.course.measure import Measure
from simcounsel.policies.course.prompting import (
    asked,
    before_text,
    formulation_text,
    known_text,
    listed,
)
from simcounsel.policies.course.schemas import ChosenAnswer, ObjectiveAnswer, at_most, some_of
from simcounsel.policies.course.state import CourseState
from simcounsel.policies.course.withholding import foretells, untold
from simcounsel.prompts import phrase
from simcounsel.specs.course import CoursePlan
from simcounsel.specs.therapy import MetaSkill, Skill, Therapy

MOST_THERAPIES, FEWEST_METAS, FEWEST_SKILLS = 2, 2, 3
"""How many of each a usual session has."""


def prepare(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState, measure: Measure
) -> Ask[tuple[PracticeEvent, ...]]:
    """The session's objective, and its skills: first the therapies where several may be combined,
    then meta skills of the stage, then atomic ones of these.
    """
    planned = yield from _objective(view, therapy, plan, state, measure)
    events: list[PracticeEvent] = [planned]
    schools = therapy.drawn
    if schools:
        chosen = yield from _choose(
            view,
            planned,
            "therapy",
            "course_therapies",
            {other.id: f"{other.name}. {other.about}" for other in schools},
            {},
            1,
            MOST_THERAPIES,
        )
        events.append(chosen)
        schools = tuple(other for other in schools if other.id in chosen.chosen)
    metas = _metas(therapy, schools, state.stage)
    chosen = yield from _choose(
        view,
        planned,
        "meta skill",
        "course_metas",
        {one: _described(meta) for one, meta in metas.items()},
        _not_now(therapy, state.stage),
        measure.fewest(FEWEST_METAS),
        measure.metas,
    )
    events.append(chosen)
    skills = {
        f"{_school(one)}{skill.id}": skill for one in chosen.chosen for skill in metas[one].skills
    }
    events.append(
        (
            yield from _choose(
                view,
                planned,
                "skill",
                "course_skills",
                {one: _described(skill) for one, skill in skills.items()},
                {},
                measure.fewest(FEWEST_SKILLS),
                measure.skills,
                lately=_lately(view, set(skills)),
            )
        )
    )
    return tuple(events)


def _objective(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState, measure: Measure
) -> Ask[SessionPlanned]:
    """From the plan, what is known, and the goals that nothing has yet shown to be met. Of the plan
    nothing is taken that the client has yet to tell.
    """
    unmet = state.unmet(plan) or plan.stage(state.stage).goals
    last, step = state.last, state.steps[-1] if state.steps else None
    open_points = (*((step.focus,) if step else ()), *(last.unresolved if last else ()))
    theme = _theme(view, therapy, plan, state)
    reply = yield from asked(
        view,
        "course_objective",
        at_most(ObjectiveAnswer, "objective", measure.objectives),
        _next_objective(view, state, unmet, open_points),
        {
            "therapy": therapy.name,
            "about": therapy.about,
            "session": state.session,
            "length": plan.length,
            "stage": therapy.stage(state.stage).name,
            "theme": theme,
            "goals": listed(unmet),
            "known": known_text(state),
            "formulation": formulation_text(state, therapy),
            "before": before_text(state),
            "open": listed(open_points),
            "opened": opened_text(view, state),
            "most": measure.objectives,
            "homework": (last.homework if last else None) or "-",
        },
        ObjectiveFacts(goals=unmet),
    )
    answer = reply.value
    aimed = (
        tuple(dict.fromkeys(unmet[number - 1] for number in answer.goals if number <= len(unmet)))
        or unmet[:1]
    )
    return SessionPlanned(
        who=view.me,
        chat=view.chat,
        about=view.other,
        session=state.session,
        stage=state.stage,
        theme=theme,
        objective=answer.objective,
        goals=aimed,
        reason=answer.reason,
        **traced(reply),
    )


def _theme(view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState) -> str:
    """The session's theme, as planned; the stage's name where that would foretell what the client
    has yet to tell.
    """
    planned = state.planned_for(plan).theme
    secret = untold(plan.facts, _told_by(view, state), therapy)
    return therapy.stage(state.stage).name if foretells(planned, secret) else planned


def _next_objective(
    view: TalkView, state: CourseState, unmet: tuple[str, ...], open_points: tuple[str, ...]
) -> ObjectiveAnswer:
    """Without a model: the first open point, and the goals that were aimed at least so far."""
    next_goals = sorted(range(len(unmet)), key=lambda index: state.aimed.count(unmet[index]))[:2]
    return ObjectiveAnswer(
        objective=(
            *(
                phrase("course_words", "back", view.language, what=point)[:400]
                for point in open_points[:1]
            ),
            *(
                phrase("course_words", "towards", view.language, what=unmet[index])[:400]
                for index in next_goals
            ),
        ),
        goals=tuple(index + 1 for index in next_goals),
        reason="the goals still unmet that were aimed at least so far",
    )


def _told_by(view: TalkView, state: CourseState) -> tuple[str, ...]:
    """What the client has told so far."""
    facts = (text for fact in state.facts for text in (fact.text, fact.quote))
    return (view.other, *(line.text for line in view.lines if line.who != view.me), *facts)


def _choose(
    view: TalkView,
    planned: SessionPlanned,
    of: str,
    purpose: str,
    options: Mapping[str, str],
    left_out: Mapping[str, str],
    least: int,
    most: int,
    lately: tuple[str, ...] = (),
) -> Ask[Retrieved]:
    """Some of the options, with the reason; all of them when there are no more than the least."""
    ids = tuple(options)
    candidates = tuple(Candidate(id=one, kept=True, why="may serve") for one in ids)
    candidates += tuple(Candidate(id=one, kept=False, why=why) for one, why in left_out.items())
    schema = some_of(ids, least, most)
    rest = [one for one in ids if one not in lately] or list(ids)
    first = [*rest, *(one for one in ids if one not in rest)][: max(least, 1)]
    fallback = schema.model_validate({"ids": first, "why": "the first that were not used lately"})
    few = min(least, len(ids))

    def check(answer: ChosenAnswer) -> str | None:
        return None if len(set(answer.ids)) >= few else f"name at least {few} different ids"

    reply = yield from asked(
        view,
        purpose,
        schema,
        fallback,
        {
            "objective": listed(planned.objective),
            "goals": listed(planned.goals),
            "options": listed(options),
            "least": least,
            "most": most,
            "lately": ", ".join(lately) or "-",
        },
        ChoiceFacts(
            options=options,
            objective=(*planned.objective, *planned.goals),
            lately=lately,
            least=few,
            most=most,
        ),
        tier="quick",
        temperature=0.2,
        check=check,
    )
    return Retrieved(
        who=view.me,
        chat=view.chat,
        of=of,  # type: ignore[arg-type]
        candidates=candidates,
        chosen=tuple(dict.fromkeys(reply.value.ids)),
        reason=reply.value.why,
        **traced(reply),
    )


def _metas(therapy: Therapy, schools: tuple[Therapy, ...], stage: str) -> dict[str, MetaSkill]:
    """Meta skills of a stage by id, the therapy's own and, as THERAPY.ID, those of the therapies
    that it draws on today.
    """
    found = {meta.id: meta for meta in therapy.metas(stage)}
    return found | {
        f"{other.id}.{meta.id}": meta for other in schools for meta in other.metas(stage)
    }


def _not_now(therapy: Therapy, stage: str) -> dict[str, str]:
    return {
        meta.id: f"has its place in {', '.join(meta.stages)}"
        for meta in therapy.skills
        if stage not in meta.stages
    }


def _school(one: str) -> str:
    """'cbt.' of 'cbt.pin_down'; '' of an id of the therapy itself."""
    return f"{one.split('.', 1)[0]}." if "." in one else ""


def _described(skill: MetaSkill | Skill) -> str:
    parts = [
        skill.name,
        skill.description,
        skill.when and f"When: {skill.when}",
        skill.cue and f"Cue: {skill.cue}",
    ]
    return " ".join(part if part.endswith((".", "。")) else f"{part}." for part in parts if part)


def _lately(view: TalkView, ids: set[str]) -> tuple[str, ...]:
    """Skills that were used in the last two sessions, most often first."""
    chats = list(
        dict.fromkeys(entry.event.chat for entry in view.kept if isinstance(entry.event, Reasoned))
    )[-2:]
    used = [
        entry.event.skill
        for entry in view.kept
        if isinstance(entry.event, Reasoned) and entry.event.chat in chats
    ]
    return tuple(
        sorted({one for one in used if one in ids}, key=lambda one: (-used.count(one), one))
    )
