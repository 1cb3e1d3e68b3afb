"""A report written down: one HTML file without scripts, the same as Markdown, figures as SVG,
tables as CSV.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import rows
from analysis.answering import answered
from analysis.channels import sentences
from analysis.completeness import lacking, shown_columns
from analysis.methods import checklist, methods
from analysis.outcomes import FROM_THE_LOG
from analysis.page import any_text, counted, interval, num, p_text, plain, records, write_page
from analysis.report import Report, shown
from analysis.time_plots import shown_steps
from simcounsel.errors import SpecError
from simcounsel.instruments.scale import find_scale
from simcounsel.specs.experiment import LEAST_CLIENTS
from simcounsel.specs.scores import TOTAL

if TYPE_CHECKING:
    from analysis.report import Report


MOST_RESULTS = 4
"""Outcomes that the page names at its beginning."""
STABLE = 0.8
"""The adjusted Rand index between groupings of half samples from which on they are drawn."""


@any_text
def write(
    report: Report,
    out: Path,
    command: str,
    *,
    pdf: bool = False,
    word: bool = False,
    notebook: bool = False,
) -> Path:
    """Write all files into `out` and return the page's path. command: as it was typed. pdf: the
    figures at the widths of a journal, too. word, notebook: report.docx, report.ipynb. ReportError
    when it cannot be written.
    """
    from analysis.word import write_notebook, write_word

    context = _context(report, command)
    page = write_page(
        out / "report.html", "report", context, report.pictures, report.tables, pdf=pdf
    )
    if word:
        write_word(page.with_suffix(".docx"), context, report.pictures)
    if notebook:
        write_notebook(page.with_suffix(".ipynb"), context)
    return page


def _context(report: Report, command: str) -> dict[str, Any]:
    sample = report.sample
    sets = rows.RunSets(member.name for member in sample.members)
    drawn = shown(report.explored)
    pairs = rows.pairs_rows(report, drawn, sets)
    return {
        "report": report,
        "sample": sample,
        "experiment": sample.experiment,
        "sets": sets,
        "headline": headline(report),
        "results": [*sentences(report.parts), *results(report)],
        "sample_clients": len({who for member in sample.members for who in member.clients}),
        "tested": any(one.permuted.p is not None for one in report.explored),
        "stable": (report.patterns.agreement or 0) >= STABLE,
        "drawn": drawn,
        "undrawn": len(report.explored) - len(drawn),
        "share_changes": rows.share_rows(report, sets),
        "runs": report.tables["runs"].to_dict("records"),
        "completeness": records(report.tables["completeness"]),
        "lacking": lacking(report.tables["completeness"]),
        "lacking_columns": shown_columns(lacking(report.tables["completeness"])),
        "models": rows.models_rows(report),
        "costs": rows.costs_rows(report),
        "warnings": rows.warnings_rows(report),
        "speakers": rows.speakers_rows(report, sets),
        "relations": rows.relations_rows(report, sets),
        "agreement": records(report.tables.get("agreement")),
        "people": records(report.tables.get("model_and_people")),
        "rated": rows.rated_rows(report),
        "command": command,
        "made_by": _made_by(report),
        "direction": direction_of,
        "over_time": [one for one in report.pictures if one.startswith("time_")],
        "steps": _steps(report),
        "methods": methods(report),
        "checklist": checklist(report),
        "from_the_log": FROM_THE_LOG,
        "pairs": pairs,
        "why_not": _why_not(report),
        "reasons": sorted({str(row["reason"]) for row in pairs if row["reason"]}),
        "trials": _trials(report),
        "unmeasured": not len(report.tables["measurements"]),
        "talked": _lines(report),
        "self_reports": _has(report, "self"),
        "judged": _has(report, "observer"),
    }


def _steps(report: Report) -> list[dict[str, Any]]:
    """The changes from step to step that are drawn, as rows of a table."""
    table = report.tables["step_means"]
    drawn = set(shown_steps(table))
    return [
        row
        for row in records(table)
        if (str(row["instrument"]), str(row["score"]), str(row["respondent"])) in drawn
    ]


def headline(report: Report) -> list[str]:
    """What is to be said first, in sentences."""
    said = []
    toys = report.sample.toys()
    if toys:
        models = " and the ".join(toys)
        said.append(
            f"These runs used the {models} model. They show that the software works; what follows"
            " says nothing about counseling."
        )
    if not report.sample.members:
        return [*said, "No run could be used; see what was left out, and why."]
    said += answered(report.sample)
    if not report.planned:
        said.append(
            "No test was planned before the runs were made: all that is here is exploratory."
        )
    for one in report.planned:
        h = one.hypothesis
        words = f"{plain(h.id)} ({plain(h.instrument)}, {' against '.join(map(plain, h.contrast))})"
        if one.p_holm is None:
            said.append(f"{words}: not testable; {_too_few(report) or one.reason or 'no p value'}.")
        elif one.estimate is None:
            said.append(
                f"{words}: {one.verdict}, {one.statistic}, corrected p {p_text(one.p_holm)}."
            )
        else:
            said.append(
                f"{words}: {one.verdict}; {num(one.estimate)} {interval(one.low, one.high)},"
                f" corrected p {p_text(one.p_holm)}."
            )
    return said


def results(report: Report) -> list[str]:
    """What was measured, by arm, in words with an interval, whole scales first; or why nothing can
    be said.
    """
    measured = sorted(
        (one for one in report.explored if one.instrument != "log"), key=lambda o: o.score != TOTAL
    )
    said = []
    if _trials(report):
        said.append(
            "Scores that the embedded or the scripted model gave were drawn: they measure nothing."
        )
    for one in measured[:MOST_RESULTS]:
        arms = [
            f"{num(s.mean)}{f' {interval(s.low, s.high)}' if s.low is not None else ''} in"
            f" {plain(s.name)}"
            for s in one.spreads
            if s.mean is not None
        ]
        if arms:
            said.append(f"{one.title[0].upper()}{one.title[1:]}, {one.kind}: {', '.join(arms)}.")
    if len(measured) > MOST_RESULTS:
        more = counted(len(measured) - MOST_RESULTS, "more outcome is", "more outcomes are")
        said.append(f"{more} below.")
    if not measured:
        said.append("Nobody was measured, so no outcome can be compared.")
    if few := _too_few(report):
        said.append(f"Nothing is tested: {few}.")
    return said


def _too_few(report: Report) -> str:
    """Why so few clients allow no test; '' where there are enough."""
    clients = len({who for member in report.sample.members for who in member.clients})
    here = f"here {'is' if clients == 1 else 'are'} {clients}"
    return f"a test needs {LEAST_CLIENTS} clients, and {here}" if clients < LEAST_CLIENTS else ""


def direction_of(instrument: str, score: str) -> str:
    """'lower is better' or 'higher is better', as the scale says; '' where that is not known."""
    if instrument == "log":
        return FROM_THE_LOG.get(score, "")
    try:
        scale = find_scale(instrument)
    except SpecError:
        return ""
    part = next((one for one in scale.subscales if one.id == score), None)
    return str((part.direction if part and part.direction else scale.direction) or "").replace(
        "_", " "
    )


def _why_not(report: Report) -> list[str]:
    """Why exploratory tests could not be made, each reason once."""
    return sorted(
        {reason for one in report.explored if (reason := one.permuted.reason or one.fisher.reason)}
    )


def _has(report: Report, respondent: str) -> bool:
    return bool((report.tables["measurements"]["respondent"].astype(str) == respondent).any())


def _trials(report: Report) -> bool:
    """Whether any measurement was made by a model that is no judge."""
    return (
        bool(report.tables["measurements"]["trial"].astype(bool).any())
        if len(report.tables["measurements"])
        else False
    )


def _lines(report: Report) -> int:
    return len(report.tables["talk"])


def _made_by(report: Report) -> list[str]:
    """Versions of simcounsel that made the runs."""
    return sorted(
        {
            str(member.manifest.get("versions", {}).get("simcounsel", "unknown"))
            for member in report.sample.members
        }
    )
