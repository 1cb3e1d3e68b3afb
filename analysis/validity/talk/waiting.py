"""How soon clients yield: after how many of their lines they first agree, take up a proposal,
disclose, or say that it is better. A session that ends before counts as long as it lasted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from statsmodels.duration.survfunc import SurvfuncRight

from analysis.validity.talk.counting import Codes
from analysis.validity.talk.distances import FEWEST_CLIENTS
from analysis.validity.talk.moves import Move
from analysis.validity.talk.sessions import TalkSession
from simcounsel.chance import seed_of

YIELDING: tuple[Move, ...] = ("agrees", "takes_up", "discloses", "improves")
HORIZON = 20
"""Client lines over which it is looked, at most."""
DRAWS = 500
NO_SOONER = 1.0
"""So many lines sooner are as good as none."""
Numbers = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class FirstTimes:
    """When each session of one side first shows a move."""

    lines: Numbers
    """The client's line, from 1; its last one where it never came."""
    came: NDArray[np.bool_]
    clients: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Waited:
    """One move: real beside simulated."""

    move: Move
    horizon: int
    """Client lines over which it is looked: as many as sessions of both sides last."""
    real: float
    """Lines without it among the first `horizon`, the mean over sessions (area under Kaplan and
    Meier's curve); smaller is sooner.
    """
    simulated: float
    difference: float
    """Simulated minus real; below zero: simulated clients yield sooner."""
    low: float | None
    """`low`, `high`: 95%, clients drawn with replacement; None with too few."""
    high: float | None
    real_ever: float
    """Share that has come to it by `horizon` lines (1 - Kaplan and Meier's curve)."""
    simulated_ever: float

    @property
    def sooner(self) -> bool | None:
        """Whether simulated clients yield sooner; None where that is open."""
        if self.low is None or self.high is None:
            return None
        if self.high < 0:
            return True
        return False if self.low > -NO_SOONER else None


def first(sessions: Sequence[TalkSession], move: Move, codes: Codes) -> FirstTimes:
    """When a move first comes."""
    lines, came = [], []
    for session in sessions:
        found = [at for at, one in enumerate(codes(session), 1) if move in one]
        lines.append(float(found[0]) if found else float(len(session.client_lines)))
        came.append(bool(found))
    return FirstTimes(
        lines=np.array(lines),
        came=np.array(came, dtype=bool),
        clients=tuple(one.client for one in sessions),
    )


def curve(one: FirstTimes, horizon: int, weights: Numbers | None = None) -> Numbers:
    """Share of sessions in which it has not come yet, after 0, 1, ... `horizon` client lines
    (Kaplan and Meier 1958). weights: of each session.
    """
    if not one.came.any():
        return np.ones(horizon + 1)
    fitted = SurvfuncRight(one.lines, one.came.astype(int), freq_weights=weights)
    steps = np.searchsorted(fitted.surv_times, np.arange(horizon + 1), side="right")
    return np.concatenate([[1.0], fitted.surv_prob])[steps]


def waited(
    real: Sequence[TalkSession], simulated: Sequence[TalkSession], codes: Codes
) -> list[Waited]:
    """Every move of YIELDING."""
    horizon = horizon_of(real, simulated)
    return [
        _waited(move, horizon, first(real, move, codes), first(simulated, move, codes))
        for move in YIELDING
    ]


def horizon_of(real: Sequence[TalkSession], simulated: Sequence[TalkSession]) -> int:
    """Client lines that sessions of both sides reach, at most HORIZON: beyond the longest session
    of a side nothing is known of it.
    """
    longest = [max(len(one.client_lines) for one in side) for side in (real, simulated)]
    return min(HORIZON, *longest)


def mean_wait(values: Numbers) -> float:
    """The area under a curve."""
    return float(values[:-1].sum())


def _waited(move: Move, horizon: int, real: FirstTimes, simulated: FirstTimes) -> Waited:
    curves = curve(real, horizon), curve(simulated, horizon)
    means = [mean_wait(one) for one in curves]
    low = high = None
    if min(len(set(one.clients)) for one in (real, simulated)) >= FEWEST_CLIENTS:
        rng = np.random.default_rng(seed_of("waiting", move))
        drawn = [
            mean_wait(curve(simulated, horizon, _weights(simulated, rng)))
            - mean_wait(curve(real, horizon, _weights(real, rng)))
            for _ in range(DRAWS)
        ]
        low, high = map(float, np.quantile(drawn, [0.025, 0.975]))
    return Waited(
        move=move,
        horizon=horizon,
        real=means[0],
        simulated=means[1],
        difference=means[1] - means[0],
        low=low,
        high=high,
        real_ever=float(1 - curves[0][-1]),
        simulated_ever=float(1 - curves[1][-1]),
    )


def _weights(one: FirstTimes, rng: np.random.Generator) -> Numbers:
    """How often each session's client was drawn; a client who was not has next to no weight."""
    names = list(dict.fromkeys(one.clients))
    times = dict(
        zip(names, rng.multinomial(len(names), [1 / len(names)] * len(names)), strict=True)
    )
    return np.array([max(float(times[client]), 1e-9) for client in one.clients])
