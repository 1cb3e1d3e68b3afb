"""What nobody announced: every outcome by arm, with the papers' tests beside sturdier ones. For
ideas, not for claims.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import pandas as pd

from analysis.planned import pairs_of
from analysis.statistics import (
    Anova,
    Contrast,
    Spread,
    Tukey,
    anova,
    holm,
    paired_t,
    permutation_anova,
    spread,
    tukey,
    welch_anova,
    welch_t,
)

KEYS = ["instrument", "score", "respondent", "judge"]


@dataclass(frozen=True, kw_only=True)
class Explored:
    """One outcome."""

    instrument: str
    score: str
    respondent: str
    judge: str
    kind: str
    spreads: tuple[Spread, ...]
    """By arm."""
    fisher: Anova
    welch: Anova
    permuted: Anova
    tukey: Tukey
    contrasts: tuple[Contrast, ...]
    """Every pair of arms, paired where forks share a past."""
    values: dict[str, list[float]]
    """As they were, for figures."""
    runs: dict[str, tuple[str, ...]]
    """By arm."""
    left_out: tuple[tuple[str, str], ...]
    p_holm: float | None = None
    """Of the permutation test, over all outcomes explored here."""

    @property
    def title(self) -> str:
        """Instrument and score, and who answered where it is not the log itself."""
        name = (
            self.score
            if self.instrument == "log"
            else self.instrument
            if self.score == "total"
            else f"{self.instrument}: {self.score}"
        )
        return name.replace("_", " ")


def explore(
    outcomes: pd.DataFrame, arms: tuple[str, ...], *, shuffles: int = 5000
) -> list[Explored]:
    """All outcomes in the order of their names."""
    found = [
        _explored(str_key(key), rows, arms, shuffles)
        for key, rows in outcomes.groupby(KEYS, observed=True, sort=True)
    ]
    corrected = holm([one.permuted.p for one in found])
    return [replace(one, p_holm=p) for one, p in zip(found, corrected, strict=True)]


def str_key(key: object) -> tuple[str, str, str, str]:
    """A group's key as four texts."""
    instrument, score, respondent, judge = map(str, key)  # type: ignore[call-overload]
    return instrument, score, respondent, judge


def _explored(
    key: tuple[str, str, str, str], rows: pd.DataFrame, arms: tuple[str, ...], shuffles: int
) -> Explored:
    known = rows.dropna(subset=["value"])
    values = {arm: known[known["arm"] == arm]["value"].astype(float).tolist() for arm in arms}
    present = {arm: numbers for arm, numbers in values.items() if numbers}
    return Explored(
        instrument=key[0],
        score=key[1],
        respondent=key[2],
        judge=key[3],
        kind=str(rows["kind"].iloc[0]),
        spreads=tuple(spread(arm, numbers) for arm, numbers in values.items()),
        fisher=anova(present),
        welch=welch_anova(present),
        permuted=permutation_anova(present, shuffles=shuffles),
        tukey=tukey(present),
        contrasts=tuple(_contrasts(known, present)),
        values=values,
        runs={arm: tuple(sorted(known[known["arm"] == arm]["run"].astype(str))) for arm in arms},
        left_out=tuple(
            (str(row.run), str(row.reason)) for row in rows[rows["value"].isna()].itertuples()
        ),
    )


def _contrasts(known: pd.DataFrame, present: dict[str, list[float]]) -> Iterator[Contrast]:
    for first, second in combinations(present, 2):
        wide, by = pairs_of(known, first, second)
        if by == "a shared past" and len(wide) > 1:
            yield paired_t(wide[first].tolist(), wide[second].tolist(), names=(first, second))
        else:
            yield welch_t(present[first], present[second], names=(first, second))
