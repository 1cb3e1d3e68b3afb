"""After a session: the note on it, what was learned of the client and how it stands to what was
known, and how the course goes on.
"""

from typing import Literal

from simcounsel.agents.talk import TalkView
from simcounsel.agents.views import talk_text
from simcounsel.events import (
    CourseAdvanced,
    FactLearned,
    Formulated,
    GoalReview,
    PracticeEvent,
    SessionReviewed,
)
from simcounsel.llm.question import Ask
from simcounsel.policies.course.answers import (
    FactAnswer,
    FactsAnswer,
    FormulationAnswer,
    MergeAnswer,
    NextAnswer,
    PlacedAnswer,
    ReviewAnswer,
    one_of,
)
from simcounsel.policies.course.asking import asked, formulation_text, known_text, listed
from simcounsel.policies.course.state import CourseState
from simcounsel.prompts import phrase
from simcounsel.specs.course import CoursePlan
from simcounsel.specs.therapy import COURSE_STAGES, CourseStage, Therapy
from simcounsel.texts.quotes import stands_in, units

Step = Literal["advance", "repeat", "back", "end"]
ROWS_A_FIELD = 12
"""More of one field are not filled in; what comes later in a course is rarely new."""


def look_back(
    view: TalkView, therapy: Therapy, plan: CoursePlan, state: CourseState
) -> Ask[tuple[PracticeEvent, ...]]:
    """All that a counselor writes when a session is over."""
    review = yield from _review(view, plan, state)
    facts = yield from _facts(view, state)
    rows = yield from _formulate(view, therapy, state)
    step = yield from _go_on(view, therapy, plan, state, review)
    return (review, *facts, *rows, step)


# the note


def _review(view: TalkView, plan: CoursePlan, state: CourseState) -> Ask[SessionReviewed]:
    """A goal counts as met when the words that show it stand in the talk."""
    unmet = state.unmet(plan)
    aimed = state.planned.goals if state.planned else ()
    goals = tuple(dict.fromkeys((*aimed, *unmet)))
    fallback = ReviewAnswer(
        summary=phrase("course_words", "no note", view.language, me=view.me, other=view.other),
        goals=(),
        client_state=phrase("course_words", "not noted", view.language),
        alliance=3,
    )
    reply = yield from asked(
        view,
        "course_review",
        ReviewAnswer,
        fallback,
        {"goals": listed(goals), "talk": talk_text(view.lines), "session": state.session},
        {"goals": goals},
        max_tokens=900,
    )
    answer: ReviewAnswer = reply.value
    reviewed, dropped = [], []
    for number, goal in enumerate(goals, 1):
        given = [one for one in answer.goals if one.number == number and one.met]
        quotes = tuple(dict.fromkeys(one.quote for one in given if stands(one.quote, view)))
        dropped += [one.quote or "(no quote)" for one in given if not stands(one.quote, view)]
        reviewed.append(GoalReview(goal=goal, met=bool(quotes), quotes=quotes))
    return SessionReviewed(
        who=view.me,
        chat=view.chat,
        about=view.other,
        session=state.session,
        stage=state.stage,
        summary=answer.summary,
        goals=tuple(reviewed),
        client_state=answer.client_state,
        alliance=answer.alliance,
        unresolved=answer.unresolved,
        homework=answer.homework or None,
        dropped=tuple(dropped),
    )


def stands(quote: str, view: TalkView, who: str | None = None) -> bool:
    """Whether the words stand in one line of the talk. who: only in this one's lines."""
    return any(stands_in(quote, line.text) for line in view.lines if who in (None, line.who))


# what was learned


def _facts(view: TalkView, state: CourseState) -> Ask[tuple[FactLearned, ...]]:
    """What the client told, each with words that it really said; then its place beside what is
    known, of which nothing is overwritten.
    """
    reply = yield from asked(
        view,
        "course_facts",
        FactsAnswer,
        FactsAnswer(facts=()),
        {"talk": talk_text(view.lines)},
        {},
        max_tokens=900,
    )
    told: dict[tuple[str, ...], FactAnswer] = {}
    for fact in reply.value.facts:
        if stands(fact.quote, view, view.other):
            told.setdefault(units(fact.text), fact)
    placed = yield from _place(view, state, tuple(told.values()))
    known: set[str] = {fact.id for fact in state.facts}
    found: list[FactLearned] = []
    for fact, place in zip(told.values(), placed, strict=True):
        if place.relation == "same" and place.known in known:
            continue
        against = (place.known,) if place.known in known else ()
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
                contradicts=against if place.relation == "contradicts" else (),
                supersedes=against if place.relation == "replaces" else (),
            )
        )
    return tuple(found)


def _place(
    view: TalkView, state: CourseState, told: tuple[FactAnswer, ...]
) -> Ask[tuple[PlacedAnswer, ...]]:
    """One place for each; new where nothing is known yet, or nothing was said of it."""
    new = tuple(PlacedAnswer(number=number, relation="new") for number in range(1, len(told) + 1))
    if not told or not state.facts:
        return new
    reply = yield from asked(
        view,
        "course_merge",
        MergeAnswer,
        MergeAnswer(placed=new),
        {
            "known": known_text(state),
            "told": listed(tuple(f"({fact.status}) {fact.text}" for fact in told)),
        },
        {
            "known": {fact.id: fact.text for fact in state.known()},
            "told": tuple(fact.text for fact in told),
        },
        tier="quick",
        temperature=0.0,
    )
    by_number = {place.number: place for place in reply.value.placed}
    return tuple(by_number.get(place.number, place) for place in new)


def _formulate(view: TalkView, therapy: Therapy, state: CourseState) -> Ask[tuple[Formulated, ...]]:
    """Rows for the therapy's own fields; one without words of the client's, or of another shape
    than its field, is left out.
    """
    fields = {field.id: field for field in therapy.conceptualization}
    told = {
        one: (
            f"{field.name}: {field.what}"
            + (f" Columns: {', '.join(field.columns)}." if field.columns else "")
        )
        for one, field in fields.items()
    }
    reply = yield from asked(
        view,
        "course_formulate",
        FormulationAnswer,
        FormulationAnswer(rows=()),
        {
            "fields": listed(told),
            "formulation": formulation_text(state, therapy),
            "talk": talk_text(view.lines),
        },
        {
            "fields": told,
            "columns": {one: len(field.columns) or 1 for one, field in fields.items()},
        },
        max_tokens=900,
    )
    there = {(row.field, tuple(map(units, row.cells))) for row in state.formulated}
    counts = {one: sum(row.field == one for row in state.formulated) for one in fields}
    found = []
    for row in reply.value.rows:
        field = fields.get(row.field)
        key = (row.field, tuple(map(units, row.cells)))
        if (
            field is None
            or len(row.cells) != (len(field.columns) or 1)
            or key in there
            or counts[row.field] >= ROWS_A_FIELD
        ):
            continue
        if stands(row.quote, view, view.other):
            there.add(key)
            counts[row.field] += 1
            found.append(
                Formulated(
                    who=view.me,
                    chat=view.chat,
                    about=view.other,
                    session=state.session,
                    field=row.field,
                    cells=row.cells,
                    quote=row.quote,
                )
            )
    return tuple(found)


# how it goes on


def _go_on(
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
        {"options": options, "share": share},
        tier="reason",
    )
    step: Step = reply.value.step
    return CourseAdvanced(
        who=view.me,
        chat=view.chat,
        about=view.other,
        session=state.session,
        step=step,
        options=options,
        origin=state.stage,
        stage=_after(state.stage, step),
        focus=reply.value.focus,
        reason=reply.value.reason,
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


def _after(stage: CourseStage, step: Step) -> CourseStage:
    at = COURSE_STAGES.index(stage)
    return (
        COURSE_STAGES[at + 1]
        if step == "advance"
        else COURSE_STAGES[at - 1]
        if step == "back"
        else stage
    )
