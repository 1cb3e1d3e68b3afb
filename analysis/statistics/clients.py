"""Inference with the client as its unit: runs of one client, by whichever seed, are measurements of
that client repeated.

What differs between clients (how badly they sleep, how much a talk does for them) does not shrink
with more seeds, so that tests over runs find what is not there. Here each client gives one value an
arm, the mean over their runs, and clients are what is counted. Where arms share clients their
differences are tested, else two groups of clients.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from analysis.statistics.contrasts import Contrast, paired_t, sign_flip_p, welch_t
from analysis.statistics.repeated import repeated_anova
from analysis.statistics.variance import SHUFFLES, Anova, anova, permutation_anova
from simcounsel.specs.experiment import LEAST_CLIENTS

EXACT_UP_TO = 12
"""Up to so many clients p is that of all sign patterns."""

CROSSED = (
    "clients independent of each other, each with their own effect; differences of their means near"
    " normal; seeds are repeated measurements of a client"
)
NESTED = (
    "other clients in each arm, independent of each other; their means near normal; seeds are"
    " repeated measurements of a client"
)


@dataclass(frozen=True, kw_only=True)
class ByClient:
    """Each client's mean in each arm."""

    means: pd.DataFrame
    """One row a client, one column an arm; missing where a client was not in it."""
    runs: dict[str, int] = field(default_factory=dict)
    """Values by arm before the means were taken."""

    @property
    def shared(self) -> pd.DataFrame:
        """The clients who were in every arm."""
        return self.means.dropna()

    @property
    def crossed(self) -> bool:
        """Whether arms share clients: two at least were in all."""
        return len(self.shared) >= 2

    @property
    def clients(self) -> int:
        """How many are compared."""
        return len(self.shared) if self.crossed else len(self.means.dropna(how="all"))

    @property
    def too_few(self) -> str | None:
        """Why nothing can be claimed; None where there are clients enough."""
        if self.crossed:
            few = self.clients < LEAST_CLIENTS
            said = f"{self.clients} clients"
        else:
            by_arm = self.means.notna().sum()
            few = bool((by_arm < LEAST_CLIENTS).any())
            said = ", ".join(f"{arm}: {count} clients" for arm, count in by_arm.items())
        return (
            f"{said}; {LEAST_CLIENTS} in each are the least for a test, since clients are what it"
            " counts: runs of the same client are no others"
            if few
            else None
        )


def by_client(table: pd.DataFrame, arms: Sequence[str], *, value: str = "value") -> ByClient:
    """table: the columns `client`, `arm` and `value`, one row a run; rows with a missing value are
    left out. A mean is over all runs of that client in that arm.
    """
    rows = table[table["arm"].isin(list(arms))].dropna(subset=[value, "client"])
    means = rows.pivot_table(
        index="client", columns="arm", values=value, aggfunc="mean", observed=True
    ).reindex(columns=list(arms))
    runs = {arm: int((rows["arm"] == arm).sum()) for arm in arms}
    return ByClient(means=means.astype(float), runs=runs)


def client_contrast(
    table: pd.DataFrame, first: str, second: str, *, value: str = "value", level: float = 0.95
) -> Contrast:
    """First minus second over clients: t on their differences where arms share clients (p by exact
    sign flips up to `EXACT_UP_TO`), Welch's t on their means where not. No p with fewer than
    `LEAST_CLIENTS` clients.
    """
    some = by_client(table, (first, second), value=value)
    names = (first, second)
    if some.crossed:
        a, b = (some.shared[arm].tolist() for arm in names)
        done = paired_t(a, b, names=names, level=level)
        done = replace(done, n={"clients": len(a)}, assumes=CROSSED)
        if done.difference is None and a:
            done = replace(done, difference=sum(x - y for x, y in zip(a, b, strict=True)) / len(a))
        if done.p is not None and len(a) <= EXACT_UP_TO:
            exact = sign_flip_p(a, b)
            done = replace(done, p=exact, assumes=f"{CROSSED}; p by all sign patterns, exact")
    else:
        a, b = (some.means[arm].dropna().tolist() for arm in names)
        done = welch_t(a, b, names=names, level=level)
        done = replace(done, assumes=NESTED)
    return _unless_few(done, some)


def _unless_few(done: Contrast, some: ByClient) -> Contrast:
    few = some.too_few
    return done if few is None else replace(done, p=None, statistic=None, reason=done.reason or few)


def client_anova(
    table: pd.DataFrame,
    arms: Sequence[str],
    *,
    value: str = "value",
    permutation: bool = False,
    shuffles: int = SHUFFLES,
) -> Anova:
    """All arms together over clients: repeated measures where arms share clients, one-way over
    client means where not. permutation: p by shuffling labels, within each client where arms share
    them. No p with fewer than `LEAST_CLIENTS` clients.
    """
    some = by_client(table, arms, value=value)
    if some.crossed:
        done = repeated_anova(some.shared, permutation=permutation, shuffles=shuffles)
    else:
        groups = {arm: some.means[arm].dropna().tolist() for arm in arms}
        done = permutation_anova(groups, shuffles=shuffles) if permutation else anova(groups)
        done = replace(done, assumes=f"{done.assumes}; a value is a client's mean")
    few = some.too_few
    return done if few is None else replace(done, p=None, reason=done.reason or few)
