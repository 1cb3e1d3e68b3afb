"""Where a run leaves danger open: conversations that ended on it, and questionnaires about which
nobody asked.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from simcounsel.events import Assessed
from simcounsel.runs.conversation import Conversation, Dated
from simcounsel.specs.vocabulary import Danger, RiskLevel


@dataclass(frozen=True, kw_only=True)
class OpenEnd:
    """A conversation that ended on open danger, or a questionnaire that told one."""

    number: int | None
    """Of the conversation in its run, from 1; None for a questionnaire."""
    chat: str | None
    """Its id."""
    tick: int
    minute: int
    """When it began, since day 0."""
    who: tuple[str, ...]
    """The two; who answered the questionnaire."""
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
        if self.number is None:
            return "told in a questionnaire, and no counselor has talked with them since"
        if self.met_in is None:
            return "nobody has come back to it"
        return f"met in conversation {self.met_in}"


def danger_text(level: RiskLevel, kinds: Iterable[Danger]) -> str:
    """A danger in words: 'suicide, abuse (high)'."""
    named = ", ".join(kind.replace("_", " ") for kind in kinds)
    return f"{named} ({level})" if named else level


def open_ends(
    conversations: Iterable[Conversation],
    told: Iterable[Dated[Assessed]] = (),
    counselors: Collection[str] = (),
) -> tuple[OpenEnd, ...]:
    """Those that ended on open danger, and questionnaires that told one after the last conversation
    with a counselor; what nobody came back to first, otherwise in order.

    conversations: all of a run, in order, with or without their lines. told: what was heard of
    danger in questionnaires. counselors: by name.
    """
    held = list(conversations)
    met: dict[frozenset[str], list[int]] = {}
    for number, one in enumerate(held, 1):
        if one.ended and one.ended.open_danger == "none":
            met.setdefault(frozenset(one.who), []).append(number)
    found = [*_ended(held, met), *_told(held, told, counselors)]
    return tuple(sorted(found, key=lambda one: (one.met_in is not None, one.tick)))


def _ended(
    held: Iterable[Conversation], met: Mapping[frozenset[str], list[int]]
) -> Iterator[OpenEnd]:
    for number, one in enumerate(held, 1):
        ended = one.ended
        if ended is None or ended.open_danger == "none":
            continue
        later = (other for other in met.get(frozenset(one.who), ()) if other > number)
        yield OpenEnd(
            number=number,
            chat=one.id,
            tick=one.tick,
            minute=one.minute,
            who=one.who,
            level=ended.open_danger,
            kinds=ended.open_kinds,
            met_in=next(later, None),
        )


def _told(
    held: Iterable[Conversation], told: Iterable[Dated[Assessed]], counselors: Collection[str]
) -> Iterator[OpenEnd]:
    """The last of each client, if it told danger and no counselor has talked with them since."""
    last = {one.event.who: one for one in told if one.event.chat is None}
    talked = [one for one in held if set(one.who) & set(counselors)]
    for who, one in last.items():
        if one.event.level == "none" or any(
            who in talk.who and talk.seq > one.seq for talk in talked
        ):
            continue
        yield OpenEnd(
            number=None,
            chat=None,
            tick=one.tick,
            minute=one.minute,
            who=(who,),
            level=one.event.level,
            kinds=one.event.kinds,
        )
