"""A site's part of a round: from the task's bytes to the answer's. Whatever must not leave a site
ends here.
"""

import hashlib
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from training.errors import SiteRefused, TrainingError
from training.federation import draws, messages, screening
from training.federation.fixedpoint import Residues
from training.federation.shift import LEFT, RIGHT, WHOLE, dense
from training.federation.site_ledger import SiteLedger
from training.federation.terms import Terms
from training.federation.updates import A, Learned, Learner, Task, Update, Weights, norm_of
from training.privacy.noise import generator

logger = logging.getLogger(__name__)


def task_bytes(task: Task, terms: Terms, seed: int, frozen: Weights) -> bytes:
    """A task as it travels. frozen: adapters that a site has already; their digest goes along."""
    tensors = {**task.weights, **(task.base_shift or {})}
    facts = {"round": str(task.round), "frozen": digest(frozen)}
    return messages.encoded(
        tensors, terms.send, facts, generator((seed, "rounding down", task.round))
    )


def task_from(data: bytes, terms: Terms, frozen: Weights) -> Task:
    """TrainingError if it is no task, or was made for other frozen adapters than this site has."""
    message = messages.decoded(data, terms.send)
    if message.facts.get("frozen") != digest(frozen):
        raise TrainingError(
            "the frozen adapters of this site are not the server's; draw them with the same seed,"
            " ranks and layers"
        )
    if not message.facts.get("round", "").isdecimal():
        raise TrainingError("a task without the number of its round")
    shift = {
        key: value for key, value in message.weights.items() if key.endswith((LEFT, RIGHT, WHOLE))
    }
    weights = {key: value for key, value in message.weights.items() if key not in shift}
    if not all(np.isfinite(value).all() for value in message.weights.values()):
        raise SiteRefused(
            "the server's weights are not finite, and nothing can be learned from them"
        )
    return Task(round=int(message.facts["round"]), weights=weights, base_shift=shift or None)


def digest(weights: Weights) -> str:
    """SHA-256 over keys, shapes and numbers."""
    found = hashlib.sha256()
    for key in sorted(weights):
        found.update(
            f"{key} {weights[key].shape}\n".encode() + np.ascontiguousarray(weights[key]).tobytes()
        )
    return found.hexdigest()


def travelling(weights: Weights, terms: Terms) -> dict[str, np.ndarray]:
    """Those that are trained, and so are sent: all, or lora_B only."""
    return {
        key: value
        for key, value in weights.items()
        if terms.factors == "both" or not key.endswith(A)
    }


@dataclass(frozen=True, kw_only=True)
class SiteSide:
    """What a site brings to a round, and what it makes of a task."""

    name: str
    """As in the terms."""
    learner: Learner
    terms: Terms
    seed: int
    frozen: Weights
    """Adapters that do not travel, drawn at the site by the common seed; empty where both factors
    do.
    """
    ledger: SiteLedger | None = None
    """Of what was answered already; None without privacy."""

    def answer(self, data: bytes) -> bytes:
        """Train, and say the update in bytes. data: the task's."""
        terms, update = self.terms, self.update_of(data)
        facts = {"round": str(update.round)}
        if not terms.fixed:
            facts["steps"] = str(update.steps)
        if update.loss is not None:
            facts["loss"] = repr(update.loss)
        return messages.encoded(
            update.delta,
            terms.send,
            facts,
            generator((self.seed, "rounding up", update.round, self.name)),
        )

    def masked_part(self, data: bytes) -> Residues:
        """For a secure sum: the weighted update as whole numbers, tensors in order of their keys,
        with this site's share of the noise. Where the draw is hidden the site draws for itself, and
        sends zeros if it does not take part: it trains all the same, so that time and failures tell
        nothing. data: the task's.
        """
        terms, update = self.terms, self.update_of(data)
        flat = np.concatenate([update.delta[key].ravel() for key in sorted(update.delta)]).astype(
            np.float64
        )
        if terms.hidden_draw and not draws.poisson(
            [self.name], terms.participation, self.seed, update.round, terms.noise
        ):
            flat = np.zeros_like(flat)
        part = terms.fixed_point.encode(terms.weights[self.name] * flat)
        if terms.noise_at == "sum":
            drawn = (self.seed, "share of noise", update.round, self.name)
            part += terms.fixed_point.shared_noise(
                part.size, drawn if terms.noise == "seeded" else None
            )
        return part

    def update_of(self, data: bytes) -> Update:
        """Train from what the task says; then clip and noise, where the terms say so. TrainingError
        for a training that went wrong, and for a round that the ledger does not allow; what it
        allows it has written down before this returns.

        Where noise is on whole updates, a training that went wrong counts as an update of zero,
        and is answered with noise: a server may choose weights with which some data overflow and
        other do not, and an error would tell it which, outside of the account.
        """
        task = task_from(data, self.terms, self.frozen)
        if self.ledger is not None:
            self.ledger.check(task.round)
        learned, delta = self._learned(task)
        if self.ledger is not None:
            self.ledger.spend(task.round)
        return Update(
            site=self.name,
            round=task.round,
            delta=_protected(delta, self.name, task.round, self.terms, self.seed),
            steps=learned.steps,
            loss=learned.loss if self.terms.tells_loss else None,
        )

    def _learned(self, task: Task) -> tuple[Learned, Weights]:
        before = {**self.frozen, **task.weights}
        try:
            return self._checked(task, before)
        except SiteRefused:
            raise
        except TrainingError:
            if self.terms.noise_at == "none":
                raise
            logger.warning(
                "site %s sends noise alone: it has not learned", self.name, exc_info=True
            )
            still = {key: np.zeros_like(value) for key, value in task.weights.items()}
            return Learned(weights=before, steps=0), still

    def _checked(self, task: Task, before: Weights) -> tuple[Learned, Weights]:
        learned = self.learner.learn(self.name, before, task.round, dense(task.base_shift))
        problem = screening.problem_of(learned.weights, before)
        if problem or (learned.loss is not None and not math.isfinite(learned.loss)):
            raise TrainingError(problem or f"its loss is {learned.loss}")
        if any(
            not np.array_equal(learned.weights[key], value) for key, value in self.frozen.items()
        ):
            raise TrainingError("lora_A was trained, and `lora.train: b` says that it is frozen")
        with np.errstate(over="ignore"):
            delta = {key: learned.weights[key] - value for key, value in task.weights.items()}
        if not math.isfinite(norm_of(delta)):
            raise TrainingError("its update is not finite; take a smaller learning_rate")
        return learned, delta


def _protected(
    delta: Weights, site: str, round: int, terms: Terms, seed: int
) -> Mapping[str, np.ndarray]:
    """Clipped, then noised: the order that the account counts on."""
    if terms.clip is not None:
        delta = screening.clip_to(delta, terms.clip)
    elif problem := screening.too_large(delta, terms):
        raise TrainingError(f"its update is {problem}; take a smaller learning_rate")
    if terms.noise_at != "each_site":
        return delta
    noisy = draws.noised(
        delta, terms.noise_std, seed=seed, round=round, site=site, source=terms.noise
    )
    return {key: value.astype(np.float32) for key, value in noisy.items()}
