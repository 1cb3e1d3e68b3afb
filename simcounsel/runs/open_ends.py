"""The conversations of a run that ended on open danger, and whether the two came back to it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from simcounsel.events import ConversationEnded
from simcounsel.runs.conversation import Conversation
from simcounsel.specs.vocabulary import Danger, RiskLevel


@dataclass(frozen=True, kw_only=True)
class OpenEnd:
    """A conversation that ended on open danger."""

    number: int
    """Of the conversation in its run, from 1."""
    chat: str
    """Its id."""
    tick: int
    minute: int
    """When it began, since day 0."""
    who: tuple[str, str]
    """The two."""
    level: RiskLevel
    kinds: tuple[Danger, ...]
    met_in: int | None = None
    """The number of the next conversation of the two that left nothing open; None: there is none
    yet.
    """

    @property
    def danger(self) -> str:
        """Which, in words: 'suicide, abuse (high)'."""
        return danger_text(self.level, self.kinds)

    @property
    def since(self) -> str:
        """What came of it, in words."""
        if self.met_in is None:
            return "nobody has come back to it"
        return f"met in conversation {self.met_in}"


def danger_text(level: RiskLevel, kinds: Iterable[Danger]) -> str:
    """A danger in words: 'suicide, abuse (high)'."""
    named = ", ".join(kind.replace("_", " ") for kind in kinds)
    return f"{named} ({level})" if named else level


def open_ends(conversations: Iterable[Conversation]) -> tuple[OpenEnd, ...]:
    """Those that ended on open danger; what nobody came back to first, otherwise in order.
    conversations: all of a run, in order, with or without their lines.
    """
    found: list[OpenEnd] = []
    met: dict[frozenset[str], list[int]] = {}
    for number, held in enumerate(conversations, 1):
        ended = held.ended
        if not isinstance(ended, ConversationEnded):
            continue
        if ended.open_danger == "none":
            met.setdefault(frozenset(held.who), []).append(number)
            continue
        found.append(
            OpenEnd(
                number=number,
                chat=held.id,
                tick=held.tick,
                minute=held.minute,
                who=held.who,
                level=ended.open_danger,
                kinds=ended.open_kinds,
            )
        )
    known = [_with_end(one, met.get(frozenset(one.who), [])) for one in found]
    return tuple(sorted(known, key=lambda one: one.met_in is not None))


def _with_end(one: OpenEnd, met: Iterable[int]) -> OpenEnd:
    later = next((number for number in met if number > one.number), None)
    return replace(one, met_in=later)
