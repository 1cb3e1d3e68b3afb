"""How a client opens up over a session, as a model with few constants, and their fit.

Openness runs from 0 to 10, as `simcounsel.agents.client_state` has it. It begins at `start`. A
counselor's line that gives back what was said moves it by `empathy`, one that asks openly by
`exploration`, one that advises and does neither by -`push`. With each line it loses the share
`fades` of its distance from `start`. A client's line discloses with a chance of openness / 10 (the
one assumption that ties openness to what can be seen; within `SURE` of 0 and 1).

The idea that disclosure answers to empathy and exploration, and its test, are those of Chen and
colleagues 2026 (Adaptive Virtual Patient, arXiv 2606.10051); the model is ours.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from analysis.validity.talk.counting import Codes
from analysis.validity.talk.distances import FEWEST_CLIENTS
from analysis.validity.talk.sessions import TalkSession
from simcounsel.chance import seed_of
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.instruments.talk import count
from simcounsel.specs.world_settings import BY_HAND

Numbers = NDArray[np.float64]
SURE = 0.01
DRAWS, FOLDS = 200, 5
CLOSE = 1e-7
"""A step that betters the likelihood by less, as a share of it, is the last."""


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What moves openness, in points of 0 to 10."""

    start: float
    empathy: float
    exploration: float
    push: float
    fades: float

    @property
    def settings(self) -> dict[str, float]:
        """As a world's `openness:` has them: a line moves at most so far."""
        most = max(0.0, self.empathy, self.exploration, self.empathy + self.exploration)
        found = {"start": self.start, "per_closeness": 0.0, "up": most, "down": max(0.0, self.push)}
        return {name: round(value, 2) for name, value in (found | {"fades": self.fades}).items()}


NAMES = tuple(one.name for one in fields(Constants))
SET_BY_HAND = Constants(
    start=BY_HAND.start, empathy=BY_HAND.up, exploration=BY_HAND.up, push=BY_HAND.down, fades=0.0
)
"""A world's defaults, had every such line moved the client as far as it may."""
_BOUNDS = ((0.0, 10.0), (-5.0, 5.0), (-5.0, 5.0), (-5.0, 5.0), (0.0, 1.0))
_STARTS = ((2.0, 0.3, 0.3, 0.3, 0.05), (5.0, 0.0, 0.0, 0.0, 0.2), (1.0, 1.0, 1.0, 1.0, 0.0))


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Client lines of sessions, each an array of shape (sessions, lines of the longest), 0 where
    there is no such line.
    """

    discloses: Numbers
    empathy: Numbers
    """Whether the counselor's line before gave back what was said."""
    exploration: Numbers
    """Whether it asked openly."""
    push: Numbers
    """Whether it advised and did neither."""
    said: NDArray[np.bool_]
    """Whether there is such a line."""
    clients: tuple[str, ...]
    """Of each session."""

    def of(self, rows: Sequence[int] | NDArray[np.intp]) -> "Lines":
        """Those sessions, some perhaps several times."""
        some = np.asarray(rows, dtype=np.intp)
        return Lines(
            discloses=self.discloses[some],
            empathy=self.empathy[some],
            exploration=self.exploration[some],
            push=self.push[some],
            said=self.said[some],
            clients=tuple(self.clients[row] for row in some),
        )


def lines_of(sessions: Sequence[TalkSession], codes: Codes) -> Lines:
    """What of sessions the model speaks of. codes: who says which client lines disclose."""
    longest = max(len(one.client_lines) for one in sessions)
    found = {name: np.zeros((len(sessions), longest)) for name in ("d", "e", "x", "p", "said")}
    for row, session in enumerate(sessions):
        heard = ""
        for at, (line, moves) in enumerate(zip(session.client_lines, codes(session), strict=True)):
            counts = count([(CLIENT, heard), (COUNSELOR, line.before)]) if line.before else None
            empathy = counts is not None and counts.reflections > 0
            explores = counts is not None and counts.open_questions > 0
            advises = counts is not None and counts.advice > 0
            values = ("discloses" in moves, empathy, explores, advises, True)
            for name, value in zip(found, values, strict=True):
                found[name][row, at] = value
            heard = line.said
    advice_alone = found["p"] * (1 - found["e"]) * (1 - found["x"])
    return Lines(
        discloses=found["d"],
        empathy=found["e"],
        exploration=found["x"],
        push=advice_alone,
        said=found["said"].astype(bool),
        clients=tuple(one.client for one in sessions),
    )


def chances(constants: Constants, lines: Lines) -> Numbers:
    """Of each line the chance that it discloses, in (0, 1), shape as `lines`."""
    return _chances(np.array(astuple(constants)), lines)


def _chances(values: Numbers, lines: Lines) -> Numbers:
    start, empathy, exploration, push, fades = values
    steps = empathy * lines.empathy + exploration * lines.exploration - push * lines.push
    now = np.full(len(lines.clients), start)
    found = np.empty_like(steps)
    for at in range(steps.shape[1]):
        now = np.clip(now + steps[:, at] - fades * (now - start), 0.0, 10.0)
        found[:, at] = now
    sure: Numbers = SURE + (1 - 2 * SURE) * found / 10
    return sure


def loss(chance: Numbers, lines: Lines) -> Numbers:
    """Minus the log-likelihood of each session, in nats."""
    each = lines.discloses * np.log(chance) + (1 - lines.discloses) * np.log(1 - chance)
    sums: Numbers = -np.where(lines.said, each, 0.0).sum(axis=1)
    return sums


def fit(lines: Lines, begin: Sequence[float] | None = None) -> Constants:
    """The constants under which the sessions are likeliest. begin: where else to look."""

    def wrong(values: Numbers) -> float:
        return float(loss(_chances(values, lines), lines).sum())

    found = [
        minimize(wrong, np.array(start), method="L-BFGS-B", bounds=_BOUNDS, options={"ftol": CLOSE})
        for start in (_STARTS if begin is None else (begin, _STARTS[1]))
    ]
    best = min(found, key=lambda one: float(one.fun))
    return Constants(**dict(zip(NAMES, map(float, best.x), strict=True)))


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The fit of one side."""

    constants: Constants
    low: Constants | None
    """`low`, `high`: 95%, clients drawn with replacement; None with too few."""
    high: Constants | None
    sessions: int
    clients: int
    lines: int
    discloses: float
    """Share of all client lines."""
    held_out: dict[str, float]
    """Loss of a line of clients that the fit did not see, in nats: `fitted`, `by hand`, `constant`
    (one chance for all lines)."""
    better: dict[str, tuple[float, float, float] | None]
    """By how much the fit is better than `by hand` and `constant`, with 95% over clients."""


def fitted(lines: Lines, tell: Callable[[str], None] = lambda _: None) -> Fitted:
    """Fit, with intervals and on held-out clients."""
    every = sorted(set(lines.clients))
    constants = fit(lines)
    drawn: list[Constants] = []
    if len(every) >= FEWEST_CLIENTS:
        rng = np.random.default_rng(seed_of("fit", *every))
        rows = {client: np.flatnonzero(np.array(lines.clients) == client) for client in every}
        for draw in range(DRAWS):
            if draw % 50 == 0:
                tell(f"intervals: {draw} of {DRAWS} draws")
            some = rng.choice(len(every), len(every))
            again = lines.of(np.concatenate([rows[every[one]] for one in some]))
            drawn.append(fit(again, astuple(constants)))
    held_out, better = _held_out(lines, every)
    return Fitted(
        constants=constants,
        low=_at(drawn, 2.5),
        high=_at(drawn, 97.5),
        sessions=len(lines.clients),
        clients=len(every),
        lines=int(lines.said.sum()),
        discloses=float(lines.discloses.sum() / lines.said.sum()),
        held_out=held_out,
        better=better,
    )


def _at(drawn: Sequence[Constants], percent: float) -> Constants | None:
    if not drawn:
        return None
    values = np.percentile([astuple(one) for one in drawn], percent, axis=0)
    return Constants(**dict(zip(NAMES, map(float, values), strict=True)))


def _held_out(
    lines: Lines, every: Sequence[str]
) -> tuple[dict[str, float], dict[str, tuple[float, float, float] | None]]:
    """Each fold of clients by what was fitted to the others."""
    if len(every) < 2:
        return {}, {"by hand": None, "constant": None}
    order = np.random.default_rng(seed_of("folds", *every)).permutation(len(every))
    fold = {every[one]: at % min(FOLDS, len(every)) for at, one in enumerate(order)}
    folds = np.array([fold[client] for client in lines.clients])
    losses = {name: np.zeros(len(folds)) for name in ("fitted", "by hand", "constant")}
    for number in set(folds.tolist()):
        here, there = np.flatnonzero(folds == number), np.flatnonzero(folds != number)
        some, others = lines.of(here), lines.of(there)
        rate = (others.discloses.sum() + 1) / (others.said.sum() + 2)
        losses["fitted"][here] = loss(chances(fit(others), some), some)
        losses["by hand"][here] = loss(chances(SET_BY_HAND, some), some)
        losses["constant"][here] = loss(np.full(some.said.shape, rate), some)
    sizes = lines.said.sum(axis=1)
    means = {name: float(each.sum() / sizes.sum()) for name, each in losses.items()}
    better = {
        name: _difference(losses[name] - losses["fitted"], sizes, lines.clients, every)
        for name in ("by hand", "constant")
    }
    return means, better


def _difference(
    losses: Numbers, sizes: NDArray[np.int_], clients: Sequence[str], every: Sequence[str]
) -> tuple[float, float, float] | None:
    """Mean over lines, with 95% over clients; None with too few."""
    if len(every) < FEWEST_CLIENTS:
        return None
    places = {client: at for at, client in enumerate(every)}
    of = np.array([places[client] for client in clients])
    sums, lengths = np.bincount(of, losses), np.bincount(of, sizes)
    rng = np.random.default_rng(seed_of("held out", *every))
    some = rng.integers(len(every), size=(2000, len(every)))
    drawn = sums[some].sum(axis=1) / lengths[some].sum(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(sums.sum() / lengths.sum()), float(low), float(high)
