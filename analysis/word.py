"""The report as a Word file and as a notebook: what came out, the planned tests, one story,
figures, methods and checklist. Everything else is in the HTML page.
"""

import io
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import docx
import nbformat
from docx.shared import Mm

from analysis.page import counted, interval, num, p_text, plain
from analysis.report import Report
from analysis.style import Picture
from simcounsel.disk import write_data, write_text
from simcounsel.terminal import visible

WIDTH_MM = 155
"""Of a figure between the margins of A4."""
PLANNED = ("hypothesis", "difference, 95 % interval", "p, Holm", "effect", "verdict")


def write_word(file: Path, context: Mapping[str, Any], pictures: Mapping[str, Picture]) -> None:
    """Write the report as a Word file. ReportError or OSError when it cannot be written."""
    report: Report = context["report"]
    made = docx.Document()
    made.core_properties.author = "simcounsel"
    made.core_properties.created = made.core_properties.modified = datetime.now()
    made.add_heading(_title(report), 0)
    for sentence in _answer(context):
        made.add_paragraph(visible(sentence), "List Bullet")
    if report.planned:
        made.add_heading("Planned tests", 1)
        _table(made, PLANNED, _planned(report))
    for one in _figures(pictures):
        made.add_picture(io.BytesIO(one.as_png()), Mm(WIDTH_MM))
        made.add_paragraph(visible(f"{one.title}."), "Caption")
    planned = [arm for one in report.planned for arm in one.hypothesis.contrast]
    for story in sorted(
        report.stories, key=lambda one: (not one.excerpts, one.arm not in planned[:1])
    )[:1]:
        made.add_heading(visible(f"A story: {story.client}, {plain(story.arm)}"), 1)
        for excerpt in story.excerpts:
            made.add_heading(visible(excerpt.title), 2)
            for line in excerpt.lines:
                said = made.add_paragraph()
                said.add_run(visible(f"{line.who}: ")).bold = True
                said.add_run(visible(line.text))
    made.add_heading("Methods", 1)
    made.add_paragraph(visible(context["methods"]))
    made.add_heading("Reporting checklist", 1)
    _table(made, ("reported", "here"), context["checklist"])
    held = io.BytesIO()
    made.save(held)
    write_data(file, held.getvalue())


def write_notebook(file: Path, context: Mapping[str, Any]) -> None:
    """Write the report as a notebook beside its tables: what came out, then the tables as frames
    and each score by arm as a chart, in cells to change.
    """
    report: Report = context["report"]
    book = nbformat.v4.new_notebook()
    answer = "\n".join(f"- {sentence}" for sentence in _answer(context))
    cells = [
        nbformat.v4.new_markdown_cell(f"# {_title(report)}\n\n{answer}"),
        nbformat.v4.new_code_cell(
            "import pandas as pd\n\n"
            "outcomes = pd.read_csv('tables/outcomes.csv')  # beside this notebook\noutcomes.head()"
        ),
        nbformat.v4.new_markdown_cell("Each client's mean, by score and arm:"),
        nbformat.v4.new_code_cell(
            "outcomes.pivot_table('value', ['instrument', 'score', 'client'], 'arm').round(2)"
        ),
        nbformat.v4.new_markdown_cell(f"## Methods\n\n{context['methods']}"),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same report gives the same bytes
    book.cells = cells
    write_text(file, nbformat.writes(book) + "\n")


def _title(report: Report) -> str:
    plan = report.sample.experiment
    return plain(plan.name) if plan else f"Report on {counted(len(report.sample.members), 'run')}"


def _answer(context: Mapping[str, Any]) -> list[str]:
    sample = context["sample"]
    compared = ", ".join(f"{plain(arm)} ({len(sample.of(arm))})" for arm in sample.arms)
    return [
        f"Compared: {compared} runs; {counted(context['sample_clients'], 'client')}.",
        *(f"{label[0].upper()}{label[1:]}." for label in sample.labels),
        *context["headline"],
        *context["results"],
        "A simulation is no evidence about people.",
    ]


def _planned(report: Report) -> Iterable[tuple[str, ...]]:
    for one in report.planned:
        h = one.hypothesis
        between = f" {interval(one.low, one.high)}" if one.low is not None else ""
        yield (
            f"{plain(h.id)}: {plain(h.instrument)}, {' against '.join(map(plain, h.contrast))}",
            f"{num(one.estimate)}{between}",
            p_text(one.p_holm),
            f"{one.effect_name} {num(one.effect)}" if one.effect is not None else "–",
            f"{one.verdict}{f'; {one.reason}' if one.reason else ''}",
        )


def _figures(pictures: Mapping[str, Picture]) -> list[Picture]:
    return [
        one
        for key, one in pictures.items()
        if key in ("planned", "changes") or key.startswith("time_")
    ]


def _table(made: Any, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    heads = list(heads)
    table = made.add_table(1, len(heads), style="Light Grid Accent 1")
    for cell, text in zip(table.rows[0].cells, heads, strict=True):
        cell.text = text
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = visible(str(text))
