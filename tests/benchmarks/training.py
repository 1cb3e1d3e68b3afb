"""What privacy and a federation add to plain local training: ratios of things measured in the same run, taken in turns.

    python -m tests.benchmarks.training [--quick] [--only steps rounds traffic resume] [--repeats 3] [--at-once 8]

steps: a DP-SGD step beside a plain LoRA step of the embedded model (8 sequences of 256 tokens, half of them learned; rank 16 on q and v),
each in a process of its own with one thread; CPU seconds, and each process's peak memory. rounds: what a round takes beyond the optimizer
steps of its sites, three sites that take two short steps each; then the overhead alone, with a learner that only adds a constant, in CPU
milliseconds for 3 and 10 sites. traffic: bytes each way for a site in a round, over the adapter's numbers as float32. resume: a tuning and
a federation by DP-SGD, stopped and gone on with in another process, against the same without a stop.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from simcounsel.corpus.teaching import Teaching
from tests.benchmarks.engine import verdict
from tests.benchmarks.private_steps import Stepping
from tests.benchmarks.resumed import compared, session
from tests.training.learning.small import small_model
from training.federation.all_rounds import federate
from training.federation.inprocess import InProcess
from training.federation.rounds import RoundReport
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.federation.updates import A, Array, Learned, Weights

WAYS: dict[str, dict[str, Any]] = {
    "fp32": {},
    "fp16": {"send": "fp16"},
    "int8": {"send": "int8"},
    "secure sum": {"secure": True},
}
COUNTS = (3, 10)
"""Of sites, for the overhead alone."""


def steps(told: argparse.Namespace, base: str) -> Iterator[str]:
    """The median of a few pairs of steps, one of each kind by turns."""
    shape = {
        "base": base,
        "batch": 2 if told.quick else 8,
        "tokens": 48 if told.quick else 256,
        "at_once": told.at_once,
    }
    plain, private = Stepping({**shape, "protected": False}), Stepping({**shape, "protected": True})
    print(
        f"a step of {shape['batch']} sequences of {shape['tokens']} tokens, {told.at_once} at once, CPU s (plain, DP-SGD):",
        end="",
        flush=True,
    )
    pairs = []
    for _ in range(told.repeats):
        pairs.append((plain.measure(), private.measure()))
        print(f" {pairs[-1][0]:.2f}, {pairs[-1][1]:.2f};", end="", flush=True)
    ratios, loaded = sorted(b / a for a, b in pairs), plain.loaded_mb
    ratio, peaks = statistics.median(ratios), (plain.peak_mb(), private.peak_mb())
    print(
        f"\npeak memory, MB: plain {peaks[0]:,.0f}, DP-SGD {peaks[1]:,.0f}; {loaded:,.0f} once the model was loaded"
    )
    yield verdict(
        ratio <= 1.15,
        f"a DP-SGD step at most 1.15 times a plain one: {ratio:.3f} (median of {len(pairs)} pairs, {ratios[0]:.3f} to {ratios[-1]:.3f})",
    )
    yield verdict(
        peaks[1] <= 1.3 * peaks[0], f"its peak memory at most 1.3 times: {peaks[1] / peaks[0]:.3f}"
    )


@cache
def learners(base: str) -> Any:
    """Three sites of four sessions: two steps of two sequences each, a round."""
    import torch

    from training.learning.site import Learners
    from training.recipe import Recipe
    from training.sites import Sites

    torch.set_num_threads(1)
    names = [f"site {at:02d}" for at in range(3)]
    sessions = {
        name: tuple(session(4 * at + each) for each in range(4)) for at, name in enumerate(names)
    }
    recipe = Recipe(
        folders=dict.fromkeys(names, "x"), base=base, batch_size=2, device="cpu", privacy=None
    )
    return Learners(recipe=recipe, sites=Sites(sessions=sessions, held_out=()), plan=None)


@dataclass
class Stopwatch:
    """Learners, and the CPU seconds of their optimizer steps alone."""

    inner: Any
    cpu_s: float = 0.0

    def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
        from training.learning.steps import Local

        whole = Local.step

        def timed(local: Local, *given: Any) -> float | None:
            began = time.process_time()
            try:
                return whole(local, *given)
            finally:
                self.cpu_s += time.process_time() - began

        Local.step = timed  # type: ignore[assignment,method-assign]
        try:
            learned: Learned = self.inner.learn(site, weights, round, shift)
            return learned
        finally:
            Local.step = whole  # type: ignore[method-assign]


@dataclass
class Constant:
    """Learns nothing: adds the same small numbers to what is trained. both: whether A is trained too."""

    move: Weights
    both: bool = True
    cpu_s: float = 0.0

    def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
        began = time.process_time()
        after = {
            key: value + self.move[key] if self.both or not key.endswith(A) else value
            for key, value in weights.items()
        }
        self.cpu_s += time.process_time() - began
        return Learned(weights=after, steps=1, loss=1.0)


@dataclass
class Course:
    """A federation of `rounds` rounds, by the way that users take. beyond_ms: CPU time of each round that its learner did not use."""

    reports: list[RoundReport] = field(default_factory=list)
    beyond_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    def run(self, learner: Any, first: Weights, terms: Terms, rounds: int) -> "Course":
        at, used = time.process_time(), learner.cpu_s

        def after(report: RoundReport) -> None:
            nonlocal at, used
            now = time.process_time()
            self.reports.append(report)
            self.cpu_ms.append(1000 * (now - at))
            self.beyond_ms.append(1000 * (now - at - (learner.cpu_s - used)))
            at, used = time.process_time(), learner.cpu_s

        with tempfile.TemporaryDirectory() as folder:
            sites = InProcess(learner, terms, 1)
            federate(
                ServerState(weights=first),
                sites,
                terms,
                None,
                rounds=rounds,
                seed=1,
                folder=Path(folder),
                on_round=after,
            )
        if any(report.failed for report in self.reports):
            raise RuntimeError(f"a site failed: {self.reports}")
        return self


def terms_for(many: int, **more: Any) -> Terms:
    """Sites of equal weight."""
    return Terms(weights={f"site {at:02d}": 1 / many for at in range(many)}, **more)


def moves(first: Weights) -> dict[str, Array]:
    """As large as an update of a few steps."""
    rng = np.random.default_rng(1)
    return {
        key: (1e-3 * rng.standard_normal(value.shape)).astype(np.float32)
        for key, value in first.items()
    }


def rounds(told: argparse.Namespace, base: str) -> Iterator[str]:
    """The share of a round that is not optimizer steps, and the overhead alone."""
    first = learners(base).first_weights()
    trained = Course().run(Stopwatch(learners(base)), first, terms_for(3), told.repeats)
    share = statistics.median(
        beyond / (cpu - beyond)
        for beyond, cpu in zip(trained.beyond_ms, trained.cpu_ms, strict=True)
    )
    wall = statistics.median(
        one.seconds / one.learning_s - 1 for one in trained.reports if one.learning_s
    )
    tokens = sum(
        len(example.ids)
        for record in learners(base).records["site 00"]
        for example in record.examples
    )
    taken = max((trained.reports[0].steps or {}).values())
    print(
        f"a round of 3 sites, each {taken} steps over {tokens} tokens in all: CPU {statistics.median(trained.cpu_ms) / 1000:.2f} s, of it "
        f"{statistics.median(trained.beyond_ms):.0f} ms beyond the steps; by the round's own report {100 * wall:.2f}% beyond learning (wall time)"
    )
    _alone(first, told)
    yield verdict(
        share <= 0.05,
        f"a round at most 5% beyond its sites' steps, even when these are few and short: {100 * share:.2f}% of CPU time",
    )


def _alone(first: Weights, told: argparse.Namespace) -> None:
    """All ways and counts by turns."""
    found: dict[tuple[str, int], list[float]] = {(way, many): [] for way in WAYS for many in COUNTS}
    learner = Constant(moves(first))
    for _ in range(told.repeats):
        for (way, many), each in found.items():
            each += Course().run(learner, first, terms_for(many, **WAYS[way]), 2).beyond_ms
    print("overhead alone, CPU ms a round (writing the state included)")
    print(
        "".join(
            f"{title:>15}"
            for title in ("", *(f"{many} sites" for many in COUNTS), "each more site")
        )
    )
    for way in WAYS:
        few, most = (statistics.median(found[way, many]) for many in COUNTS)
        print(
            "".join(
                f"{cell:>15}"
                for cell in (
                    way,
                    f"{few:.0f}",
                    f"{most:.0f}",
                    f"{(most - few) / (COUNTS[1] - COUNTS[0]):.0f}",
                )
            ),
            flush=True,
        )


def traffic(told: argparse.Namespace, base: str) -> Iterator[str]:
    """One round of three sites in each way, plain and with A frozen (FFA)."""
    first = learners(base).first_weights()
    size = 4 * sum(value.size for value in first.values())
    print(
        f"the adapter: {len(first)} tensors, {size:,} bytes as float32\n"
        + "".join(
            f"{title:>18}"
            for title in ("", "bytes up", "bytes down", "up / adapter", "down / adapter")
        )
    )
    most: dict[str, float] = {}
    for way, more in WAYS.items():
        for factors in ("both", "b"):
            learner = Constant(moves(first), both=factors == "both")
            report = (
                Course().run(learner, first, terms_for(3, factors=factors, **more), 1).reports[0]
            )
            up, down = (max((each or {}).values()) for each in (report.bytes_up, report.bytes_down))
            name = way if factors == "both" else f"{way}, FFA"
            most[name] = max(up, down) / size
            print(
                "".join(
                    f"{cell:>18}"
                    for cell in (
                        name,
                        f"{up:,}",
                        f"{down:,}",
                        f"{up / size:.4f}",
                        f"{down / size:.4f}",
                    )
                )
            )
    yield verdict(
        abs(most["fp32"] - 1) <= 0.02,
        f"traffic of a site each way within 2% of the adapter's size: {100 * (most['fp32'] - 1):+.2f}%",
    )
    part = most["int8, FFA"] / most["fp32"]
    yield verdict(
        part <= 0.15, f"int8 with FFA at most 0.15 of plain fp32 of both factors: {part:.3f}"
    )


def resume(told: argparse.Namespace, base: str) -> Iterator[str]:
    """Whether stopping changes a bit."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, same in compared(base, Path(folder)):
            yield verdict(
                same,
                f"a {kind} gone on with in another process gives the same adapter to the bit: {'yes' if same else 'NO'}",
            )


MEASURES: dict[str, Callable[[argparse.Namespace, str], Iterator[str]]] = {
    "steps": steps,
    "rounds": rounds,
    "traffic": traffic,
    "resume": resume,
}


def main(given: list[str] | None = None) -> None:
    """Measure part by part, then say what was wanted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a very small model, once, only to see that it runs: its ratios mean nothing",
    )
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--at-once", type=int, default=8, help="sequences of a step computed together"
    )
    told = parser.parse_args(given)
    told.repeats = 1 if told.quick else told.repeats
    print(
        f"load of the machine before (1, 5, 15 min): {', '.join(f'{load:.1f}' for load in os.getloadavg())}; {os.cpu_count()} cores"
    )
    with tempfile.TemporaryDirectory() as folder:
        text = [Teaching().system_of(session(1)), *session(1).lines()]
        base = str(small_model(Path(folder), text)) if told.quick else "embedded"
        for part in told.only:
            began = time.perf_counter()
            found = list(MEASURES[part](told, base))
            print(
                "\n".join(line for line in found if part == "resume" or not told.quick)
                or "(no verdicts on a small model)"
            )
            print(f"({part}: {time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
