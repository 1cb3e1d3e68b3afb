"""Processes that each do one job and tell of it: so many at once, ended whatever becomes of whoever
began them.
"""

import contextlib
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

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


@dataclass(kw_only=True)
class _Member:
    """A process at work."""

    process: Any
    pipe: Connection
    ended: Report | None = None
    """What it told of its end."""


class Crew:
    """Jobs under way, by name. A job ends with a report that has an `end`; a process that dies
    without one is reported as `failed`.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._asking = current()
        self._context = process_context()
        self._members: dict[str, _Member] = {}

    def __len__(self) -> int:
        return len(self._members)

    def begin(self, name: str, job: object) -> None:
        """Begin a job. A Ctrl-C that comes meanwhile is heard once the process is known."""
        with interrupt_held_back():
            heard, told = self._context.Pipe(duplex=False)
            arguments = (self._work, job, dict(os.environ), self._asking, told)
            process = self._context.Process(target=_at_work, args=arguments, name=name)
            process.start()
            told.close()  # the process has its own: its end is then heard here
            self._members[name] = _Member(process=process, pipe=heard)

    def listen(self) -> Iterator[tuple[str, Report]]:
        """What is told by now, a little later at most: name and report. A report with an `end` is
        the last of that name.
        """
        if not self._members:
            time.sleep(LISTEN_S)
            return
        wait([one.pipe for one in self._members.values()], timeout=LISTEN_S)
        for name, member in list(self._members.items()):
            alive = member.process.is_alive()  # asked first: what it told before is then all here
            for report in _told_by(member):
                member.ended = report if "end" in report else None
                yield name, report
            if member.ended is None and not alive:
                cause = f"its process ended with {member.process.exitcode}"
                member.ended = {"end": "failed", "cause": cause}
                yield name, member.ended
            if member.ended is not None:
                self._leave(name)

    def stop(self) -> Iterator[tuple[str, Report]]:
        """Tell all to stop, and listen until they have: of themselves, or told once more, or
        killed. What they had written is on disk.
        """
        began, nudged = time.monotonic(), False
        self._signal()
        while self._members:
            passed = time.monotonic() - began
            if passed >= KILL_S:
                self.kill()
                return
            if passed >= NUDGE_S and not nudged:
                nudged = True
                self._signal()
            yield from self.listen()

    def kill(self) -> None:
        """End whoever is left, at once."""
        with interrupt_held_back():
            for member in self._members.values():
                member.process.kill()
            for name in list(self._members):
                self._leave(name)

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
