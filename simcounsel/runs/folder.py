"""A run's folder: where a new one goes, which ones are near, how much of its log is complete."""

from pathlib import Path

from simcounsel.errors import RunError
from simcounsel.intake import json_data


def fresh_folder(out: Path, stem: str) -> Path:
    """A new folder under `out` named after `stem`, with a number behind it if it is taken."""
    for number in range(1, 1000):
        folder = out / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir(parents=True, exist_ok=False)
            return folder
        except FileExistsError:
            continue
        except NotADirectoryError:
            raise RunError(f"{out}: a file, not a folder; choose another --out") from None
        except OSError as error:
            raise RunError(
                f"{out}: cannot be written ({error.strerror}); choose another --out"
            ) from None
    raise RunError(f"{out}: a thousand runs named {stem} already; choose another --out")


def runs_nearby(folder: Path) -> str:
    inner = sorted(p.parent.name for p in folder.glob("*/manifest.json")) if folder.is_dir() else []
    if inner:
        return f"; it holds runs, name one of them: {', '.join(inner[-3:])}"
    parent = folder.parent
    beside = sorted(p.parent for p in parent.glob("*/manifest.json")) if parent.is_dir() else []
    return f"; there is {beside[-1]}" if beside else "; `simcounsel run WORLD` makes one"


def complete_ticks(folder: Path) -> int:
    """How many ticks are complete in a run's log, without reading what happened in them."""
    return complete_part(folder / "events.jsonl")[2]


def complete_part(file: Path) -> tuple[int, int, int]:
    """Bytes up to the end of the last complete tick, bytes behind that, number of complete
    ticks.
    """
    if not file.is_file():
        return 0, 0, 0
    keep, position, ticks = 0, 0, 0
    with file.open("rb") as lines:
        for line in lines:
            position += len(line)
            if line.endswith(b'"kind":"tick_ended"}\n'):
                keep = position
                ticks = json_data(line)["tick"] + 1
    return keep, position - keep, ticks
