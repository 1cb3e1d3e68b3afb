"""A course of 5 to 10 sessions with one client, in three stages, by the skills of one therapy.

    state      where it is, folded from events
    before     objective and skills of a session, in one reply
    library    the skills that it may take
    measure    how many of each, by the length of the session
    material   what a case's plan has for it, once the client has said what it rests on
    reasoning  the thought before each line, in one reply with it
    after      note, facts, conceptualization, next step, in one reply

Three walls: a counselor's requests hold what was said and its own notes only; the client's hold
nothing of plan, objective or skills; and neither a trace nor a line reads the agenda out
(`simcounsel.texts.overlap`). After PsychEval (sections 2.2 and 3.3).
"""

from dataclasses import replace
from typing import ClassVar

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.events import PracticeEvent, Retrieved, SessionPlanned
from simcounsel.llm.question import Ask
from simcounsel.policies.socratic import Socratic
from simcounsel.therapies.course.after import look_back
from simcounsel.therapies.course.before import prepare
from simcounsel.therapies.course.material import facts_said, newly_open
from simcounsel.therapies.course.measure import measure_of
from simcounsel.therapies.course.reasoning import decide
from simcounsel.therapies.course.state import state_of
from simcounsel.therapies.course.withholding import as_told
from simcounsel.therapies.specs.course import CoursePlan, course_of
from simcounsel.therapies.specs.therapy import Therapy


class Course:
    """By appointment, sessions of a course; when the two meet otherwise, and after its end, a talk
    as any counselor has.
    """

    name: ClassVar[str] = "course"

    def __init__(
        self,
        therapy: Therapy,
        sessions: int | None = None,
        plan: CoursePlan | None = None,
        objectives: int | None = None,
        skills: int | None = None,
    ) -> None:
        """sessions: None: as the plan says, or the therapy. objectives, skills: the most of a
        session; None: as many as its length has room for.
        """
        self.therapy = therapy
        self.plan = course_of(therapy, sessions, plan)
        self.objectives, self.skills = objectives, skills
        self._library = therapy.library()

    def decide(self, view: TalkView) -> Ask[Decision]:
        """The session's objective and skills before its first line; what is thought before each
        comes with it.
        """
        state = state_of(view, self.plan)
        if not view.meeting.appointment or state.ended:
            return (yield from Socratic().decide(view))
        told = yield from facts_said(view, self.plan, state)
        state = replace(state, opened=(*state.opened, *told))
        opened = newly_open(view, self.therapy, self.plan, state)
        state = replace(state, opened=(*state.opened, *opened))
        plan = as_told(self.plan, self.therapy, state.told, view.other)
        events: tuple[PracticeEvent, ...] = (*told, *opened)
        if state.planned is None:
            lines = len(view.lines) + view.turns_left
            measure = measure_of(lines, self.objectives, self.skills)
            prepared = yield from prepare(view, self.therapy, plan, state, measure)
            events = (*prepared, *events)
            chosen = tuple(
                one
                for event in prepared
                if isinstance(event, Retrieved) and event.of == "skill"
                for one in event.chosen
            )
            state = replace(
                state,
                planned=next(event for event in prepared if isinstance(event, SessionPlanned)),
                skills=chosen,
            )
        skills = {one: self._library[one] for one in state.skills}
        return decide(view, plan, state, skills, events)

    def conclude(self, view: TalkView) -> Ask[tuple[PracticeEvent, ...]]:
        """What is written after a session."""
        state = state_of(view, self.plan)
        if not view.meeting.appointment or state.ended or state.planned is None:
            return ()
        plan = as_told(self.plan, self.therapy, state.told, view.other)
        return (yield from look_back(view, self.therapy, plan, state))
