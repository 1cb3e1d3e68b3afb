"""Damages to a run's files: each must be found by `verify` and refused by `resume`; and any changed byte of a log.

python -m tests.benchmarks.torture damages
"""

import json
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from simcounsel.errors import RunError
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import check_log, verify
from tests.stage import go_on, live, tiny

BYTES = 2000
"""So many bytes of a log are changed, one at a time."""


def edited(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    """Change the lines of a log."""

    def run(folder: Path) -> None:
        file = folder / "events.jsonl"
        file.write_bytes(b"".join(change(file.read_bytes().splitlines(keepends=True))))

    return run


def edit_seed(folder: Path) -> None:
    """Another seed in the manifest."""
    file = folder / "manifest.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"seed": 1,', '"seed": 2,'), encoding="utf-8")


def edit_reply(folder: Path) -> None:
    """Another reply in the recording."""
    file = folder / "calls.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if json.loads(line).get("reply"))
    call = json.loads(lines[at])
    lines[at] = json.dumps(call | {"reply": f"{call['reply']} "}).encode() + b"\n"
    file.write_bytes(b"".join(lines))


def double_call(folder: Path) -> None:
    """A line of the recording twice."""
    file = folder / "calls.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:20], *lines[19:]]))


DAMAGES: tuple[Callable[[Path], None], ...] = (
    edited(lambda lines: lines[:50] + lines[51:]),  # a line deleted
    edited(lambda lines: lines[:50] + lines[49:]),  # doubled
    edited(lambda lines: [*lines[:50], lines[51], lines[50], *lines[52:]]),  # two swapped
    edited(lambda lines: lines[30:]),  # the first 30 gone
    edit_seed,
    edit_reply,
    double_call,
)


def damages() -> str:
    """Do each to a copy of a run."""
    with tempfile.TemporaryDirectory() as out:
        run = live(Path(out) / "whole", tiny(), 6)
        found = sum(_found(run, spoil, Path(out) / str(at)) for at, spoil in enumerate(DAMAGES))
        changed = _changed_bytes(run)
    return (
        f"damages: {found} of {len(DAMAGES)} found and refused; changed bytes of a log:"
        f" {changed} of {BYTES} found"
    )


def _found(run: Run, spoil: Callable[[Path], None], folder: Path) -> bool:
    """Whether it is found, and nobody goes on with it."""
    shutil.copytree(run.folder, folder)
    spoil(folder)
    try:
        go_on(Run.open(folder))
    except RunError:
        return bool(verify(folder).damages)
    return False


def _changed_bytes(run: Run) -> int:
    """How many changed bytes are found."""
    file, draw = run.folder / "events.jsonl", random.Random(1)
    whole, found = file.read_bytes(), 0
    for at in draw.sample(range(len(whole)), BYTES):
        other = draw.choice([byte for byte in range(256) if byte != whole[at]])
        file.write_bytes(whole[:at] + bytes([other]) + whole[at + 1 :])
        try:
            check_log(run)
        except RunError:
            found += 1
    file.write_bytes(whole)
    return found
