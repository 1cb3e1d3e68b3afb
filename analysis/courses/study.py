"""What comes after the runs: the tables, as a page and as CSV, and a card."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from analysis.courses.design import Courses
from analysis.courses.tables import Played, tables
from analysis.finding import find
from analysis.page import command_line, write_page
from analysis.reading import read_tables
from analysis.replication.study import reach, shown, single
from simcounsel import __version__
from simcounsel.disk import write_text


def finish(folder: Path, wanted: Courses) -> Iterator[str]:
    """OUT/courses.html, .md, tables/ and card.json; in words what was written."""
    played = tuple(_played(folder, therapy) for therapy in wanted.therapies)
    made = tuple(tables(played))
    context = {
        "tables": made,
        "therapies": wanted.therapies,
        "counselors": wanted.counselors,
        "runs": sum(len(one.sample.members) for one in played),
        "excluded": sum(len(one.sample.excluded) for one in played),
        "toys": sorted({toy for one in played for toy in one.sample.toys()}),
        "open_ends": sum(len(one.sample.open_ends) for one in played),
        "shown": shown,
        "single": single,
        "reach": reach,
        "command": command_line(),
    }
    frames = {table.id: table.frame() for table in made}
    page = write_page(folder / "courses.html", "courses", context, {}, frames)
    card = json.dumps(_card(wanted, played), indent=1, ensure_ascii=False)
    write_text(folder / "card.json", card + "\n")
    yield f"page         {page}"
    yield f"as text      {page.with_suffix('.md')}"
    yield f"tables       {folder / 'tables'} ({len(made)} CSV files)"
    yield f"card         {folder / 'card.json'}"


def _played(folder: Path, therapy: str) -> Played:
    sample = find([folder / therapy / "runs"])
    return Played(therapy=therapy, sample=sample, measurements=read_tables(sample)["measurements"])


def _card(wanted: Courses, played: Sequence[Played]) -> dict[str, Any]:
    """What was run, so that two results can be compared: settings, versions, and of each run the
    digest of its manifest, which its log's chain begins with.
    """
    return {
        "settings": asdict(wanted),
        "simcounsel": __version__,
        "runs": {
            f"{one.therapy}/{member.name}": {
                "therapy": one.therapy,
                "counselor": member.arm,
                "client": list(member.clients),
                "models": member.models,
                "digest": member.manifest.get("digest"),
            }
            for one in played
            for member in one.sample.members
        },
    }
