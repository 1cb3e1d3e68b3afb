"""A replication as one page, the same as Markdown, and its tables as CSV."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.page import LOOKS, css, environment, interval, num, percent, write_page
from analysis.report import Report
from analysis.rows import rated_rows
from analysis.style import Picture
from replication.published import Published
from replication.tables import Cell, Table, filled

PICTURES = ("activities", "transitions", "clusters")


@dataclass(frozen=True, kw_only=True)
class Replication:
    """All that a page says."""

    paper: Published
    report: Report
    tables: Sequence[Table]
    facts: Mapping[str, str]
    """What fills the slots of the paper's design."""
    notes: Sequence[str] = ()


def write(made: Replication, out: Path, command: str, report_page: str) -> Path:
    """OUT/replication.html, .md, figures/ and tables/; the page's path. ReportError when something
    cannot be written.
    """
    context = _context(made, command, report_page)
    page = out / "replication.html"
    texts = {}
    for file, html in ((page, True), (out / "replication.md", False)):
        template = environment(html=html, package="replication").get_template(f"{file.name}.j2")
        texts[file] = template.render(context)
    frames = {table.id: table.frame() for table in made.tables}
    write_page(texts, pictures_of(made), frames | {"design": _design(made)})
    return page


def pictures_of(made: Replication) -> list[Picture]:
    """Those of the report that a paper's figure is like, and outcomes over time."""
    drawn = made.report.pictures
    wanted = PICTURES if any(table.id == "figure_5" for table in made.tables) else ()
    return [drawn[id] for id in wanted if id in drawn] + [
        one for id, one in drawn.items() if id.startswith("time_")
    ]


def shown(cell: Cell, which: str) -> str:
    """A number as a reader sees it: `published` or `ours`; '–' for none."""
    value = cell.published if which == "published" else cell.ours
    sd = cell.published_sd if which == "published" else None
    if cell.share:
        return percent(value)
    return num(value) + (f" ({num(sd)})" if sd is not None else "")


def reach(cell: Cell) -> str:
    """The interval of ours; '' for none."""
    if cell.low is None or cell.high is None:
        return ""
    if cell.share:
        return f"[{percent(max(0.0, cell.low))}, {percent(min(1.0, cell.high))}]"
    return interval(cell.low, cell.high)


def comment_counts(report: Report) -> list[str]:
    """How many answers of each study have a comment, in sentences."""
    return [note for note in report.people_notes if "answers have a comment" in note]


def _design(made: Replication) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"what": one.what, "published": one.published, "ours": filled(one.ours, made.facts)}
            for one in made.paper.design
        ]
    )


def _context(made: Replication, command: str, report_page: str) -> dict[str, Any]:
    sample = made.report.sample
    drawn = {one.id: one for one in pictures_of(made)}
    return {
        "paper": made.paper,
        "tables": made.tables,
        "design": _design(made).to_dict("records"),
        "toys": sample.toys(),
        "labels": sample.labels,
        "runs": len(sample.members),
        "excluded": len(sample.excluded),
        "open_ends": len(sample.open_ends),
        "drawn": sample.drawn,
        "notes": made.notes,
        "comments": rated_rows(made.report)["comments"],
        "comment_counts": comment_counts(made.report),
        "pictures": drawn,
        "of_activities": [id for id in drawn if id in PICTURES],
        "over_time": [id for id in drawn if id not in PICTURES],
        "looks": LOOKS,
        "shown": shown,
        "reach": reach,
        "command": command,
        "report_page": report_page,
        "css": css(),
        "when": f"{datetime.now():%Y-%m-%d %H:%M}",
    }
