"""A contrast at equal baselines: analysis of covariance with the client as its unit."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from analysis.statistics import Contrast, by_client, client_contrast

Floats = NDArray[np.float64]


def adjusted(rows: pd.DataFrame, contrast: Sequence[str]) -> tuple[Contrast, pd.DataFrame]:
    """First minus second, and each client's means, at equal baselines. rows: the columns `client`,
    `arm`, `value`, `baseline`.

    Where conditions share clients the differences of values are regressed on the differences of
    baselines (n - 2 degrees of freedom), else values on condition and baseline (n - 3). Without
    any difference between baselines it is the contrast as it is. g is in the standard deviations
    of the contrast that is not adjusted. No p with too few clients, as there.
    """
    first, second = contrast
    plain = client_contrast(rows, first, second)
    values, before = (by_client(rows, contrast, value=one) for one in ("value", "baseline"))
    fit = _crossed if values.crossed else _in_groups
    found = fit(values.means[[first, second]], before.means[[first, second]])
    if found is None:
        return plain, values.means
    estimate, error, df, slope = found
    half = float(stats.t.ppf(0.975, df)) * error
    p = float(2 * stats.t.sf(abs(estimate) / error, df)) if error > 0 else None
    scale = plain.g / plain.difference if plain.g is not None and plain.difference else None
    g = [
        None if scale is None else scale * one
        for one in (estimate, estimate - half, estimate + half)
    ]
    done = replace(
        plain,
        difference=estimate,
        low=estimate - half,
        high=estimate + half,
        df=df,
        p=p if values.too_few is None else None,
        g=g[0],
        g_low=g[1],
        g_high=g[2],
    )
    middle = float(np.nanmean(before.means.to_numpy()))
    return done, values.means - slope * (before.means - middle)


def _crossed(
    values: pd.DataFrame, before: pd.DataFrame
) -> tuple[float, float, float, float] | None:
    """Estimate, its standard error, df and slope; None where baselines tell nothing."""
    both = pd.concat([values, before], axis=1).dropna().to_numpy(dtype=float)
    x = both[:, 2] - both[:, 3]
    return _fitted(both[:, 0] - both[:, 1], [np.ones(len(x)), x])


def _in_groups(
    values: pd.DataFrame, before: pd.DataFrame
) -> tuple[float, float, float, float] | None:
    """The same for other clients in each condition."""
    parts = [
        pd.concat([values.iloc[:, at], before.iloc[:, at]], axis=1).dropna().to_numpy(dtype=float)
        for at in (0, 1)
    ]
    y, x = (np.concatenate([part[:, at] for part in parts]) for at in (0, 1))
    is_first = np.repeat([1.0, 0.0], [len(part) for part in parts])
    return _fitted(y, [is_first, x - x.mean() if len(x) else x, np.ones(len(x))])


def _fitted(y: Floats, columns: Sequence[Floats]) -> tuple[float, float, float, float] | None:
    """Least squares: the first column's coefficient with its error, and the second one's, which is
    the baseline's.
    """
    design = np.column_stack(columns)
    df = len(y) - design.shape[1]
    if df < 1 or np.ptp(columns[1]) < 1e-9 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    solved = np.linalg.lstsq(design, y, rcond=None)[0]
    rest = y - design @ solved
    spread = float(rest @ rest) / df * np.linalg.inv(design.T @ design)
    return float(solved[0]), float(np.sqrt(spread[0, 0])), float(df), float(solved[1])
