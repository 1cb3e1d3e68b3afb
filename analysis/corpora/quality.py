"""The scores of an instrument, such as five dimensions of quality: means with intervals, by theme,
corpora against each other, a judge against itself.

A missing rating is left out and counted, never 0. Intervals resample clients, since dialogues of
one client resemble each other.
"""

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.corpora.scores import dimensions
from analysis.corpora.sources import Group
from analysis.statistics import Contrast, holm, paired_t, sign_flip_p, welch_t
from simcounsel.specs.scale import Scale

DRAWS = 5000
FEWEST_PAIRS = 3
MOST_CONTRASTS = 6
"""Of more groups than these only each against the first is compared."""


@dataclass(frozen=True, kw_only=True)
class DialogueMean:
    """A mean over dialogues."""

    value: float | None
    low: float | None = None
    """`low`, `high`: 95%, by BCa bootstrap over clients (Efron 1987); None with a `reason` where it
    cannot be had.
    """
    high: float | None = None
    sd: float | None = None
    n: int = 0
    clients: int = 0
    missing: int = 0
    """Dialogues that were asked about and got no rating."""
    reason: str | None = None


def judged(groups: Sequence[Group], scale: Scale, judge: str) -> pd.DataFrame:
    """One row a dialogue, round and dimension, as this judge rated it with this version of the
    instrument.
    """
    rows: list[dict[str, Any]] = []
    for group in groups:
        dialogues = {one.id: one for one in group.dialogues}
        for rated in group.rated:
            if (rated.instrument, rated.hash, rated.judge) != (scale.id, scale.hash, judge):
                continue
            dialogue = dialogues[rated.dialogue]
            rows += [
                {
                    "corpus": group.name,
                    "dialogue": rated.dialogue,
                    "text": rated.text,
                    "client": dialogue.client,
                    "theme": dialogue.theme,
                    "condition": dialogue.condition,
                    "judge": judge,
                    "round": rated.round,
                    "dimension": name,
                    "value": rated.scores.get(name),
                    "reason": rated.reasons.get(name),
                }
                for name, _ in dimensions(scale)
            ]
    columns = [
        "corpus",
        "dialogue",
        "text",
        "client",
        "theme",
        "condition",
        "judge",
        "round",
        "dimension",
        "value",
        "reason",
    ]
    return pd.DataFrame(rows, columns=columns).astype({"value": "float64"})


def by_dialogue(ratings: pd.DataFrame) -> pd.DataFrame:
    """One row a dialogue and dimension: the mean of its rounds."""
    keys = ["corpus", "dialogue", "text", "client", "theme", "dimension"]
    return ratings.groupby(keys, dropna=False, sort=False)["value"].mean().reset_index()


def mean_of(part: pd.DataFrame, seed: int = 1) -> DialogueMean:
    """The mean of dialogues' values, with its interval."""
    kept = part.dropna(subset=["value"])
    missing = len(part) - len(kept)
    if not len(kept):
        return DialogueMean(
            value=None,
            missing=missing,
            reason="nothing was rated" if not missing else "no rating could be used",
        )
    values = kept["value"].astype(float)
    clients = kept["client"].astype(str).to_numpy()
    low, high, reason = interval_of(values.to_numpy(), clients, seed)
    return DialogueMean(
        value=float(values.mean()),
        low=low,
        high=high,
        sd=float(values.std(ddof=1)) if len(values) > 1 else None,
        n=len(values),
        clients=len(set(clients)),
        missing=missing,
        reason=reason,
    )


def interval_of(
    values: "np.ndarray[Any, Any]", clients: "np.ndarray[Any, Any]", seed: int = 1
) -> tuple[float | None, float | None, str | None]:
    """95% of the mean: bias-corrected and accelerated bootstrap (Efron 1987), drawing clients with
    all their dialogues.
    """
    from scipy import stats

    names, place = np.unique(clients, return_inverse=True)
    if len(names) < 3:
        return None, None, f"n = {len(names)}; no interval from fewer than three clients"
    sums, sizes = np.bincount(place, values), np.bincount(place).astype(float)
    if np.ptp(sums / sizes) < 1e-12:
        return None, None, "all the same; no interval"
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # scipy's own, about degenerate draws; what is no number is said below
        found = stats.bootstrap(
            (sums, sizes),
            lambda s, n, axis=-1: s.sum(axis=axis) / n.sum(axis=axis),
            paired=True,
            vectorized=True,
            n_resamples=DRAWS,
            method="BCa",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    if not np.isfinite([found.low, found.high]).all():
        return None, None, "the bootstrap gave no interval"
    return float(found.low), float(found.high), None


def summary(dialogues: pd.DataFrame, groups: Sequence[Group], scale: Scale) -> pd.DataFrame:
    """One row a group and dimension (as Xue et al. 2026, Table III)."""
    rows = []
    for group in groups:
        own = dialogues[dialogues["corpus"] == group.name]
        for name, _ in dimensions(scale):
            rows.append(
                {
                    "corpus": group.name,
                    "dimension": name,
                    **vars(mean_of(own[own["dimension"] == name])),
                }
            )
    return pd.DataFrame(rows)


def themes(dialogues: pd.DataFrame) -> pd.DataFrame:
    """One row a group, theme and dimension; empty where no themes are given."""
    known = dialogues.dropna(subset=["theme", "value"])
    grouped = known.groupby(["corpus", "theme", "dimension"], sort=True)["value"]
    return (
        grouped.agg(["mean", "count"]).reset_index().rename(columns={"mean": "value", "count": "n"})
    )


def contrasts(dialogues: pd.DataFrame, groups: Sequence[Group], scale: Scale) -> pd.DataFrame:
    """Groups against each other by dimension: paired by client where they share at least three,
    else Welch's t.

    Paired: each client's mean in one group minus the same client's in the other. p: paired, with
    the signs of the differences drawn again (exact up to 12 pairs), since t trusts a handful of
    whole numbers too much; p_t: by t. p_holm: p corrected over the table (Holm 1979).
    """
    rows = []
    for first, second in _pairs([group.name for group in groups]):
        for name, _ in dimensions(scale):
            rows.append(
                _contrast(dialogues[dialogues["dimension"] == name], first, second)
                | {"dimension": name}
            )
    table = pd.DataFrame(rows, columns=["first", "second", "dimension", *FIELDS])
    corrected = holm([None if row["p"] is None else float(row["p"]) for row in rows])
    return table.assign(p_holm=pd.Series(corrected, index=table.index, dtype="float64"))


FIELDS = ("test", "difference", "low", "high", "statistic", "df", "p", "p_t", "g", "n", "reason")


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Later minus earlier, so that the first named is what others are compared with."""
    if len(names) > MOST_CONTRASTS:
        return [(name, names[0]) for name in names[1:]]
    return [(second, first) for first, second in itertools.combinations(names, 2)]


def _contrast(part: pd.DataFrame, first: str, second: str) -> dict[str, Any]:
    kept = part.dropna(subset=["value"])
    means = {
        name: kept[kept["corpus"] == name].groupby("client")["value"].mean()
        for name in (first, second)
    }
    shared = sorted(set(means[first].index) & set(means[second].index))
    if len(shared) >= FEWEST_PAIRS:
        a, b = (means[name].loc[shared].astype(float).tolist() for name in (first, second))
        found: Contrast = paired_t(a, b, names=(first, second))
        same = {"difference": float(np.mean(a) - np.mean(b))} if found.difference is None else {}
        return _row(found) | same | {"p": sign_flip_p(a, b)}
    return _row(
        welch_t(
            *(means[name].astype(float).tolist() for name in (first, second)), names=(first, second)
        )
    )


def _row(found: Contrast) -> dict[str, Any]:
    numbers = {name: getattr(found, name) for name in FIELDS if name not in ("n", "p_t")}
    return {
        **numbers,
        "first": found.first,
        "second": found.second,
        "p_t": found.p,
        "n": "; ".join(f"{k} {v}" for k, v in found.n.items()),
    }


def retests(ratings: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """How far a judge agrees with itself from the first round to the second, by dimension:
    Spearman, and the mean absolute difference in points.
    """
    from scipy import stats

    rows = []
    for name, _ in dimensions(scale):
        own = ratings[ratings["dimension"] == name].pivot_table(
            index=["corpus", "dialogue"], columns="round", values="value", observed=True
        )
        if not {0, 1} <= set(own.columns):
            continue
        both = own[[0, 1]].dropna()
        varied = len(both) > 2 and both[0].nunique() > 1 and both[1].nunique() > 1
        rows.append(
            {
                "dimension": name,
                "n": len(both),
                "spearman": float(stats.spearmanr(both[0], both[1]).statistic) if varied else None,
                "difference": float((both[0] - both[1]).abs().mean()) if len(both) else None,
                "reason": None if varied else "fewer than three dialogues, or all alike",
            }
        )
    return pd.DataFrame(rows, columns=["dimension", "n", "spearman", "difference", "reason"])
