"""The rows that a report's templates show, out of its tables."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from analysis.page import records
from analysis.raters.comparing import ALL
from analysis.report import Report
from analysis.results import share_changes
from analysis.stories import AS_IT_BEGINS, met


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


def share_rows(report: Report, sets: RunSets) -> list[dict[str, Any]]:
    if report.patterns.reason:
        return []
    rows = share_changes(report.patterns, report.tables["shares"], report.sample.arms)
    return [row | {"set": sets.number(row["runs"])} for row in rows]


def pairs_rows(report: Report, drawn: Sequence[Any], sets: RunSets) -> list[dict[str, Any]]:
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


MOST_COMMENTS = 50
"""Comments of raters on the page; all of them lie in tables/people_comments.csv."""

MOST_CLIENTS = 6
"""Of more, ratings of each client by itself are in the CSVs alone."""


def rated_rows(report: Report) -> dict[str, Any]:
    """Ratings by people, by table; whether those of each client were left to the CSVs."""
    names = ("means", "anova", "pairs", "agreement")
    found: dict[str, Any] = {name: records(report.tables.get(f"people_{name}")) for name in names}
    clients = {row["of"] for row in found["means"]} - {ALL}
    said = records(report.tables.get("people_comments"))
    found["comments"], found["uncommented"] = said[:MOST_COMMENTS], len(said[MOST_COMMENTS:])
    found["shortened"] = len(clients) > MOST_CLIENTS
    if found["shortened"]:
        for name in names[:3]:
            found[name] = [row for row in found[name] if row["of"] == ALL]
    return found


def models_rows(report: Report) -> list[tuple[str, str]]:
    """Each role's models."""
    used: dict[str, set[str]] = {}
    for member in report.sample.members:
        for role, model in member.models.items():
            used.setdefault(role, set()).add(model)
    return [(role, ", ".join(sorted(models))) for role, models in sorted(used.items())]


def costs_rows(report: Report) -> list[dict[str, Any]]:
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


def warnings_rows(report: Report) -> list[dict[str, Any]]:
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


def written_beforehand(speakers: Any) -> int:
    """How many lines were written beforehand: chosen by a stand-in, or a fallback."""
    shares = speakers["chosen"].astype(float) + speakers["fallbacks"].astype(float)
    return round(float((shares * speakers["messages"].astype(float)).sum()))


def speakers_rows(report: Report, sets: RunSets) -> list[dict[str, Any]]:
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
                    "by_hand": written_beforehand(part),
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


def relations_rows(report: Report, sets: RunSets) -> list[dict[str, Any]]:
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
