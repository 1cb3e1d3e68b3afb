"""How well a score tells members from others: ROC and precision-recall, true positives at few false
ones, intervals.

Everything is counted from one table: true and false positives at each distinct score as threshold,
from the highest down. Sessions may have weights, which is how the bootstrap resamples. Larger
scores mean member; no score is ever negated on the way.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from training.audit.scored import Floats
from training.errors import TrainingError

FPRS = (0.01, 0.001)
"""The false positive rates at which true positives are told (Carlini et al. 2022)."""
CHUNK = 2_000_000
"""Numbers of a table of resamples that are held at once."""


@dataclass(frozen=True, kw_only=True)
class TprAt:
    """The largest true positive rate of a threshold whose false positive rate is at most `fpr`;
    none between thresholds.
    """

    fpr: float
    tpr: float
    fpr_reached: float
    """The false positive rate there."""
    resolved: bool
    """Whether there are enough others (1 / fpr) for one false positive to be allowed; if not, it is
    the rate without any false positive, and nothing is known about `fpr` itself.
    """


@dataclass(frozen=True, kw_only=True)
class BootstrapInterval:
    """A percentile bootstrap interval; `low` is at most `high`."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class AttackCurve:
    """How well an attack tells members from others."""

    members: int
    """`members`, `others`: how many were scored."""
    others: int
    roc_auc: float
    """The probability that a member scores above another one, ties half."""
    pr_auc: float
    """Average precision; it depends on the share of members, `chance_pr_auc`, which guessing
    reaches.
    """
    chance_pr_auc: float
    tpr: tuple[TprAt, ...]
    hanley_se: float
    """`hanley_se`, `delong_se`: standard errors of roc_auc that take sessions as independent."""
    delong_se: float
    intervals: Mapping[str, BootstrapInterval]
    """By `roc_auc`, `pr_auc` and `tpr@FPR`, 95% unless asked otherwise."""


def curve(
    members: Sequence[float],
    others: Sequence[float],
    *,
    member_clients: Sequence[Hashable] = (),
    other_clients: Sequence[Hashable] = (),
    bootstrap: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    fprs: Sequence[float] = FPRS,
) -> AttackCurve:
    """All of it. With clients given, all sessions of a client are resampled together. bootstrap 0:
    no intervals. TrainingError without a member or another one, or with a score that is not a
    number.
    """
    inside, outside = _checked(members, "members"), _checked(others, "others")
    table = _Table(inside, outside)
    area, precision, _ = table.measures(np.ones((1, len(inside))), np.ones((1, len(outside))), fprs)
    intervals = {}
    if bootstrap:
        groups = (numbered(member_clients, len(inside)), numbered(other_clients, len(outside)))
        intervals = _bootstrap(table, groups, bootstrap, level, seed, fprs)
    return AttackCurve(
        members=len(inside),
        others=len(outside),
        roc_auc=float(area[0]),
        pr_auc=float(precision[0]),
        chance_pr_auc=len(inside) / (len(inside) + len(outside)),
        tpr=tuple(tpr_at(inside, outside, fpr) for fpr in fprs),
        hanley_se=hanley_se(float(area[0]), len(inside), len(outside)),
        delong_se=delong_se(inside, outside),
        intervals=intervals,
    )


def tpr_at(
    members: Sequence[float] | Floats, others: Sequence[float] | Floats, fpr: float
) -> TprAt:
    """The true positive rate at so small a false positive rate, from thresholds that the sample
    has.
    """
    if not 0 <= fpr <= 1:
        raise ValueError(f"fpr {fpr:g} must be from 0 to 1")
    inside, outside = _checked(members, "members"), np.sort(_checked(others, "others"))[::-1]
    allowed = int(np.floor(fpr * len(outside) + 1e-9))
    tpr = float((inside > outside[allowed]).mean()) if allowed < len(outside) else 1.0
    reached = float((outside > outside[allowed]).mean()) if allowed < len(outside) else 1.0
    return TprAt(fpr=fpr, tpr=tpr, fpr_reached=reached, resolved=allowed >= 1)


def hanley_se(area: float, members: int, others: int) -> float:
    """The standard error of an AUC by Hanley and McNeil (1982): exponential scores are assumed."""
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (members - 1) * (one - area**2) + (others - 1) * (two - area**2)
    return float(np.sqrt(max(variance, 0.0) / (members * others)))


def delong_se(members: Sequence[float] | Floats, others: Sequence[float] | Floats) -> float:
    """The standard error of an AUC by DeLong, DeLong and Clarke-Pearson (1988), from mid-ranks (Sun
    and Xu 2014); 0 for one a side.
    """
    inside, outside = _checked(members, "members"), _checked(others, "others")
    ranks = rankdata(np.concatenate([inside, outside]))
    beats = (ranks[: len(inside)] - rankdata(inside)) / len(outside)
    beaten = 1 - (ranks[len(inside) :] - rankdata(outside)) / len(inside)
    parts = [part.var(ddof=1) / part.size if part.size > 1 else 0.0 for part in (beats, beaten)]
    return float(np.sqrt(sum(parts)))


class _Table:
    """Members and others by distinct score, from the highest down."""

    def __init__(self, members: Floats, others: Floats) -> None:
        levels, at = np.unique(-np.concatenate([members, others]), return_inverse=True)
        self.levels = len(levels)
        self.member_at, self.other_at = at[: len(members)], at[len(members) :]

    def measures(
        self, members: Floats, others: Floats, fprs: Sequence[float]
    ) -> tuple[Floats, Floats, Floats]:
        """ROC AUC (B,), PR AUC (B,) and TPR (B, fprs) of B weightings, `members` (B, members) and
        `others` (B, others).
        """
        hits, alarms = (
            self._cumulated(members, self.member_at),
            self._cumulated(others, self.other_at),
        )
        tpr, fpr = hits / hits[:, -1:], alarms / alarms[:, -1:]
        steps = np.diff(tpr, axis=1, prepend=0)
        area = (np.diff(fpr, axis=1, prepend=0) * (tpr - steps / 2)).sum(axis=1)
        flagged = hits + alarms
        precision = np.divide(hits, flagged, out=np.zeros_like(hits), where=flagged > 0)
        rates = (
            np.stack([np.where(fpr <= most + 1e-12, tpr, 0.0).max(axis=1) for most in fprs], axis=1)
            if fprs
            else np.zeros((len(tpr), 0))
        )
        return area, (steps * precision).sum(axis=1), rates

    def _cumulated(self, weights: Floats, at: npt.NDArray[np.intp]) -> Floats:
        summed = np.zeros((self.levels, len(weights)))
        np.add.at(summed, at, weights.T)
        return np.cumsum(summed.T, axis=1)


Groups = npt.NDArray[np.intp]


def _bootstrap(
    table: _Table,
    groups: tuple[Groups, Groups],
    times: int,
    level: float,
    seed: int,
    fprs: Sequence[float],
) -> dict[str, BootstrapInterval]:
    """Members' clients and others' clients are drawn apart, with replacement, as many as there
    are.
    """
    rng = np.random.default_rng([seed, 0xB007])
    at_once = max(1, CHUNK // table.levels)
    found = []
    for start in range(0, times, at_once):
        many = min(at_once, times - start)
        area, precision, rates = table.measures(
            resampled(groups[0], many, rng), resampled(groups[1], many, rng), fprs
        )
        found.append(np.column_stack([area, precision, rates]))
    low, high = np.quantile(np.concatenate(found), [(1 - level) / 2, (1 + level) / 2], axis=0)
    names = ["roc_auc", "pr_auc", *(f"tpr@{fpr:g}" for fpr in fprs)]
    return {
        name: BootstrapInterval(low=float(low[n]), high=float(high[n]))
        for n, name in enumerate(names)
    }


def resampled(groups: Groups, times: int, rng: np.random.Generator) -> Floats:
    """How often each session is in each resample, (times, sessions)."""
    many = int(groups.max()) + 1
    return rng.multinomial(many, np.full(many, 1 / many), size=times).astype(float)[:, groups]


def numbered(clients: Sequence[Hashable], many: int) -> Groups:
    """The number of each session's client, from 0; every session its own without clients."""
    if not clients:
        return np.arange(many)
    if len(clients) != many:
        raise TrainingError(
            f"{len(clients)} clients for {many} scores; name the client of each session"
        )
    numbers = {client: number for number, client in enumerate(dict.fromkeys(clients))}
    return np.array([numbers[client] for client in clients])


def _checked(scores: Sequence[float] | Floats, whose: str) -> Floats:
    found = np.asarray(scores, dtype=float)
    if found.size == 0:
        raise TrainingError(
            f"no scores of {whose}; an attack needs sessions that were trained on and sessions that"
            " were held out"
        )
    if np.isnan(found).any():
        raise TrainingError(
            f"{int(np.isnan(found).sum())} of {found.size} scores of {whose} are not numbers; leave"
            " them out and say why"
        )
    return found
