"""Whether a model judge is any good, from what `simcounsel validate-judge` collected; beside it,
plain counts of the talk.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from analysis.judge_figures import (
    Fields,
    Figure,
    alpha_of_rounds,
    alpha_with_people,
    auc,
    position,
    rank_correlation,
    retest,
    sensitivity,
)

BETTER_WHEN_LOWER = ("advice_per_turn", "talk_share", "question_marks_per_turn")
"""Counts of the talk that are expected to be lower in good sessions."""


def figures(ratings: Path, seed: int = 1) -> list[Figure]:
    """All figures from a ratings.jsonl."""
    lines = [
        json.loads(line)
        for line in ratings.read_text(encoding="utf-8").splitlines()
        if line.endswith("}")
    ]
    by_kind: dict[str, list[Fields]] = {}
    for line in lines:
        by_kind.setdefault(line["kind"], []).append(line)
    labels = {one["transcript"]: one for one in by_kind.get("transcript", [])}
    found: list[Figure] = []
    for of, scores in (
        *_judged(by_kind.get("rated", [])).items(),
        *_counted(by_kind.get("counted", [])).items(),
    ):
        found += [
            auc(of, scores, labels, seed),
            rank_correlation(of, scores, labels),
            alpha_with_people(of, scores, labels),
            *(
                sensitivity(of, scores, fault)
                for fault in sorted(
                    {name.split(": ")[1] for name in scores["variant"] if ": " in name}
                )
            ),
        ]
        if scores["round"].max() > 0:
            found.append(retest(of, scores))
    found += [
        alpha_of_rounds(name, rows)
        for name, rows in _by_instrument(by_kind.get("rated", [])).items()
    ]
    return [*found, *position(by_kind.get("compared", []))]


def table(found: Iterable[Figure]) -> pd.DataFrame:
    """The figures, one a row."""
    return pd.DataFrame([asdict(one) for one in found])


SHORT = {
    "AUC, good against bad sessions": "AUC",
    "rank correlation with people": "rho",
    "Krippendorff's alpha with people (ranks)": "alpha",
    "test-retest correlation": "retest",
    "Krippendorff's alpha of the judge with itself": "self",
    "fault seen: advice instead of listening": "advice",
    "fault seen: ignored risk": "risk",
    "fault seen: contradiction": "contra",
    "fault seen: leading questions": "leading",
}
"""Columns of the table for the terminal; figures.csv has the intervals and numbers of cases."""


def lines(found: Sequence[Figure]) -> list[str]:
    """The figures for the terminal: a row for each score, then the pairs, then why some are
    missing.
    """
    rows: dict[str, dict[str, str]] = {}
    for one in found:
        if one.what in SHORT:
            rows.setdefault(one.of, {})[SHORT[one.what]] = (
                "-" if one.value is None else f"{one.value:.2f}"
            )
    lines = [f"{'':44}" + "".join(f"{name:>9}" for name in SHORT.values())]
    lines += [
        f"{of:44}" + "".join(f"{row.get(name, ''):>9}" for name in SHORT.values())
        for of, row in rows.items()
    ]
    for one in found:
        if one.what not in SHORT:
            value = (
                f"{'-':>9}"
                if one.value is None
                else f"{one.value:9.2f} [{one.low:.2f}, {one.high:.2f}]"
            )
            lines.append(f"{one.what:44}{value} n={one.n} {one.unit}")
    lines.append(
        "AUC, rho, alpha: against the labels; retest, self: the judge against itself; the last"
        " four: planted faults that lower the score"
    )
    lines += [
        f"-: {reason}"
        for reason in dict.fromkeys(one.reason for one in found if one.value is None and one.reason)
    ]
    return lines


def _judged(rows: list[Fields]) -> dict[str, pd.DataFrame]:
    """Each score of each instrument as rows of transcript, variant, round, value; turned so that
    higher is better.
    """
    found: dict[str, list[Fields]] = {}
    for row in rows:
        for name, value in row["scores"].items():
            sign = -1 if name in row["lower_is_better"] else 1
            found.setdefault(f"{row['instrument']} {name}", []).append(
                {key: row[key] for key in ("transcript", "variant", "round")}
                | {"value": None if value is None else sign * value}
            )
    return {name: _frame(values) for name, values in found.items()}


def _counted(rows: list[Fields]) -> dict[str, pd.DataFrame]:
    found: dict[str, list[Fields]] = {}
    for row in rows:
        for name, value in row["measures"].items():
            sign = -1 if name in BETTER_WHEN_LOWER else 1
            found.setdefault(f"talk {name}", []).append(
                {
                    "transcript": row["transcript"],
                    "variant": row["variant"],
                    "round": 0,
                    "value": None if value is None else sign * value,
                }
            )
    return {name: _frame(values) for name, values in found.items()}


def _by_instrument(rows: list[Fields]) -> dict[str, list[Fields]]:
    found: dict[str, list[Fields]] = {}
    for row in rows:
        if row["variant"] == "original":
            found.setdefault(row["instrument"], []).append(row)
    return found


def _frame(values: list[Fields]) -> pd.DataFrame:
    frame = pd.DataFrame(values)
    return frame.assign(value=pd.to_numeric(frame["value"], errors="coerce"))
