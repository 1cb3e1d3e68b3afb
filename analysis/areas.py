"""How well a score tells two groups apart: the area under the ROC curve, and its intervals."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from simcounsel.chance import seed_of

Z = 1.959964
"""Standard errors on each side of a 95% interval."""
DRAWS = 1000


def auc(above: NDArray[Any], below: NDArray[Any]) -> float:
    """The chance that one of `above` scores higher than one of `below`, ties half: Mann and
    Whitney's U over the number of pairs.
    """
    found = stats.mannwhitneyu(above, below, method="asymptotic")
    return float(found.statistic / (len(above) * len(below)))


def newcombe(area: float, good: int, bad: int) -> tuple[float, float]:
    """The 95% interval of an AUC from so many good and bad sessions: Newcombe 2006 (Statistics in
    Medicine 25, 559-573), method 5. The true values that lie within 1.96 standard errors of the
    AUC, by the error that they would have themselves (Hanley and McNeil's, both sizes replaced by
    their mean); so it has a width also when the AUC is 0 or 1.
    """
    size = (good + bad) / 2 - 1

    def beyond(true: float) -> float:
        spread = (1 - true) / (2 - true) + true / (1 + true)
        variance = true * (1 - true) / (good * bad) * (1 + size * spread)
        return float((area - true) ** 2 - Z**2 * variance)

    near = 1e-9  # at 0 and 1 there is no error: an AUC of 1 is as far as can be from nothing there
    low = 0.0 if area == 0 else float(optimize.brentq(beyond, 0, area - near))
    high = 1.0 if area == 1 else float(optimize.brentq(beyond, area + near, 1))
    return low, high


def auc_interval(
    label: NDArray[Any], score: NDArray[Any], group: NDArray[Any], seed: str
) -> tuple[float, float]:
    """95% of the AUC of what is labelled 1 against 0, whole groups (clients) drawn with replacement
    on each side. seed: names the draws.
    """
    rng = np.random.default_rng(seed_of("detector", seed))
    sides, times = [], []
    for of in (0, 1):
        names, client = np.unique(group[label == of], return_inverse=True)
        sides.append(np.eye(len(names))[client])
        times.append(rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=DRAWS))
    below, above = score[label == 0], score[label == 1]
    right = (above[:, None] > below) + 0.5 * (above[:, None] == below)
    won = sides[1].T @ right @ sides[0]
    pairs = np.outer(sides[1].sum(axis=0), sides[0].sum(axis=0))
    found = [b @ won @ a / (b @ pairs @ a) for a, b in zip(*times, strict=True)]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
