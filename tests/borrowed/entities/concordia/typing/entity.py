"""What an entity can be asked for."""

from dataclasses import dataclass
from enum import StrEnum


class OutputType(StrEnum):
    FREE = "free"
    CHOICE = "choice"


@dataclass(frozen=True, kw_only=True)
class ActionSpec:
    call_to_action: str
    output_type: OutputType
    options: tuple[str, ...] = ()
    tag: str | None = None


DEFAULT_SPEECH_ACTION_SPEC = ActionSpec(
    call_to_action="What does {name} say next?", output_type=OutputType.FREE, tag="speech"
)
