"""Analysis of variance where every client was in every arm."""

import warnings

import numpy as np
import pandas as pd
from scipy import stats

from analysis.statistics.groups import Floats
from analysis.statistics.variance import EQUAL, SHUFFLES, Anova

AT_ONCE = 500
"""Shuffles that are made together."""


def repeated_anova(
    table: pd.DataFrame, *, permutation: bool = False, shuffles: int = SHUFFLES, seed: int = 1
) -> Anova:
    """Repeated measures: one row a client, one column an arm, no value missing. p with Greenhouse
    and Geisser's correction (1959) of the degrees of freedom; permutation: by shuffling each
    client's values over the arms, as `permutation_anova` counts. eta squared is partial: of what is
    not between clients.
    """
    n = {str(arm): len(table) for arm in table}
    name = "permutation, repeated" if permutation else "anova, repeated"
    assumes = (
        "a client's values exchangeable between arms if nothing differs"
        if permutation
        else "clients independent; deviations from a client's mean normal; sphericity corrected by"
        " Greenhouse and Geisser"
    )
    y = table.to_numpy(dtype=float)
    within = y - y.mean(axis=1, keepdims=True)
    total, between = float((within**2).sum()), len(y) * float((within.mean(axis=0) ** 2).sum())
    if len(y) < 3 or y.shape[1] < 2:
        reason = f"{len(y)} clients in {y.shape[1]} arms; 3 clients and 2 arms are the least"
        return Anova(test=name, n=n, assumes=assumes, reason=reason)
    if total <= EQUAL * max(1.0, float((y**2).sum())):
        return Anova(test=name, n=n, assumes=assumes, reason="no client differs between arms")
    if total - between <= EQUAL * total:
        return Anova(
            test=name, n=n, assumes=assumes, reason="all clients differ between arms by the same"
        )
    from pingouin import rm_anova

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of pandas, in pingouin
        found = rm_anova(table, correction=True, detailed=True).set_index("Source")
    arms, rest = found.index
    epsilon = 1.0 if y.shape[1] == 2 else float(found.loc[arms, "eps"])
    df = float(found.loc[arms, "DF"]) * epsilon, float(found.loc[rest, "DF"]) * epsilon
    f = float(found.loc[arms, "F"])
    return Anova(
        test=name,
        f=f,
        df=df,
        p=_shuffled_within(within, shuffles, seed) if permutation else float(stats.f.sf(f, *df)),
        eta_squared=between / total,
        n=n,
        assumes=assumes,
    )


def _shuffled_within(within: Floats, shuffles: int, seed: int) -> float:
    """How often shuffled values lie as far between arms as these."""
    seen = float((within.mean(axis=0) ** 2).sum()) * (1 - 1e-10)
    rng, extreme = np.random.default_rng(seed), 0
    for start in range(0, shuffles, AT_ONCE):
        many = min(AT_ONCE, shuffles - start)
        order = rng.random((many, *within.shape)).argsort(axis=2)
        means = np.take_along_axis(within[None], order, axis=2).mean(axis=1)
        extreme += int(((means**2).sum(axis=1) >= seen).sum())
    return (1 + extreme) / (1 + shuffles)
