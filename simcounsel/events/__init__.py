"""All that can happen in a run: a frozen, tagged union. State is a fold over these. What other
packages write is kept as data, as `Foreign`.

An event holds no wall clock, no uuid and no order of a set, so that the same world, seed and
replies give the same bytes. Memory ids are `NAME:NUMBER`, chat ids `TICK:NAME+NAME`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast, get_args

from pydantic import BaseModel

from simcounsel.errors import PluginError
from simcounsel.events.conversation import ConversationEnded, ConversationStarted, Decided, Said
from simcounsel.events.data import (
    Answered,
    Data,
    Foreign,
    Forked,
    ParameterLeftOut,
    TickEnded,
    Warned,
    written,
)
from simcounsel.events.living import (
    Acted,
    Appraised,
    BeliefMoved,
    Hit,
    Insight,
    Joined,
    Left,
    Memory,
    Moved,
    Perceived,
    PersonaChanged,
    Planned,
    Recalled,
    Reflected,
    RelationChanged,
    Remembered,
    Scheduled,
    Sight,
    Slot,
    Stroke,
)
from simcounsel.events.measurement import Absence, ItemAnswer, Measured, Score
from simcounsel.events.practice import (
    Assessed,
    Candidate,
    ClientShifted,
    CourseAdvanced,
    FactLearned,
    Formulated,
    GoalReview,
    HomeworkAgreed,
    Judged,
    MaterialOpened,
    Noted,
    Reasoned,
    Retrieved,
    SessionPlanned,
    SessionReviewed,
    Transitioned,
)
from simcounsel.events.practised import PRACTICE, PracticeEvent
from simcounsel.secret import scrub

SCHEMA_VERSION = 5

KnownEvent = (
    Joined
    | Left
    | Planned
    | Scheduled
    | Moved
    | Acted
    | Perceived
    | Appraised
    | Remembered
    | Recalled
    | ConversationStarted
    | Decided
    | Said
    | ConversationEnded
    | RelationChanged
    | Reflected
    | BeliefMoved
    | PersonaChanged
    | Measured
    | Assessed
    | Judged
    | Transitioned
    | Noted
    | Retrieved
    | Reasoned
    | SessionPlanned
    | MaterialOpened
    | SessionReviewed
    | FactLearned
    | Formulated
    | CourseAdvanced
    | ClientShifted
    | HomeworkAgreed
    | Warned
    | ParameterLeftOut
    | Forked
    | TickEnded
)
Event = KnownEvent | Foreign
_READ: dict[str, Callable[[object], Event]] = {
    str(event.model_fields["kind"].default): event.__pydantic_validator__.validate_python
    for event in get_args(KnownEvent)
}
"""How an event of a kind is read: the validator itself, since a large log has many lines."""
KINDS = frozenset(_READ)
"""What this version knows."""
_CLASSES = frozenset(get_args(Event))


@dataclass(frozen=True, slots=True)
class Entry:
    """An event in the log."""

    seq: int
    """Position, from 0."""
    tick: int
    minute: int
    """Simulated, since day 0."""
    event: Event

    def line(self) -> str:
        """Its line in events.jsonl; no secrets."""
        body = _fields_text(self.event)
        return scrub(f'{{"seq":{self.seq},"tick":{self.tick},"minute":{self.minute},{body}}}\n')


def _fields_text(event: BaseModel) -> str:
    """The fields of an event as JSON: the kind first, from which calls it came last."""
    body = event.model_dump_json()[1:-1]
    if not isinstance(event, Answered):
        return body
    at = body.index('"kind":')
    return f"{body[at:]},{body[: at - 1]}"


def parse_entry(fields: dict[str, Any]) -> Entry:
    """A line of events.jsonl, already read as JSON. ValueError (pydantic's ValidationError is one)
    or KeyError when it is none.
    """
    body = dict(fields)
    seq, tick, minute = body.pop("seq"), body.pop("tick"), body.pop("minute")
    if not (type(seq) is type(tick) is type(minute) is int):
        raise ValueError(f"seq {seq!r}, tick {tick!r}, minute {minute!r}: whole numbers are needed")
    kind = body.get("kind")
    read = _READ.get(kind) if isinstance(kind, str) else None
    return Entry(seq, tick, minute, read(body) if read else Foreign.model_validate(body))


def as_event(data: BaseModel) -> Event:
    """What goes into the log: one of our events as it is, a package's own as data, the same as it
    will be read. PluginError when it has no kind, or one of ours.
    """
    if type(data) in _CLASSES:
        return cast(Event, data)
    kind = getattr(data, "kind", None)
    if not isinstance(kind, str) or kind in KINDS:
        raise PluginError(
            f"{type(data).__module__}.{type(data).__qualname__}: an event of one's own has a `kind`"
            f" of its own, such as mypackage.told; this one has {kind!r}"
        )
    return Foreign.model_validate_json(f"{{{_fields_text(data)}}}")


__all__ = [
    "KINDS",
    "PRACTICE",
    "SCHEMA_VERSION",
    "Absence",
    "Acted",
    "Answered",
    "Appraised",
    "Assessed",
    "BeliefMoved",
    "Candidate",
    "ClientShifted",
    "ConversationEnded",
    "ConversationStarted",
    "CourseAdvanced",
    "Data",
    "Decided",
    "Entry",
    "Event",
    "FactLearned",
    "Foreign",
    "Forked",
    "Formulated",
    "GoalReview",
    "Hit",
    "HomeworkAgreed",
    "Insight",
    "ItemAnswer",
    "Joined",
    "Judged",
    "KnownEvent",
    "Left",
    "MaterialOpened",
    "Measured",
    "Memory",
    "Moved",
    "Noted",
    "ParameterLeftOut",
    "Perceived",
    "PersonaChanged",
    "Planned",
    "PracticeEvent",
    "Reasoned",
    "Recalled",
    "Reflected",
    "RelationChanged",
    "Remembered",
    "Retrieved",
    "Said",
    "Scheduled",
    "Score",
    "SessionPlanned",
    "SessionReviewed",
    "Sight",
    "Slot",
    "Stroke",
    "TickEnded",
    "Transitioned",
    "Warned",
    "as_event",
    "parse_entry",
    "written",
]
