"""Tables in the shape of a paper's, with its numbers beside ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from analysis.page import interval, num
from analysis.replication.published import PublishedTable
from analysis.statistics import Anova, Contrast, by_client, spread


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """One number of theirs and one of ours."""

    published: float | None = None
    published_sd: float | None = None
    ours: float | None = None
    low: float | None = None
    """`low`, `high`: 95%, over clients."""
    high: float | None = None
    sd: float | None = None
    """Over clients."""
    n: int = 0
    """Clients, or what the table counts."""
    beside: float | None = None
    """The same of another study, if one stands beside ours."""
    share: bool = False
    """Whether both are shares, to be shown as percent."""


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """One line of a table."""

    label: str
    cells: tuple[TableCell, ...]
    """By column of the table."""
    published_test: str = ""
    test: str = ""
    """Ours, in words."""


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """One table, as a page and a CSV show it."""

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[PaperRow, ...]
    source: str
    """Where our numbers come from."""
    published_n: Mapping[str, int] = field(default_factory=dict)
    """By column: how many people the published numbers are of."""
    notes: tuple[str, ...] = ()
    single: bool = False
    """Whether a column has either their number or ours, and is shown as one."""
    missing: str | None = None
    """Why there is nothing of ours yet, and what to do."""

    def set_beside(self, other: pd.DataFrame) -> "PaperTable":
        """With the numbers of another study, whose `frame` this is."""
        known = other.dropna(subset=["ours"])
        keys = zip(known["row"].astype(str), known["column"].astype(str), strict=True)
        found = dict(zip(keys, known["ours"].astype(float).tolist(), strict=True))
        return replace(
            self,
            rows=tuple(
                replace(
                    row,
                    cells=tuple(
                        replace(cell, beside=found.get((row.label, column)))
                        for column, cell in zip(self.columns, row.cells, strict=True)
                    ),
                )
                for row in self.rows
            ),
        )

    def frame(self) -> pd.DataFrame:
        """One row a line and column."""
        return pd.DataFrame(
            [
                {
                    "table": self.id,
                    "row": row.label,
                    "column": column,
                    "published": cell.published,
                    "published_sd": cell.published_sd,
                    "published_n": self.published_n.get(column),
                    "ours": cell.ours,
                    "low": cell.low,
                    "high": cell.high,
                    "sd": cell.sd,
                    "n": cell.n,
                    "beside": cell.beside,
                    "published_test": row.published_test,
                    "test": row.test,
                }
                for row in self.rows
                for column, cell in zip(self.columns, row.cells, strict=True)
            ]
        )


def theirs(table: PublishedTable, row: str, column: str) -> tuple[float | None, float | None]:
    """Mean and standard deviation as published; None for what is not."""
    value = table.rows.get(row, {}).get(column)
    if value is None:
        return None, None
    return (value[0], value[1]) if isinstance(value, tuple) else (value, None)


def cell_of(
    table: PublishedTable, row: str, column: str, values: Sequence[float], *, share: bool = False
) -> TableCell:
    """Beside the published number the mean of our values, one a client, with its interval."""
    mean, sd = theirs(table, row, column)
    whole = spread(column, list(values))
    return TableCell(
        published=mean,
        published_sd=sd,
        ours=whole.mean,
        low=whole.low,
        high=whole.high,
        sd=whole.sd,
        n=whole.n,
        share=share,
    )


def means_of(
    outcomes: pd.DataFrame, instrument: str, score: str, arms: Sequence[str]
) -> dict[str, list[float]]:
    """Each client's mean of a score, by arm."""
    rows = scored(outcomes, instrument, score)
    means = by_client(rows, arms).means
    return {arm: means[arm].dropna().tolist() for arm in arms}


def scored(outcomes: pd.DataFrame, instrument: str, score: str) -> pd.DataFrame:
    """The rows of one score that have a value."""
    if not len(outcomes):
        return outcomes
    chosen = (outcomes["instrument"] == instrument) & (outcomes["score"] == score)
    return outcomes[chosen].dropna(subset=["value"])


def contrast_words(done: Contrast, p: float | None) -> str:
    """A difference with its interval, g and Holm's p."""
    if done.difference is None:
        return f"not tested: {done.reason or 'no values'}"
    said = f"difference {num(done.difference)}"
    if done.low is not None and done.high is not None:
        said += f" {interval(done.low, done.high)}"
    if done.g is not None:
        said += f", g {num(done.g)}"
    return f"{said}, {p_words(p)}" if p is not None else f"{said}; {done.reason or 'no p'}"


def anova_words(done: Anova) -> str:
    """F, p and eta squared."""
    if done.f is None:
        return f"not tested: {done.reason or 'no values'}"
    degrees = f"({done.df[0]:.3g}, {done.df[1]:.3g})" if done.df else ""
    eta = f", eta² = {done.eta_squared:.3f}" if done.eta_squared is not None else ""
    said = f"F{degrees} = {done.f:.2f}"
    return (
        f"{said}, {p_words(done.p)}{eta}" if done.p is not None else f"{said}{eta}; {done.reason}"
    )


def p_words(p: float) -> str:
    """'p = .034', 'p < .001'."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)
