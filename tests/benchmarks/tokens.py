"""What a run asks of its models: requests and input tokens by purpose, and how much of a line's input a server can cache.

    python tests/benchmarks/tokens.py RUN [RUN ...] [--model openai:gpt-4o-mini]

A token is counted as four characters. Cacheable is what the same speaker's request for a line before
began with, where that is at least 1,024 tokens; the first line of a speaker has nothing before it.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from simcounsel.llm.prices import Prices
from simcounsel.runs.calls import Call
from simcounsel.runs.run import Run

CHARACTERS = 4
CACHED_FROM = 1024
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


def report(run: Run, model: str) -> None:
    """Print the table of a run."""
    calls = [one for raw in run.calls() if (one := Call.read(raw)) and not one.embeds]
    requests: Counter[str] = Counter()
    characters: dict[str, int] = defaultdict(int)
    for call in calls:
        requests[call.purpose] += 1
        characters[call.purpose] += sum(len(one.content) for one in call.messages)
    print(f"{'purpose':28} {'requests':>9} {'input tokens':>13}")
    for purpose, many in requests.most_common():
        print(f"{purpose:28} {many:9,} {characters[purpose] // CHARACTERS:13,}")
    print(f"{'all':28} {len(calls):9,} {sum(characters.values()) // CHARACTERS:13,}")
    ticks = max((call.tick or 0 for call in calls), default=-1) + 1
    days = len(run.world.residents) * ticks * run.world.tick_minutes / (24 * 60)
    if days:
        tokens = sum(characters.values()) / CHARACTERS
        print(f"a resident-day: {len(calls) / days:.1f} requests, {tokens / days:,.0f} tokens")
    cached, total = cacheable(calls)
    if total:
        print(f"cacheable share of lines' input: {cached / total:.0%}")
    written = sum(len(one.reply or "") for one in calls) // CHARACTERS
    cost = Prices.load().cost_usd(model, sum(characters.values()) // CHARACTERS, written)
    print(f"at the list price of {model}: {cost} USD")


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
