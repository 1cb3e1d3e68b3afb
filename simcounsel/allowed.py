"""What a user allowed for good: text files of their own, one thing a line; # begins a comment."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from simcounsel.disk import append_text
from simcounsel.errors import SimcounselError


def own_folder() -> Path:
    """Where a user's own settings lie: `$XDG_CONFIG_HOME/simcounsel`, else `~/.config/simcounsel`
    (XDG Base Directory Specification).
    """
    told = os.environ.get("XDG_CONFIG_HOME", "")
    home = Path(told) if os.path.isabs(told) else Path.home() / ".config"
    return home / "simcounsel"


def lines_of(file: Path, error: type[SimcounselError]) -> tuple[str, ...]:
    """What such a file names; nothing where there is no file. `error` when it cannot be read."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as cause:
        raise error(f"{file}: cannot be read ({cause}); repair or remove it") from None
    lines = (re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip() for line in text.splitlines())
    return tuple(line for line in lines if line)


def add_lines(file: Path, given: Iterable[str], error: type[SimcounselError], instead: str) -> None:
    """Add lines to such a file, those that it has left out. `error` when it cannot be written.
    instead: what to do then.
    """
    known = lines_of(file, error)
    new = [line for line in dict.fromkeys(given) if line not in known]
    try:
        if new:
            file.parent.mkdir(parents=True, exist_ok=True)
            append_text(file, "".join(f"{line}\n" for line in new))
    except OSError as cause:
        raise error(f"{file}: cannot be written ({cause.strerror}); {instead}") from None
