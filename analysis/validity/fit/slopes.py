"""Whether clients disclose more after a line that reflects or explores: the test of Chen and
colleagues 2026 (arXiv 2606.10051), within sessions.
"""

from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm

from analysis.validity.fit.opening import Lines
from analysis.validity.talk.distances import FEWEST_CLIENTS

SKILLS = ("empathy", "exploration")


@dataclass(frozen=True, kw_only=True)
class Slope:
    """How much more often clients disclose after such a line, in shares of 1."""

    skill: str
    estimate: float | None
    """None where no session has lines with and without it."""
    error: float | None
    """Standard error, robust to lines of one client being alike; None with too few clients."""

    @property
    def ends(self) -> tuple[float, float] | None:
        """95%, normal."""
        if self.estimate is None or self.error is None:
            return None
        return self.estimate - 1.96 * self.error, self.estimate + 1.96 * self.error


def slopes(lines: Lines) -> tuple[Slope, ...]:
    """Least squares of disclosing (0 or 1) on both skills of the line before. Each session's own
    means are taken out first, so that a talkative client does not count as an answer.
    """
    columns = [lines.discloses, *(getattr(lines, skill) for skill in SKILLS)]
    taken = np.stack([_within(one, lines.said) for one in columns], axis=1)
    y, x = taken[:, 0], taken[:, 1:]
    varies = x.std(axis=0) > 0
    clients = np.repeat(np.array(lines.clients), lines.said.sum(axis=1))
    found = dict.fromkeys(SKILLS, Slope(skill="", estimate=None, error=None))
    if varies.any():
        groups = np.unique(clients, return_inverse=True)[1]
        model = sm.OLS(y, x[:, varies])
        done = model.fit(cov_type="cluster", cov_kwds={"groups": groups})
        enough = len(set(lines.clients)) >= FEWEST_CLIENTS
        names = [skill for skill, one in zip(SKILLS, varies, strict=True) if one]
        for skill, estimate, error in zip(names, done.params, done.bse, strict=True):
            found[skill] = Slope(
                skill=skill, estimate=float(estimate), error=float(error) if enough else None
            )
    return tuple(
        Slope(skill=skill, estimate=one.estimate, error=one.error) for skill, one in found.items()
    )


def _within(values: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Each session's mean taken out; its lines one after another."""
    means = np.where(said, values, 0.0).sum(axis=1) / said.sum(axis=1)
    return np.asarray((values - means[:, None])[said])
