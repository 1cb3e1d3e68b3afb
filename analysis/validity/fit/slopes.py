"""Whether clients disclose more after a line that reflects or explores: the test of Chen and
colleagues 2026 (arXiv 2606.10051), within sessions.
"""

from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm
from scipy import stats

from analysis.validity.fit.opening import Lines
from analysis.validity.talk.distances import FEWEST_CLIENTS

SKILLS = ("empathy", "exploration")


@dataclass(frozen=True, kw_only=True)
class Slope:
    """How much more often clients disclose after such a line, in shares of 1."""

    skill: str
    estimate: float | None
    """None where no session has lines with and without it, or it cannot be told from the other."""
    error: float | None
    """Standard error, robust to lines of one client being alike; None with too few clients."""
    clients: int = 0

    @property
    def ends(self) -> tuple[float, float] | None:
        """95%, by Student's t with clients - 1 degrees of freedom."""
        if self.estimate is None or self.error is None:
            return None
        half = float(stats.t.ppf(0.975, self.clients - 1)) * self.error
        return self.estimate - half, self.estimate + half


def slopes(lines: Lines) -> tuple[Slope, ...]:
    """Least squares of disclosing (0 or 1) on both skills of the line before. Each session's own
    means are taken out first, so that a talkative client does not count as an answer.
    """
    columns = [lines.discloses, *(getattr(lines, skill) for skill in SKILLS)]
    taken = np.stack([_within(one, lines.said) for one in columns], axis=1)
    y, x = taken[:, 0], taken[:, 1:]
    told = [at for at, one in enumerate(x.T) if one.std() > 1e-9]
    blank = {skill: Slope(skill=skill, estimate=None, error=None) for skill in SKILLS}
    if not told or np.linalg.matrix_rank(x[:, told], tol=1e-6) < len(told):
        return tuple(blank.values())  # where each line is one or the other, neither has a slope
    every = sorted(set(lines.clients))
    model = sm.OLS(y, x[:, told])
    errors: list[float | None]
    if len(every) < FEWEST_CLIENTS:
        estimates, errors = model.fit().params, [None for _ in told]
    else:
        clients = np.repeat(np.array(lines.clients), lines.said.sum(axis=1))
        groups = np.searchsorted(every, clients)
        done = model.fit(cov_type="cluster", cov_kwds={"groups": groups})
        estimates, errors = done.params, [float(one) for one in done.bse]
    for at, estimate, error in zip(told, estimates, errors, strict=True):
        blank[SKILLS[at]] = Slope(
            skill=SKILLS[at], estimate=float(estimate), error=error, clients=len(every)
        )
    return tuple(blank.values())


def _within(values: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Each session's mean taken out; its lines one after another."""
    means = np.where(said, values, 0.0).sum(axis=1) / said.sum(axis=1)
    return np.asarray((values - means[:, None])[said])
