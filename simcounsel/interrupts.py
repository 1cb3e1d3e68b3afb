"""Signals that end a command line as Ctrl-C does, and which of them did."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_HEARD: list[int] = []


def cause() -> str:
    """What stopped us, after a KeyboardInterrupt: `Ctrl-C`, or the first signal that came."""
    return signal.Signals(_HEARD[0]).name if _HEARD else "Ctrl-C"


@contextlib.contextmanager
def like_ctrl_c() -> Iterator[list[int]]:
    """Meanwhile SIGTERM, and SIGHUP when a terminal is closed, do what Ctrl-C does at that moment.
    Yields those that came. Whoever has them ignored (`nohup`) goes on ignoring them.
    """
    heard = _HEARD
    heard.clear()

    def on_signal(number: int, _frame: FrameType | None) -> None:
        heard.append(number)
        if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    ours: list[signal.Signals] = []
    with contextlib.suppress(ValueError):  # only a main thread hears signals
        for one in (signal.SIGTERM, getattr(signal, "SIGHUP", None)):
            if one is not None and signal.getsignal(one) is signal.SIG_DFL:
                signal.signal(one, on_signal)
                ours.append(one)
    try:
        yield heard
    finally:
        for one in ours:
            signal.signal(one, signal.SIG_DFL)
