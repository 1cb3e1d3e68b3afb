"""A site's part of a round: from the task's bytes to the answer's. Whatever must not leave a site
ends here.
"""

import hashlib
import math
from collections.abc import Mapping

import numpy as np

from training.errors import TrainingError
from training.federation import draws, messages, noise, screening
from training.federation.fixedpoint import Residues
from training.federation.shift import LEFT, RIGHT, WHOLE, dense
from training.federation.site_ledger import SiteLedger
from training.federation.terms import Terms
from training.federation.updates import A, Learner, Task, Update, Weights
from training.privacy.noise import generator


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


def answer(
    data: bytes,
    site: str,
    learner: Learner,
    terms: Terms,
    seed: int,
    frozen: Weights,
    ledger: SiteLedger | None = None,
) -> bytes:
    """Train, and say the update in bytes. ledger: of this site, where it has one."""
    update = update_of(data, site, learner, terms, seed, frozen, ledger)
    facts = {"round": str(update.round), **({} if terms.fixed else {"steps": str(update.steps)})}
    if update.loss is not None:
        facts["loss"] = repr(update.loss)
    return messages.encoded(
        update.delta, terms.send, facts, generator((seed, "rounding up", update.round, site))
    )


def masked_part(
    data: bytes,
    site: str,
    learner: Learner,
    terms: Terms,
    seed: int,
    frozen: Weights,
    ledger: SiteLedger | None = None,
) -> Residues:
    """For a secure sum: the weighted update as whole numbers, tensors in order of their keys, with
    this site's share of the noise. Where the draw is hidden the site draws for itself, and sends
    zeros if it does not take part: it trains all the same, so that time and failures tell nothing.
    """
    update = update_of(data, site, learner, terms, seed, frozen, ledger)
    flat = np.concatenate([update.delta[key].ravel() for key in sorted(update.delta)]).astype(
        np.float64
    )
    if terms.hidden_draw and not draws.poisson(
        [site], terms.participation, seed, update.round, terms.noise
    ):
        flat = np.zeros_like(flat)
    part = terms.fixed_point.encode(terms.weights[site] * flat)
    if terms.noise_at == "sum":
        key = (seed, "share of noise", update.round, site) if terms.noise == "seeded" else None
        part += terms.fixed_point.shared_noise(part.size, key)
    return part


def update_of(
    data: bytes,
    site: str,
    learner: Learner,
    terms: Terms,
    seed: int,
    frozen: Weights,
    ledger: SiteLedger | None = None,
) -> Update:
    """Train from what the task says; then clip and noise, where the terms say so. TrainingError for
    a training that went wrong, and for a round that the ledger does not allow; what it allows it
    has written down before this returns.
    """
    task = task_from(data, terms, frozen)
    if ledger is not None:
        ledger.check(task.round)
    before = {**frozen, **task.weights}
    learned = learner.learn(site, before, task.round, dense(task.base_shift))
    problem = screening.problem_of(learned.weights, before)
    if problem or (learned.loss is not None and not math.isfinite(learned.loss)):
        raise TrainingError(problem or f"its loss is {learned.loss}")
    if any(not np.array_equal(learned.weights[key], frozen[key]) for key in frozen):
        raise TrainingError("lora_A was trained, and `lora.train: b` says that it is frozen")
    delta = {key: learned.weights[key] - value for key, value in task.weights.items()}
    if ledger is not None:
        ledger.spend(task.round)
    return Update(
        site=site,
        round=task.round,
        delta=_protected(delta, site, task.round, terms, seed),
        steps=learned.steps,
        loss=learned.loss if terms.tells_loss else None,
    )


def _protected(
    delta: Weights, site: str, round: int, terms: Terms, seed: int
) -> Mapping[str, np.ndarray]:
    """Clipped, then noised: the order that the account counts on."""
    if terms.clip is not None:
        delta = screening.clip_to(delta, terms.clip)
    if terms.noise_at != "each_site":
        return delta
    noisy = noise.noised(
        delta, terms.noise_std, seed=seed, round=round, site=site, source=terms.noise
    )
    return {key: value.astype(np.float32) for key, value in noisy.items()}
