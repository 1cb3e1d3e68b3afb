"""All that can happen in a run: a closed, frozen, tagged union. State is a fold over these.

An event holds no wall clock, no uuid and no order of a set, so that the same world, seed and
replies give the same bytes. Memory ids are `NAME:NUMBER`, chat ids `TICK:NAME+NAME`.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from simcounsel.events.data import Answered, Data, Forked, TickEnded, Warned
from simcounsel.events.living import (
    Acted,
    Appraised,
    ConversationEnded,
    ConversationStarted,
    Decided,
    Hit,
    Insight,
    ItemAnswer,
    Joined,
    Left,
    Measured,
    Memory,
    Moved,
    Perceived,
    PersonaChanged,
    Planned,
    Recalled,
    Reflected,
    RelationChanged,
    Remembered,
    Said,
    Scheduled,
    Score,
    Sight,
    Slot,
    Stroke,
)
from simcounsel.events.practice import (
    Assessed,
    Candidate,
    ClientShifted,
    CourseAdvanced,
    FactLearned,
    Formulated,
    GoalReview,
    Judged,
    Noted,
    Reasoned,
    Retrieved,
    SessionPlanned,
    SessionReviewed,
    Transitioned,
)
from simcounsel.events.synthesis import (
    Disclosed,
    Drafted,
    Evaluated,
    Extracted,
    Fact,
    QualityRating,
    Revised,
    SessionEnded,
    StrategyDropped,
    StrategyKnown,
    StrategyLearned,
    StrategyRestored,
)

SCHEMA_VERSION = 2

Event = (
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
    | PersonaChanged
    | Measured
    | Assessed
    | Judged
    | Transitioned
    | Noted
    | Retrieved
    | Reasoned
    | SessionPlanned
    | SessionReviewed
    | FactLearned
    | Formulated
    | CourseAdvanced
    | ClientShifted
    | Extracted
    | Disclosed
    | Drafted
    | Evaluated
    | Revised
    | SessionEnded
    | StrategyLearned
    | StrategyKnown
    | StrategyDropped
    | StrategyRestored
    | Warned
    | Forked
    | TickEnded
)
PRACTICE = (
    Assessed,
    Judged,
    Transitioned,
    Noted,
    Retrieved,
    Reasoned,
    SessionPlanned,
    SessionReviewed,
    FactLearned,
    Formulated,
    CourseAdvanced,
    ClientShifted,
)
PracticeEvent = (
    Assessed
    | Judged
    | Transitioned
    | Noted
    | Retrieved
    | Reasoned
    | SessionPlanned
    | SessionReviewed
    | FactLearned
    | Formulated
    | CourseAdvanced
    | ClientShifted
)
"""What policies write and read; see `simcounsel.events.practice`."""

_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True)
class Entry:
    """An event in the log. seq: position, from 0; tick: or wave, in a synthesis; minute: simulated,
    since day 0.
    """

    seq: int
    tick: int
    minute: int
    event: Event

    def line(self) -> str:
        """Its line in events.jsonl: the kind first, from which calls it came last."""
        body = self.event.model_dump_json()[1:-1]
        if isinstance(self.event, Answered):
            at = body.index('"kind":')
            body = f"{body[at:]},{body[: at - 1]}"
        return f'{{"seq":{self.seq},"tick":{self.tick},"minute":{self.minute},{body}}}\n'


def parse_entry(fields: dict[str, Any]) -> Entry:
    """A line of events.jsonl, already read as JSON. pydantic.ValidationError when it is none."""
    body = {key: value for key, value in fields.items() if key not in ("seq", "tick", "minute")}
    return Entry(fields["seq"], fields["tick"], fields["minute"], _EVENT.validate_python(body))


__all__ = [
    "PRACTICE",
    "SCHEMA_VERSION",
    "Acted",
    "Answered",
    "Appraised",
    "Assessed",
    "Candidate",
    "ClientShifted",
    "ConversationEnded",
    "ConversationStarted",
    "CourseAdvanced",
    "Data",
    "Decided",
    "Disclosed",
    "Drafted",
    "Entry",
    "Evaluated",
    "Event",
    "Extracted",
    "Fact",
    "FactLearned",
    "Forked",
    "Formulated",
    "GoalReview",
    "Hit",
    "Insight",
    "ItemAnswer",
    "Joined",
    "Judged",
    "Left",
    "Measured",
    "Memory",
    "Moved",
    "Noted",
    "Perceived",
    "PersonaChanged",
    "Planned",
    "PracticeEvent",
    "QualityRating",
    "Reasoned",
    "Recalled",
    "Reflected",
    "RelationChanged",
    "Remembered",
    "Retrieved",
    "Revised",
    "Said",
    "Scheduled",
    "Score",
    "SessionEnded",
    "SessionPlanned",
    "SessionReviewed",
    "Sight",
    "Slot",
    "StrategyDropped",
    "StrategyKnown",
    "StrategyLearned",
    "StrategyRestored",
    "Stroke",
    "TickEnded",
    "Transitioned",
    "Warned",
    "parse_entry",
]
