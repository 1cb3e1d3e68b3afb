"""A report written down: one HTML file without scripts, the same as Markdown, figures as SVG,
tables as CSV.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from analysis.experiment import ReportError
from analysis.outcomes import FROM_THE_LOG
from analysis.page import (
    LOOKS,
    any_text,
    css,
    environment,
    interval,
    num,
    p_text,
    plain,
    put,
    records,
    versions,
    write_tables,
)
from analysis.plots import Look
from analysis.report import Report, shown
from analysis.results import share_changes
from analysis.stories import AS_IT_BEGINS, met
from simcounsel.errors import SpecError
from simcounsel.instruments.scale import find_scale


@any_text
def write(report: Report, out: Path, command: str) -> Path:
    """Write all files into `out` and return the page's path. command: as it was typed. ReportError
    when it cannot be written.
    """
    context = _context(report, command)
    page = out / "report.html"
    html = environment(html=True).get_template("report.html.j2").render(context)
    markdown = environment(html=False).get_template("report.md.j2").render(context)
    try:
        (out / "figures").mkdir(parents=True, exist_ok=True)
        for stale in (out / "figures").glob("*.svg"):
            stale.unlink()
        for one in report.pictures.values():
            (out / "figures" / f"{one.id}.svg").write_bytes(one.svg[Look()])
        write_tables(report.tables, out / "tables")
        put(page, html)
        put(out / "report.md", markdown)
    except OSError as error:
        raise ReportError(
            f"{error.filename or out}: cannot be written ({error.strerror}); choose another --out"
        ) from None
    return page


# what the templates need


class RunSets:
    """Sets of runs by number, so that each number in a report can name the runs behind it."""

    def __init__(self, everybody: Iterable[str]) -> None:
        self.sets: dict[frozenset[str], int] = {frozenset(everybody): 1}

    def number(self, runs: Iterable[str]) -> int:
        """The number of that set."""
        return self.sets.setdefault(frozenset(map(str, runs)), len(self.sets) + 1)

    def listed(self) -> list[tuple[int, list[str]]]:
        """All sets with their runs in order."""
        return [(number, sorted(runs)) for runs, number in self.sets.items()]


def _context(report: Report, command: str) -> dict[str, Any]:
    sample = report.sample
    sets = RunSets(member.name for member in sample.members)
    drawn = shown(report.explored)
    pairs = _pairs(report, drawn, sets)
    return {
        "report": report,
        "sample": sample,
        "experiment": sample.experiment,
        "sets": sets,
        "headline": headline(report),
        "drawn": drawn,
        "undrawn": len(report.explored) - len(drawn),
        "share_changes": _share_rows(report, sets),
        "runs": report.tables["runs"].to_dict("records"),
        "models": _models(report),
        "costs": _costs(report),
        "warnings": _warnings(report),
        "speakers": _speakers(report, sets),
        "relations": _relations(report, sets),
        "agreement": records(report.tables.get("agreement")),
        "people": records(report.tables.get("model_and_people")),
        "command": command,
        "versions": versions(),
        "made_by": _made_by(report),
        "when": f"{datetime.now():%Y-%m-%d %H:%M}",
        "direction": direction_of,
        "pictures": report.pictures,
        "looks": LOOKS,
        "css": css(),
        "from_the_log": FROM_THE_LOG,
        "pairs": pairs,
        "why_not": _why_not(report),
        "reasons": sorted({str(row["reason"]) for row in pairs if row["reason"]}),
        "trials": _trials(report),
        "unmeasured": not len(report.tables["measurements"]),
        "talked": _told_of(report),
        "self_reports": _has(report, "self"),
        "judged": _has(report, "observer"),
    }


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
    if not report.planned:
        said.append(
            "No test was planned before the runs were made: all that is here is exploratory."
        )
    for one in report.planned:
        h = one.hypothesis
        words = f"{plain(h.id)} ({plain(h.instrument)}, {' against '.join(map(plain, h.contrast))})"
        if one.p_holm is None:
            said.append(f"{words}: not testable; {one.reason or 'no p value'}.")
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


def _told_of(report: Report) -> int:
    return len(report.tables["talk"])


def _share_rows(report: Report, sets: RunSets) -> list[dict[str, Any]]:
    if report.patterns.reason:
        return []
    rows = share_changes(report.patterns, report.tables["shares"], report.sample.arms)
    return [row | {"set": sets.number(row["runs"])} for row in rows]


def _pairs(report: Report, drawn: Sequence[Any], sets: RunSets) -> list[dict[str, Any]]:
    wanted = {(one.instrument, one.score, one.judge) for one in drawn}
    rows = [
        row
        for row in records(report.tables["pairs"])
        if (row["instrument"], row["score"], row["judge"]) in wanted
    ]
    keys = [(row["instrument"], row["score"], row["judge"], row["respondent"]) for row in rows]
    return [
        row
        | {
            "set": sets.number(row["runs"].split()),
            "counts": " + ".join(re.findall(r" (\d+)(?:;|$)", row["n"])),
            "rows": keys.count(key),
            "first_of_outcome": at == 0 or keys[at - 1] != key,
        }
        for at, (row, key) in enumerate(zip(rows, keys, strict=True))
    ]


def _models(report: Report) -> list[tuple[str, str]]:
    """Each role's models."""
    used: dict[str, set[str]] = {}
    for member in report.sample.members:
        for role, model in member.models.items():
            used.setdefault(role, set()).add(model)
    return [(role, ", ".join(sorted(models))) for role, models in sorted(used.items())]


def _costs(report: Report) -> list[dict[str, Any]]:
    """By arm and model; a cost is unknown when any part of it is."""
    table = report.tables["costs"]
    rows = []
    for (arm, model), part in table.groupby(["arm", "model"], observed=True, sort=True):
        rows.append(
            {
                "arm": arm,
                "model": model,
                "runs": part["run"].nunique(),
                "calls": int(part["calls"].sum()),
                "tokens_in": int(part["tokens_in"].sum()),
                "tokens_out": int(part["tokens_out"].sum()),
                "cost": None if part["cost_usd"].isna().any() else float(part["cost_usd"].sum()),
                "fallbacks": int(part["fallbacks"].sum()),
            }
        )
    return rows


def _warnings(report: Report) -> list[dict[str, Any]]:
    """By purpose and cause, the most frequent first."""
    table = report.tables["warnings"]
    if not len(table):
        return []
    grouped = table.astype({"purpose": str, "cause": str}).groupby(["purpose", "cause"])
    rows = [
        {"purpose": purpose, "cause": cause, "count": len(part), "runs": part["run"].nunique()}
        for (purpose, cause), part in grouped
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["purpose"], row["cause"]))


def _speakers(report: Report, sets: RunSets) -> list[dict[str, Any]]:
    """By arm and role, means over runs, each run counting once."""
    rows = []
    table, talks = report.tables["speakers"], report.tables["conversations"]
    for arm in report.sample.arms:
        for role in ("client", "counselor", "layperson"):
            part = table[(table["arm"] == arm) & (table["role"] == role)]
            if not len(part):
                continue
            mean = part.select_dtypes("number").astype(float).mean()
            ratios = (
                talks[(talks["arm"] == arm) & (talks["partner_role"] == role)]["length_ratio"]
                .dropna()
                .astype(float)
            )
            rows.append(
                {
                    "arm": arm,
                    "role": role,
                    "messages": int(part["messages"].sum()),
                    "set": sets.number(part["run"].astype(str)),
                    "ratio": float(ratios.mean()) if len(ratios) else None,
                    **{name: float(mean[name]) for name in SPOKEN if name in mean},
                }
            )
    return rows


SPOKEN = (
    "characters_per_message",
    "questions_per_message",
    "sentiment",
    "positive",
    "neutral",
    "negative",
    "distinct_2",
    "repetition",
    "chosen",
    "fallbacks",
)


def _relations(report: Report, sets: RunSets) -> list[dict[str, Any]]:
    """Of clients to others, by arm and the other's role: closeness at the start and at the end,
    means over runs.
    """
    table = report.tables["relations"]
    rows = []
    own = table[(table["role"] == "client") & met(table)].sort_values(
        ["run", "tick"], kind="stable"
    )
    ends = own.groupby(["arm", "run", "who", "other", "other_role"], observed=True).agg(
        start=("before", "first"),
        first=("after", "first"),
        why=("why", "first"),
        end=("after", "last"),
    )
    if not len(ends):
        return []
    ends["start"] = ends["start"].where(ends["why"] != AS_IT_BEGINS, ends["first"])
    for (arm, role), part in ends.reset_index().groupby(["arm", "other_role"], observed=True):
        mean = part[["start", "end"]].astype(float).mean()
        rows.append(
            {
                "arm": arm,
                "role": role,
                "start": float(mean["start"]),
                "end": float(mean["end"]),
                "n": len(part),
                "set": sets.number(part["run"].astype(str)),
            }
        )
    return rows


def _made_by(report: Report) -> list[str]:
    """Versions of simcounsel that made the runs."""
    return sorted(
        {
            str(member.manifest.get("versions", {}).get("simcounsel", "unknown"))
            for member in report.sample.members
        }
    )
