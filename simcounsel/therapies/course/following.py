"""A case's plan for somebody who plays the counselor from outside: what they may know of it."""

from collections.abc import Iterator
from dataclasses import replace

from simcounsel.agents.talk import TalkView
from simcounsel.events import MaterialOpened
from simcounsel.llm.question import Ask
from simcounsel.therapies.course.before import theme_of
from simcounsel.therapies.course.material import facts_said, newly_open, opened_text
from simcounsel.therapies.course.prompting import labelled, listed, worded
from simcounsel.therapies.course.state import CourseState, state_of
from simcounsel.therapies.course.withholding import as_told
from simcounsel.therapies.specs.course import CoursePlan, PlannedStage
from simcounsel.therapies.specs.therapy import Therapy


class Following:
    """Sessions come as planned, one after the other, whatever is said in them."""

    def __init__(self, therapy: Therapy, plan: CoursePlan) -> None:
        self.therapy, self.plan = therapy, plan
        self.session = 1
        """The present one, from 1; whoever holds it counts."""
        self.known = ""
        """What the counselor may know of the plan now."""

    def listen(self, view: TalkView) -> Ask[tuple[MaterialOpened, ...]]:
        """What the client has told since the last own line, and what opens by it."""
        state = self._state(view)
        told = yield from facts_said(view, self.plan, state)
        state = replace(state, opened=(*state.opened, *told))
        opened = newly_open(view, self.therapy, self.plan, state)
        state = replace(state, opened=(*state.opened, *opened))
        self.known = "\n".join(filter(None, self._lines(view, state)))
        return (*told, *opened)

    def _state(self, view: TalkView) -> CourseState:
        """By the plan's own calendar; open is what opened in this session or before in its
        stage.
        """
        stage, begun = self._stage()
        earlier = (entry.event for entry in view.kept if isinstance(entry.event, MaterialOpened))
        before = tuple(one for one in earlier if one.of != "fact" and one.session > begun)
        state = state_of(view)
        return replace(
            state,
            session=self.session,
            stage=stage.id,
            spent={stage.id: self.session - begun - 1},
            opened=(*before, *state.opened),
        )

    def _stage(self) -> tuple[PlannedStage, int]:
        """The present one, and how many sessions the stages before it have."""
        begun = 0
        for stage in self.plan.stages:
            if self.session <= begun + len(stage.sessions):
                return stage, begun
            begun += len(stage.sessions)
        return stage, begun - len(stage.sessions)

    def _lines(self, view: TalkView, state: CourseState) -> Iterator[str]:
        name = self.therapy.stage(state.stage).name
        left = self.plan.length - self.session
        yield f"{self.therapy.name}. {self.therapy.about}"
        yield worded(
            view,
            "session" if left > 0 else "last session",
            session=self.session,
            length=max(self.plan.length, self.session),
            left=left,
        )
        theme = theme_of(view, self.therapy, self.plan, state)
        yield worded(view, "theme", text=name if theme == name else f"{name}: {theme}")
        told = as_told(self.plan, self.therapy, state.told, view.other)
        yield labelled(view, "towards goals", listed(told.stage(state.stage).aims))
        yield opened_text(view, state).strip()
