"""Processes that each do one job and tell of it: so many at once, killed when their
parent dies.
"""

import contextlib
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from simcounsel.lab.processes import die_with_parent, interrupt_held_back, process_context
from simcounsel.llm.asking import Asking, asked, current
from simcounsel.terminal import guarded

NUDGE_S, KILL_S = 1.0, 2.0
"""After Ctrl-C a process that is still at work is told again after the first, killed after the
second.
"""
END_S = 1.0
"""A process that has told its end may take so long to leave; then it is killed."""
LISTEN_S = 0.2
Report = dict[str, Any]
Tell = Callable[[Report], None]
Work = Callable[[Any, Tell], Report]
"""A module's function: does a job, tells how far it is, returns how it ended (`end`, `cause`)."""


class Workers(Protocol):
    """Jobs under way, by name, wherever they are done. A job ends with a report that has an `end`;
    one whose process is gone without a word is reported as `failed`, and `lost`.
    """

    def __len__(self) -> int: ...

    def begin(self, name: str, job: Any) -> None:
        """Begin a job. A Ctrl-C that comes meanwhile is heard once the process is known."""

    def listen(self) -> Iterator[tuple[str, Report]]:
        """What is told by now, a little later at most: name and report. Once a report with an `end`
        is told, nothing of that name goes on.
        """

    def stop(self) -> Iterator[tuple[str, Report]]:
        """Tell all to stop, and listen until they have: of themselves, or told once more, or
        killed. What they had written is on disk.
        """

    def kill(self) -> None:
        """End whoever is left, at once."""


def until_ended(
    workers: Workers, tell: Callable[[], None], end: Callable[[], None]
) -> Iterator[tuple[str, Report]]:
    """Listen until all have stopped. tell: that they shall stop; end: them."""
    began, nudged = time.monotonic(), False
    tell()
    while len(workers):
        passed = time.monotonic() - began
        if passed >= KILL_S:
            end()
        elif passed >= NUDGE_S and not nudged:
            nudged = True
            tell()
        yield from workers.listen()


@dataclass(frozen=True, kw_only=True)
class _Member:
    """A process at work."""

    process: Any
    """Of multiprocessing."""
    pipe: Connection
    """Where it tells."""


class Crew:
    """Workers in processes of this machine."""

    def __init__(self, work: Work) -> None:
        """work: what each process does with its job."""
        self._work = work
        self._asking = current()
        self._members: dict[str, _Member] = {}

    def __len__(self) -> int:
        return len(self._members)

    @property
    def pids(self) -> frozenset[int]:
        """The numbers of the processes at work."""
        return frozenset(member.process.pid for member in self._members.values())

    @cached_property
    def _context(self) -> Any:
        return process_context()

    def begin(self, name: str, job: object) -> None:
        """As `Workers.begin`."""
        with interrupt_held_back():
            heard, told = self._context.Pipe(duplex=False)
            arguments = (self._work, job, dict(os.environ), self._asking, told)
            process = self._context.Process(
                target=_at_work, args=arguments, name=name, daemon=False
            )
            process.start()
            told.close()  # the process has its own: its end is then heard here
            self._members[name] = _Member(process=process, pipe=heard)

    def listen(self) -> Iterator[tuple[str, Report]]:
        """As `Workers.listen`."""
        if not self._members:
            time.sleep(LISTEN_S)
            return
        wait([one.pipe for one in self._members.values()], timeout=LISTEN_S)
        for name, member in list(self._members.items()):
            alive = member.process.is_alive()  # asked first: what it told before is then all here
            told = list(_told_by(member))
            if not alive and not any("end" in report for report in told):
                cause = f"its process ended with {member.process.exitcode}"
                told.append({"end": "failed", "cause": cause, "lost": True})
            if any("end" in report for report in told):
                self._leave(name)
            yield from ((name, report) for report in told)

    def stop(self) -> Iterator[tuple[str, Report]]:
        """As `Workers.stop`."""
        yield from until_ended(self, self._signal, self._end)

    def kill(self) -> None:
        """As `Workers.kill`."""
        with interrupt_held_back():
            self._end()
            for name in list(self._members):
                self._leave(name)

    def _end(self) -> None:
        for member in self._members.values():
            member.process.kill()

    def _signal(self) -> None:
        for member in self._members.values():
            if member.process.is_alive():
                member.process.terminate()

    def _leave(self, name: str) -> None:
        member = self._members.pop(name)
        member.pipe.close()
        member.process.join(END_S)
        if member.process.is_alive():
            member.process.kill()
            member.process.join()


def _told_by(member: _Member) -> Iterator[Report]:
    """All that a process has told by now."""
    while True:
        try:
            if not member.pipe.poll():
                return
            yield member.pipe.recv()
        except (EOFError, OSError, pickle.UnpicklingError):  # it ended, perhaps within a word
            return


def _at_work(
    work: Work, job: object, environment: dict[str, str], asking: Asking, pipe: Connection
) -> None:
    """In a process of its own. environment, asking: of whoever wants the job done."""
    # a terminal's Ctrl-C reaches children too: they leave it to their parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    threading.Thread(target=die_with_parent, name="parent", daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
    # a second signal may come while the first is being obeyed: there is nothing left to say then
    with guarded(), asked(asking), contextlib.suppress(KeyboardInterrupt):
        end = work(job, pipe.send)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pipe.send(end)


def _stop(*_: object) -> None:
    raise KeyboardInterrupt
