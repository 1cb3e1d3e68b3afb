"""Ctrl-C asks for a stop at the next good moment; a second one stops at once. A launcher of several
processes hands on the signal that they had already: what follows within a second is the same.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SAME_S = 1.0


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Yields whether Ctrl-C was pressed; the second press raises KeyboardInterrupt. Only the main
    thread gets signals.
    """
    asked = threading.Event()
    first = 0.0
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def press(_signal: int, _frame: FrameType | None) -> None:
        nonlocal first
        if asked.is_set() and time.monotonic() - first > SAME_S:
            raise KeyboardInterrupt
        if not asked.is_set():
            first = time.monotonic()
        asked.set()

    before = signal.signal(signal.SIGINT, press)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
