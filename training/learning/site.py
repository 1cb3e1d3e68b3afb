"""A site's training as a federation asks for it: weights in, weights out, nothing kept between
rounds.
"""

import ctypes.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from simcounsel.corpus.dialogues import Dialogue
from training.errors import SiteRefused, TrainingError
from training.federation.updates import Learned
from training.learning.base import AdaptedBase, change_rank, load_for, with_adapters
from training.learning.examples import ProtectedRecord, records_of
from training.learning.gradients import ModelReading, check_head
from training.learning.processes import ALONE, Processes
from training.learning.steps import Local, StepProtection, adapter_weights, set_adapter_weights
from training.plan import SiteSize, TrainingPlan
from training.privacy.budget import multiplier_of, noise_std
from training.recipe import WITHOUT_PRIVACY, Recipe
from training.sites import Sites

Weights = Mapping[str, NDArray[np.float32]]
OnStep = Callable[[str, int, int, int], None]


def protection_of(
    recipe: Recipe, plan: TrainingPlan | None, site: SiteSize
) -> StepProtection | None:
    """What DP-SGD does at this site; None where nothing, or only whole updates are protected."""
    if plan is None or plan.privacy.unit == "site":
        return None
    return StepProtection(
        rate=plan.rate(site),
        expected=plan.batch_size or 0,
        clip=plan.privacy.clip,
        std=noise_std(plan, multiplier_of(plan)),
        secure=recipe.noise == "secure",
    )


def steps_of(local: Local, recipe: Recipe, plan: TrainingPlan | None, site: SiteSize) -> int:
    """Steps of one round: as they are accounted for, or whole epochs."""
    return (
        plan.steps_per_round(site)
        if plan and local.protection
        else recipe.local_epochs * local.steps_per_epoch
    )


@dataclass(kw_only=True)
class Learners:
    """All sites of a simulated federation, on one base (the `Learner` of `federation.updates`). One
    site trains at a time: two trainings of two threads each on two cores hinder one another.
    """

    recipe: Recipe
    sites: Sites
    plan: TrainingPlan | None
    on_step: OnStep = lambda site, round, done, of: None
    """Told of each step that is done, of how many in the round."""
    processes: Processes = ALONE
    base: AdaptedBase = field(init=False)
    reading: ModelReading = field(init=False)
    records: dict[str, tuple[ProtectedRecord, ...]] = field(init=False)

    def __post_init__(self) -> None:
        recipe = self.recipe
        self.base = load_for(recipe.base, recipe.learning, recipe.device)
        by_client = recipe.trains == "client"
        self.records = {
            name: self.encoded(here, by_client=by_client)
            for name, here in self.sites.sessions.items()
        }
        self.reading = reading_of(self.base, recipe, self.processes)

    def encoded(
        self, sessions: Sequence[Dialogue], *, by_client: bool = False
    ) -> tuple[ProtectedRecord, ...]:
        """Sessions as the recipe learns them."""
        learning = self.recipe.learning
        return records_of(
            sessions,
            self.base.tokenizer,
            learning.max_tokens,
            by_client=by_client,
            pairs=learning.by_pairs,
        )

    def held_out(self) -> tuple[ProtectedRecord, ...]:
        """The sessions that losses are measured on. TrainingError where the recipe goes by them,
        and there are none.
        """
        learning = self.recipe.learning
        if not self.sites.held_out and (learning.patience or learning.keep == "best"):
            key = "patience" if learning.patience else "keep: best"
            raise TrainingError(
                f"learning.{key} goes by the loss of held-out clients, and nobody is held out; set"
                " `held_out: 0.2`, or remove it"
            )
        return self.encoded(self.sites.held_out)

    def first_weights(self) -> dict[str, NDArray[np.float32]]:
        """The adapters before the first round: A drawn by the seed, B zero."""
        return adapter_weights(self.reading.model)

    def local(self, site: str) -> Local:
        """A site's training."""
        made = Local(
            reading=self.reading,
            records=self.records[site],
            learning=self.recipe.learning,
            key=(self.recipe.seed, site),
            batch=self.recipe.batch_size or WITHOUT_PRIVACY,
            protection=protection_of(self.recipe, self.plan, self._counted(site)),
        )
        steps = steps_of(made, self.recipe, self.plan, self._counted(site))
        return replace(made, in_all=self.recipe.rounds * steps)

    def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
        """Train from these weights for the steps of round `round` (from 1)."""
        self._agree(site, weights)
        local = self.local(site)
        steps = steps_of(local, self.recipe, self.plan, self._counted(site))
        self.set(weights)
        anchor = [parameter.detach().clone() for parameter in self.reading.trained()]
        optimizer = local.optimizer()
        with shifted(self.reading, shift or {}), local.watching():
            losses = []
            for at in range(steps):
                losses.append(local.step((round - 1) * steps + at, optimizer, anchor))
                self.on_step(site, round, at + 1, steps)
        must_have_moved(self.reading, anchor)
        _give_back()
        known = [loss for loss in losses if loss is not None]
        return Learned(
            weights=adapter_weights(self.reading.model),
            steps=steps,
            loss=float(np.mean(known)) if known else None,
        )

    def _agree(self, site: str, weights: Weights) -> None:
        """Refused for adapters of another rank than was agreed on: with a rank of its choice a
        server could have memory run out at sites with long sessions, and learn which they are.
        """
        agreed = self.recipe.lora.ranks.get(site, self.recipe.lora.rank)
        if (sent := _rank(weights)) != agreed:
            raise SiteRefused(f"adapters of rank {sent}, and {agreed} was agreed on")

    def set(self, weights: Weights) -> None:
        """Give the model these adapters, of whatever rank they are."""
        change_rank(self.reading.model, self.recipe.lora, _rank(weights))
        set_adapter_weights(self.reading, weights)

    def _counted(self, site: str) -> SiteSize:
        return next(one for one in self.sites.counted() if one.name == site)


def _give_back() -> None:
    """Return memory that is free to the system, where the C library is glibc: each site learns in a
    thread of its own, and a thread's part of the heap would keep what its activations took.
    """
    library = ctypes.util.find_library("c") if sys.platform == "linux" else None
    trim = getattr(ctypes.CDLL(library), "malloc_trim", None) if library else None
    if trim is not None:
        trim(0)


def _rank(weights: Weights) -> int:
    return int(next(value.shape[0] for name, value in weights.items() if "lora_A" in name))


def reading_of(base: AdaptedBase, recipe: Recipe, processes: Processes = ALONE) -> ModelReading:
    """The base with fresh adapters, ready to be trained as the recipe says, by these processes
    together.
    """
    model: Any = with_adapters(base, recipe.lora, seed=recipe.seed)
    if recipe.learning.checkpointing:
        _checkpoint(model)
    on_gpu = next(model.parameters()).device.type == "cuda"
    reading = ModelReading(
        model=model,
        padding=int(base.tokenizer.pad_token_id),
        at_once=recipe.learning.at_once or (4 if on_gpu else 1),
        processes=processes,
    )
    check_head(reading)
    return reading


def _checkpoint(model: Any) -> None:
    """Compute activations again in the backward pass. Reentrant, since Opacus' hooks fire twice
    under the other kind.
    """
    inner = model.get_base_model()
    enable = (
        getattr(inner, "activation_checkpointing_enable", None)
        or inner.gradient_checkpointing_enable
    )  # the name in older transformers
    enable({"use_reentrant": True})
    model.enable_input_require_grads()


def finite(reading: ModelReading) -> bool:
    """Whether all that is trained are numbers."""
    return all(bool(torch.isfinite(parameter).all()) for parameter in reading.trained())


def must_have_moved(reading: ModelReading, before: list[torch.Tensor]) -> None:
    """What is trained must be finite, and of each target (`lora.targets`) something must differ
    from before, else privacy was paid for nothing. Opacus can lose the gradients of a kind of layer
    without a word (its issue 827). A may stand still in the first step, since B is zero.
    """
    if not finite(reading):
        raise TrainingError(
            "the adapters are no longer finite numbers; take a smaller learning_rate, or"
            " `precision: float32`"
        )
    names = [
        name
        for name, parameter in sorted(reading.model.named_parameters())
        if parameter.requires_grad
    ]
    moved: dict[str, bool] = {}
    for name, parameter, start in zip(names, reading.trained(), before, strict=True):
        target = name.split(".lora_")[0].rsplit(".", 1)[-1]
        moved[target] = moved.get(target, False) or not torch.equal(parameter.detach(), start)
    if still := [target for target, one in moved.items() if not one]:
        raise TrainingError(
            f"the adapters of {', '.join(still)} did not move: nothing was learned there; raise"
            " learning_rate, take that out of lora.targets, or move the base to its device before"
            " the adapters are added"
        )


class shifted:  # noqa: N801  a context manager, used like a function
    """Add dense matrices to the base's weights, by layer name, and take them back."""

    def __init__(self, reading: ModelReading, shift: Weights) -> None:
        self.reading, self.shift = reading, shift
        self.kept: dict[str, torch.Tensor] = {}

    def __enter__(self) -> None:
        with torch.no_grad():
            for name, value in self.shift.items():
                weight = self._weight(name)
                self.kept[name] = weight.detach().clone()
                weight.add_(
                    torch.from_numpy(np.ascontiguousarray(value, dtype=np.float32)).to(
                        weight.device, weight.dtype
                    )
                )

    def __exit__(self, *_: object) -> None:
        with torch.no_grad():
            for name, value in self.kept.items():
                self._weight(name).copy_(value)

    def _weight(self, layer: str) -> torch.Tensor:
        module: Any = self.reading.model.get_submodule(layer)
        weight: torch.Tensor = (
            module.get_base_layer() if hasattr(module, "get_base_layer") else module
        ).weight
        return weight
