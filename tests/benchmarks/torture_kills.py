"""Processes killed with SIGKILL at random moments, begun again until they end, and compared with those that nobody killed.

python -m tests.benchmarks.torture_kills [KILLS]        (minutes)
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from tests.llm.server import FaultServer
from tests.stage import ROOT, TINY

KILLS = 100
IN_A_ROW = 6
"""Then it is left alone until it ends."""
LATENCY_S = 0.02
"""Of each reply, so that most kills come while something is run and not while Python begins."""
Command = tuple[object, ...]


def kills(wanted: int = KILLS) -> str:
    """One line: how many kills of a run, a sweep and a synthesis, and how many logs differ."""
    rng, differing = random.Random(1), 0
    counted: dict[str, int] = {}
    with FaultServer(latency_s=LATENCY_S) as server, tempfile.TemporaryDirectory() as folder:
        for what, share in (("run", 0.5), ("sweep", 0.25), ("synthesis", 0.25)):
            begin, go_on = _commands(what, f"{server.url}/m", Path(folder))
            began = time.monotonic()
            _ended(begin(Path(folder) / what / "whole"))
            takes_s = time.monotonic() - began
            whole = _logs(Path(folder) / what / "whole")
            killed = attempt = 0
            while killed < wanted * share:
                out = Path(folder) / what / f"{(attempt := attempt + 1)}"
                command: Command = begin(out)
                moments = [rng.uniform(0.2, 1) * takes_s for _ in range(IN_A_ROW)]
                while (end := _end_of(command, moments.pop() if moments else None)) != "ended":
                    killed += end == "killed"
                    command = go_on(out) or begin(out)
                differing += _logs(out) != whole
            counted[what] = killed
    told = ", ".join(f"{count} of a {what}" for what, count in counted.items())
    return f"{sum(counted.values())} kills ({told}): {differing} differing logs"


def _commands(
    what: str, model: str, folder: Path
) -> tuple[Callable[[Path], Command], Callable[[Path], Command | None]]:
    """How it is begun in a folder, and how it goes on there; None where nothing is there yet."""

    def going_on(out: Path) -> Command | None:
        found = sorted(out.glob("*/manifest.json")) if out.is_dir() else []
        return ("resume", found[0].parent, "-q") if found else None

    if what == "run":
        scripted = ("--model", model, "--set", "models.embed=scripted")
        return lambda out: ("run", TINY, "--out", out, "-q", *scripted), going_on
    if what == "sweep":
        file = folder / "experiment.yaml"
        file.write_text(
            f"name: Torture\nworlds: [{TINY}]\nseeds: [1, 2]\n"
            f"models: {{reason: {model}, embed: scripted}}\nconditions:\n"
            "  - {name: alone, set: {condition: client_only}}\n  - {name: both, set: {}}\n",
            encoding="utf-8",
        )
        return lambda out: ("sweep", file, "--out", out, "-q", "--processes", 2), lambda out: None
    given = ("--sessions", 4, "--wave", 2, "--turns", 2, "--model", model)
    return lambda out: (
        "synthesize",
        "--out",
        out,
        "-q",
        "--set",
        "models.embed=scripted",
        "--set",
        "fallbacks.most=1",
        *given,
    ), going_on


@contextmanager
def _begun(command: Command) -> Iterator[subprocess.Popen[bytes]]:
    arguments = [sys.executable, "-m", "simcounsel", *map(str, command)]
    process = subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ)
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()


def _ended(command: Command) -> None:
    with _begun(command) as process:
        _, err = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{command}: {err.decode()[-500:]}")


def _end_of(command: Command, after_s: float | None) -> Literal["ended", "killed", "busy"]:
    """busy: workers of one that was killed were still about to end."""
    with _begun(command) as process:
        try:
            _, err = process.communicate(timeout=after_s)
        except subprocess.TimeoutExpired:
            return "killed"
        if process.returncode and b"another process" not in err:
            raise RuntimeError(f"{command}: {err.decode()[-500:]}")
        return "busy" if process.returncode else "ended"


def _logs(out: Path) -> dict[str, bytes]:
    """The logs of all runs in a folder; of one alone whatever its name."""
    found = sorted(out.glob("*/events.jsonl"))
    names = [file.parent.name for file in found] if len(found) > 1 else ["the run"]
    return {name: file.read_bytes() for name, file in zip(names, found, strict=True)}


if __name__ == "__main__":
    print(kills(int(sys.argv[1]) if len(sys.argv) > 1 else KILLS))
