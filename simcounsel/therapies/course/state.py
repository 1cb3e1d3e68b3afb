"""Where a course stands: folded from what its counselor wrote, and from nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simcounsel.agents.talk import TalkView
from simcounsel.events import (
    CourseAdvanced,
    FactLearned,
    Formulated,
    MaterialOpened,
    Reasoned,
    Retrieved,
    SessionPlanned,
    SessionReviewed,
)
from simcounsel.therapies.course.earlier import earlier
from simcounsel.therapies.specs.course import CoursePlan, PlannedSession
from simcounsel.therapies.specs.therapy import COURSE_STAGES, CourseStage


@dataclass(frozen=True, kw_only=True)
class CourseState:
    """Where a course stands."""

    session: int
    """The present one, from 1."""
    stage: CourseStage
    spent: dict[str, int]
    """Sessions held so far, by stage, the present one left out."""
    met: dict[str, str]
    """The quote that shows each goal to be met."""
    planned: SessionPlanned | None
    """Of the present session."""
    skills: tuple[str, ...]
    """Ids chosen for it."""
    opened: tuple[MaterialOpened, ...]
    """What the plan has for it and the counselor may know by now, and facts told in it."""
    told_before: tuple[MaterialOpened, ...]
    """The plan's facts that were told in earlier sessions."""
    used_up: frozenset[str]
    """Texts that opened in earlier sessions before the last line of these."""
    used: tuple[str, ...]
    """Of these, the ones reasoned with so far, in order."""
    aimed: tuple[str, ...]
    """Goals that earlier sessions aimed at, once for each."""
    facts: tuple[FactLearned, ...]
    formulated: tuple[Formulated, ...]
    reviews: tuple[SessionReviewed, ...]
    """Of earlier sessions."""
    steps: tuple[CourseAdvanced, ...]
    """Of earlier sessions."""

    @property
    def last(self) -> SessionReviewed | None:
        """The note on the last session."""
        return self.reviews[-1] if self.reviews else None

    @property
    def ended(self) -> bool:
        """Whether the planned sessions are over; whatever follows is no longer part of the
        course.
        """
        return any(step.step == "end" for step in self.steps)

    def unmet(self, plan: CoursePlan) -> tuple[str, ...]:
        """The goals of this and of earlier stages that nothing has shown to be met: this stage's
        first.
        """
        so_far = COURSE_STAGES[: COURSE_STAGES.index(self.stage)]
        goals = [
            *plan.stage(self.stage).aims,
            *(goal for stage in reversed(so_far) for goal in plan.stage(stage).aims),
        ]
        return tuple(goal for goal in goals if goal not in self.met)

    def planned_for(self, plan: CoursePlan) -> PlannedSession:
        """What the plan has for the present session: the next of its stage; the stage's last where
        the plan is used up.
        """
        return self.sessions_until(plan)[-1]

    def sessions_until(self, plan: CoursePlan) -> tuple[PlannedSession, ...]:
        """The planned sessions of the stage as far as the present one."""
        return plan.stage(self.stage).sessions[: self.spent.get(self.stage, 0) + 1]

    @property
    def told(self) -> frozenset[str]:
        """Ids of the plan's facts that the client has told."""
        told = (one for one in (*self.told_before, *self.opened) if one.of == "fact")
        return frozenset(one.rests_on[0] for one in told)

    def known(self) -> tuple[FactLearned, ...]:
        """What is known of the client and still holds; of two things that contradict each other
        both.
        """
        gone = {one for fact in self.facts for one in fact.supersedes}
        return tuple(fact for fact in self.facts if fact.id not in gone)


def state_of(view: TalkView, plan: CoursePlan | None = None) -> CourseState:
    """The state at this point of a conversation. plan: with the sessions that were held before the
    run began, if there are any.
    """
    before = [*(earlier(view, plan) if plan else ()), *(entry.event for entry in view.kept)]
    reviews = tuple(event for event in before if isinstance(event, SessionReviewed))
    steps = tuple(event for event in before if isinstance(event, CourseAdvanced))
    spent: dict[str, int] = {}
    for review in reviews:
        spent[review.stage] = spent.get(review.stage, 0) + 1
    stage = next(
        (one for one in COURSE_STAGES if steps and one == steps[-1].stage), COURSE_STAGES[0]
    )
    return CourseState(
        session=len(reviews) + 1,
        stage=stage,
        spent=spent,
        met={
            goal.goal: goal.quotes[0]
            for review in reviews
            for goal in review.goals
            if goal.met and goal.quotes
        },
        planned=next((event for event in view.own if isinstance(event, SessionPlanned)), None),
        skills=tuple(
            one
            for event in view.own
            if isinstance(event, Retrieved) and event.of == "skill"
            for one in event.chosen
        ),
        opened=tuple(event for event in view.own if isinstance(event, MaterialOpened)),
        told_before=tuple(
            event for event in before if isinstance(event, MaterialOpened) and event.of == "fact"
        ),
        used_up=frozenset(_used_up(before)),
        used=tuple(
            one for event in view.own if isinstance(event, Reasoned) for one in event.skills
        ),
        aimed=tuple(
            goal for event in before if isinstance(event, SessionPlanned) for goal in event.goals
        ),
        facts=tuple(event for event in before if isinstance(event, FactLearned)),
        formulated=tuple(event for event in before if isinstance(event, Formulated)),
        reviews=reviews,
        steps=steps,
    )


def _used_up(events: Sequence[object]) -> Iterator[str]:
    """Texts after which two lines at least were thought out in their session: the last line of one
    says goodbye.
    """
    left: dict[str, int] = {}
    for event in reversed(events):
        if isinstance(event, Reasoned):
            left[event.chat] = left.get(event.chat, 0) + 1
        elif isinstance(event, MaterialOpened) and left.get(event.chat, 0) >= 2:
            yield event.text
