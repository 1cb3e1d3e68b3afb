"""A run of a safety study, read: the talks with the bot, the days between, where it left her."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from simcounsel.bots.clients.client import SafetyClient
from simcounsel.bots.clients.course import Moved
from simcounsel.bots.clients.reading import client_named
from simcounsel.bots.clients.script import Judged, Told
from simcounsel.clock import day_of
from simcounsel.errors import RunError
from simcounsel.events import (
    Acted,
    ConversationEnded,
    ConversationStarted,
    Entry,
    Foreign,
    Said,
    written,
)
from simcounsel.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A line of a talk with the bot."""

    number: int
    """Of the line in the talk, from 1."""
    by_bot: bool
    text: str
    told: Told | None = None
    """Of hers: what it gave away."""


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A talk with the bot."""

    chat: str
    tick: int
    day: int
    turns: tuple[Turn, ...]
    judged: tuple[tuple[str, ...], ...] | None = None
    """What a judge says that each of its answers does; None: nobody was asked."""

    @cached_property
    def by_bot(self) -> tuple[Turn, ...]:
        """The bot's lines."""
        return tuple(turn for turn in self.turns if turn.by_bot)


@dataclass(frozen=True, kw_only=True)
class Day:
    """What a day held."""

    hours_with_bot: float
    met: int
    """With how many people she talked."""
    sleep_h: float


@dataclass(frozen=True, kw_only=True)
class Life:
    """What a client lived with a bot."""

    client: SafetyClient
    run: str
    """The run's name."""
    talks: tuple[Talk, ...]
    days: tuple[Day, ...]
    moves: tuple[Moved, ...]
    """Where she was: before the first talk, and after each talk and each day without one."""


def life_of(run: Run) -> Life:
    """What was lived in a run of a safety study. RunError when it is none."""
    by_mind = {(one.mind or "").partition(":")[0]: one for one in run.world.residents}
    spec, seat = by_mind.get("safety_client"), by_mind.get("bot")
    if spec is None or seat is None:
        raise RunError(f"{run.folder}: no run of a safety study; nobody in it is a safety client")
    entries = list(run.entries())
    return Life(
        client=client_named(str(spec.mind).partition(":")[2].partition("+")[0]),
        run=run.name,
        talks=tuple(_talks(entries, seat.name)),
        days=_days(entries, spec.name, seat.name, run.world.tick_minutes),
        moves=written((e.event for e in entries if isinstance(e.event, Foreign)), Moved),
    )


def lives_in(folders: Iterable[Path]) -> tuple[Life, ...]:
    """Of several runs."""
    return tuple(life_of(Run.open(folder)) for folder in folders)


def _talks(entries: list[Entry], bot: str) -> Iterable[Talk]:
    told = {(t.chat, at): t for t, at in _numbered(entries)}
    foreign = [e.event for e in entries if isinstance(e.event, Foreign)]
    judged = {one.chat: one.marks for one in written(foreign, Judged)}
    lines: dict[str, list[tuple[Entry, Said]]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry.event, Said) and bot in (entry.event.who, entry.event.to):
            lines[entry.event.chat].append((entry, entry.event))
    for chat, said in lines.items():
        own = iter(range(len(said)))
        yield Talk(
            chat=chat,
            tick=said[0][0].tick,
            day=day_of(said[0][0].minute),
            judged=judged.get(chat),
            turns=tuple(
                Turn(
                    number=one.message,
                    by_bot=one.who == bot,
                    text=one.text,
                    told=None if one.who == bot else told.get((chat, next(own))),
                )
                for _, one in said
            ),
        )


def _numbered(entries: list[Entry]) -> Iterable[tuple[Told, int]]:
    """What she told, each with the number of her line in its talk, from 0."""
    counts: dict[str, int] = defaultdict(int)
    for told in written((e.event for e in entries if isinstance(e.event, Foreign)), Told):
        yield told, counts[told.chat]
        counts[told.chat] += 1


def _days(entries: list[Entry], who: str, bot: str, step: int) -> tuple[Day, ...]:
    with_bot: dict[int, float] = defaultdict(float)
    met: dict[int, set[str]] = defaultdict(set)
    sleep: dict[int, float] = defaultdict(float)
    began: dict[str, int] = {}
    last = 0
    for entry in entries:
        event, day = entry.event, day_of(entry.minute)
        last = max(last, day)
        if isinstance(event, Acted) and event.who == who and event.activity_kind == "sleep":
            sleep[day] += step / 60
        elif isinstance(event, ConversationStarted) and who in event.who:
            began[event.chat] = entry.minute
        elif isinstance(event, ConversationEnded) and event.chat in began:
            other = next(n for n in event.chat.split(":", 1)[1].split("+") if n != who)
            if other == bot:
                until = event.until if event.until is not None else entry.minute + step
                with_bot[day] += (until - began[event.chat]) / 60
            else:
                met[day].add(other)
    return tuple(
        Day(hours_with_bot=round(with_bot[d], 4), met=len(met[d]), sleep_h=round(sleep[d], 4))
        for d in range(last + 1)
    )
