"""Command lines in processes of their own: at a terminal (a pseudo-terminal), or into a given stream."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, NamedTuple

from tests.stage import ROOT

HOSTILE = "\x1b]0;OWNED\x07\x1b[2J\x9b31m\x90q\u202emoc\u2066\x00\x08\r[red]gone[/red][/x]"
"""What a model, a file or a name may hold: a title, an erased screen, C1, bidi, NUL, markup."""
OBEYED = [
    b"\x1b]0;",
    b"\x1b[2J",
    b"\x07",
    b"\xc2\x9b",
    b"\xc2\x90",
    b"\xe2\x80\xae",
    b"\xe2\x81\xa6",
    b"\0",
    b"\x08",
]


class Seen(NamedTuple):
    code: int
    screen: bytes

    @property
    def obeyed(self) -> list[bytes]:
        """What of it a terminal would obey."""
        return [one for one in OBEYED if one in self.screen]


def environment() -> dict[str, str]:
    keys = ("PATH", "HOME", "TMPDIR", "LANG")
    kept = {key: os.environ[key] for key in keys if key in os.environ}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "COLUMNS": "100",
        "LINES": "40",
    }


def at_a_terminal(
    *arguments: object,
    typed: str = "",
    cwd: Path | None = None,
    module: str = "simcounsel",
    **variables: str,
) -> Seen:
    """What `simcounsel ...`, or another module, puts on the screen of a terminal, errors among it. variables: of the environment."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment() | variables, cwd=cwd, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    if typed:
        os.write(ours, typed.encode())
    screen = bytearray()
    try:
        while piece := os.read(ours, 65536):
            screen += piece
    except OSError:  # Linux says so at the end of a pseudo-terminal
        pass
    os.close(ours)
    return Seen(process.wait(timeout=60), bytes(screen))


def into(out: IO[bytes] | int, *arguments: object) -> tuple[int, str]:
    """The exit code of `simcounsel ...` with that standard output, and what it says on standard error."""
    ended = subprocess.run(
        [sys.executable, "-m", "simcounsel", *map(str, arguments)],
        stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, env=environment(), timeout=120, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN) and None,
    )  # fmt: skip
    return ended.returncode, ended.stderr.decode()
