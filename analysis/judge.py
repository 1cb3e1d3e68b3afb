"""Whether a model judge is any good, from what `simcounsel validate-judge` collected; beside it,
plain counts of the talk.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from analysis.judge_figures import (
    Fields,
    Figure,
    alpha_of_rounds,
    alpha_with_people,
    fall,
    good_against_bad,
    position,
    rank_correlation,
    retest,
    sensitivity,
)
from analysis.judge_items import ItemFigure, falls, item_figures

BETTER_WHEN_LOWER = (
    "advice_per_turn",
    "talk_share",
    "question_marks_per_turn",
    "counselor_characters",
    "characters_to_characters",
)
"""Counts of the talk that are expected to be lower in good sessions: a counselor who talks long
leaves less room.
"""


def figures(ratings: Path) -> list[Figure]:
    """All figures from a ratings.jsonl but those of single items."""
    by_kind = _read(ratings)
    labels = _labels(by_kind)
    found: list[Figure] = []
    for of, scores in (
        *_judged(by_kind.get("rated", [])).items(),
        *_counted(by_kind.get("counted", [])).items(),
    ):
        faults = dict.fromkeys(name.split(": ", 1)[1] for name in scores["variant"] if ": " in name)
        found += [
            good_against_bad(of, scores, labels),
            rank_correlation(of, scores, labels),
            alpha_with_people(of, scores, labels),
            *(make(of, scores, fault) for fault in faults for make in (sensitivity, fall)),
        ]
        if scores["round"].max() > 0:
            found.append(retest(of, scores))
    found += falls(_head(by_kind), by_kind.get("rated", []))
    found += [
        alpha_of_rounds(name, rows)
        for name, rows in _by_instrument(by_kind.get("rated", [])).items()
    ]
    return [*found, *position(by_kind.get("compared", []))]


def items(ratings: Path) -> list[ItemFigure]:
    """The table of items from a ratings.jsonl."""
    by_kind = _read(ratings)
    return item_figures(_head(by_kind), by_kind.get("rated", []), _labels(by_kind))


def _read(ratings: Path) -> dict[str, list[Fields]]:
    """The lines by kind."""
    by_kind: dict[str, list[Fields]] = {}
    for line in ratings.read_text(encoding="utf-8").splitlines():
        if line.endswith("}"):
            one = json.loads(line)
            by_kind.setdefault(one["kind"], []).append(one)
    return by_kind


def _head(by_kind: dict[str, list[Fields]]) -> Fields:
    return next(iter(by_kind.get("validation", [])), {})


def _labels(by_kind: dict[str, list[Fields]]) -> dict[str, Fields]:
    return {one["transcript"]: one for one in by_kind.get("transcript", [])}


def table(found: Iterable[Figure | ItemFigure]) -> pd.DataFrame:
    """The figures, one a row."""
    return pd.DataFrame([asdict(one) for one in found])


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
