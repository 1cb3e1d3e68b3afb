"""A replication whose parts are commands that a user can type: what they are, and running them.

Each goes on where it was when it is started again, so that the whole does, too.
"""

import math
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from simcounsel.entry import GIVEN_UP
from simcounsel.errors import SimcounselError, SpecError
from simcounsel.interrupts import cause
from simcounsel.specs.file_text import write_text

STOPPED = 130
"""The code of a command that was stopped by Ctrl-C."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One command."""

    words: tuple[str, ...]
    """After `simcounsel`."""
    leaves: Path | None = None
    """A file that is there when it has ended; it is not run again then. None: it looks itself."""
    plans: bool = False
    """Whether it has --dry-run."""

    @property
    def line(self) -> str:
        """As it is typed."""
        return "simcounsel " + shlex.join(self.words)


class StepStopped(SimcounselError):
    """A command of a replication did not come to its end."""


def run(steps: Sequence[Step], tell: Callable[[str], None]) -> None:
    """One after the other, each in a process of its own, whose words are seen as they come.
    StepStopped when one ends with another code than 0; SystemExit with its code when it was
    stopped, or gave up for now.
    """
    for number, step in enumerate(steps, 1):
        if step.leaves is not None and step.leaves.exists():
            continue
        tell(f"{number} of {len(steps)}   {step.line}")
        code = _waited(subprocess.Popen([sys.executable, "-m", "simcounsel", *step.words]))
        if code in (STOPPED, GIVEN_UP):
            tell("stopped; the same command goes on")
            raise SystemExit(code)
        if code:
            raise StepStopped(
                f"`{step.line}` ended with code {code}; see above what it needs, then type the same"
                " command again"
            )


def _waited(process: "subprocess.Popen[bytes]") -> int:
    """Its code; 130 when we were stopped. Ctrl-C reaches it as well, another signal is passed on,
    and it ends by itself.
    """
    stopped = False
    while True:
        try:
            code = process.wait()
            return STOPPED if stopped else code
        except KeyboardInterrupt:
            stopped = True
            if cause() != "Ctrl-C":
                process.send_signal(signal.SIGINT)


def planned(steps: Sequence[Step], place: Path, folder: Path, tell: Callable[[str], None]) -> None:
    """All commands, with files of `place` as if in `folder`; those that can plan say what they
    would do. Nothing else is run.
    """
    for step in steps:
        tell(step.line.replace(str(place), str(folder)))
        if step.plans:
            words = [sys.executable, "-m", "simcounsel", *step.words, "--dry-run"]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            for line in (done.stdout + done.stderr).strip().splitlines():
                tell("    " + line)
    tell("Nothing was run.")


def written(file: Path, data: dict[str, Any], about: str, budget: dict[str, float]) -> Path:
    """A YAML file for a step, with the budget, which may change; an earlier one that is the same
    stays. SpecError when another study lies there.
    """
    data = dict(data)
    budget = dict(data.pop("budget", None) or {}) | budget
    if file.is_file():
        there = dict(yaml.safe_load(file.read_text(encoding="utf-8")))
        budget = there.pop("budget", {}) | budget
        if there != data:
            raise SpecError(
                [
                    f"{file}: another study was begun here; use the same options to go on with it,"
                    " or another --out"
                ]
            )
    limits = {key: limit for key, limit in budget.items() if limit < math.inf}
    whole = {**data, "budget": limits} if limits else data
    text = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=120)
    write_text(file, f"# {about}\n{text}")
    return file


def remembered(
    folder: Path, usd: float | None, calls: float | None, *, write: bool
) -> dict[str, float]:
    """What was named of a budget, now or in an earlier sitting; infinite: lifted. write: keep it in
    the study's folder.
    """
    file = folder / "budget.yaml"
    there = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    named = {key: limit for key, limit in (("usd", usd), ("calls", calls)) if limit is not None}
    budget = dict(there or {}) | named
    if write and budget:
        write_text(file, yaml.safe_dump(budget))
    return budget


def as_options(budget: dict[str, float]) -> list[str]:
    """The same for a command that asks a model."""
    return [
        word for key, limit in budget.items() for word in (f"--budget-{key}", _amount(key, limit))
    ]


def _amount(key: str, limit: float) -> str:
    if limit == math.inf:
        return "none"
    return str(int(limit)) if key == "calls" else repr(float(limit))
