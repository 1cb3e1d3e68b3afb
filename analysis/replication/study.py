"""What comes after the runs of a replication: questions, studies for people, tables, the page.

A replication as one page, the same as Markdown, and its tables as CSV.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from analysis.embedding import each_once, embedding
from analysis.errors import ReportError
from analysis.finding import find
from analysis.page import command_line, csv_of, interval, num, percent, write_page
from analysis.patterns import Embed
from analysis.replication import asking, figure5, simcounsel_tables, structure_tables, themes
from analysis.replication.after import After
from analysis.replication.differences import DesignRow, rows_of
from analysis.replication.options import Choices
from analysis.replication.published import Name, Published, published
from analysis.replication.tables import PaperTable, TableCell
from analysis.report import Report, ReportOptions, embedding_of, make
from analysis.rows import rated_rows
from analysis.style import Look, Picture, broken, mean_with_interval, picture
from analysis.writing import write as write_report
from simcounsel.disk import write_whole
from simcounsel.llm.switchboard import Switchboard


@dataclass(frozen=True, kw_only=True)
class Replication:
    """All that a page says."""

    paper: Published
    report: Report
    tables: Sequence[PaperTable]
    design: Sequence[DesignRow]
    """In what the designs differ, and what is the same."""
    pictures: Mapping[str, Sequence[Picture]] = field(default_factory=dict)
    """By table: the figures below it."""
    here: str = "here"
    """What our own numbers are called in the tables."""
    beside: str | None = None
    """What the numbers of another study are called, if one stands beside ours."""


def write(made: Replication, out: Path, command: str, report_page: str) -> Path:
    """OUT/replication.html, .md, figures/ and tables/; the page's path. ReportError when something
    cannot be written.
    """
    frames = {table.id: table.frame() for table in made.tables}
    frames["design"] = pd.DataFrame([asdict(one) for one in made.design])
    pictures = {one.id: one for one in drawn(made)}
    context = _context(made, command, report_page)
    return write_page(out / "replication.html", "replication", context, pictures, frames)


def drawn(made: Replication) -> list[Picture]:
    """All figures of the page, in its order."""
    below = (one for some in made.pictures.values() for one in some)
    return [*below, *over_time(made.report)]


def over_time(report: Report) -> list[Picture]:
    """The report's figures of outcomes over time."""
    return [one for id, one in report.pictures.items() if id.startswith("time_")]


def shown(cell: TableCell, which: str) -> str:
    """A number as a reader sees it: `published` or `ours`; '–' for none."""
    value = {"published": cell.published, "ours": cell.ours, "beside": cell.beside}[which]
    sd = cell.published_sd if which == "published" else None
    if cell.share:
        return percent(value)
    return num(value) + (f" ({num(sd)})" if sd is not None else "")


def single(cell: TableCell) -> str:
    """The number of a column that has either theirs or ours; '' for none."""
    which = "published" if cell.published is not None else "ours"
    return shown(cell, which) if cell.published is not None or cell.ours is not None else ""


def reach(cell: TableCell) -> str:
    """The interval of ours; '' for none."""
    if cell.low is None or cell.high is None:
        return ""
    if cell.share:
        return f"[{percent(max(0.0, cell.low))}, {percent(min(1.0, cell.high))}]"
    return interval(cell.low, cell.high)


def comment_counts(report: Report) -> list[str]:
    """How many answers of each study have a comment, in sentences."""
    return [note for note in report.people_notes if "answers have a comment" in note]


def _context(made: Replication, command: str, report_page: str) -> dict[str, Any]:
    sample = made.report.sample
    return {
        "paper": made.paper,
        "tables": made.tables,
        "design": made.design,
        "toys": sample.toys(),
        "labels": sample.labels,
        "runs": len(sample.members),
        "kind": "run",
        "here": made.here,
        "beside": made.beside,
        "excluded": len(sample.excluded),
        "open_ends": len(sample.open_ends),
        "safety_moves": sample.safety_moves,
        "drawn": sample.drawn,
        "comments": rated_rows(made.report)["comments"],
        "comment_counts": comment_counts(made.report),
        "below": {id: [one.id for one in some] for id, some in made.pictures.items()},
        "over_time": [one.id for one in over_time(made.report)],
        "shown": shown,
        "single": single,
        "reach": reach,
        "command": command,
        "report_page": report_page,
    }


LEAST, MOST = 1.0, 5.0
"""Of the scale."""


def figure_6(table: PaperTable) -> Picture:
    """How true to their parts client and counselor are, by area."""
    cells = [(row.label, row.cells[0]) for row in table.rows]
    return _beside("figure_6", table.title, cells)


def figure_7(table: PaperTable) -> Picture:
    """How a persona changed, by arm; the middle is no change."""
    cells = list(zip(table.columns, table.rows[0].cells, strict=True))
    return _beside("figure_7", "Figure 7: change of the persona, rated by people", cells, middle=3)


def _beside(
    id: str, title: str, cells: Sequence[tuple[str, TableCell]], middle: float | None = None
) -> Picture:
    alt = "; ".join(
        f"{label}: published {num(cell.published)}, here {num(cell.ours)}" for label, cell in cells
    )

    def draw(look: Look) -> Figure:
        figure = Figure(figsize=(look.width, 0.9 + 0.5 * len(cells)), layout="constrained")
        axes = figure.subplots()
        if middle is not None:
            axes.axvline(middle, color=look.faint, linewidth=1, zorder=1)
        for at, (_, cell) in enumerate(reversed(cells)):
            if cell.published is not None:
                axes.plot(
                    [cell.published], [at + 0.14], "o",
                    markerfacecolor=look.ground, markeredgecolor=look.ink, markersize=6,
                )  # fmt: skip
            if cell.ours is not None:
                known = cell.low is not None and cell.high is not None
                ends = [max(LEAST, cell.low or 0.0), min(MOST, cell.high or 0.0)] if known else None
                mean_with_interval(axes, look, at - 0.14, cell.ours, ends, 0)
        names = [broken(label.replace("_", " "), 26) for label, _ in reversed(cells)]
        axes.set_yticks(range(len(cells)), names)
        axes.set_ylim(-0.6, len(cells) - 0.4)
        axes.set_xlim(LEAST, MOST)
        axes.set_xlabel("published (hollow),\nhere (filled) with its 95% interval")
        return figure

    return picture(id, title, alt, draw)


PER_RUN = 2
"""Items of a rating study from each run, at most."""
STORIES = 3


def finish(
    name: Name, folder: Path, wanted: Choices, after: After, tell: Callable[[str], None]
) -> Iterator[str]:
    """Everything after the runs in FOLDER/runs; in words what was written and what people can
    do.
    """
    paper, runs = published(name), folder / "runs"
    options = ReportOptions(stories=STORIES, ratings=asking.answers_in(folder))
    asked = asking.comment(find([runs]), after, tell) if name == "structure_matters" else None
    report = make([runs], options, tell)
    write_report(report, folder / "report", command_line())
    if name == "simcounsel":
        yield from asking.people(runs, folder, tuple(asking.STUDIES), wanted.raters, PER_RUN)
        tables, pictures = of_simcounsel(report, paper, wanted, after, tell)
    else:
        assert asked is not None
        write_whole(folder / "comments.csv", csv_of(asked))
        judge = after.judge(wanted.judge)
        tables, pictures = tuple(of_structure(report, paper, folder, asked, judge)), {}
    made = Replication(
        paper=paper,
        report=report,
        tables=tables,
        design=tuple(rows_of(paper, report, wanted, tables)),
        pictures=pictures,
    )
    page = write(made, folder, command_line(), "report/report.html")
    yield f"page         {page}"
    yield f"as text      {page.with_suffix('.md')}"
    yield f"tables       {folder / 'tables'} ({len(tables) + 1} CSV files)"
    yield f"report       {folder / 'report' / 'report.html'}"


PEOPLE = "people"


def of_people(
    exported: Path, folder: Path, beside: Path | None, tell: Callable[[str], None]
) -> Iterator[str]:
    """Structure Matters of a trial's export: people in place of simulated clients. beside: the
    folder of a replication with simulated ones, whose numbers stand beside theirs.
    """
    runs, paper = exported / "runs", published("structure_matters")
    people = not _played(exported)
    report = make([runs], ReportOptions(stories=STORIES), tell)
    write_report(report, folder / "report", command_line())
    said = pd.read_csv(exported / "comments.csv", dtype=str).fillna("")
    tables = tuple(of_structure(report, paper, folder, said, None))
    if beside is not None:
        tables = tuple(one.set_beside(_table_of(beside, one.id)) for one in tables)
    made = Replication(
        paper=paper,
        report=report,
        tables=tables,
        design=tuple(rows_of(paper, report, Choices(), tables, people=people)),
        here=PEOPLE if people else "here",
        beside="simulated" if beside is not None else None,
    )
    page = write(made, folder, command_line(), "report/report.html")
    yield f"page         {page}"
    yield f"report       {folder / 'report' / 'report.html'}"


def _played(exported: Path) -> bool:
    """Whether the participants of a trial's export were simulated. ReportError for what is no
    export.
    """
    file = exported / "proof.json"
    try:
        return bool(json.loads(file.read_text(encoding="utf-8"))["simulated"])
    except (OSError, ValueError, KeyError):
        raise ReportError(
            f"{file}: cannot be read; name the folder that `simcounsel trial export` wrote"
        ) from None


def _table_of(folder: Path, name: str) -> pd.DataFrame:
    """A table of another replication. ReportError where there is none."""
    file = folder / "tables" / f"{name}.csv"
    try:
        return pd.read_csv(file)
    except (OSError, ValueError) as error:
        raise ReportError(
            f"{file}: cannot be read ({error}); name the folder of a `study replicate"
            " structure-matters`"
        ) from None


def of_simcounsel(
    report: Report, paper: Published, wanted: Choices, after: After, tell: Callable[[str], None]
) -> tuple[tuple[PaperTable, ...], dict[str, tuple[Picture, ...]]]:
    """Its tables, and by table the figures that go with it."""
    tell(f"grouping {wanted.grouped}")
    judge = after.judge(wanted.judge)
    try:
        figure = figure5.figure_5(report, wanted, _embed(report), judge)
    finally:
        if judge is not None:
            judge.close()
    shown = figure5.table(figure, wanted, paper.tables["figure_5"])
    tables = tuple(simcounsel_tables.tables(report, paper, shown))
    by_id = {table.id: table for table in tables}
    return tables, {
        "figure_5": figure.pictures,
        "figure_6": (figure_6(by_id["figure_6"]),),
        "table_7_people": (figure_7(by_id["table_7_people"]),),
    }


def _embed(report: Report) -> Embed:
    return each_once(embedding(embedding_of(report.sample, report.options)))


def of_structure(
    report: Report, paper: Published, folder: Path, asked: pd.DataFrame, models: Switchboard | None
) -> Iterator[PaperTable]:
    """Its tables; themes are named by the judge, where there is one that can."""
    try:
        found, said = themes.find_themes(asked, _embed(report), models)
    finally:
        if models is not None:
            models.close()
    sheet = folder / "people" / "themes.csv"
    themes.write_sheet(said, sheet)
    yield from structure_tables.tables(report, paper, found, sheet)
