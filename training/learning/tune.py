"""Central fine-tuning: one base, one set of adapters, all sessions in one place.

    read the data -> account for the plan -> steps (plain, or DP-SGD) -> held-out loss after every
    epoch -> adapter/

It stops at a step's end on Ctrl-C, and goes on where it stopped; on a CPU to the same bits as
without the stop.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from simcounsel.specs.load import Lines
from training.errors import TrainingError
from training.learning.base import device_of
from training.learning.choice import best_at, enough
from training.learning.examples import ProtectedRecord
from training.learning.folder import ADAPTER, TrainingFolder, account_fields, data_of, manifest_of
from training.learning.processes import Processes
from training.learning.result import write_adapter
from training.learning.site import Learners, finite, must_have_moved, steps_of
from training.learning.steps import Local, adapter_weights, held_out_loss, set_adapter_weights
from training.privacy import budget
from training.privacy.trust import as_rows, protections
from training.recipe import Recipe
from training.sites import ALL, find, planned

KEEP_EVERY_S = 120.0
OPTIMIZER, BEST = "optimizer.", "best."
"""Before the names of these arrays of a state."""


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
    first: bool
    """Whether this process, of several, writes and speaks."""
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
    sites = find(recipe, file, together=True)
    plan = planned(recipe, file, lines, sites)
    account = budget.make(plan) if plan else None
    _check(recipe, file, account)
    processes = Processes.joined(device_of(recipe.device))
    learners = Learners(recipe=recipe, sites=sites, plan=plan, processes=processes)
    local, held_out = learners.local(ALL), learners.held_out()
    data = data_of(sites, drafts=recipe.learning.by_pairs)
    manifest = manifest_of(
        "tune", recipe, file, learners.base.said(), data, sites.counted(), account
    )
    folder = _begun(out, manifest, processes)
    training = CentralTraining(
        folder=folder,
        local=local,
        held_out=held_out,
        steps=recipe.rounds * steps_of(local, recipe, plan, sites.counted()[0]),
        on_progress=on_progress if processes.first else lambda _: None,
    )
    finished = training.run(stop)
    facts = training.facts()
    adapter = None
    if finished:
        adapter = folder.path / ADAPTER
        if processes.first:
            write_adapter(folder, training.chosen(), facts, spent=_spent(account, recipe))
        processes.wait()
    return TunedBase(
        folder=folder,
        first=processes.first,
        adapter=adapter,
        before=facts["held_out_loss_before"],
        after=facts["held_out_loss_after"],
    )


def _check(recipe: Recipe, file: Path, account: budget.PrivacyAccount | None) -> None:
    """TrainingError for what only a federation can do, and for an overrun budget."""
    if recipe.learning.optimizer == "adamw_8bit":
        raise TrainingError(
            "learning.optimizer: adamw_8bit is for federations, whose sites begin each round anew:"
            " its moments cannot be kept for going on; take `adamw`"
        )
    if account and account.plan.privacy.unit == "site":
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


def _begun(out: Path, manifest: Mapping[str, Any], processes: Processes) -> TrainingFolder:
    """The folder, made by the first process before the others open it."""
    if not processes.first:
        processes.wait()
    folder = TrainingFolder.begin(out, manifest)
    if processes.first:
        processes.wait()
    return folder


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
    best: dict[str, NDArray[Any]] = field(default_factory=dict)
    """With `keep: best`, the weights of the least held-out loss so far."""
    _known: list[dict[str, Any]] = field(default_factory=list)
    """Held-out losses, as they are in the log."""

    def run(self, stop: Callable[[], bool]) -> bool:
        """Whether the end was reached, or `patience` was over."""
        reading = self.local.reading
        optimizer = self.local.optimizer()
        at = self._go_on(optimizer)
        fresh = [parameter.detach().clone() for parameter in reading.trained()]
        began, first = time.monotonic(), at
        if at == 0:
            self._evaluate(0)
        with self.local.watching():
            while at < self.steps and not self._enough():
                loss = self.local.step(at, optimizer)
                at += 1
                self._say("step", at=at, loss=loss)
                self.on_progress(TuneProgress(at=at, steps=self.steps, loss=loss))
                if at % self.local.steps_per_epoch == 0 or at == self.steps:
                    self._evaluate(at)
                if reading.processes.any(stop(), reading.device) and at < self.steps:
                    self._keep(at, optimizer)
                    reading.processes.wait()
                    return False
                if time.monotonic() - began > KEEP_EVERY_S:
                    self._keep(at, optimizer)
                    began = time.monotonic()
        if at > first:
            if not self.best or finite(reading):  # the best may be from before it diverged
                must_have_moved(reading, fresh)
            self._keep(at, optimizer)
        return True

    def facts(self) -> dict[str, Any]:
        """For the card: the held-out loss before the first step and of the weights that are kept,
        and after which step these were.
        """
        known = self._known
        losses = {one["at"]: one["loss"] for one in known}
        last = max(losses, default=0)
        kept = best_at(known) if self.local.learning.keep == "best" else last
        found = {
            "held_out_loss_before": losses.get(0),
            "held_out_loss_after": losses.get(kept),
            "steps": self.steps,
        }
        if self.local.learning.keep == "best":
            found["kept_after_step"] = kept
        if self._enough() and last < self.steps:
            found["stopped_after_step"] = last
        return found

    def chosen(self) -> Mapping[str, NDArray[Any]]:
        """The weights that become the adapter."""
        if self.local.learning.keep == "best":
            return self.best
        return adapter_weights(self.local.reading.model)

    def _enough(self) -> bool:
        return enough(self._known, self.local.learning.patience)

    def _say(self, kind: str, **what: Any) -> None:
        if self.local.reading.processes.first:
            self.folder.say(kind, **what)

    def _evaluate(self, at: int) -> None:
        if self.held_out:
            reading = self.local.reading
            measured = held_out_loss(reading, self.held_out, self.local.learning)
            # the same in all processes, which go by it: the last bits may differ
            shared = torch.tensor(list(measured.values()), device=reading.device)
            found = dict(zip(measured, reading.processes.same(shared).tolist(), strict=True))
            self._say("held_out", at=at, **found)
            self._known.append({"at": at, **found})
            self.on_progress(TuneProgress(at=at, steps=self.steps, held_out=found["loss"]))
            if self.local.learning.keep == "best" and best_at(self._known) == at:
                self.best = adapter_weights(self.local.reading.model)

    def _keep(self, at: int, optimizer: torch.optim.Optimizer) -> None:
        if not self.local.reading.processes.first:
            return
        arrays: dict[str, NDArray[Any]] = dict(adapter_weights(self.local.reading.model))
        arrays |= {BEST + name: value for name, value in self.best.items()}
        arrays |= {OPTIMIZER + name: value for name, value in _flat(optimizer).items()}
        self.folder.keep(arrays, {"at": at, "torch_threads": torch.get_num_threads()})

    def _go_on(self, optimizer: torch.optim.Optimizer) -> int:
        """Read the state, if there is one; returns the steps that are done."""
        kept = self.folder.kept()
        arrays, at = (kept[0], int(kept[1]["at"])) if kept else ({}, 0)
        processes = self.local.reading.processes
        processes.wait()  # nobody writes while another reads
        if processes.first:
            self.folder.trim({"step": at, "held_out": at if kept else -1})
        processes.wait()
        self._known = self.folder.said("held_out")
        if kept:
            self.best = _part(arrays, BEST)
            _restore(optimizer, _part(arrays, OPTIMIZER))
            own = {
                name: value
                for name, value in arrays.items()
                if not name.startswith((BEST, OPTIMIZER))
            }
            set_adapter_weights(self.local.reading, own)
        return at


def _part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
    }


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
