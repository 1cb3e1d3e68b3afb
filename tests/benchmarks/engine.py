"""How much the engine adds to the waiting for a model: wall time, CPU, requests, memory, disk; and what faults do to a run.

    python tests/benchmarks/engine.py [--quick] [--workload W1 W2 W3] [--n 10 50 200] [--faults] [--crowd 1000]

W1: N residents x 20 ticks, one request per resident and tick (recall, ask, remember). W2: W1 with
four lines of talk for every pair that shares a place. W3: a day of a 10-resident town with the real
minds. The server answers after 100 ms, to all at once and to 8 at once. Each figure is the median
of three runs, each in a process of its own after a warm-up; wall and CPU time hold all from the
making of the simulation to its close, the archive of memories included.

`--crowd N`: N residents x 96 ticks with the scripted model, which answers in the process, and nothing
else: W1, the same questions in a Mesa model alone, and N / 10 laypeople with the real minds. Once each.

`path` is the critical path: the longest chain of requests that must wait for each other (with a
limit of 8: or the rounds of 8 that they make), times the latency.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Figures = dict[str, Any]
COLUMNS = (
    ("wall s", "wall_s", ".2f"),
    ("path s", "critical_s", ".2f"),
    ("ratio", "ratio", ".3f"),
    ("CPU ms/step", "cpu_ms", ".2f"),
    ("early", "cpu_early_ms", ".2f"),
    ("late", "cpu_late_ms", ".2f"),
    ("req/step", "requests", ".2f"),
    ("chars/step", "characters", ".0f"),
    ("req/day", "requests_a_day", ".1f"),
    ("chars/day", "characters_a_day", ".0f"),
    ("peak", "peak", ".0f"),
    ("MB", "memory_mb", ".0f"),
    ("+KB/step", "memory_kb", ".2f"),
    ("disk KB/step", "disk_kb", ".2f"),
    ("tick end ms", "end_ms", ".1f"),
)


@contextmanager
def server(*options: str, port: int = 0) -> Iterator[tuple[str, Callable[[], None]]]:
    """A model server in a process of its own: its address, and how to end it early."""
    command = [sys.executable, "-m", "tests.benchmarks.served", "--port", str(port), *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    def end() -> None:
        process.kill()
        process.wait(timeout=10)

    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url.startswith("http"):
            raise RuntimeError("the model server did not start; its error is above")
        yield url, end
    finally:
        end()
        process.stdout.close()


def measured(
    job: Figures, *, most_s: float = 600.0, on_line: Callable[[str], None] | None = None
) -> Figures:
    """The figures of one run in a fresh process, which gets `most_s` seconds."""
    command = [sys.executable, "-m", "tests.benchmarks.measured", json.dumps(job)]
    last = ""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        watch = threading.Timer(most_s, process.kill)
        watch.start()
        try:
            for line in process.stdout or ():
                last = line
                if on_line:
                    on_line(line)
        finally:
            watch.cancel()
            process.kill()
    if not last.startswith("{"):
        raise RuntimeError(
            f"{job} gave no figures within {most_s:g} s (last line: {last.strip()!r})"
        )
    found: Figures = json.loads(last)
    return found


def measured_here(job: Figures) -> Figures:
    """The same in this process, to see quickly that it works."""
    from tests.benchmarks.measured import Job, measure

    with tempfile.TemporaryDirectory(prefix="simcounsel-benchmark-") as out:
        return measure(Job(**job), Path(out))


def median(job: Figures, told: argparse.Namespace) -> Figures:
    """Each figure's median over fresh runs."""
    runs = [measured_here(job) if told.quick else measured(job) for _ in range(told.repeats)]
    return {
        key: statistics.median(run[key] for run in runs)
        if isinstance(value, int | float)
        else value
        for key, value in runs[0].items()
    }


def compare(told: argparse.Namespace) -> list[str]:
    """The table, line by line as it comes; returns what is reached and what not."""
    verdicts: list[str] = []
    print(f"load of the machine before (1, 5, 15 min): {_load()}; {os.cpu_count()} cores")
    print(
        "".join(f"{title:>13}" for title in ("workload", "N", "at once", *(c[0] for c in COLUMNS)))
    )
    for limit in told.limit:
        options = (
            "--latency-ms",
            str(told.latency_ms),
            *(("--in-flight-max", str(limit)) if limit else ()),
        )
        with server(*options) as (url, _):
            for workload, n, ticks in _jobs(told, limit):
                job = {
                    "workload": workload,
                    "url": url,
                    "n": n,
                    "ticks": ticks,
                    "latency_s": told.latency_ms / 1000,
                    "in_flight_max": limit,
                }
                figures = median(job, told)
                _row(
                    workload if ticks == _usual_ticks(workload, told) else f"{workload} x {ticks}",
                    n,
                    limit,
                    figures,
                )
                bare = None
                if workload == "W1" and not limit and ticks == told.ticks:
                    bare = median({**job, "workload": "bare"}, told)
                    _row("bare loop", n, limit, bare)
                verdicts += _verdicts(workload, n, limit, ticks, told, figures, bare)
    return verdicts


def _load() -> str:
    return ", ".join(f"{load:.1f}" for load in os.getloadavg())


def _jobs(told: argparse.Namespace, limit: int | None) -> Iterator[tuple[str, int, int]]:
    for workload in told.workload:
        for n in (10,) if workload == "W3" else told.n:
            yield workload, n, _usual_ticks(workload, told)
        if workload == "W1" and not limit:
            yield workload, min(told.n), told.long_ticks


def _usual_ticks(workload: str, told: argparse.Namespace) -> int:
    ticks: int = told.day_ticks if workload == "W3" else told.ticks
    return ticks


def _row(name: str, n: int, limit: int | None, figures: Figures) -> None:
    cells = (format(figures[key], form) if key in figures else "" for _, key, form in COLUMNS)
    print("".join(f"{cell:>13}" for cell in (name, n, limit or "all", *cells)), flush=True)


def _verdicts(
    workload: str,
    n: int,
    limit: int | None,
    ticks: int,
    told: argparse.Namespace,
    figures: Figures,
    bare: Figures | None,
) -> Iterator[str]:
    if limit:
        return
    if bare and n == 50:
        yield verdict(
            figures["ratio"] <= 1.25,
            f"W1 at N = 50 within 1.25 of its critical path: {figures['ratio']:.3f} "
            f"({figures['wall_s']:.2f} s of {figures['critical_s']:.2f} s); a bare loop over aiohttp in the same run: {bare['ratio']:.3f}",
        )
    if workload == "W1" and ticks == told.ticks:
        yield verdict(
            figures["cpu_ms"] <= 2,
            f"at most 2 ms of CPU per resident-step, W1 at N = {n}: {figures['cpu_ms']:.2f} ms",
        )
    if workload == "W1" and ticks == told.long_ticks:
        early, late = figures["cpu_early_ms"], figures["cpu_late_ms"]
        yield verdict(
            late <= 1.2 * early,
            f"flat over run length: W1, N = {n}, {ticks} ticks: {early:.2f} ms in the first third, {late:.2f} ms in the last",
        )
    if workload == "W3":
        day = figures["requests_a_day"]
        yield verdict(
            day <= 120,
            f"at most 120 requests per resident-day on W3: {day:.1f}; of {sum(figures['purposes'].values())}: {_counts(figures['purposes'])}",
        )
        if figures["fallbacks"] or figures["second_tries"]:
            yield f"              (second tries {figures['second_tries']:.0f}, fallbacks {figures['fallbacks']:.0f})"


def large(told: argparse.Namespace) -> list[str]:
    """A crowd that the scripted model answers, beside Mesa alone."""
    print(
        "".join(f"{title:>13}" for title in ("workload", "N", "at once", *(c[0] for c in COLUMNS)))
    )
    found = {}
    for workload, n in (("mesa", told.crowd), ("W1", told.crowd), ("crowd", -(-told.crowd // 10))):
        job = {"workload": workload, "url": "scripted", "n": n, "ticks": told.day_ticks}
        job["latency_s"] = 0.0
        found[workload] = measured_here(job) if told.quick else measured(job)
        _row(workload, n, None, found[workload])
    ratio = found["W1"]["wall_s"] / found["mesa"]["wall_s"]
    return [
        f"{told.crowd:,} residents x {told.day_ticks} ticks, scripted:"
        f" {found['W1']['wall_s']:.1f} s, {found['W1']['memory_mb']:.0f} MB;"
        f" {ratio:.1f} times Mesa alone ({found['mesa']['wall_s']:.1f} s)"
    ]


def faults(told: argparse.Namespace) -> list[str]:
    """W1 under 2% HTTP 400, 2% 500, 2% broken JSON, one stall, and the server gone for a while."""
    n, ticks = max(told.n[:2]), 2 * told.ticks
    options = ["--latency-ms", str(told.latency_ms), "--faults"]
    stall = (
        [] if told.quick else ["--stall-at", str(n * ticks // 4), "--stall-s", str(told.stall_s)]
    )
    back = threading.Event()
    with server(*options, *stall) as (url, end):
        port = int(url.split(":")[2].split("/")[0])
        again = threading.Thread(
            target=_gone_and_back, args=(port, options, end, told.gone_s, back)
        )

        def watch(line: str) -> None:
            print("   ", line.strip()[:160], flush=True) if line.startswith("stopped") else None
            if line == f"tick {ticks // 2}\n":
                again.start()

        try:
            job = {
                "workload": "faults",
                "url": url,
                "n": n,
                "ticks": ticks,
                "latency_s": told.latency_ms / 1000,
            }
            figures = measured(job, on_line=watch)
        finally:
            back.set()
            if again.ident:
                again.join(timeout=60)
    print(
        f"faults: N = {n}, {ticks} ticks: "
        + _counts({k: v for k, v in figures.items() if k != "causes"})
    )
    for cause, count in sorted(figures["causes"].items(), key=lambda item: -item[1]):
        print(f"{count:>8}  {cause}")
    whole = (
        figures["completed"] + figures["lost_with_cause"] == figures["steps"]
        and not figures["lost_silently"]
    )
    return [
        verdict(
            whole,
            f"with faults every resident-step is completed or its loss is in the log: {figures['completed']} completed, "
            f"{figures['lost_with_cause']} lost with their cause, {figures['lost_silently']} without",
        ),
        verdict(
            figures["finished"],
            f"nothing hangs for ever: the end came after {figures['wall_s']:.0f} s",
        ),
        verdict(
            figures["finished"] and figures["resumes"] > 0,
            f"the run can be resumed: {figures['resumes']} times",
        ),
    ]


def _gone_and_back(
    port: int, options: list[str], end: Callable[[], None], gone_s: float, done: threading.Event
) -> None:
    end()
    time.sleep(gone_s)
    with server(*options, port=port):
        done.wait()


def help_cpu(repeats: int) -> str:
    """CPU time of `simcounsel --help`, the best of some."""
    found = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "simcounsel", "--help"],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return verdict(min(found) < 0.5, f"`simcounsel --help` under 0.5 s of CPU: {min(found):.2f} s")


def verdict(reached: bool, text: str) -> str:
    """A line about a wanted figure."""
    return f"{'reached' if reached else 'NOT reached':>12}  {text}"


def _counts(figures: Figures) -> str:
    return ", ".join(f"{key} {value:.0f}" for key, value in figures.items())


def parsed(given: list[str] | None) -> argparse.Namespace:
    """The command line, with small sizes for --quick."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="only to see that it runs: few residents, two ticks, 5 ms, all in one process",
    )
    parser.add_argument(
        "--workload", nargs="*", choices=("W1", "W2", "W3"), default=["W1", "W2", "W3"]
    )
    parser.add_argument("--n", nargs="+", type=int, default=[10, 50, 200])
    parser.add_argument(
        "--limit",
        nargs="+",
        type=int,
        default=[0, 8],
        help="how many the server works on at once; 0: all",
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--latency-ms", type=float, default=100.0)
    parser.add_argument(
        "--faults",
        action="store_true",
        help="also live through a server that fails in every way (about two minutes)",
    )
    parser.add_argument(
        "--crowd", type=int, metavar="N", help="only a crowd of N with the scripted model"
    )
    told = parser.parse_args(given)
    told.limit = [limit or None for limit in told.limit]
    told.ticks, told.day_ticks, told.long_ticks, told.stall_s, told.gone_s = 20, 96, 200, 30.0, 20.0
    if told.quick:
        told.ticks, told.day_ticks, told.long_ticks, told.gone_s = 2, 2, 4, 0.2
        told.n, told.repeats, told.latency_ms = [2], 1, 5.0
    return told


def main(given: list[str] | None = None) -> None:
    """Measure, print the table, then a line for each wanted figure."""
    told = parsed(given)
    verdicts = large(told) if told.crowd else compare(told)
    if told.faults:
        verdicts += faults(told)
    print(f"load of the machine after: {_load()}\n")
    if told.quick:
        print("--quick shows only that it runs; its figures mean nothing")
    for line in [*verdicts, help_cpu(told.repeats)]:
        print(line)


if __name__ == "__main__":
    main()
