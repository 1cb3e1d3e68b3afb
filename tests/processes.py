"""Processes of this machine, as Linux lists them: who began whom, and who still runs."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path


def _stat(pid: int) -> tuple[str, int] | None:
    """A process's state and who began it; None when it is gone."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return state, int(parent)


def begun_by(pid: int) -> frozenset[int]:
    """All processes that it began, and those that these began."""
    parents = {
        int(entry.name): found[1]
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and (found := _stat(int(entry.name)))
    }

    def below(one: int) -> Iterator[int]:
        for child, parent in parents.items():
            if parent == one:
                yield child
                yield from below(child)

    return frozenset(below(pid))


def running(pids: Iterable[int]) -> frozenset[int]:
    """Those that have not ended."""
    return frozenset(pid for pid in pids if (found := _stat(pid)) and found[0] not in "ZX")


def left_after(pids: Iterable[int], seconds: float) -> frozenset[int]:
    """Those that still run so many seconds later, or none as soon as there is none."""
    until = time.monotonic() + seconds
    while (left := running(pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return left
