"""What a session adds to what is known of the client: facts, each with words that were really said,
and rows of the conceptualization.
"""

from collections import Counter
from collections.abc import Mapping

from simcounsel.agents.talk import TalkView
from simcounsel.agents.views import talk_text
from simcounsel.events import FactLearned, Formulated
from simcounsel.llm.question import Ask, Reply, traced
from simcounsel.policies.course.facts import FormulationFacts, LearningFacts, MergeFacts, told_by
from simcounsel.policies.course.prompting import asked, formulation_text, known_text, listed
from simcounsel.policies.course.review import stands
from simcounsel.policies.course.schemas import (
    FactAnswer,
    FactsAnswer,
    FormulationAnswer,
    MergeAnswer,
    PlacedAnswer,
    RowAnswer,
)
from simcounsel.policies.course.state import CourseState
from simcounsel.specs.therapy import ConceptField, Therapy
from simcounsel.texts.quotes import units

ROWS_A_FIELD = 12
"""More of one field are not filled in; what comes later in a course is rarely new."""


def learn(view: TalkView, state: CourseState) -> Ask[tuple[FactLearned, ...]]:
    """What the client told, each with words that it really said; then its place beside what is
    known, of which nothing is overwritten.
    """
    reply = yield from asked(
        view,
        "course_facts",
        FactsAnswer,
        FactsAnswer(facts=()),
        {"talk": talk_text(view.lines)},
        LearningFacts(other=view.other, told=told_by(view.other, view.lines)),
        max_tokens=900,
    )
    by_words: dict[tuple[str, ...], FactAnswer] = {}
    for fact in reply.value.facts:
        if stands(fact.quote, view, view.other):
            by_words.setdefault(units(fact.text), fact)
    placed, replies = yield from _place(view, state, tuple(by_words.values()))
    known: set[str] = {fact.id for fact in state.facts}
    found: list[FactLearned] = []
    for fact, place in zip(by_words.values(), placed, strict=True):
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
                **traced(reply, *replies),
            )
        )
    return tuple(found)


def _place(
    view: TalkView, state: CourseState, told: tuple[FactAnswer, ...]
) -> Ask[tuple[tuple[PlacedAnswer, ...], tuple[Reply[MergeAnswer], ...]]]:
    """One place for each, and the reply that says so; new where nothing is known yet, or nothing
    was said of it.
    """
    new = tuple(PlacedAnswer(number=number, relation="new") for number in range(1, len(told) + 1))
    if not told or not state.facts:
        return new, ()
    reply = yield from asked(
        view,
        "course_merge",
        MergeAnswer,
        MergeAnswer(placed=new),
        {
            "known": known_text(state),
            "told": listed(tuple(f"({fact.status}) {fact.text}" for fact in told)),
        },
        MergeFacts(
            known={fact.id: fact.text for fact in state.known()},
            told=tuple(fact.text for fact in told),
        ),
        tier="quick",
        temperature=0.0,
    )
    by_number = {place.number: place for place in reply.value.placed}
    return tuple(by_number.get(place.number, place) for place in new), (reply,)


def formulate(view: TalkView, therapy: Therapy, state: CourseState) -> Ask[tuple[Formulated, ...]]:
    """Rows for the therapy's own fields; one without words of the client's, or of another shape
    than its field, is left out.
    """
    fields = {field.id: field for field in therapy.conceptualization}
    described = {
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
            "fields": listed(described),
            "formulation": formulation_text(state, therapy),
            "talk": talk_text(view.lines),
        },
        FormulationFacts(
            fields=described,
            columns={one: len(field.columns) or 1 for one, field in fields.items()},
            told=told_by(view.other, view.lines),
        ),
        max_tokens=900,
    )
    return tuple(
        Formulated(
            who=view.me,
            chat=view.chat,
            about=view.other,
            session=state.session,
            field=row.field,
            cells=row.cells,
            quote=row.quote,
            **traced(reply),
        )
        for row in _kept(reply.value.rows, fields, view, state)
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
