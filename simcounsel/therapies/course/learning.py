"""What a session adds to what is known of the client: facts, each with words that were really said,
and rows of the conceptualization.
"""

from collections import Counter
from collections.abc import Mapping

from simcounsel.agents.talk import TalkView
from simcounsel.events import FactLearned, Formulated
from simcounsel.llm.question import Traced
from simcounsel.texts.quotes import units
from simcounsel.therapies.course.prompting import worded
from simcounsel.therapies.course.review import stands
from simcounsel.therapies.course.schemas import FactAnswer, RowAnswer
from simcounsel.therapies.course.state import CourseState
from simcounsel.therapies.specs.therapy import ConceptField, Therapy

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
