"""Whether raters agree, and whether a model's ratings follow people's.

Ratings are tidy: one row a rating, with the columns `rater`, `item` and `value`. The CSV of
`simcounsel study rate-page --out STUDY --csv FILE` is read by `read_ratings`.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from analysis.errors import ReportError
from simcounsel.disk import as_written

Level = Literal["nominal", "ordinal", "interval", "ratio"]
NEEDED = ("rater", "item", "question", "value")


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """A coefficient: 1 is perfect, 0 what chance gives."""

    what: str
    value: float | None = None
    low: float | None = None
    """`low`, `high`: 95%, where there is a formula. None with a `reason`."""
    high: float | None = None
    p: float | None = None
    raters: int = 0
    items: int = 0
    ratings: int = 0
    reason: str | None = None


def read_ratings(file: Path) -> pd.DataFrame:
    """The rating pages' CSV; an empty value is missing. ReportError names what is wrong with the
    file.
    """
    try:
        table = pd.read_csv(
            file,
            index_col=False,
            dtype={
                "rater": str,
                "item": str,
                "question": str,
                "run": str,
                "chat": str,
                "person": str,
            },
        )
    except (OSError, ValueError) as error:
        raise ReportError(
            f"{file}: cannot be read ({str(error).splitlines()[0]}); name a CSV written by"
            " `simcounsel study rate-page --csv`"
        ) from None
    missing = [column for column in NEEDED if column not in table]
    if missing:
        raise ReportError(
            f"{file}: no column {', '.join(missing)}; there are"
            f" {', '.join(map(str, table.columns))}"
        )
    texts = table.select_dtypes(exclude="number").columns
    said = {column: table[column].map(as_written, na_action="ignore") for column in texts}
    return table.assign(**said).assign(value=pd.to_numeric(table["value"], errors="coerce"))


def _grid(ratings: pd.DataFrame) -> pd.DataFrame:
    """Items by raters, missing where a rater did not rate an item; several ratings of one count as
    their mean.
    """
    kept = ratings.dropna(subset=["value"])
    return kept.pivot_table(
        index="item", columns="rater", values="value", aggfunc="mean", observed=True
    )


def _blank(what: str, grid: pd.DataFrame, reason: str | None = None) -> Agreement:
    return Agreement(
        what=what,
        raters=grid.shape[1],
        items=grid.shape[0],
        ratings=int(grid.notna().to_numpy().sum()),
        reason=reason,
    )


def _unfit(grid: pd.DataFrame) -> str | None:
    if grid.shape[1] < 2:
        return f"{grid.shape[1]} rater; two are needed"
    if grid.shape[0] < 2:
        return f"{grid.shape[0]} item; two are needed"
    values = grid.to_numpy()
    return "all ratings are the same" if np.nanmax(values) == np.nanmin(values) else None


def _complete(what: str, ratings: pd.DataFrame) -> tuple[pd.DataFrame, Agreement]:
    """Items that every rater rated."""
    grid = _grid(ratings)
    full = grid.dropna()
    left = len(grid) - len(full)
    reason = _unfit(full)
    if reason and left:
        reason = f"{reason} ({left} items were not rated by everybody)"
    return full, _blank(what, full, reason)


def icc(ratings: pd.DataFrame, kind: str = "ICC(A,1)") -> Agreement:
    """Intraclass correlation over items that all raters rated (McGraw and Wong 1996; Shrout and
    Fleiss 1979).

    ICC(A,1), the default, is absolute agreement of a single random rater, Shrout and Fleiss'
    ICC(2,1); ICC(1,1), ICC(C,1) and the means' ICC(1,k), ICC(A,k), ICC(C,k) can be had as well.
    From pingouin.
    """
    full, blank = _complete(kind, ratings)
    if blank.reason is None and len(full) < 5:
        blank = _blank(kind, full, f"{len(full)} items rated by everybody; pingouin asks for 5")
    if blank.reason:
        return blank
    import pingouin

    long = full.reset_index().melt(id_vars="item", var_name="rater", value_name="value")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pingouin's own, about pandas
        table = pingouin.intraclass_corr(
            data=long, targets="item", raters="rater", ratings="value"
        ).set_index("Type")
    if kind not in table.index:
        raise ValueError(f"no {kind!r}; there are {', '.join(table.index)}")
    row = table.loc[kind]
    low, high = (
        float(end)
        for end in row[next(column for column in table.columns if column.startswith("CI95"))]
    )
    found = _blank(kind, full)
    return Agreement(
        **{
            **vars(found),
            "value": float(row["ICC"]),
            "low": low,
            "high": high,
            "p": float(row["pval"]),
        }
    )


def cohen_kappa(
    ratings: pd.DataFrame, *, weights: Literal["linear", "quadratic"] | None = None
) -> Agreement:
    """Cohen's kappa of two raters (1960), weighted if so wished (1968). From scikit-learn."""
    from sklearn.metrics import cohen_kappa_score

    what = f"Cohen's kappa{f', {weights} weights' if weights else ''}"
    full, blank = _complete(what, ratings)
    if not blank.reason and full.shape[1] != 2:
        blank = _blank(what, full, f"{full.shape[1]} raters; Cohen's kappa is for two")
    if blank.reason:
        return blank
    a, b = (
        full.iloc[:, column].round(9).astype(str) if weights is None else full.iloc[:, column]
        for column in (0, 1)
    )
    labels = sorted({*a, *b})
    code = {value: number for number, value in enumerate(labels)}
    value = float(
        cohen_kappa_score(
            a.map(code), b.map(code), labels=list(range(len(labels))), weights=weights
        )
    )
    return Agreement(**{**vars(blank), "value": value})


def fleiss_kappa(ratings: pd.DataFrame) -> Agreement:
    """Fleiss' kappa (1971) over items that all raters rated; categories are the values. From
    statsmodels.
    """
    from statsmodels.stats.inter_rater import aggregate_raters
    from statsmodels.stats.inter_rater import fleiss_kappa as kappa

    full, blank = _complete("Fleiss' kappa", ratings)
    if blank.reason:
        return blank
    counts, _ = aggregate_raters(full.to_numpy())
    return Agreement(**{**vars(blank), "value": float(kappa(counts))})


def krippendorff_alpha(ratings: pd.DataFrame, level: Level = "ordinal") -> Agreement:
    """Krippendorff's alpha, which allows missing ratings. From krippendorff."""
    import krippendorff

    grid = _grid(ratings)
    what = f"Krippendorff's alpha, {level}"
    reason = _unfit(grid) or (
        None if (grid.notna().sum(axis=1) > 1).any() else "no item was rated twice"
    )
    if reason:
        return _blank(what, grid, reason)
    value = float(
        krippendorff.alpha(reliability_data=grid.to_numpy().T, level_of_measurement=level)
    )
    return Agreement(**{**vars(_blank(what, grid)), "value": value})


def spearman(model: pd.Series, human: pd.Series) -> Agreement:
    """Rank correlation between a model's ratings and the mean of people's, matched by index. p is
    two-sided.
    """
    from scipy import stats

    both = pd.concat(
        [model.rename("model"), human.groupby(level=0).mean().rename("human")], axis=1, join="inner"
    ).dropna()
    found = Agreement(
        what="Spearman, model and human", raters=2, items=len(both), ratings=2 * len(both)
    )
    if len(both) < 3:
        return Agreement(
            **{**vars(found), "reason": f"{len(both)} items in both; three are needed"}
        )
    if both["model"].nunique() < 2 or both["human"].nunique() < 2:
        return Agreement(**{**vars(found), "reason": "one side gives the same rating to all"})
    rho, p = stats.spearmanr(both["model"], both["human"])
    return Agreement(**{**vars(found), "value": float(rho), "p": float(p)})


def agreements(ratings: pd.DataFrame) -> pd.DataFrame:
    """One row a question and coefficient, over all raters."""
    rows = []
    for question, part in ratings.groupby("question"):
        found = [icc(part), icc(part, "ICC(A,k)"), fleiss_kappa(part), krippendorff_alpha(part)]
        if part["rater"].nunique() == 2:
            found.append(cohen_kappa(part, weights="quadratic"))
        rows += [{"question": question, **vars(one)} for one in found]
    return pd.DataFrame(rows, columns=["question", *Agreement.__dataclass_fields__])
