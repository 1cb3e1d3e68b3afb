"""How often things happened in a world's run: a fold over plain fields, since it reads much of a
large log.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

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
    counselor_lines: int
    """Lines of counselors."""
    safety_moves: int
    """How many of them the safety protocol decided; none that a person said who took part."""


SOURCE_WORDS: Mapping[str, str] = {
    "generated": "written by the model",
    "chosen": "chosen out of lines that people wrote beforehand",
    "fallback": "ready-made, where the model gave none that could be said",
    "human": "said by somebody who took part",
}
"""How a line of each source came about, for people."""


def lines_text(sources: Mapping[str, int]) -> str:
    """How many lines there are and how they came about. sources: lines by source."""
    told = [(count, SOURCE_WORDS.get(source, source)) for source, count in sorted(sources.items())]
    lines = sum(count for count, _ in told)
    if not lines:
        return "no lines"
    if len(told) == 1:
        return f"{lines} {'lines, all' if lines > 1 else 'line,'} {told[0][1]}"
    return f"{lines} lines: " + "; ".join(f"{count} {words}" for count, words in told)


def counts_in(entries: Iterable[dict[str, Any]]) -> Counts:
    """How often these events tell of each."""
    kinds: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    counselors: set[str] = set()
    decided: dict[str, str] = {}
    changes = minute = lines = moves = 0
    for fields in entries:
        kinds[fields["kind"]] += 1
        match fields["kind"]:
            case "joined" if fields["role"] == "counselor":
                counselors.add(fields["who"])
            case "decided":
                decided[fields["who"]] = fields["policy"]
            case "said":
                sources[fields["source"]] += 1
                policy = decided.pop(fields["who"], None)
                if fields["who"] in counselors:
                    lines += 1
                    moves += policy == PROTOCOL and fields["source"] != "human"
            case "persona_changed":
                changes += fields["version"] > 0
        minute = fields["minute"]
    return Counts(
        last_minute=minute,
        conversations=kinds["conversation_started"],
        reflections=kinds["reflected"],
        persona_changes=changes,
        sources=dict(sources),
        counselor_lines=lines,
        safety_moves=moves,
    )
