"""After a session, in one reply: the note on it, what was learned of the client and how it stands
to what was known, what it adds to the conceptualization, and how the course goes on.
"""

from typing import Literal

from simcounsel.agents.talk import TalkView
from simcounsel.agents.views import talk_text
from simcounsel.events import CourseAdvanced, PracticeEvent, SessionReviewed
from simcounsel.llm.question import Ask, Traced, traced
from simcounsel.prompts import phrase
from simcounsel.therapies.course.facts import AfterFacts
from simcounsel.therapies.course.learning import described, formulated, learned
from simcounsel.therapies.course.prompting import (
    asked,
    formulation_text,
    known_text,
    labelled,
    listed,
    worded,
)
from simcounsel.therapies.course.review import judged, review_of
from simcounsel.therapies.course.schemas import AfterAnswer, NextAnswer, narrowed
from simcounsel.therapies.course.state import CourseState
from simcounsel.therapies.specs.course import CoursePlan
from simcounsel.therapies.specs.therapy import COURSE_STAGES, CourseStage, Therapy

AFTER_TOKENS = 3_000
"""Most of the reply."""


def look_back(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState
) -> Ask[tuple[PracticeEvent, ...]]:
    """All that a counselor writes when a session is over."""
    steps = possible_steps(plan, state)
    goals, fields = judged(plan, state), described(view, therapy)
    reply = yield from asked(
        view,
        "course_after",
        narrowed(AfterAnswer, step=Literal[steps]),
        _nothing_noted(view, state, plan, steps[0]),
        {
            "session": state.session,
            "length": plan.length,
            "stage": therapy.stage(state.stage).name,
            "talk": talk_text(view.lines),
            "goals": listed(goals),
            "known": labelled(view, "known before", known_text(view, state)),
            "fields": listed(fields),
            "formulation": labelled(view, "filled in", formulation_text(state, therapy)),
            "options": _offered(view, steps),
            "spent": state.spent.get(state.stage, 0) + 1,
            "planned": len(plan.stage(state.stage).sessions),
        },
        AfterFacts(
            me=view.me,
            other=view.other,
            session=state.session,
            lines=view.lines,
            closeness=view.meeting.closeness,
            goals=goals,
            known={fact.id: fact.text for fact in state.known()},
            fields=fields,
            columns={field.id: len(field.columns) or 1 for field in therapy.conceptualization},
        ),
        max_tokens=AFTER_TOKENS,
    )
    answer, calls = reply.value, traced(reply)
    review = review_of(view, plan, state, answer, calls)
    return (
        review,
        *learned(view, state, answer.facts, calls),
        *formulated(view, therapy, state, answer.rows, calls),
        next_step(view, plan, state, review, answer, calls),
    )


def _offered(view: TalkView, steps: tuple[str, ...]) -> str:
    """The steps to choose from, each with what speaks for it."""
    keys = ("go back" if step == "back" else step for step in steps)
    return ("；" if view.language == "zh" else "; or ").join(worded(view, key) for key in keys)


def _nothing_noted(view: TalkView, state: CourseState, plan: CoursePlan, step: str) -> AfterAnswer:
    """Without a model's help."""

    def words(key: str, **slots: object) -> str:
        return phrase("course_words", key, view.language, **slots)

    unmet = state.unmet(plan)
    return AfterAnswer(
        summary=words("no note", me=view.me, other=view.other),
        goals=(),
        client_state=words("not noted"),
        alliance=3,
        step=step,
        focus=(unmet[0] if unmet else words("brings"))[:300],
        reason=words("not noted"),
    )


Step = Literal["advance", "repeat", "back", "end"]


def possible_steps(plan: CoursePlan, state: CourseState) -> tuple[Step, ...]:
    """What may follow whatever the session turns out to have met, the likeliest first as things
    was before it.
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
