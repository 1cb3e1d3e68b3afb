"""How often things happened in a world's run: a fold over plain fields, since it reads much of a
large log.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

KINDS = ("conversation_started", "said", "reflected", "persona_changed", "tick_ended")
"""Kinds of events that it is made of."""
BY_HAND = frozenset(("chosen", "fallback"))
"""Sources of lines that were written beforehand: a stand-in chose it, or no model's line could be
said."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Over a whole run."""

    last_minute: int
    """When its last tick began."""
    conversations: int
    reflections: int
    persona_changes: int
    """Without the persona that somebody comes with."""
    sources: Mapping[str, int]
    """Lines of talk by how they came about: generated, chosen, fallback, human."""


def by_hand_text(sources: Mapping[str, int]) -> str:
    """How many of the lines were written beforehand: '3 of 20'. sources: lines by source."""
    by_hand = sum(count for source, count in sources.items() if source in BY_HAND)
    return f"{by_hand} of {sum(sources.values())}"


def counts_in(entries: Iterable[dict[str, Any]]) -> Counts:
    """How often these events tell of each."""
    kinds: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    changes = minute = 0
    for fields in entries:
        kinds[fields["kind"]] += 1
        match fields["kind"]:
            case "said":
                sources[fields["source"]] += 1
            case "persona_changed":
                changes += fields["version"] > 0
        minute = fields["minute"]
    return Counts(
        last_minute=minute,
        conversations=kinds["conversation_started"],
        reflections=kinds["reflected"],
        persona_changes=changes,
        sources=dict(sources),
    )
