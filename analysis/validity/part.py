"""A part of the page on validity: what one command measured, and the claims that follow from it."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from analysis.errors import ReportError
from analysis.page import records
from analysis.style import Look, Picture, in_the_dark
from simcounsel.disk import write_text, write_whole
from simcounsel.intake import file_bytes
from simcounsel.packaged import packaged

Id = Literal["talk", "persona", "multiverse", "audit", "truth", "people", "fit", "simulators"]
ClaimVerdict = Literal["holds", "does not hold", "undecided", "not measured"]
Value = str | int | float | bool | None
_WIDTHS = {"wide": Look(), "narrow": Look(wide=False)}


class _PartFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_PartFile):
    """A sentence that somebody may want to write of the runs."""

    statement: str
    """Such as 'Clients do not agree sooner than real ones'."""
    verdict: ClaimVerdict
    """Whether the runs bear it."""
    because: str
    """The number that decides, with its interval; or what is missing."""


class PartTable(_PartFile):
    """A table as the page shows it and as it goes to CSV."""

    id: str
    """The CSV's name, unique on the page."""
    title: str
    columns: tuple[str, ...]
    """As in the CSV; on the page underscores are spaces."""
    rows: tuple[tuple[Value, ...], ...]
    """By column; None where there is no number."""
    note: str = ""
    """What a reader must know to read it."""
    most: int | None = None
    """So many rows on the page, all in the CSV; None: all on both."""
    aside: tuple[str, ...] = ()
    """Columns that are in the CSV alone."""

    @property
    def on_page(self) -> "PartTable":
        """As the page shows it."""
        places = [at for at, name in enumerate(self.columns) if name not in self.aside]
        return self.model_copy(
            update={
                "columns": tuple(self.columns[at] for at in places),
                "rows": tuple(tuple(row[at] for at in places) for row in self.rows[: self.most]),
            }
        )


class KeptFigure(_PartFile):
    """A figure: `Picture` without its drawings, which lie beside the part."""

    id: str
    """Unique on the page."""
    title: str
    alt: str
    """What it shows, for those who do not see it."""


class MethodSource(_PartFile):
    """A publication that a method is taken from."""

    cite: str
    """Authors, year, title, where."""
    url: str
    used: str
    """What of it is used here."""


class ValidityPart(_PartFile):
    """What one command measured."""

    id: Id
    title: str
    lead: tuple[str, ...]
    """Paragraphs: what was compared with what, how many, how."""
    claims: tuple[Claim, ...]
    tables: tuple[PartTable, ...] = ()
    """In the order of the page."""
    figures: tuple[KeptFigure, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
    labels: tuple[str, ...] = ()
    """What must be said of these runs wherever they appear (see `Sample.labels`)."""
    toys: tuple[str, ...] = ()
    """Models in use whose talk is no evidence of anything (see `Sample.toys`)."""
    sources: tuple[MethodSource, ...] = ()
    command: str
    """What was typed."""
    made: str = Field(default_factory=lambda: f"{datetime.now():%Y-%m-%dT%H:%M:%S}")
    """Date and time, ISO 8601; now."""


@cache
def sources(id: Id) -> tuple[MethodSource, ...]:
    """Where the methods of a part come from."""
    listed = packaged("analysis.validity", "sources.yaml")[id]
    return tuple(MethodSource.model_validate(one) for one in listed)


def table_of(
    id: str,
    title: str,
    frame: pd.DataFrame,
    *,
    note: str = "",
    most: int | None = None,
    aside: Sequence[str] = (),
) -> PartTable:
    """A data frame as a table; missing values become None."""
    rows = tuple(tuple(row.values()) for row in records(frame))
    return PartTable(
        id=id,
        title=title,
        columns=tuple(map(str, frame.columns)),
        rows=tuple(tuple(map(_plain, row)) for row in rows),
        note=note,
        most=most,
        aside=tuple(aside),
    )


def shown(pictures: Sequence[Picture]) -> tuple[KeptFigure, ...]:
    """What a part keeps of its pictures."""
    return tuple(KeptFigure(id=one.id, title=one.title, alt=one.alt) for one in pictures)


def keep(part: ValidityPart, pictures: Sequence[Picture], out: Path) -> None:
    """Write OUT/parts/ID.json and the drawings beside it. OSError goes on to the caller."""
    folder = out / "parts"
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob(f"{part.id}.*.svg"):
        stale.unlink()
    for one in pictures:
        for width, look in _WIDTHS.items():
            write_text(folder / f"{part.id}.{one.id}.{width}.svg", one.svg[look].decode())
    write_whole(folder / f"{part.id}.json", part.model_dump_json(indent=1) + "\n")


def kept(out: Path, id: Id) -> tuple[ValidityPart, tuple[Picture, ...]] | None:
    """A part as it was kept, with its pictures; None where it was not measured. ReportError when a
    file of it is damaged.
    """
    file = out / "parts" / f"{id}.json"
    if not file.is_file():
        return None
    try:
        part = ValidityPart.model_validate_json(file_bytes(file))
        return part, tuple(_picture(out / "parts", part, one) for one in part.figures)
    except (OSError, ValidationError) as error:
        raise ReportError(
            f"{file}: cannot be read ({str(error).splitlines()[0]}); measure this part again"
        ) from None


def _picture(folder: Path, part: ValidityPart, one: KeptFigure) -> Picture:
    light = {
        look: (folder / f"{part.id}.{one.id}.{width}.svg").read_bytes()
        for width, look in _WIDTHS.items()
    }
    dark = {Look(wide=look.wide, dark=True): in_the_dark(svg) for look, svg in light.items()}
    return Picture(id=one.id, title=one.title, alt=one.alt, svg=light | dark)


def _plain(value: object) -> Value:
    """Without NumPy's types."""
    item = getattr(value, "item", None)
    plain = item() if callable(item) else value
    return plain if plain is None or isinstance(plain, str | int | float | bool) else str(plain)
