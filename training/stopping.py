"""Ctrl-C asks for a stop at the next good moment; a second one stops at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Yields whether Ctrl-C was pressed; the second press raises KeyboardInterrupt. Only the main
    thread gets signals.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def press(_signal: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, press)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
