"""After a session, in one reply: the note on it, what was learned of the client and how it stands
to what was known, what it adds to the conceptualization, and how the course goes on.
"""

from typing import Literal

from simcounsel.agents.talk import TalkView
from simcounsel.agents.views import talk_text
from simcounsel.events import PracticeEvent
from simcounsel.llm.question import Ask, traced
from simcounsel.policies.course.facts import AfterFacts
from simcounsel.policies.course.learning import described, formulated, learned
from simcounsel.policies.course.progress import next_step, possible_steps
from simcounsel.policies.course.prompting import (
    asked,
    formulation_text,
    known_text,
    labelled,
    listed,
    worded,
)
from simcounsel.policies.course.review import judged, review_of
from simcounsel.policies.course.schemas import AfterAnswer, narrowed
from simcounsel.policies.course.state import CourseState
from simcounsel.prompts import phrase
from simcounsel.specs.course import CoursePlan
from simcounsel.specs.therapy import Therapy

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
