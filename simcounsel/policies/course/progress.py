"""How a course goes on after a session: to the next stage, one more session of this one, back, or
the end.
"""

from typing import Literal

from simcounsel.agents.talk import TalkView
from simcounsel.events import CourseAdvanced, SessionReviewed
from simcounsel.llm.question import Ask, traced
from simcounsel.policies.course.facts import NextStepFacts
from simcounsel.policies.course.prompting import asked, listed
from simcounsel.policies.course.schemas import NextAnswer, one_of
from simcounsel.policies.course.state import CourseState
from simcounsel.prompts import phrase
from simcounsel.specs.course import CoursePlan
from simcounsel.specs.therapy import COURSE_STAGES, CourseStage, Therapy

Step = Literal["advance", "repeat", "back", "end"]


def go_on(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState, review: SessionReviewed
) -> Ask[CourseAdvanced]:
    """The next step, out of those that the sessions left over allow."""
    met = state.met.keys() | {goal.goal for goal in review.goals if goal.met}
    share = sum(goal in met for goal in plan.stage(state.stage).goals) / len(
        plan.stage(state.stage).goals
    )
    options = open_steps(plan, state, share)
    unmet = next((goal for goal in plan.stage(state.stage).goals if goal not in met), None)
    focus = next(iter(review.unresolved), unmet or phrase("course_words", "brings", view.language))
    fallback = NextAnswer(
        step=options[0], focus=focus[:300], reason=f"{share:.0%} of the goals of this stage are met"
    )
    reply = yield from asked(
        view,
        "course_next",
        one_of(NextAnswer, "step", options),
        fallback,
        {
            "stage": therapy.stage(state.stage).name,
            "session": state.session,
            "length": plan.length,
            "met": listed(tuple(goal for goal in plan.stage(state.stage).goals if goal in met)),
            "unmet": listed(
                tuple(goal for goal in plan.stage(state.stage).goals if goal not in met)
            ),
            "summary": review.summary,
            "alliance": review.alliance,
            "unresolved": listed(review.unresolved),
            "options": ", ".join(options),
        },
        NextStepFacts(options=options),
        tier="reason",
    )
    step = next(one for one in options if one == reply.value.step)
    return CourseAdvanced(
        who=view.me,
        chat=view.chat,
        about=view.other,
        session=state.session,
        step=step,
        options=options,
        origin=state.stage,
        stage=_stage_after(state.stage, step),
        focus=reply.value.focus,
        reason=reply.value.reason,
        **traced(reply),
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
