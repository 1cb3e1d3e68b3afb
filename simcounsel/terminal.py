"""The one way out to a terminal. What models and files say is shown, and never obeyed.

`guarded` is put around a command line: from then on all that is printed (`typer.echo`, `print`,
logs, warnings, tracebacks) goes through `visible`, which hides keys and passwords too. What draws
at the terminal itself uses `console()`, which lets its own sequences pass and no other. A rich
Console made elsewhere writes into the guarded stream, and its sequences are on the screen as
text.
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO, cast

from simcounsel.errors import SimcounselError
from simcounsel.secret import scrub

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What terminals act on: C0 and C1 controls but newline and tab, and what turns the direction of
text around (Unicode Standard Annex 9, section 2).
"""

UNREAD = 141
"""The exit code when nobody reads any more, as after `| head`: 128 + SIGPIPE."""


def visible(text: str) -> str:
    """The text with each such character as its number, like \\u001b, and each secret as `***`.
    Inside a string of JSON the number is the same character still.
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", scrub(text))


class OutputError(SimcounselError):
    """Nothing more can be written to standard output, or to standard error."""


class Outlet:
    """A stream that tells in words that it is full, and ends the process with UNREAD when nobody
    reads it; it is else the stream that it stands for. guards: whether all is made visible.
    """

    def __init__(self, stream: TextIO, guards: bool) -> None:
        self.stream = stream
        self._guards = guards

    def write(self, text: str) -> int:
        """Write a text; the number of its characters."""
        with self._told():
            self.stream.write(visible(text) if self._guards else text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts one after another."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write out what waits."""
        with self._told():
            self.stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise SystemExit(UNREAD) from None
        except OSError as error:
            raise OutputError(
                f"{self.stream.name}: cannot be written ({error.strerror}); send it elsewhere, or"
                " free some space there"
            ) from None


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Meanwhile sys.stdout and sys.stderr make visible what a terminal would obey. A character that
    the terminal's encoding lacks is written as its number too.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _outlet(sys.stdout), _outlet(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _outlet(stream: TextIO | None) -> TextIO:
    if stream is None:  # closed by whoever started us; nothing is written then
        return cast(TextIO, stream)
    if (change := getattr(stream, "reconfigure", None)) is not None:
        # Click would go round a stream of ASCII, which is a locale that was not set
        ascii_only = (stream.encoding or "").lower() in ("ascii", "us-ascii", "ansi_x3.4-1968")
        change(encoding="utf-8" if ascii_only else stream.encoding, errors="backslashreplace")
    return cast(TextIO, Outlet(stream, guards=True))


def give_up(stream: TextIO) -> None:
    """Nobody reads it any more, or it is full: what is still buffered goes nowhere, so that
    flushing it at the end says nothing (Python's documentation, `signal`, note on SIGPIPE). Whoever
    put something else in its place goes on after us, so that is left alone.
    """
    inner = stream.stream if isinstance(stream, Outlet) else stream
    if inner is not sys.__stdout__ and inner is not sys.__stderr__:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, inner.fileno())
    os.close(nowhere)


def console(*, stderr: bool = False) -> "Console":
    """A rich Console whose texts are shown as they are: neither markup such as [red] nor what a
    terminal would obey has an effect.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Shown(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else visible(text), style, control)

    out = sys.stderr if stderr else sys.stdout
    if isinstance(out, Outlet):
        out = cast(TextIO, Outlet(out.stream, guards=False))
    return Shown(file=out, stderr=stderr, markup=False, highlight=False, emoji=False)


def counting_bar(where: "Console", *more: str) -> "Progress":
    """A bar that says of each task what it is, how much of it is done and how long it will take,
    and that goes when it is done. more: fields of the task that are shown behind.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        *(TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in more),
        console=where,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
