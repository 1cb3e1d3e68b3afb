"""What a course's counselor thinks before each line, in the same reply and never said, and what it
makes of the line.
"""

import re
from dataclasses import dataclass, replace

from simcounsel.agents.talk import Decision, TalkView, Wording
from simcounsel.agents.tasks import LineAnswer
from simcounsel.events import PracticeEvent, Reasoned
from simcounsel.llm.question import Traced
from simcounsel.policies.manual import acts, aims
from simcounsel.prompts import phrase, prompt_text, render
from simcounsel.texts.overlap import without
from simcounsel.therapies.course.facts import ReasoningFacts
from simcounsel.therapies.course.library import described
from simcounsel.therapies.course.material import opened_text
from simcounsel.therapies.course.prompting import agenda, known_text, labelled, listed, sayable
from simcounsel.therapies.course.schemas import (
    MOST_OF_A_LINE,
    ReasonedLineAnswer,
    narrowed,
    some_of,
)
from simcounsel.therapies.course.state import CourseState
from simcounsel.therapies.specs.course import CoursePlan
from simcounsel.therapies.specs.therapy import MetaSkill, Skill

MOVES = "simcounsel.therapies:course"
LINE_TOKENS = 700
"""Most of a reply: the thought and the line."""


@dataclass(frozen=True, kw_only=True)
class Reasoning:
    """The thought before a line: a `simcounsel.agents.talk.Thought`."""

    view: TalkView
    state: CourseState
    skills: dict[str, MetaSkill | Skill]
    """Those of the session, by id."""

    @property
    def schema(self) -> type[LineAnswer]:
        """The line with assessment, state, skills and strategy before it."""
        ids = tuple(self.skills)
        return narrowed(ReasonedLineAnswer, skills=some_of(ids, 1, MOST_OF_A_LINE))

    @property
    def facts(self) -> ReasoningFacts:
        """What a stand-in may know for it."""
        return ReasoningFacts(
            heard=self.view.heard,
            closeness=self.view.meeting.closeness,
            skills={one: _cued(skill) for one, skill in self.skills.items()},
            acts={one: act_of(skill, self.view.language) for one, skill in self.skills.items()},
            used=self.state.used,
        )

    @property
    def plain(self) -> str:
        """The skill that was used least so far."""
        ids, used = tuple(self.skills), self.state.used
        return min(ids, key=lambda one: (used.count(one), ids.index(one)))

    def with_line(self, line: LineAnswer) -> LineAnswer:
        """A line that no model thought about."""
        heard = "heard" if self.view.heard else "silent"
        return ReasonedLineAnswer(
            **line.model_dump(),
            assessment=self._words(heard, other=self.view.other),
            client_state=self._words("unclear"),
            strategy=self._words("slowly"),
            skills=(self.plain,),
        )

    def settled(self, decision: Decision, answer: LineAnswer, calls: Traced) -> Decision:
        """The move is the leading skill, except where a session opens or closes. What of the
        thought quotes the agenda is cut out.
        """
        assert isinstance(answer, ReasonedLineAnswer)
        told = {"assessment", "client_state", "strategy"}
        forbidden, free = agenda(self.state), sayable(self.view, self.state)
        thought = {
            key: without(text, forbidden, free) or self._words("cut")
            for key, text in answer.model_dump(include=told).items()
        }
        trace = Reasoned(
            who=self.view.me,
            chat=self.view.chat,
            skills=tuple(dict.fromkeys(answer.skills)),
            assessment=thought["assessment"],
            client_state=thought["client_state"],
            strategy=thought["strategy"],
            **calls,
        )
        works = decision.move == "work"
        leading = trace.skills[0]
        act = act_of(self.skills[leading], self.view.language) if works else decision.wording.act
        return replace(
            decision.worded(act=act),
            move=leading if works else decision.move,
            reason=trace.strategy,
            events=(*decision.events, trace),
        )

    def _words(self, key: str, **slots: object) -> str:
        return phrase("course_words", key, self.view.language, **slots)


def decide(
    view: TalkView,
    plan: CoursePlan,
    state: CourseState,
    skills: dict[str, MetaSkill | Skill],
    events: tuple[PracticeEvent, ...],
) -> Decision:
    """What the line is to be: the opening, the close, or the skill that its own thought chooses.
    events: what was written on the way.
    """
    closing, opening = view.parting or view.turns_left <= 2, not view.moves
    move = "close" if closing else "open" if opening else "work"
    thought = Reasoning(view=view, state=state, skills=skills)
    return Decision(
        move=move,
        options=(move,) if closing or opening else tuple(skills),
        reason=phrase("course_words", "slowly", view.language),
        aim=aims(MOVES, view.language)[move],
        wording=Wording(
            act="close"
            if closing
            else "greet"
            if opening
            else act_of(skills[thought.plain], view.language),
            background=_background(view, plan, state, skills),
            brief="".join(
                (labelled(view, "used", ", ".join(state.used)), opened_text(view, state))
            ).lstrip(),
            manner=prompt_text("course_manner", view.language),
            max_tokens=LINE_TOKENS,
            thought=thought,
            unsaid=agenda(state),
            free=sayable(view, state),
        ),
        leaves=closing,
        events=events,
    )


def _background(
    view: TalkView, plan: CoursePlan, state: CourseState, skills: dict[str, MetaSkill | Skill]
) -> str:
    """The same before all lines of a session: its number, what it is for, what is known and agreed,
    its skills, how a line is thought out. What is empty is left out.
    """
    homework = state.last.homework if state.last else None
    texts = {
        "aims": listed(state.planned.objective) if state.planned else "",
        "towards goals": "\n".join(f"- {goal}" for goal in state.planned.goals)
        if state.planned
        else "",
        "known": known_text(view, state),
        "agreed": homework or "",
        "skills": listed({one: described(view, skill) for one, skill in skills.items()}),
    }
    left = plan.length - state.session
    number = phrase(
        "course_words",
        "session" if left > 0 else "last session",
        view.language,
        session=state.session,
        length=plan.length,
        left=left,
    )
    told = (labelled(view, key, text) for key, text in texts.items() if text)
    brief = render("course_brief", view.language, me=view.me, other=view.other)[1]
    return "\n".join((number, *told, brief))


def _cued(skill: MetaSkill | Skill) -> str:
    return f"{skill.name}. Cue: {skill.cue}" if skill.cue else f"{skill.name}. {skill.description}"


def act_of(skill: MetaSkill | Skill, language: str = "en") -> str:
    """The kind of hand-written form that comes nearest to a skill, which may be told in English in
    any world; an invitation to tell more where none does.
    """
    words = f"{skill.name}. {skill.description}".lower()
    patterns = (pair for one in (language, "en") for pair in acts(MOVES, one).items())
    return next((act for act, pattern in patterns if re.search(pattern, words)), "ask")
