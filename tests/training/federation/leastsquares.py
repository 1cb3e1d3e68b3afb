"""A learner small enough to be solved by hand: y = (W + alpha / rank * B A) x with squared error, one layer, NumPy."""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from training.federation.inprocess import InProcess
from training.federation.rounds import RoundReport, conduct
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.federation.updates import A, B, Learned, Learner, Weights
from training.plan import SiteSize, TrainingPlan
from training.recipe import Recipe

LAYER = "base_model.model.model.layers.0.self_attn.q_proj"
KEY_A, KEY_B = LAYER + A, LAYER + B
INPUTS, OUTPUTS = 6, 5
ALPHA = 4.0


def adapters(rank: int = 2, seed: int = 0) -> dict[str, np.ndarray]:
    """A drawn, B zero, as PEFT begins."""
    rng = np.random.default_rng(seed)
    return {
        KEY_A: (rng.standard_normal((rank, INPUTS)) / INPUTS**0.5).astype(np.float32),
        KEY_B: np.zeros((OUTPUTS, rank), np.float32),
    }


def start(rank: int = 2) -> ServerState:
    return ServerState(weights=adapters(rank))


def data(
    sizes: Mapping[str, int], seed: int = 0, noise: float = 0.3, rank: int = OUTPUTS
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """One linear truth with noise; sites draw from the same distribution."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((OUTPUTS, rank)) @ rng.standard_normal((rank, INPUTS)) / rank**0.5
    found = {}
    for site, size in sizes.items():
        x = rng.standard_normal((size, INPUTS))
        found[site] = (x, x @ truth.T + noise * rng.standard_normal((size, OUTPUTS)))
    return found


@dataclass
class LeastSquares:
    """steps of gradient descent over all data of the site. only_b: A stays. seen: (site, round) of every call."""

    data: Mapping[str, tuple[np.ndarray, np.ndarray]]
    steps: int = 1
    rate: float = 0.1
    only_b: bool = False
    seen: list[tuple[str, int]] = field(default_factory=list)
    shifts: list[Weights | None] = field(default_factory=list)

    def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
        self.seen.append((site, round))
        self.shifts.append(shift)
        x, y = self.data[site]
        a, b = weights[KEY_A].astype(np.float64), weights[KEY_B].astype(np.float64)
        scale = ALPHA / a.shape[0]
        base = shift[LAYER].astype(np.float64) if shift else np.zeros((OUTPUTS, INPUTS))
        losses = []
        for _ in range(self.steps):
            error = x @ (base + scale * b @ a).T - y
            losses.append(float(np.mean(np.sum(error**2, axis=1))))
            slope = 2 * scale * error.T @ x / len(x)
            a, b = (
                a - self.rate * (0 if self.only_b else 1) * b.T @ slope,
                b - self.rate * slope @ a.T,
            )
        return Learned(
            weights={KEY_A: a.astype(np.float32), KEY_B: b.astype(np.float32)},
            steps=self.steps,
            loss=losses[0],
        )


def central_b(of: Mapping[str, tuple[np.ndarray, np.ndarray]], a: np.ndarray) -> np.ndarray:
    """The B that fits all sites' data together best, with A as it is."""
    x = np.concatenate([x for x, _ in of.values()])
    y = np.concatenate([y for _, y in of.values()])
    inner = ALPHA / a.shape[0] * x @ a.astype(np.float64).T
    return np.linalg.lstsq(inner, y, rcond=None)[0].T


# three sites, and what they agree on

SIZES = {"east": 10, "north": 60, "south": 30}
DATA = data(SIZES)
SITE = {
    "unit": "site",
    "clip": 1.0,
    "delta": 1e-3,
    "noise_at": "each_site",
    "noise_multiplier": 5.0,
}


def recipe(privacy: dict[str, Any] | None, **more: Any) -> Recipe:
    given = {
        "rounds": 6,
        "lora": {"alpha": ALPHA, "rank": 2},
        "privacy": privacy,
        "folders": dict.fromkeys(SIZES, "x"),
        "noise": "seeded",
        "public_data": True,
        **more,
    }
    return Recipe.model_validate(given)


def plan_of(of: Recipe) -> TrainingPlan | None:
    return of.plan(tuple(SiteSize(name=name, sessions=size) for name, size in SIZES.items()))


def run_round(
    state: ServerState, learner: Learner, terms: Terms, seed: int, workers: Executor | None = None
) -> tuple[ServerState, RoundReport]:
    """The next round, all sites in this process. Failing sites are left out and named; no error
    comes from them.
    """
    return conduct(state, InProcess(learner, terms, seed, workers), terms, seed)
