"""Seeds of a synthesis: what people write when they look for help, each in their own words.

FILE.txt      one situation a line; the file's name is the theme if it is one of ours
FILE.md       one situation, however many lines it has
FOLDER        each .txt, .md or .jsonl in it
FILE.jsonl    {"text": ..., "id": ..., "client": ..., "theme": ...} a line; only text must be there
shipped       those that come with simcounsel
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from simcounsel.errors import SpecError
from simcounsel.intake import file_bytes, json_data
from simcounsel.specs.load import Spec
from simcounsel.specs.vocabulary import THEMES

SHIPPED = "shipped"
FEWEST_WORDS = 5
"""Of fewer words nobody could make a person."""


class Situation(Spec):
    """A situation to begin from."""

    id: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^\S(?:.*\S)?$")]
    """Unique among the seeds."""
    text: Annotated[str, Field(min_length=1, max_length=8000)]
    theme: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    """None lets the extractor name it."""
    client: Annotated[str, Field(min_length=1, max_length=80)] | None = None
    """The privacy unit, the id if not given."""

    @property
    def unit(self) -> str:
        """Whose privacy it is."""
        return self.client or self.id


def read_situations(sources: Sequence[str | Path], beside: Path = Path()) -> tuple[Situation, ...]:
    """All situations of the named files, folders or `shipped`, in that order. Paths are relative to
    `beside`.

    SpecError names every line that is none, and ids that occur twice.
    """
    problems: list[str] = []
    found: list[tuple[str, Situation]] = []
    for source in sources:
        found += _shipped() if str(source) == SHIPPED else list(_read(beside / source, problems))
    seen: dict[str, str] = {}
    for place, situation in found:
        if situation.id in seen:
            problems.append(
                f"{place}: the id {situation.id!r} was taken at {seen[situation.id]}; rename one of"
                " the two"
            )
        seen.setdefault(situation.id, place)
    if not found and not problems:
        problems.append(
            f"{', '.join(map(str, sources)) or 'situations'}: no situation there; write one a line,"
            f" or use `{SHIPPED}`"
        )
    if problems:
        raise SpecError(problems)
    return tuple(situation for _, situation in found)


def _shipped() -> list[tuple[str, Situation]]:
    folder = files("simcounsel.corpus").joinpath("seeds")
    return [
        (f"{theme}.txt:{number}", Situation(id=f"{theme}-s{number:02d}", text=line, theme=theme))
        for theme in THEMES
        for number, line in enumerate(
            folder.joinpath(f"{theme}.txt").read_text(encoding="utf-8").splitlines(), 1
        )
        if line.strip()
    ]


def _read(path: Path, problems: list[str]) -> Iterator[tuple[str, Situation]]:
    if path.is_dir():
        inner = sorted(file for file in path.iterdir() if file.suffix in (".txt", ".md", ".jsonl"))
        if not inner:
            problems.append(
                f"{path}: no .txt, .md or .jsonl in this folder; write one situation a line, or a"
                " file each"
            )
        for file in inner:
            yield from _read(file, problems)
        return
    text = _text(path, problems)
    if text is None:
        return
    if path.suffix == ".jsonl":
        yield from _objects(path, text, problems)
        return
    lines = [
        (number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()
    ]
    whole = path.suffix == ".md"
    theme = path.stem if path.stem in THEMES else None
    for number, line in [(1, " ".join(text.split()))] if whole and lines else lines:
        place = f"{path}:{number}"
        yield from _situation(
            place,
            {
                "id": path.stem if whole else f"{path.stem}-{number:02d}",
                "text": line,
                "theme": theme,
            },
            problems,
        )


def _text(path: Path, problems: list[str]) -> str | None:
    try:
        return file_bytes(path).decode("utf-8-sig")
    except FileNotFoundError:
        problems.append(
            f"{path}: no such file; `{SHIPPED}` stands for the situations that come with simcounsel"
        )
    except UnicodeDecodeError as error:
        problems.append(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8")
    except OSError as error:
        problems.append(f"{path}: cannot be read ({error.strerror})")
    return None


def _objects(path: Path, text: str, problems: list[str]) -> Iterator[tuple[str, Situation]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            fields = json_data(line)
            assert isinstance(fields, dict)
        except (ValueError, AssertionError):
            problems.append(f'{path}:{number}: not a JSON object; write {{"text": "..."}}')
            continue
        yield from _situation(
            f"{path}:{number}", {"id": f"{path.stem}-{number:02d}"} | fields, problems
        )


def _situation(
    place: str, fields: Mapping[str, object], problems: list[str]
) -> Iterator[tuple[str, Situation]]:
    try:
        situation = Situation.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        problems.append(
            f"{place}: {where}: {first['msg'][0].lower()}{first['msg'][1:]}; known here: text, id,"
            " client, theme"
        )
        return
    if len(situation.text.split()) < FEWEST_WORDS and len(situation.text) < 4 * FEWEST_WORDS:
        problems.append(
            f"{place}: {situation.text[:40]!r} says too little; a situation has at least"
            f" {FEWEST_WORDS} words"
        )
        return
    yield place, situation
