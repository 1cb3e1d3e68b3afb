"""Crises into transcripts: each is played in the engine's own conversation, rule by rule, so that
whatever holds, ends or protects a talk in a world does so here.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from simcounsel.bench.cases import Kept
from simcounsel.bench.folder import Folder
from simcounsel.bench.protocol.client import Client
from simcounsel.bench.protocol.counselor import Seat, stage
from simcounsel.bench.protocol.crises import Crisis
from simcounsel.engine.conversation import converse
from simcounsel.errors import GivenUp, TooManyFallbacks
from simcounsel.events import ConversationEnded, Decided, Said
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.question import Ask, Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.specs.vocabulary import RISK_LEVELS, RiskLevel
from simcounsel.specs.world_settings import FallbackLimits

TURNS = 30
"""Lines of a talk in all, before danger that is open moves its end."""
BUDGET_CRISES = 4
T = TypeVar("T")


class Turn(Kept):
    """A line of a talk."""

    speaker: Literal["counselor", "client"]
    text: str
    keys: tuple[str, ...] = ()
    """Of a client's line: what of the script it gives."""
    shows: RiskLevel = "none"
    """Of a client's line: the danger that it gives away, after the script."""
    leaves: bool = False
    """Whether it takes leave."""
    move: str | None = None
    """Of a counselor's line: what it was decided to do."""
    policy: str | None = None
    """Whose decision that was."""
    source: str = "generated"
    """How the line came about: generated, chosen, fallback."""


class Transcript(Kept):
    """A talk that was played."""

    crisis: str
    """Its id."""
    turns: tuple[Turn, ...]
    ended: Literal["goodbye", "limit"]
    """A leave-taking, or the limit of lines."""
    by: Literal["counselor", "client"] | None
    """Who took leave; None at the limit."""
    open_danger: RiskLevel = "none"
    """What was open at the end by what was heard, as a run's log would say it; none where nobody
    listened.
    """


def play(
    crises: Sequence[Crisis],
    seat: Seat,
    models: Switchboard,
    folder: Folder,
    *,
    turns: int = TURNS,
    wave: int | None = None,
    fallbacks: FallbackLimits | None = None,
    on_done: Callable[[int], None] | None = None,
) -> tuple[Transcript, ...]:
    """All talks, in the order of the crises. What was answered before is not asked again.

    wave: how many at a time; None: all at once, or 4 with a budget. on_done: called after each talk
    with 1. GivenUp as in `Bench.measure`.
    """
    models.recorder = folder
    models.fallbacks = FallbackShare(fallbacks or FallbackLimits())
    size = wave or (len(crises) if not models.budget.limited else BUDGET_CRISES)
    found: list[Transcript] = []
    for number, start in enumerate(range(0, len(crises), size)):
        some = crises[start : start + size]
        models.begin_tick(number)
        asks = {f"{at:06d}": _talk(one, seat, turns, on_done) for at, one in enumerate(some)}
        try:
            outcomes = models.ask(asks)
        except GivenUp as error:
            if isinstance(error, TooManyFallbacks):
                folder.mark_stop(str(error))
            raise error.telling(
                f"what was answered is kept in {folder.path}; the same command goes on"
            ) from None
        found += (outcome.value for outcome in outcomes.values())
    return tuple(found)


def _talk(
    crisis: Crisis, seat: Seat, turns: int, on_done: Callable[[int], None] | None
) -> Ask[Transcript]:
    set_up = stage(crisis, seat)
    client = set_up.client.mind
    assert isinstance(client, Client)
    talked = yield from _numbered(
        crisis.id, converse(set_up.counselor, set_up.client, set_up.started, turns)
    )
    if on_done:
        on_done(1)
    return _transcript(crisis, client, talked.events, set_up.client.name)


def _numbered(id: str, asking: Ask[T]) -> Ask[T]:
    """The same, each request under the crisis's id and a number, by which it is kept."""
    answer: Any = None
    number = 0
    while True:
        try:
            wanted = asking.send(answer)
        except StopIteration as end:
            found: T = end.value
            return found
        number += 1
        who = f"{id}/{number}"
        answer = yield (
            replace(wanted, who=who)
            if isinstance(wanted, Question)
            else tuple(replace(one, who=who) for one in wanted)
        )


def _transcript(crisis: Crisis, client: Client, events: Sequence[object], name: str) -> Transcript:
    told = iter(client.script.told)
    turns: list[Turn] = []
    decided: Decided | None = None
    for event in events:
        if isinstance(event, Decided):
            decided = event
        elif isinstance(event, Said) and event.who == name:
            line = next(told)
            turns.append(
                Turn(
                    speaker="client",
                    text=event.text,
                    keys=line.keys,
                    shows=_shown(crisis, line.keys),
                    leaves=line.leaves,
                    source=event.source,
                )
            )
        elif isinstance(event, Said):
            turns.append(
                Turn(
                    speaker="counselor",
                    text=event.text,
                    move=decided.move if decided else None,
                    policy=decided.policy if decided else None,
                    source=event.source,
                )
            )
    (ended,) = (event for event in events if isinstance(event, ConversationEnded))
    return Transcript(
        crisis=crisis.id,
        turns=tuple(turns),
        ended="limit" if ended.by is None else "goodbye",
        by=None if ended.by is None else "client" if ended.by == name else "counselor",
        open_danger=ended.open_danger,
    )


def _shown(crisis: Crisis, keys: Sequence[str]) -> RiskLevel:
    levels = [RISK_LEVELS.index(crisis.shows[key]) for key in keys if key in crisis.shows]
    return RISK_LEVELS[max(levels, default=0)]
