"""What nobody announced: every outcome by arm, with the papers' tests beside sturdier ones. For
ideas, not for claims.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import pandas as pd

from analysis.statistics import (
    Anova,
    Contrast,
    Spread,
    by_client,
    client_anova,
    client_contrast,
    holm,
    spread,
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
    """By arm, over clients."""
    fisher: Anova
    permuted: Anova
    contrasts: tuple[Contrast, ...]
    """Every pair of arms, over clients."""
    values: dict[str, list[float]]
    """By arm: each client's mean, for figures."""
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
    means = by_client(known, arms).means
    values = {arm: means[arm].dropna().tolist() for arm in arms}
    present = [arm for arm, numbers in values.items() if numbers]
    return Explored(
        instrument=key[0],
        score=key[1],
        respondent=key[2],
        judge=key[3],
        kind=str(rows["kind"].iloc[0]),
        spreads=tuple(spread(arm, numbers) for arm, numbers in values.items()),
        fisher=client_anova(known, present),
        permuted=client_anova(known, present, permutation=True, shuffles=shuffles),
        contrasts=tuple(
            client_contrast(known, first, second) for first, second in combinations(present, 2)
        ),
        values=values,
        runs={arm: tuple(sorted(known[known["arm"] == arm]["run"].astype(str))) for arm in arms},
        left_out=tuple(
            (str(row.run), str(row.reason)) for row in rows[rows["value"].isna()].itertuples()
        ),
    )
