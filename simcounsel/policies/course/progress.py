"""How a course goes on after a session: to the next stage, one more session of this one, back, or
the end.
"""

from typing import Literal

from simcounsel.agents.talk import TalkView
from simcounsel.events import CourseAdvanced, SessionReviewed
from simcounsel.llm.question import Traced
from simcounsel.policies.course.schemas import NextAnswer
from simcounsel.policies.course.state import CourseState
from simcounsel.specs.course import CoursePlan
from simcounsel.specs.therapy import COURSE_STAGES, CourseStage

Step = Literal["advance", "repeat", "back", "end"]


def possible_steps(plan: CoursePlan, state: CourseState) -> tuple[Step, ...]:
    """What may follow whatever the session turns out to have met, the likeliest first as things
    stood before it.
    """
    goals = plan.stage(state.stage).goals
    met = sum(goal in state.met for goal in goals)
    steps = (
        step
        for number in range(met, len(goals) + 1)
        for step in open_steps(plan, state, number / len(goals))
    )
    return tuple(dict.fromkeys(steps))


def next_step(
    view: TalkView,
    plan: CoursePlan,
    state: CourseState,
    review: SessionReviewed,
    answer: NextAnswer,
    calls: Traced,
) -> CourseAdvanced:
    """The step that was chosen; the likeliest of those that are open where it is not one of
    them.
    """
    goals = plan.stage(state.stage).goals
    met = state.met.keys() | {goal.goal for goal in review.goals if goal.met}
    options = open_steps(plan, state, sum(goal in met for goal in goals) / len(goals))
    step = next((one for one in options if one == answer.step), options[0])
    return CourseAdvanced(
        who=view.me,
        chat=view.chat,
        about=view.other,
        session=state.session,
        step=step,
        options=options,
        origin=state.stage,
        stage=_stage_after(state.stage, step),
        focus=answer.focus,
        reason=answer.reason,
        **calls,
    )


def open_steps(plan: CoursePlan, state: CourseState, share: float) -> tuple[Step, ...]:
    """What may follow, the likeliest first: each later stage keeps at least one session, a stage is
    left when half of its goals are met or its planned sessions are used up, and may have two
    sessions more than planned. share: of the stage's goals that are met.
    """
    left = plan.length - state.session
    if left <= 0:
        return ("end",)
    at = COURSE_STAGES.index(state.stage)
    later = len(COURSE_STAGES) - 1 - at
    spent = state.spent.get(state.stage, 0) + 1
    planned = len(plan.stage(state.stage).sessions)
    steps: list[Step] = []
    if later and (share >= 0.5 or spent >= planned or left <= later):
        steps.append("advance")
    if left > later and (spent < planned + 2 or not later):
        steps.append("repeat")
    if (
        at
        and left > later + 1
        and state.spent.get(COURSE_STAGES[at - 1], 0)
        < len(plan.stage(COURSE_STAGES[at - 1]).sessions) + 1
    ):
        steps.append("back")
    if steps[:2] == ["advance", "repeat"] and share < 1 and spent < planned:
        steps[:2] = ["repeat", "advance"]
    return tuple(steps)


def _stage_after(stage: CourseStage, step: Step) -> CourseStage:
    at = COURSE_STAGES.index(stage)
    return (
        COURSE_STAGES[at + 1]
        if step == "advance"
        else COURSE_STAGES[at - 1]
        if step == "back"
        else stage
    )
