"""What comes after the runs of a replication: questions, studies for people, tables, the page."""

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from analysis.embedding import each_once, embedding
from analysis.finding import find
from analysis.page import counted, csv_of
from analysis.report import Options, Report, embedding_of, make
from analysis.writing import write as write_report
from replication import asking, simcounsel_tables, structure_tables, themes
from replication.page import Replication, write
from replication.published import Name, Published, published
from replication.tables import Table
from simcounsel.disk import write_whole
from simcounsel.llm.catalog import open_chat
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.history import History

PER_RUN = 2
"""Items of a rating study from each run, at most."""
STORIES = 3


def finish(
    name: Name, folder: Path, *, raters: int, judge: str | None, tell: Callable[[str], None]
) -> Iterator[str]:
    """Everything after the runs in FOLDER/runs; in words what was written and what people can
    do.
    """
    paper = published(name)
    options = Options(stories=STORIES, ratings=asking.answers_in(folder))
    asked = asking.comment(find([folder / "runs"]), tell) if name == "structure_matters" else None
    report = make([folder / "runs"], options, tell)
    write_report(report, folder / "report", typed())
    if name == "simcounsel":
        yield from asking.people(folder / "runs", folder, tuple(asking.STUDIES), raters, PER_RUN)
        tables = tuple(simcounsel_tables.tables(report, paper))
    else:
        assert asked is not None
        write_whole(folder / "comments.csv", csv_of(asked))
        tables = tuple(of_structure(report, paper, folder, asked, judge))
    made = Replication(
        paper=paper, report=report, tables=tables, facts=facts_of(report, raters, judge)
    )
    page = write(made, folder, typed(), "report/report.html")
    yield f"page         {page}"
    yield f"as text      {page.with_suffix('.md')}"
    yield f"tables       {folder / 'tables'} ({len(tables) + 1} CSV files)"
    yield f"report       {folder / 'report' / 'report.html'}"


def of_structure(
    report: Report, paper: Published, folder: Path, asked: pd.DataFrame, judge: str | None
) -> Iterator[Table]:
    """Its tables; themes are named by the judge, where there is one that can."""
    embed = each_once(embedding(embedding_of(report.sample, report.options)))
    models = None
    if judge is not None and not judge.startswith(("scripted", "embedded")):
        chat = open_chat(judge)
        models = Switchboard({"reason": chat, "quick": chat, "judge": chat}, HashEmbeddings())
    try:
        found, said = themes.find_themes(asked, embed, models)
    finally:
        if models is not None:
            models.close()
    sheet = folder / "people" / "themes.csv"
    themes.write_sheet(said, sheet)
    yield from structure_tables.tables(report, paper, found, sheet)


def typed() -> str:
    """The command, ready to be typed again."""
    own = ["simcounsel"] if "replicate" in sys.argv[1:2] else ["python", "-m", "replication"]
    return shlex.join([*own, *sys.argv[1:]])


def facts_of(report: Report, raters: int, judge: str | None) -> dict[str, str]:
    """What fills the slots of a paper's design."""
    sample = report.sample
    clients = {client for member in sample.members for client in member.clients}
    arms = Counter(member.arm for member in sample.members)
    ticks = sorted({member.ticks for member in sample.members})
    minutes = {int(m.manifest["world"]["tick_minutes"]) for m in sample.members}
    hours = max(ticks) * max(minutes) / 60 if ticks else 0
    models = {model for m in sample.members for role, model in m.models.items() if role != "embed"}
    return {
        "clients": counted(len(clients), "client"),
        "groups": ", ".join(f"{arms[arm]} {arm}" for arm in sample.arms),
        "seeds": counted(len({member.seed for member in sample.members}), "run"),
        "length": f"{counted(max(ticks, default=0), 'tick')}, {hours:g} hours",
        "talks": _talks(report),
        "judge": judge or ", ".join(sorted({m.models.get("judge", "?") for m in sample.members})),
        "raters": f"studies for {raters} are made; answers are taken in as they come",
        "clusters": str(report.patterns.k) if report.patterns.k else "none",
        "models": ", ".join(sorted(models)),
        "shuffles": f"{report.options.shuffles:,}",
    }


def _talks(report: Report) -> str:
    """Conversations by arm, and how many that is for a client and seed."""
    found: dict[str, list[int]] = {}
    for member in report.sample.members:
        held = sum(1 for _ in History(member.log).conversations())
        found.setdefault(member.arm, []).append(held)
    return "; ".join(
        f"{arm}: {sum(counts)}, {sum(counts) / len(counts):.1f} a run"
        for arm, counts in found.items()
        if any(counts)
    )
