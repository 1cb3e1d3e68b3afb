"""The page of a replication that was made of commands, and tables in the paper's shape for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd

from analysis.page import command_line, write_page
from analysis.replication.differences import DesignRow
from analysis.replication.published import Name, Published, published
from analysis.replication.study import reach, shown, single
from analysis.replication.tables import PaperRow, PaperTable, TableCell, theirs
from analysis.style import Picture

Cells = Mapping[str, Mapping[str, TableCell]]
"""Ours, by what a row is of and by column."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """All that such a page says."""

    paper: Published
    tables: Sequence[PaperTable]
    design: Sequence[DesignRow]
    pictures: Mapping[str, Sequence[Picture]]
    """By table: the figures below it."""
    toys: Sequence[str]
    """Models among these that are there for trying the software."""
    counted: int
    kind: str
    """What was counted."""
    report_page: str


def own(
    paper: Name,
    id: str,
    rows: Mapping[str, str],
    cells: Cells,
    source: str,
    missing: str | None = None,
) -> PaperTable:
    """A published table with ours beside it. rows: by a row's name the key of ours in `cells`;
    those that the paper does not have come last.
    """
    table = published(paper).tables[id]
    names = [*table.rows, *(name for name in rows if name not in table.rows)]
    columns = list(dict.fromkeys(column for row in table.rows.values() for column in row))
    if not columns:  # a figure, whose numbers are not printed
        columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    made = []
    for name in names:
        found = cells.get(rows.get(name, ""), {})
        each = []
        for column in columns:
            cell = found.get(column, TableCell())
            number = theirs(table, name, column)[0]
            each.append(replace(cell, published=number, share=column == "modified"))
        made.append(PaperRow(label=table.label(name), cells=tuple(each)))
    return PaperTable(
        id=id,
        title=table.title,
        columns=tuple(columns),
        rows=tuple(made),
        source=source,
        notes=table.notes,
        missing=missing,
    )


def design_of(paper: Published, facts: Mapping[str, str]) -> tuple[DesignRow, ...]:
    """What differs in design. facts: what was chosen, by the names in `{}`."""
    return tuple(
        DesignRow(what=one.what, published=one.published, ours=one.ours.format_map(facts))
        for one in paper.design
    )


def said_of(judge: str) -> str:
    """Who rated."""
    return f"rated by {judge}"


def write(made: Made, folder: Path) -> Iterator[str]:
    """replication.html, .md, figures/ and tables/; in words what was written."""
    frames = {table.id: table.frame() for table in made.tables}
    frames["design"] = pd.DataFrame([asdict(one) for one in made.design])
    pictures = {one.id: one for some in made.pictures.values() for one in some}
    context = {
        "paper": made.paper,
        "tables": made.tables,
        "design": made.design,
        "toys": made.toys,
        "labels": (),
        "excluded": 0,
        "open_ends": 0,
        "safety_moves": "",
        "drawn": {},
        "comments": (),
        "comment_counts": (),
        "over_time": (),
        "runs": made.counted,
        "kind": made.kind,
        "here": "here",
        "beside": None,
        "below": {id: [one.id for one in some] for id, some in made.pictures.items()},
        "shown": shown,
        "single": single,
        "reach": reach,
        "command": command_line(),
        "report_page": made.report_page,
    }
    page = write_page(folder / "replication.html", "replication", context, pictures, frames)
    yield f"page         {page}"
    yield f"as text      {page.with_suffix('.md')}"
    yield f"tables       {folder / 'tables'} ({len(frames)} CSV files)"
    yield f"report       {folder / made.report_page}"
