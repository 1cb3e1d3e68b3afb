"""How often things happened in a world's run: a fold over plain fields, since it reads much of a
large log.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

KINDS = (
    "joined",
    "conversation_started",
    "decided",
    "said",
    "reflected",
    "persona_changed",
    "tick_ended",
)
"""Kinds of events that it is made of."""
PROTOCOL: Final = "safety"
"""The policy by whose name the safety protocol's moves are logged."""


class Worded(NamedTuple):
    """How a line of talk came about."""

    source: str
    """generated, chosen, fallback or human."""
    who: str
    """The speaker."""
    call: str
    """The call that it came from; '' where it names none."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Over a whole run."""

    last_minute: int
    """When its last tick began."""
    conversations: int
    reflections: int
    persona_changes: int
    """Without the persona that somebody comes with."""
    lines: Sequence[Worded]
    """Of talk."""
    counselor_lines: int
    """Lines of counselors."""
    safety_moves: int
    """How many of them the safety protocol decided; none that a person said who took part."""


def counts_in(entries: Iterable[dict[str, Any]]) -> Counts:
    """How often these events tell of each."""
    kinds: Counter[str] = Counter()
    lines: list[Worded] = []
    counselors: set[str] = set()
    decided: dict[str, str] = {}
    changes = minute = spoken = moves = 0
    for fields in entries:
        kinds[fields["kind"]] += 1
        match fields["kind"]:
            case "joined" if fields["role"] == "counselor":
                counselors.add(fields["who"])
            case "decided":
                decided[fields["who"]] = fields["policy"]
            case "said":
                call = (fields.get("calls") or ("",))[-1]
                lines.append(Worded(fields["source"], fields["who"], call))
                policy = decided.pop(fields["who"], None)
                if fields["who"] in counselors:
                    spoken += 1
                    moves += policy == PROTOCOL and fields["source"] != "human"
            case "persona_changed":
                changes += fields["version"] > 0
        minute = fields["minute"]
    return Counts(
        last_minute=minute,
        conversations=kinds["conversation_started"],
        reflections=kinds["reflected"],
        persona_changes=changes,
        lines=lines,
        counselor_lines=spoken,
        safety_moves=moves,
    )
