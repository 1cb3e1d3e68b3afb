"""A report on corpora written down: one HTML file without scripts, figures as SVG, the numbers as
CSV.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from analysis.corpora.comparison import CorporaReport, Judgments
from analysis.corpora.counted import MEASURES
from analysis.corpora.scores import dimensions, who_rated
from analysis.page import any_text, num, page_in, records, signed, write_page
from simcounsel.corpus.disclosure import STEPS
from simcounsel.runs.measurements import is_trial
from simcounsel.specs.scale import Scale

Rows = list[dict[str, Any]]


@any_text
def write(report: CorporaReport, out: Path, command: str) -> Path:
    """Write all files and return the page's path. out: a folder, or the page's own path, beside
    which figures/ and tables/ are put.

    ReportError when they cannot be written.
    """
    context = _context(report, command)
    return write_page(page_in(out), "corpora", context, report.pictures, report.tables)


def _context(report: CorporaReport, command: str) -> dict[str, Any]:
    names = [group.name for group in report.groups]
    measures = records(report.counted.corpora)
    cell = {(row["corpus"], row["measure"]): row for row in measures}
    return {
        "title": (
            f"{names[0]}: quality of a corpus"
            if len(names) == 1
            else f"{len(names)} corpora compared"
        ),
        "headline": headline(report),
        "warnings": _warnings(report),
        "about": _about(report),
        "notes": report.notes,
        "instruments": [_instrument(scale, report) for scale in _scales(report)],
        "judged": bool(report.judged),
        "people": _shown(report.people) if report.people else None,
        "raters_agree": records(report.raters_agree),
        "measures": [(one, [cell[name, one.id] for name in names]) for one in MEASURES],
        "why": sorted({str(row["reason"]) for row in measures if row["reason"]}),
        "equal": report.counted.equal,
        "curves": _curves(report),
        "command": command,
        "tables": sorted(report.tables),
    }


def headline(report: CorporaReport) -> list[str]:
    """What is to be said first, in sentences; a comparison only where its interval leaves 0 out."""
    groups = report.groups
    said = [
        f"{sum(len(one.dialogues) for one in groups)} dialogues in {len(groups)}"
        f" {'group' if len(groups) == 1 else 'groups'}."
    ]
    for one in _first_judges(report):
        rated = one.dialogues.dropna(subset=["value"])["text"].nunique()
        said.append(f"{who_rated(one.scale, one.judge)}: {rated} of them.")
        clear = [
            row
            for row in records(one.contrasts)
            if row["p_holm"] is not None and row["p_holm"] < 0.05
        ]
        if not one.trial and len(groups) > 1:
            said.append(_compared(clear, len(one.contrasts)))
        if one.by_dialogue is not None:
            said += [_agreeing(records(one.by_dialogue))]
    if not report.judged:
        said.append("No judge has rated them; what follows is only counted.")
    return said


def _first_judges(report: CorporaReport) -> list[Judgments]:
    """The first judge of each instrument."""
    first: dict[str, Judgments] = {}
    for one in report.judged:
        first.setdefault(one.scale.id, one)
    return list(first.values())


def _scales(report: CorporaReport) -> list[Scale]:
    """Those of the judges, then that of the people, each once."""
    every = [*report.judged, *([report.people] if report.people else [])]
    return list({one.scale.id: one.scale for one in every}.values())


def _instrument(scale: Scale, report: CorporaReport) -> dict[str, Any]:
    """What is asked, and what each judge said, as the template needs it."""
    judges = [one for one in report.judged if one.scale.id == scale.id]
    allowed = scale.range
    return {
        "id": scale.id,
        "name": scale.name,
        "measures": scale.measures,
        "questions": len(scale.items),
        "range": f"{allowed.min:g} to {allowed.max:g}",
        "better": "lower" if scale.direction == "lower_is_better" else "higher",
        "about": scale.source if scale.stands_in_for is None else scale.stands_in_for.note,
        "judges": [_shown(one) for one in judges],
        "for_client": any(one.for_client for one in judges),
    }


def _compared(clear: Rows, tests: int) -> str:
    if not clear:
        return (
            f"None of {tests} differences between groups in a dimension stands out after"
            " correction; that is no proof that they are alike."
        )
    best = max(clear, key=lambda row: abs(row["difference"] or 0))
    words = (
        f"{best['first']} minus {best['second']}, {best['dimension']}: {signed(best['difference'])}"
        " points"
    )
    return (
        f"{len(clear)} of {tests} differences between groups in a dimension stand out after"
        f" correction; the largest is {words}."
    )


def _agreeing(rows: Rows) -> str:
    known = [f"{row['dimension']} {signed(row['rho'])}" for row in rows if row["rho"] is not None]
    if not known:
        return f"Judge and people cannot be compared: {rows[0]['reason']}."
    return f"Rank correlation of this judge with people over dialogues: {', '.join(known)}."


def _warnings(report: CorporaReport) -> list[str]:
    trials = [one.judge for one in report.judged if one.trial]
    models = {
        model
        for group in report.groups
        for one in group.dialogues
        if one.origin
        for model in one.origin.models.values()
    }
    writers = sorted(model for model in models if is_trial(model))
    said = (
        [
            f"Rated by the {' and the '.join(trials)} model: for trying the software only. These"
            " ratings mean nothing."
        ]
        if trials
        else []
    )
    if writers:
        said.append(
            f"Some of this was written by the {' and the '.join(writers)} model, which shows only"
            " that the software works."
        )
    return said


def _about(report: CorporaReport) -> Rows:
    rows = []
    for group in report.groups:
        themes: dict[str, int] = {}
        for dialogue in group.dialogues:
            themes[dialogue.theme or "no theme"] = themes.get(dialogue.theme or "no theme", 0) + 1
        models = sorted(
            {
                f"{role}: {model}"
                for one in group.dialogues
                if one.origin
                for role, model in one.origin.models.items()
            }
        )
        rows.append(
            {
                "name": group.name,
                "source": group.source,
                "dialogues": len(group.dialogues),
                "clients": len({one.client for one in group.dialogues}),
                "themes": ", ".join(
                    f"{theme} {number}" for theme, number in sorted(themes.items())
                ),
                "unit": report.counted.units[group.name],
                "language": (
                    ", ".join(sorted({one.language for one in group.dialogues if one.language}))
                    or "not known"
                ),
                "models": ", ".join(models) or "not known",
            }
        )
    return rows


def _shown(one: Judgments) -> dict[str, Any]:
    """A judge, or people, as the template needs it."""
    cells = _nested(records(one.summary), "corpus")
    rated = {
        name: row
        for name, row in cells.items()
        if any(cell["value"] is not None or cell["missing"] for cell in row.values())
    }
    themes: dict[str, dict[str, Any]] = {}
    for row in records(one.themes):
        themes.setdefault(row["corpus"], {}).setdefault(row["theme"], {})[row["dimension"]] = row
    contrasts: dict[tuple[str, str], dict[str, Any]] = {}
    for row in records(one.contrasts):
        contrasts.setdefault((row["first"], row["second"]), {})[row["dimension"]] = row
    most = max((int(n) for n in one.dialogues.groupby(["corpus", "dimension"]).size()), default=0)
    ranks = [*records(one.by_dialogue), *records(one.by_corpus)]
    return {
        "unranked": sorted({f"{row['level']}: {row['reason']}" for row in ranks if row["reason"]}),
        "judge": one.judge,
        "instrument": one.scale.id,
        "by": who_rated(one.scale, one.judge),
        "rated": one.rated,
        "dimensions": dimensions(one.scale),
        "questions": len(one.scale.items),
        "trial": one.trial,
        "rows": list(rated.items()),
        "themes": [(name, list(themes[name].items())) for name in rated if name in themes],
        "contrasts": list(contrasts.items()),
        "retests": records(one.retests),
        "dots": f" (the first 150 of up to {num(most)})" if most > 150 else "",
        "rounds": int(one.ratings["round"].nunique()) if "round" in one.ratings else 1,
        "raters": int(one.ratings["rater"].nunique()) if "rater" in one.ratings else 0,
        "texts": int(one.dialogues["text"].nunique()),
        "by_dialogue": {row["dimension"]: row for row in records(one.by_dialogue)},
        "by_corpus": {row["dimension"]: row for row in records(one.by_corpus)},
    }


def _nested(rows: Iterable[dict[str, Any]], key: str) -> dict[str, dict[str, Any]]:
    """Rows by one column, then by dimension."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        found.setdefault(row[key], {})[row["dimension"]] = row
    return found


def _curves(report: CorporaReport) -> Rows:
    names = {"words": "words of the client's file", "stages": "six stages"}
    return [
        {
            "name": name,
            "kind": names[kind],
            "dialogues": curve.dialogues,
            "first": curve.first,
            "half": curve.shares[STEPS // 2],
            "end": curve.shares[-1],
            "at_once": curve.at_once,
        }
        for name, curves in report.counted.curves.items()
        for kind, curve in curves.items()
    ]
