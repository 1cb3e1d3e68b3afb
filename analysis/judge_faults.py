"""By how much, and how often, a score falls when a fault is planted."""

import numpy as np
import pandas as pd
from scipy import stats

from analysis.judge_figures import Figure, share


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
