"""Figures of a judge: each names how many transcripts, pairs or ratings it rests on, and is None
with a reason where it cannot be made.
"""

from dataclasses import dataclass
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from scipy import stats

from analysis.areas import Z, auc, newcombe

Fields = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number."""

    what: str
    """AUC, rank correlation, ..."""
    of: str
    """The instrument and score, or the count of the talk."""
    value: float | None = None
    low: float | None = None
    """`low`, `high`: of the 95% interval."""
    high: float | None = None
    n: int = 0
    """How many of `unit`."""
    unit: str = "transcripts"
    reason: str | None = None
    """Why value or interval is missing."""


def good_against_bad(of: str, scores: pd.DataFrame, labels: dict[str, Fields]) -> Figure:
    """Chance that a good session scores higher than a bad one (ties count half), with Newcombe's
    interval.
    """
    what = "AUC, good against bad sessions"
    mean = _means(scores)
    good, bad = (
        np.array([mean[name] for name in mean.index if labels.get(name, {}).get("good") is side])
        for side in (True, False)
    )
    if not len(good) or not len(bad):
        return Figure(
            what=what,
            of=of,
            n=len(mean),
            reason="no good and bad sessions among the labels, or none was scored",
        )
    value = auc(good, bad)
    low, high = newcombe(value, len(good), len(bad))
    return Figure(
        what=what,
        of=of,
        value=value,
        low=low,
        high=high,
        n=len(good) + len(bad),
        unit=f"transcripts, {len(good)} good and {len(bad)} bad",
    )


def rank_correlation(of: str, scores: pd.DataFrame, labels: dict[str, Fields]) -> Figure:
    """Spearman's rho between the score and people's ratings, each rater's own mean taken off before
    they are averaged.
    """
    what = "rank correlation with people"
    people = _people(labels)
    if people.empty:
        return Figure(what=what, of=of, reason="no human ratings among the labels")
    centred = (people - people.mean()).mean(axis=1)
    both = pd.concat([centred, _means(scores)], axis=1, join="inner").dropna()
    if len(both) < 3 or (both.nunique() < 2).any():
        return Figure(
            what=what,
            of=of,
            n=len(both),
            reason="fewer than three transcripts with both, or all alike",
        )
    return Figure(
        what=what,
        of=of,
        value=float(stats.spearmanr(both.iloc[:, 0], both.iloc[:, 1]).statistic),
        n=len(both),
    )


def alpha_with_people(of: str, scores: pd.DataFrame, labels: dict[str, Fields]) -> Figure:
    """Krippendorff's alpha (interval) of the judge with the mean of people, both as ranks from 0 to
    1: their scales differ.
    """
    what = "Krippendorff's alpha with people (ranks)"
    people = _people(labels)
    if people.empty:
        return Figure(what=what, of=of, reason="no human ratings among the labels")
    both = pd.concat(
        [(people - people.mean()).mean(axis=1), _means(scores)], axis=1, join="inner"
    ).dropna()
    if len(both) < 2:
        return Figure(what=what, of=of, n=len(both), reason="fewer than two transcripts with both")
    ranks = both.rank().sub(1).div(len(both) - 1)
    return _alpha(what, of, ranks.T.to_numpy(), "transcripts")


def alpha_of_rounds(instrument: str, rows: list[Fields]) -> Figure:
    """Krippendorff's alpha (interval) over items of transcripts as units and rounds as raters: does
    the judge agree with itself?
    """
    what = "Krippendorff's alpha of the judge with itself"
    rounds = sorted({row["round"] for row in rows})
    units = sorted({(row["transcript"], item) for row in rows for item in row["items"]})
    given = {
        (row["round"], row["transcript"], item): value
        for row in rows
        for item, value in row["items"].items()
        if value is not None
    }
    grid = np.array(
        [[given.get((number, *unit), np.nan) for unit in units] for number in rounds], dtype=float
    )
    if len(rounds) < 2:
        return Figure(
            what=what,
            of=instrument,
            n=len(units),
            unit="items",
            reason="one round only; use --rounds 2",
        )
    return _alpha(what, instrument, grid, "items")


def _alpha(what: str, of: str, grid: np.ndarray, unit: str) -> Figure:
    n = int((~np.isnan(grid)).all(axis=0).sum())
    if n < 2 or np.nanmax(grid) == np.nanmin(grid):
        return Figure(
            what=what,
            of=of,
            n=n,
            unit=unit,
            reason="fewer than two units with two ratings, or all ratings alike",
        )
    return Figure(
        what=what,
        of=of,
        value=float(krippendorff.alpha(reliability_data=grid, level_of_measurement="interval")),
        n=n,
        unit=unit,
    )


def retest(of: str, scores: pd.DataFrame) -> Figure:
    """Pearson's r between the first and the second rating of the same transcripts."""
    what = "test-retest correlation"
    wide = (
        scores[scores["variant"] == "original"]
        .pivot_table(index="transcript", columns="round", values="value")
        .dropna()
    )
    if wide.shape[1] < 2 or len(wide) < 3 or (wide.nunique() < 2).any():
        return Figure(
            what=what,
            of=of,
            n=len(wide),
            reason="fewer than three transcripts rated twice, or all alike",
        )
    found = stats.pearsonr(wide[0], wide[1])
    low, high = found.confidence_interval() if len(wide) > 3 else (None, None)
    return Figure(
        what=what,
        of=of,
        value=float(found.statistic),
        low=_float(low),
        high=_float(high),
        n=len(wide),
    )


def position(rows: list[Fields]) -> list[Figure]:
    """In pairs shown in both orders: how often the first is chosen (0.5: no bias), how often both
    orders choose the same, how often the better one is chosen.
    """
    answered = [row for row in rows if row["chosen"]]
    by_pair: dict[tuple[str, str], list[bool]] = {}
    for row in answered:
        by_pair.setdefault((row["better"], row["worse"]), []).append(
            (row["chosen"] == "first") == row["better_first"]
        )
    whole = [chosen for chosen in by_pair.values() if len(chosen) == 2]
    return [
        share(
            "position bias: the first is chosen",
            "pairs",
            sum(row["chosen"] == "first" for row in answered),
            len(answered),
            "answers",
        ),
        share(
            "the same choice in both orders",
            "pairs",
            sum(one == other for one, other in whole),
            len(whole),
            "pairs",
        ),
        share(
            "the better one is chosen",
            "pairs",
            sum(sum(chosen) for chosen in whole),
            2 * len(whole),
            "answers",
        ),
    ]


def _means(scores: pd.DataFrame) -> "pd.Series[float]":
    """The score of each original transcript, averaged over rounds."""
    return (
        scores[scores["variant"] == "original"]
        .dropna(subset=["value"])
        .groupby("transcript")["value"]
        .mean()
    )


def _people(labels: dict[str, Fields]) -> pd.DataFrame:
    """Transcripts by raters."""
    return pd.DataFrame(
        {name: one["ratings"] for name, one in labels.items() if one["ratings"]}
    ).T.astype(float)


def share(what: str, of: str, count: float, n: int, unit: str) -> Figure:
    """`count` of `n`, with Wilson's interval."""
    if not n:
        return Figure(what=what, of=of, unit=unit, reason="nothing was answered")
    part, z = count / n, Z
    middle, half = (
        (part + z * z / (2 * n)) / (1 + z * z / n),
        z / (1 + z * z / n) * np.sqrt(part * (1 - part) / n + z * z / (4 * n * n)),
    )
    return Figure(
        what=what,
        of=of,
        value=part,
        low=float(middle - half),
        high=float(middle + half),
        n=n,
        unit=unit,
    )


def _float(value: Any) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def sensitivity(of: str, scores: pd.DataFrame, fault: str) -> Figure:
    """Share of transcripts in which the faulty version scores lower than the sound one; ties count
    half. Interval: Wilson.
    """
    what = f"fault seen: {fault}"
    falls = _falls(scores, fault)
    if falls is None:
        return Figure(what=what, of=of, reason="no pair was scored")
    seen = float((falls > 0).sum() + 0.5 * (falls == 0).sum())
    return share(what, of, seen, len(falls), "pairs")


def fall(of: str, scores: pd.DataFrame, fault: str) -> Figure:
    """By how much the faulty version scores lower than the sound one, on the average, in the
    score's own unit. Interval: Student's t over transcripts.
    """
    what = f"fall with: {fault}"
    falls = _falls(scores, fault)
    if falls is None or not len(falls):
        return Figure(what=what, of=of, unit="pairs", reason="no pair was scored")
    mean, low, high = float(falls.mean()), None, None
    if len(falls) > 1 and falls.std() > 0:
        half = stats.t.ppf(0.975, len(falls) - 1) * falls.std() / np.sqrt(len(falls))
        low, high = float(mean - half), float(mean + half)
    return Figure(what=what, of=of, value=mean, low=low, high=high, n=len(falls), unit="pairs")


def _falls(scores: pd.DataFrame, fault: str) -> "pd.Series[float] | None":
    """The sound version's score less the faulty one's, by transcript."""
    wide = scores[scores["round"] == 0].pivot_table(
        index="transcript", columns="variant", values="value"
    )
    faulty, sound = (
        f"faulty: {fault}",
        f"sound: {fault}" if f"sound: {fault}" in wide else "original",
    )
    if faulty not in wide or sound not in wide:
        return None
    pairs = wide[[faulty, sound]].dropna()
    return pairs[sound] - pairs[faulty]
