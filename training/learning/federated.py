"""A simulated federation: several sites in this process, whose sessions stay apart; `federation`
does the rounds, this the training.

Between machines the same rounds run inside Flower (see `federation`).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from simcounsel.specs.load import Lines
from training.errors import TrainingError
from training.federation import state as on_disk
from training.federation.all_rounds import LEDGER, ROUNDS, FederationOutcome, federate
from training.federation.inprocess import InProcess
from training.federation.rounds import RoundReport
from training.federation.shift import dense
from training.federation.site_ledger import SiteLedger
from training.federation.state import ServerState
from training.federation.terms import Terms, terms_of
from training.learning.choice import best_at, enough
from training.learning.examples import ProtectedRecord
from training.learning.folder import TrainingFolder, data_of, manifest_of
from training.learning.processes import told
from training.learning.result import spent_of, write_adapter
from training.learning.site import Learners, OnStep, shifted
from training.learning.steps import held_out_loss
from training.plan import TrainingPlan
from training.privacy import budget
from training.recipe import Recipe
from training.sites import find, place, planned


@dataclass(frozen=True, kw_only=True)
class Federated:
    """What a federated training came to."""

    folder: TrainingFolder
    adapter: Path | None
    """Its folder; None before any round was finished."""
    stopped: str | None
    """Why before the end; None at the end."""
    before: float | None
    """`before`, `after`: held-out loss, None without held-out sessions."""
    after: float | None


@dataclass(kw_only=True)
class Rounds:
    """What happens beside the rounds: the log, and the held-out loss at the start, the end and ten
    times between.
    """

    folder: TrainingFolder
    learners: Learners
    held_out: tuple[ProtectedRecord, ...]
    on_round: Callable[[RoundReport, float | None], None]

    def begin(self, start: ServerState) -> None:
        """Before the first round, or before going on: forget what was logged of a round that is not
        on disk.
        """
        at = on_disk.latest(self.folder.path / ROUNDS)
        done = on_disk.from_folder(at)[0].round if at else 0
        self.folder.trim({"round": done, "held_out": done if done else -1})
        if not done:
            self.evaluate(start)
        elif self.scheduled(done):  # it may have been killed before it was measured
            self.evaluate(self._state())

    def after(self, report: RoundReport) -> None:
        """After each round."""
        self.folder.say("round", at=report.round, **asdict(report))
        now = self.scheduled(report.round)
        self.on_round(report, self.evaluate(self._state()) if now else None)

    def scheduled(self, round: int) -> bool:
        """Whether the loss is measured after this round, wherever a training was stopped."""
        rounds = self.learners.recipe.rounds
        return round == rounds or round % -(-rounds // 10) == 0

    def evaluate(self, state: ServerState) -> float | None:
        """The held-out loss of a state, logged."""
        if not self.held_out:
            return None
        if (
            not self.folder.said("held_out")
            or self.folder.said("held_out")[-1]["at"] != state.round
        ):
            self.learners.set(state.weights)
            reading, learning = self.learners.reading, self.learners.recipe.learning
            with shifted(reading, dense(state.shift) or {}):
                found = held_out_loss(reading, self.held_out, learning)
            self.folder.say("held_out", at=state.round, **found)
        return float(self.folder.said("held_out")[-1]["loss"])

    def enough(self) -> bool:
        """Whether the recipe's patience is over."""
        return enough(self._measured(), self.learners.recipe.learning.patience)

    def chosen(self, last: ServerState) -> ServerState:
        """The round whose weights become the adapter."""
        best = best_at(self._measured())
        if self.learners.recipe.learning.keep == "last" or best is None:
            return last
        return on_disk.from_folder(self.folder.path / ROUNDS / f"{best:04d}")[0]

    def _measured(self) -> list[dict[str, Any]]:
        return [one for one in self.folder.said("held_out") if self.scheduled(one["at"])]

    def _state(self) -> ServerState:
        at = on_disk.latest(self.folder.path / ROUNDS)
        if at is None:
            raise TrainingError(f"{self.folder.path / ROUNDS}: no round is there")
        return on_disk.from_folder(at)[0]


def run_federation(
    recipe: Recipe,
    file: Path,
    lines: Lines,
    out: Path,
    *,
    on_round: Callable[[RoundReport, float | None], None] = lambda report, held_out: None,
    on_step: OnStep = lambda site, round, done, of: None,
) -> Federated:
    """All rounds, or those that are left. TrainingError for an overrun budget, and for rounds that
    sites have answered in another folder, before anything is computed.
    """
    if told("WORLD_SIZE", 1) > 1:
        raise TrainingError(
            "several processes can share the steps of `train tune` only; here the sites take turns."
            " Start it once, or each site on its own GPU between machines (docs/training.md)"
        )
    sites = find(recipe, file)
    plan = planned(recipe, file, lines, sites)
    sizes = {name: len(here) for name, here in sites.sessions.items()}
    terms = terms_of(recipe, plan, sizes)
    ledgers = _ledgers(recipe, file, terms, plan)
    _refuse_again(ledgers, out)
    learners = Learners(recipe=recipe, sites=sites, plan=plan, on_step=on_step)
    account, held_out = budget.make(plan) if plan else None, learners.held_out()
    data = data_of(sites, drafts=recipe.learning.by_pairs)
    folder = TrainingFolder.begin(
        out,
        manifest_of("federate", recipe, file, learners.base.said(), data, sites.counted(), account),
    )
    start = ServerState(weights=learners.first_weights())
    beside = Rounds(folder=folder, learners=learners, held_out=held_out, on_round=on_round)
    beside.begin(start)
    here = InProcess(learners, terms, recipe.seed, ledgers=ledgers)
    ended = federate(
        start,
        here,
        terms,
        plan,
        rounds=recipe.rounds,
        seed=recipe.seed,
        folder=folder.path,
        on_round=beside.after,
        enough=beside.enough,
    )
    return _written(folder, beside, ended, spent_of(ended, plan, recipe))


def _ledgers(
    recipe: Recipe, file: Path, terms: Terms, plan: TrainingPlan | None
) -> dict[str, SiteLedger]:
    """One beside the corpus of each site that has a corpus of its own; none without privacy, and
    for noise that is drawn by a seed.
    """
    if plan is None or recipe.noise != "secure":
        return {}
    where = {name: place(corpus, file) for name, corpus in recipe.folders.items()}
    return {
        name: SiteLedger.of(SiteLedger.beside(corpus), name, terms, plan)
        for name, corpus in where.items()
        if corpus.exists()
    }


def _refuse_again(ledgers: Mapping[str, SiteLedger], out: Path) -> None:
    """TrainingError where sites have answered rounds that were not begun in this folder."""
    charged = out / LEDGER
    begun = json.loads(charged.read_text(encoding="utf-8")) if charged.exists() else {}
    for name, ledger in ledgers.items():
        spent = [round for round in ledger.answered() if round > (begun.get("rounds_charged") or 0)]
        if spent:
            raise TrainingError(
                f"{ledger.file}: {name!r} has answered {len(spent)} of this plan's"
                f" {ledger.agreed['rounds']} rounds for another folder than {out}, so that their"
                " privacy is spent; go on there, or agree on another plan, whose epsilon comes on"
                " top"
            )


def _written(
    folder: TrainingFolder, beside: Rounds, ended: FederationOutcome, spent: dict[str, Any] | None
) -> Federated:
    """The adapter of the last round, in its folder, where there was any round."""
    if ended.state.round == 0:
        return Federated(
            folder=folder, adapter=None, stopped=ended.stopped, before=None, after=None
        )
    beside.evaluate(ended.state)
    kept = beside.chosen(ended.state)
    losses = {one["at"]: float(one["loss"]) for one in folder.said("held_out")}
    before, after = losses.get(0), losses.get(kept.round)
    facts = {
        "held_out_loss_before": before,
        "held_out_loss_after": after,
        "rounds": ended.state.round,
    }
    if beside.learners.recipe.learning.keep == "best":
        facts["kept_after_round"] = kept.round
    if ended.stopped is None and ended.state.round < beside.learners.recipe.rounds:
        facts["stopped_after_round"] = ended.state.round
    adapter = write_adapter(folder, kept.weights, facts, spent=spent, shift=kept.shift)
    return Federated(
        folder=folder, adapter=adapter, stopped=ended.stopped, before=before, after=after
    )
