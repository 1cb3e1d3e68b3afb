"""How fast dialogues are written against a server of fixed latency, with 1, 8 and 64 requests in flight.

    python -m tests.benchmarks.synthesis [--quick] [--sessions 64] [--latency-ms 100]

`path` is what the waiting alone would take: of each wave the longest chain of questions that must wait for each other (an
extraction, then a seeker's line, a draft, a judgment and, where it is wanted, a revision for each turn, then the manager),
or the wave's questions in rounds of so many in flight, whichever is longer, times the latency. All sessions are one wave.
"""

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from simcounsel.corpus.synthesis.settings import Synthesis, SynthesisModels
from simcounsel.corpus.synthesis.situations import read_situations
from simcounsel.corpus.synthesis.workshop import Workshop
from simcounsel.runs.run import Run
from tests.benchmarks.engine import server, verdict


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Of one synthesis. path_s: what the waiting alone would take."""

    wall_s: float
    path_s: float
    sessions: int
    requests: int
    characters: float
    peak: int

    @property
    def ratio(self) -> float:
        """Of the wall time to the waiting alone."""
        return self.wall_s / self.path_s


def write(url: str, sessions: int, in_flight: int, latency_s: float) -> Figures:
    """Write so many sessions, all in one wave."""
    settings = Synthesis(
        situations=read_situations(["shipped"]),
        sessions=sessions,
        wave=sessions,
        models=SynthesisModels(default=f"{url}/m", embed="scripted"),
    )
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with Workshop(settings, out=Path(folder), in_flight=in_flight) as workshop:
            run = workshop.run()
            usage = workshop.models.usage
        wall_s = time.perf_counter() - began
        return Figures(
            wall_s=wall_s,
            path_s=rounds(run, in_flight) * latency_s,
            sessions=sessions,
            requests=usage.calls,
            characters=usage.prompt_characters / usage.calls,
            peak=usage.peak_in_flight,
        )


def rounds(run: Run, in_flight: int) -> int:
    """How many latencies must pass: wave by wave the longest session, or all questions in rounds."""
    waves: dict[int, Counter[str]] = {}
    for call in run.calls():
        if call["verb"] != "embed":
            waves.setdefault(call["tick"], Counter())[call["who"]] += 1
    return sum(
        max(max(counts.values()), -(-sum(counts.values()) // in_flight))
        for counts in waves.values()
    )


def main(given: list[str] | None = None) -> None:
    """Measure, print the table, then what was wanted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="only to see that it runs")
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--latency-ms", type=float, default=100.0)
    parser.add_argument("--in-flight", nargs="+", type=int, default=[1, 8, 64])
    told = parser.parse_args(given)
    sessions, latency_ms = (3, 2.0) if told.quick else (told.sessions, told.latency_ms)
    print(
        "".join(
            f"{title:>14}"
            for title in (
                "in flight",
                "sessions",
                "wall s",
                "path s",
                "ratio",
                "sessions/min",
                "requests",
                "chars/request",
                "peak",
            )
        )
    )
    with server("--latency-ms", str(latency_ms)) as (url, _):
        for in_flight in told.in_flight:
            count = max(2, sessions // 16) if in_flight == 1 else sessions
            one = write(url, count, in_flight, latency_ms / 1000)
            cells = (
                in_flight,
                one.sessions,
                f"{one.wall_s:.2f}",
                f"{one.path_s:.2f}",
                f"{one.ratio:.3f}",
                f"{60 * one.sessions / one.wall_s:.0f}",
                one.requests,
                f"{one.characters:.0f}",
                one.peak,
            )
            print("".join(f"{cell:>14}" for cell in cells), flush=True)
            if not told.quick:
                print(
                    verdict(
                        one.ratio <= 1.25,
                        f"{in_flight} in flight within 1.25 of the waiting alone: {one.ratio:.3f}",
                    )
                )


if __name__ == "__main__":
    main()
