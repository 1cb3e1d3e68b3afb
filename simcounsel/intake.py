"""Files and JSON that others wrote, taken in within bounds: a pipe that never ends, a file without
end and a text of a million brackets are refused like any other that cannot be read.
"""

import errno
import json
import stat
from pathlib import Path
from typing import Any

MOST_MB = 512
"""Of a file that is read whole."""
MOST_DEPTH = 60
"""Levels in each other; our own files have at most ten."""


def file_bytes(path: Path, most_mb: int = MOST_MB) -> bytes:
    """All of a plain file. OSError when it cannot be read, is something else (a FIFO, a device), or
    is larger.
    """
    kind = path.stat().st_mode
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a plain file", str(path))
    with path.open("rb") as file:
        data = file.read(most_mb * 2**20 + 1)
    if len(data) > most_mb * 2**20:
        raise OSError(errno.EFBIG, f"it is larger than {most_mb} MB", str(path))
    return data


def json_data(text: str | bytes) -> Any:
    """The data of JSON. ValueError when it is none, or more than MOST_DEPTH levels deep; a
    JSONDecodeError knows where.
    """
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except ValueError:
        raise ValueError("a number has more digits than can be read") from None
    if perhaps_deep(text) and deeper(data, MOST_DEPTH):
        raise ValueError(TOO_DEEP)
    return data


TOO_DEEP = f"nested too deeply; {MOST_DEPTH} levels are the most"


def perhaps_deep(text: str | bytes) -> bool:
    """Whether so many brackets open that it may be deep; most that is JSON has fewer."""
    if isinstance(text, bytes):
        return text.count(b"[") + text.count(b"{") > MOST_DEPTH
    return text.count("[") + text.count("{") > MOST_DEPTH


def deeper(data: Any, depth: int) -> bool:
    """Whether there are more levels than that; without recursion, which is what too many levels
    break.
    """
    level = [data]
    for _ in range(depth + 1):
        level = [
            value
            for one in level
            if isinstance(one, (dict, list))
            for value in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)


def whole_characters(text: str) -> str:
    """A text with a question mark for each half of a character (lone surrogate), which no file
    could hold.
    """
    return text.encode("utf-8", "replace").decode("utf-8")
