"""What a run asks of its models, each figure against its goal: requests and input tokens by purpose, for a
resident-day or, of a clinic, for a session and a client; how much of a line's input a server can cache; the price.

    python -m tests.benchmarks.tokens RUN [RUN ...] [--model openai:gpt-4o-mini]

A token is counted as four characters; what the embedded or scripted model writes is shorter than what a capable one
does, so take a run of the model that is meant. Cacheable is what the same speaker's request for a line before
began with, where that is at least 1,024 tokens; the first line of a speaker has nothing before it.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from simcounsel.clock import MINUTES_PER_DAY
from simcounsel.llm.prices import Prices
from simcounsel.runs.calls import Call
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.specs.world import World

CHARACTERS = 4
CACHED_FROM = 1024
REQUESTS_A_DAY, TOKENS_A_DAY = 60, 60_000
"""Goals for a resident-day of the default world."""
SESSIONS_OF_A_COURSE, REQUESTS_A_COURSE = 6, 230
"""The goal for a course, of sessions of 24 lines."""
CACHEABLE = 0.60
"""The goal for the share of lines' input."""
LINES = "line_"
"""How the purpose of a line begins, whoever says it."""


def cacheable(calls: Iterable[Call]) -> tuple[int, int]:
    """Of the lines' input: characters that a server can cache, and all."""
    last: dict[str, str] = {}
    cached = total = 0
    for call in calls:
        if not call.purpose.startswith(LINES):
            continue
        text = "\n".join(one.content for one in call.messages)
        same = _common(last.get(call.who, ""), text)
        cached += same if same >= CACHED_FROM * CHARACTERS else 0
        total += len(text)
        last[call.who] = text
    return cached, total


def _common(one: str, other: str) -> int:
    """How many characters the two begin with alike."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in alike)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a run asked for; vectors apart."""

    requests: int
    tokens_in: float
    tokens_out: float

    @classmethod
    def of(cls, calls: Sequence[Call]) -> "Asked":
        """Of these calls."""
        return cls(
            requests=len(calls),
            tokens_in=sum(map(_sent, calls)) / CHARACTERS,
            tokens_out=sum(len(one.reply or "") for one in calls) / CHARACTERS,
        )


def _sent(call: Call) -> int:
    """Characters of the messages, and of a schema that went beside them."""
    beside = (call.parameters or {}).get("response_format")
    schema = len(json.dumps(beside)) if isinstance(beside, Mapping) else 0
    return sum(len(one.content) for one in call.messages) + schema


def against(value: float, goal: float) -> str:
    """How a figure stands to its goal."""
    return f"{value / goal:.2f} of the goal of {goal:,.0f}"


def per_day(asked: Asked, world: World, ticks: int) -> Iterator[str]:
    """Of a world that is lived through, for one resident and one day."""
    days = len(world.residents) * ticks * world.tick_minutes / MINUTES_PER_DAY
    if days:
        requests, tokens = asked.requests / days, asked.tokens_in / days
        yield f"resident-days: {days:.2f}"
        yield f"requests a resident-day: {requests:.1f}, {against(requests, REQUESTS_A_DAY)}"
        yield f"input tokens a resident-day: {tokens:,.0f}, {against(tokens, TOKENS_A_DAY)}"


def per_session(asked: Asked, world: World, sessions: int, lines: int) -> Iterator[str]:
    """Of a clinic, whose days between the sessions are skipped: for a session and for a client."""
    clients = sum(one.role == "client" for one in world.residents)
    if sessions and clients:
        requests = asked.requests / sessions
        course = requests * SESSIONS_OF_A_COURSE
        yield f"sessions: {sessions} of {lines / sessions:.1f} lines each, clients: {clients}"
        yield f"a session: {requests:.1f} requests, {asked.tokens_in / sessions:,.0f} input tokens"
        yield (
            f"a client: {asked.requests / clients:.1f} requests,"
            f" {asked.tokens_in / clients:,.0f} input tokens"
        )
        yield (
            f"requests a course of {SESSIONS_OF_A_COURSE} sessions: {course:.0f},"
            f" {against(course, REQUESTS_A_COURSE)}"
        )


def units(run: Run) -> tuple[float, str]:
    """By what a run is divided for its price: a clinic's sessions, or resident-days."""
    world = run.world
    if world.days == "skipped":
        return _sessions(run)[0], "session"
    return len(world.residents) * run.ticks_done() * world.tick_minutes / MINUTES_PER_DAY, (
        "resident-day"
    )


def _sessions(run: Run) -> tuple[int, int]:
    """How many were held, and their lines together."""
    held = [one for one in History.of(run).conversations() if one.ended is not None]
    return len(held), sum(len(one.lines) for one in held)


def report(run: Run, model: str) -> None:
    """Print the table of a run and its figures against their goals."""
    read = (Call.read(raw) for raw in run.calls())
    calls = [one for one in read if one and not (one.embeds or one.spare or one.given_up)]
    asked, by_purpose = Asked.of(calls), defaultdict[str, list[Call]](list)
    for call in calls:
        by_purpose[call.purpose].append(call)
    print(f"{'purpose':28} {'requests':>9} {'input tokens':>13}")
    for purpose, some in sorted(by_purpose.items(), key=lambda pair: -len(pair[1])):
        print(f"{purpose:28} {len(some):9,} {Asked.of(some).tokens_in:13,.0f}")
    print(f"{'all':28} {asked.requests:9,} {asked.tokens_in:13,.0f}")
    told = (
        per_session(asked, run.world, *_sessions(run))
        if run.world.days == "skipped"
        else per_day(asked, run.world, run.ticks_done())
    )
    for line in told:
        print(line)
    cached, total = cacheable(calls)
    if total:
        share = cached / total
        print(f"cacheable share of lines' input: {share:.0%}, {share / CACHEABLE:.2f} of the goal")
    _print_price(run, asked, model)


def _print_price(run: Run, asked: Asked, model: str) -> None:
    cost = Prices.load().cost_usd(model, round(asked.tokens_in), round(asked.tokens_out))
    if cost is None:
        print(f"{model} has no list price; name another with --model")
        return
    many, unit = units(run)
    each = f", {cost / many:.4f} USD a {unit}" if many else ""
    print(f"at the list price of {model}, nothing cached: {cost:.4f} USD{each}")


def main() -> None:
    """Print a table for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--model", default="openai:gpt-4o-mini")
    given = parser.parse_args()
    for folder in given.runs:
        report(Run.open(folder), given.model)


if __name__ == "__main__":
    main()
