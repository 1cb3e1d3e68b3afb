"""What comes after the runs of a replication: questions, studies for people, tables, the page."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from analysis.embedding import each_once, embedding
from analysis.finding import find
from analysis.page import command_line, csv_of
from analysis.patterns import Embed
from analysis.replication import asking, figure5, simcounsel_tables, structure_tables, themes
from analysis.replication.after import After
from analysis.replication.differences import rows_of
from analysis.replication.options import Choices
from analysis.replication.page import Replication, figure_6, figure_7, write
from analysis.replication.published import Name, Published, published
from analysis.replication.tables import PaperTable
from analysis.report import Report, ReportOptions, embedding_of, make
from analysis.style import Picture
from analysis.writing import write as write_report
from simcounsel.disk import write_whole
from simcounsel.llm.switchboard import Switchboard

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
