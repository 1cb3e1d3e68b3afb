"""A run's folder: where a new one goes, which ones are near, how much of its log is complete."""

from pathlib import Path

from simcounsel.errors import RunError
from simcounsel.record_kinds import records_in
from simcounsel.runs.chain import Damage, LogCheck, tick_of, ticks_in


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
    """Which runs could be meant instead, in words."""
    inner = [one.name for one in records_in(folder)]
    if inner:
        return f"; it holds runs, name one of them: {', '.join(inner[-3:])}"
    beside = records_in(folder.parent)
    return f"; there is {beside[-1]}" if beside else "; `simcounsel run WORLD` makes one"


def complete_ticks(folder: Path) -> int:
    """How many ticks are complete in a run's log, without reading what happened in them."""
    return complete_part(folder / "events.jsonl")[2]


def complete_part(file: Path, check: LogCheck | None = None) -> tuple[int, int, int]:
    """Bytes up to the end of the last complete tick, bytes behind that, number of complete
    ticks. RunError where the log does not pass `check`.
    """
    if not file.is_file():
        return 0, 0, 0
    keep, behind, ticks = 0, 0, 0
    with file.open("rb") as lines:
        for tick, complete in ticks_in(lines):
            if check and (damage := check.tick(tick) if complete else check.rest(tick)):
                raise RunError(damage_text(file, damage, check.sound_ticks))
            size = sum(map(len, tick))
            if complete:
                keep += size
                ticks = tick_of(tick[-1]) + 1
            else:
                behind = size
    return keep, behind, ticks


def damage_text(file: Path, damage: Damage, sound_ticks: int) -> str:
    """A damaged place of a log and what can be done, in words. sound_ticks: that hold before it."""
    return f"{file}:{damage.line}: {damage.what}; {ways_on(file.parent, sound_ticks)}"


def ways_on(folder: Path, sound_ticks: int) -> str:
    """What can be done about a damaged log."""
    again = (
        f", go on from where it holds (`simcounsel resume {folder} --from {sound_ticks}`)"
        if sound_ticks
        else ""
    )
    return (
        f"put the file back as it was{again}, or work with what is left of it: rate, export, report"
        " and talk take `--damaged`, and mark what comes of it"
    )
