"""Does the mixed model over raters and clients keep its promise, beside what a one-way ANOVA over single ratings does?

    python -m tests.benchmarks.raters [--draws 200] [--effect 0]

Ratings are drawn from 1 to 5 and beyond, in two arms; raters and clients differ in their means and in what the arms do
to them. Printed for each size of study: how often p falls below 0.05 (type I error where the effect is 0, else power)
and how often the 95% interval holds the effect, each with Wilson's interval; and the first for the ANOVA.
"""

import argparse
import itertools

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.statistics.crossed_model import crossed
from simcounsel.specs.experiment import LEAST_CLIENTS

STUDIES = ((6, 4, 0.0), (8, 6, 0.15), (12, 10, 0.0))
"""Clients, raters, and the share of ratings that are missing."""
OF_CLIENTS, OF_RATERS, RESIDUAL = (0.7, 0.5), (0.5, 0.4), 0.8
"""Standard deviations: of means, of effects; of single ratings."""


def drawn(
    rng: np.random.Generator, clients: int, raters: int, missing: float, effect: float
) -> pd.DataFrame:
    """The ratings of one study."""
    of = [
        (rng.normal(0, mean, count), rng.normal(0, slope, count))
        for count, (mean, slope) in ((clients, OF_CLIENTS), (raters, OF_RATERS))
    ]
    rows = [
        {
            "client": f"c{c}",
            "rater": f"r{r}",
            "arm": arm,
            "value": 3
            + of[0][0][c]
            + of[1][0][r]
            + x * (effect + of[0][1][c] + of[1][1][r])
            + rng.normal(0, RESIDUAL),
        }
        for c, r, (arm, x) in itertools.product(
            range(clients), range(raters), (("first", 0.5), ("second", -0.5))
        )
        if rng.random() >= missing
    ]
    return pd.DataFrame(rows)


def share(count: int, of: int) -> str:
    """A share with its interval."""
    low, high = proportion_confint(count, of, method="wilson")
    return f"{count / of:.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    """Draw, test, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--effect", type=float, default=0.0)
    asked = parser.parse_args()
    rng = np.random.default_rng(7)
    for clients, raters, missing in STUDIES:
        found = held = naive = 0
        for _ in range(asked.draws):
            table = drawn(rng, clients, raters, missing, asked.effect)
            done = crossed(table, "first", "second", least_clients=LEAST_CLIENTS)
            found += done.p is not None and done.p < 0.05
            held += (
                done.low is not None
                and done.high is not None
                and done.low <= asked.effect <= done.high
            )
            groups = [table.loc[table["arm"] == arm, "value"] for arm in ("first", "second")]
            naive += stats.f_oneway(*groups).pvalue < 0.05
        print(
            f"{clients} clients, {raters} raters, {missing:.0%} missing: p below 0.05 in"
            f" {share(found, asked.draws)}, interval holds in {share(held, asked.draws)};"
            f" ANOVA over single ratings: {share(naive, asked.draws)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
