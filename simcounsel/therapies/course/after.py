"""After a session, in one reply: the note on it, what was learned of the client and how it stands
to what was known, what it adds to the conceptualization, and how the course goes on.

What a session adds to what is known of the client: facts, each with words that were really said,
and rows of the conceptualization.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from simcounsel.agents.talk import TalkView
from simcounsel.agents.views import talk_text
from simcounsel.events import (
    CourseAdvanced,
    FactLearned,
    Formulated,
    PracticeEvent,
    SessionReviewed,
)
from simcounsel.llm.question import Ask, Traced, traced
from simcounsel.prompts import phrase
from simcounsel.texts.quotes import units
from simcounsel.therapies.course.facts import AfterFacts
from simcounsel.therapies.course.prompting import (
    asked,
    formulation_text,
    known_text,
    labelled,
    listed,
    worded,
)
from simcounsel.therapies.course.review import judged, review_of, stands
from simcounsel.therapies.course.schemas import (
    AfterAnswer,
    FactAnswer,
    NextAnswer,
    RowAnswer,
    narrowed,
)
from simcounsel.therapies.course.state import CourseState
from simcounsel.therapies.specs.course import CoursePlan
from simcounsel.therapies.specs.therapy import COURSE_STAGES, ConceptField, CourseStage, Therapy

ROWS_A_FIELD = 12
"""More of one field are not filled in; what comes later in a course is rarely new."""


def learned(
    view: TalkView, state: CourseState, answers: tuple[FactAnswer, ...], calls: Traced
) -> tuple[FactLearned, ...]:
    """What the client told, each with words that it really said, and its place beside what is
    known, of which nothing is overwritten.
    """
    by_words: dict[tuple[str, ...], FactAnswer] = {}
    for fact in answers:
        if stands(fact.quote, view, view.other):
            by_words.setdefault(units(fact.text), fact)
    known: set[str] = {fact.id for fact in state.facts}
    found: list[FactLearned] = []
    for fact in by_words.values():
        if fact.relation == "same" and fact.known in known:
            continue
        against = (fact.known,) if fact.known in known else ()
        found.append(
            FactLearned(
                who=view.me,
                chat=view.chat,
                about=view.other,
                session=state.session,
                id=f"F{len(state.facts) + len(found) + 1}",
                text=fact.text,
                quote=fact.quote,
                realm=fact.realm,
                status=fact.status,
                contradicts=against if fact.relation == "contradicts" else (),
                supersedes=against if fact.relation == "replaces" else (),
                **calls,
            )
        )
    return tuple(found)


def described(view: TalkView, therapy: Therapy) -> dict[str, str]:
    """What belongs into each field of the conceptualization, by id."""
    return {field.id: _described(view, field) for field in therapy.conceptualization}


def _described(view: TalkView, field: ConceptField) -> str:
    between = "、" if view.language == "zh" else ", "
    columns = between.join(field.labels or field.columns)
    parts = [worded(view, "field", name=field.name, what=field.what.rstrip(".。"))]
    parts += [worded(view, "columns", columns=columns)] if columns else []
    return ("" if view.language == "zh" else " ").join(parts)


def formulated(
    view: TalkView, therapy: Therapy, state: CourseState, rows: tuple[RowAnswer, ...], calls: Traced
) -> tuple[Formulated, ...]:
    """Rows for the therapy's own fields; one without words of the client's, or of another shape
    than its field, is left out.
    """
    fields = {field.id: field for field in therapy.conceptualization}
    return tuple(
        Formulated(
            who=view.me,
            chat=view.chat,
            about=view.other,
            session=state.session,
            field=row.field,
            cells=row.cells,
            quote=row.quote,
            **calls,
        )
        for row in _kept(rows, fields, view, state)
    )


def _kept(
    rows: tuple[RowAnswer, ...],
    fields: Mapping[str, ConceptField],
    view: TalkView,
    state: CourseState,
) -> list[RowAnswer]:
    """The rows that are new, of their field's shape, and rest on words of the client's."""
    there = {(row.field, tuple(map(units, row.cells))) for row in state.formulated}
    counts = Counter(row.field for row in state.formulated)
    kept = []
    for row in rows:
        field, key = fields.get(row.field), (row.field, tuple(map(units, row.cells)))
        if field is None or key in there or counts[row.field] >= ROWS_A_FIELD:
            continue
        if len(row.cells) == (len(field.columns) or 1) and stands(row.quote, view, view.other):
            there.add(key)
            counts[row.field] += 1
            kept.append(row)
    return kept


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
    goals = plan.stage(state.stage).aims
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
    goals = plan.stage(state.stage).aims
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
