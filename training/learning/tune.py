"""Central fine-tuning: one base, one set of adapters, all sessions in one place.

    read the data -> account for the plan -> steps (plain, or DP-SGD) -> held-out loss after every
    epoch -> adapter/

It stops at a step's end on Ctrl-C, and goes on where it stopped; on a CPU to the same bits as
without the stop.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from simcounsel.specs.load import Lines
from training.errors import TrainingError
from training.learning.examples import ProtectedRecord, records_of
from training.learning.folder import TrainingFolder, account_fields, data_of, manifest_of
from training.learning.gradients import mean_loss
from training.learning.result import write_adapter
from training.learning.site import Learners, must_have_moved, steps_of
from training.learning.steps import Local, adapter_weights, set_adapter_weights
from training.privacy import budget
from training.privacy.trust import as_rows, protections
from training.recipe import Recipe
from training.sites import ALL, find, planned

KEEP_EVERY_S = 120.0
OPTIMIZER = "optimizer."


@dataclass(frozen=True, kw_only=True)
class TuneProgress:
    """After a step, or an evaluation."""

    at: int
    """Steps done, of `steps`."""
    steps: int
    loss: float | None = None
    """The step's, None where it is private."""
    held_out: float | None = None
    """Mean loss."""


@dataclass(frozen=True, kw_only=True)
class TunedBase:
    """What a central training came to."""

    folder: TrainingFolder
    adapter: Path | None
    """Its folder; None if it was stopped before the end."""
    before: float | None
    """`before`, `after`: held-out loss, nats a token averaged by session; None without held-out
    sessions.
    """
    after: float | None


def tune(
    recipe: Recipe,
    file: Path,
    lines: Lines,
    out: Path,
    *,
    on_progress: Callable[[TuneProgress], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> TunedBase:
    """Train, or go on with a training that stopped. TrainingError for an overrun budget, before
    anything is computed.
    """
    if recipe.learning.optimizer == "adamw_8bit":
        raise TrainingError(
            "learning.optimizer: adamw_8bit is for federations, whose sites begin each round anew:"
            " its moments cannot be kept for going on; take `adamw`"
        )
    sites = find(recipe, file, together=True)
    plan = planned(recipe, file, lines, sites)
    account = budget.make(plan) if plan else None
    if plan and plan.privacy.unit == "site":
        raise TrainingError(
            "privacy.unit: site: a central training has one site, whose presence nothing can hide;"
            " take `unit: session` or `client`"
        )
    if account and account.last_round is not None:
        most = account.plan.privacy.budget_epsilon
        raise TrainingError(
            f"the budget of epsilon {most:g} would be overrun after round {account.last_round} of"
            f" {recipe.rounds}; see `simcounsel train account {file}`"
        )
    learners = Learners(recipe=recipe, sites=sites, plan=plan)
    local = learners.local(ALL)
    folder = TrainingFolder.begin(
        out,
        manifest_of(
            "tune", recipe, file, learners.base.said(), data_of(sites), sites.counted(), account
        ),
    )
    held_out = records_of(sites.held_out, learners.base.tokenizer, recipe.learning.max_tokens)
    steps = recipe.rounds * steps_of(local, recipe, plan, sites.counted()[0])
    training = CentralTraining(
        folder=folder, local=local, held_out=held_out, steps=steps, on_progress=on_progress
    )
    finished = training.run(stop)
    before, after = training.first_and_last()
    adapter = None
    if finished:
        facts = {"held_out_loss_before": before, "held_out_loss_after": after, "steps": steps}
        adapter = write_adapter(
            folder, adapter_weights(local.reading.model), facts, spent=_spent(account, recipe)
        )
    return TunedBase(folder=folder, adapter=adapter, before=before, after=after)


def _spent(account: budget.PrivacyAccount | None, recipe: Recipe) -> dict[str, Any] | None:
    """What was paid, and from whom that protects; None without privacy."""
    if account is None:
        return None
    found = protections(
        account.plan, account.multiplier, account.plan.rounds, recipe.noise, central=True
    )
    return {**(account_fields(account) or {}), "protects": as_rows(found)}


@dataclass(kw_only=True)
class CentralTraining:
    """The steps of a training from where they stopped to the end."""

    folder: TrainingFolder
    local: Local
    held_out: Sequence[ProtectedRecord]
    steps: int
    on_progress: Callable[[TuneProgress], None]

    def run(self, stop: Callable[[], bool]) -> bool:
        """Whether the end was reached."""
        reading = self.local.reading
        optimizer = self.local.optimizer()
        at = self._go_on(optimizer)
        fresh = [parameter.detach().clone() for parameter in reading.trained()]
        began, first = time.monotonic(), at
        if at == 0:
            self._evaluate(0)
        with self.local.watching():
            while at < self.steps:
                loss = self.local.step(at, optimizer)
                at += 1
                self.folder.say("step", at=at, loss=loss)
                self.on_progress(TuneProgress(at=at, steps=self.steps, loss=loss))
                if at % self.local.steps_per_epoch == 0 or at == self.steps:
                    self._evaluate(at)
                if stop() and at < self.steps:
                    self._keep(at, optimizer)
                    return False
                if time.monotonic() - began > KEEP_EVERY_S:
                    self._keep(at, optimizer)
                    began = time.monotonic()
        if at > first:
            must_have_moved(reading, fresh)
            self._keep(at, optimizer)
        return True

    def first_and_last(self) -> tuple[float | None, float | None]:
        """The held-out loss before the first step and after the last."""
        known = [
            one["loss"] for one in sorted(self.folder.said("held_out"), key=lambda one: one["at"])
        ]
        return (known[0], known[-1]) if known else (None, None)

    def _evaluate(self, at: int) -> None:
        if self.held_out:
            loss, perplexity = mean_loss(self.local.reading, self.held_out)
            self.folder.say("held_out", at=at, loss=loss, perplexity=perplexity)
            self.on_progress(TuneProgress(at=at, steps=self.steps, held_out=loss))

    def _keep(self, at: int, optimizer: torch.optim.Optimizer) -> None:
        arrays: dict[str, NDArray[Any]] = dict(adapter_weights(self.local.reading.model))
        for name, value in _flat(optimizer).items():
            arrays[OPTIMIZER + name] = value
        self.folder.keep(arrays, {"at": at, "torch_threads": torch.get_num_threads()})

    def _go_on(self, optimizer: torch.optim.Optimizer) -> int:
        """Read the state, if there is one; returns the steps that are done."""
        kept = self.folder.kept()
        if kept is None:
            self.folder.trim({"step": 0, "held_out": -1})
            return 0
        arrays, facts = kept
        set_adapter_weights(
            self.local.reading,
            {name: value for name, value in arrays.items() if not name.startswith(OPTIMIZER)},
        )
        _restore(
            optimizer,
            {
                name.removeprefix(OPTIMIZER): value
                for name, value in arrays.items()
                if name.startswith(OPTIMIZER)
            },
        )
        self.folder.trim({"step": facts["at"], "held_out": facts["at"]})
        return int(facts["at"])


def _flat(optimizer: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """An optimizer's state as arrays named NUMBER.KEY, in the order of the parameters."""
    state = optimizer.state_dict()["state"]
    return {
        f"{number}.{key}": value.cpu().numpy()
        for number, entries in state.items()
        for key, value in entries.items()
        if torch.is_tensor(value)
    }


def _restore(optimizer: torch.optim.Optimizer, arrays: Mapping[str, NDArray[Any]]) -> None:
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in arrays.items():
        number, key = name.split(".", 1)
        state.setdefault(int(number), {})[key] = torch.from_numpy(np.array(value))
    whole = optimizer.state_dict()
    optimizer.load_state_dict({**whole, "state": state})
