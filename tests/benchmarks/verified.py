"""What it costs a run that it can be verified: hashes, and its calls on the disk before its events.

    python -m tests.benchmarks.verified [--ticks 48] [--latency-ms 100] [--out FOLDER]

Pairs of runs in one process, one with and one without, in turns: wall time with a model that answers
after a while (0: at once, which no model does). `--out` must lie on the disk that is meant: in
memory nothing waits for it.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simcounsel.engine.simulation import Simulation
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.runs import chain
from simcounsel.runs.writing import Writer
from simcounsel.scripted import Scripted
from simcounsel.specs.world_file import load_world
from tests.stage import ROOT, SCRIPTED, switchboard


class Slow(Scripted):
    """The scripted model, after a while."""

    def __init__(self, latency_s: float) -> None:
        super().__init__()
        self._latency_s = latency_s

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        if self._latency_s:
            await asyncio.sleep(self._latency_s)
        return await super().complete(request, complaint)


@contextmanager
def without() -> Iterator[None]:
    """Meanwhile ticks have no true hash, and calls are not synced."""
    hashing, append = chain.tick_hash, Writer.append

    def unsynced(self: Writer, tick: "list[object]") -> "list[object]":
        self._unsynced_calls = False
        return append(self, tick)  # type: ignore[arg-type, return-value]

    chain.tick_hash = lambda before, lines, end: before
    Writer.append = unsynced  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        chain.tick_hash, Writer.append = hashing, append  # type: ignore[method-assign]


def lived(out: Path, ticks: int, latency_s: float) -> tuple[float, float]:
    """Wall and processor seconds of a run."""
    world = load_world(ROOT / "worlds" / "insomnia.yaml").with_one_model(
        SCRIPTED | {"quick": None, "judge": None}
    )
    with tempfile.TemporaryDirectory(dir=out) as folder:
        os.sync()
        begun, cpu = time.perf_counter(), time.process_time()
        Simulation(world, out=folder, models=switchboard(Slow(latency_s))).run(ticks)
        return time.perf_counter() - begun, time.process_time() - cpu


def main(arguments: list[str] | None = None) -> None:
    """Live in pairs, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=48)
    parser.add_argument("--latency-ms", type=float, default=100)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()))
    told = parser.parse_args(arguments)
    lived(told.out, 4, 0)  # warm-up
    ratios: list[tuple[float, float]] = []
    for number in range(told.pairs):
        plain_first = number % 2 == 0
        found = {}
        for plain in (plain_first, not plain_first):
            if plain:
                with without():
                    found[plain] = lived(told.out, told.ticks, told.latency_ms / 1000)
            else:
                found[plain] = lived(told.out, told.ticks, told.latency_ms / 1000)
        ratios.append((found[False][0] / found[True][0], found[False][1] / found[True][1]))
    wall, cpu = (statistics.median(one) for one in zip(*ratios, strict=True))
    print(
        f"with / without, median of {told.pairs} pairs of {told.ticks} ticks at"
        f" {told.latency_ms:g} ms: wall {wall:.3f}, CPU {cpu:.3f}"
    )


if __name__ == "__main__":
    main()
