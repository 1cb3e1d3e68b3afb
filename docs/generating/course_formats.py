"""A course of two sessions in each format of an export, as `simcounsel export` writes it."""

import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

from docs.generating.text import page
from simcounsel.corpus.export_command import FormatName, export
from simcounsel.corpus.formats import FORMATS

COURSE = Path(__file__).with_name("course.json")
SYSTEM = "You are a counselor."
ABOUT = f"""A course of two sessions as PsychEval writes them (a clinic's run is exported alike), and the rows of its last session in each format,
by `simcounsel export course.json --format FORMAT --reasoning --system system.txt --split 100,0,0 --no-check`, with `{SYSTEM}` in `system.txt`.
The preference formats hold revised lines only, and a course has none. `parquet` has `messages` as in `openai`, and the fields of `native`."""


def shown() -> dict[str, str]:
    """The last rows by format: of JSON laid out for reading, of `text` the last dialogue."""
    found = {}
    for name, form in FORMATS.items():
        if not form.paired and name != "parquet":
            rows = exported(name)
            found[name] = rows if name == "text" else _laid_out(rows.splitlines())
    return found


def exported(name: FormatName, **more: Any) -> str:
    """The file `train` of the course in that format."""
    with tempfile.TemporaryDirectory() as made:
        system, out = Path(made) / "system.txt", Path(made) / "out"
        system.write_text(SYSTEM, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            export(
                [str(COURSE)],
                name,
                out,
                reasoning=name != "native",
                system=None if name == "native" else system,
                split="100,0,0",
                checks=False,
                **more,
            )
        (file,) = out.glob("train.*")
        return file.read_text(encoding="utf-8")


def _laid_out(lines: list[str]) -> str:
    """The rows of the last session: `trl` has one for each line that is learned."""
    rows = [json.loads(line) for line in lines]
    own = rows[-2:] if "completion" in rows[-1] else rows[-1:]
    return "\n".join(json.dumps(one, indent=1, ensure_ascii=False) for one in own)


def course_formats() -> str:
    """The page."""
    parts = [f"## The course\n\n```json\n{COURSE.read_text(encoding='utf-8').rstrip()}\n```"]
    for name, text in shown().items():
        kind = "text" if name == "text" else "json"
        parts.append(f"## `{name}`\n\n```{kind}\n{text.rstrip()}\n```")
    return page("A course in each format", ABOUT, *parts)
