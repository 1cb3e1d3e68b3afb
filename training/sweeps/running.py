"""A sweep carried out: one training's folder for each cell, what is finished left alone, what was
stopped gone on with.

OUT/CELL.yaml   the cell's recipe, which `python -m training tune` or `federate` takes as well
OUT/CELL/       its training; audit.json in it, where an audit was asked for
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from simcounsel.disk import write_whole
from simcounsel.errors import SimcounselError
from simcounsel.intake import file_bytes, json_data
from training.errors import TrainingError
from training.learning.folder import ADAPTER, MANIFEST, Folder
from training.plan import Plan
from training.privacy import budget
from training.recipe_file import load_recipe
from training.sites import Sites, find, planned
from training.stopping import stoppable
from training.sweeps.plan import Cell

AUDIT = "audit.json"
State = Literal["finished", "was finished", "stopped", "failed"]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """A cell before it is trained."""

    sites: int
    sessions: int
    held_out: int
    steps: int
    """Over all sites and rounds, as expected where sites take part by chance."""
    unit: str | None
    """`unit`, `epsilon`, `delta`, `noise_multiplier`: None without privacy."""
    epsilon: float | None
    delta: float | None
    noise_multiplier: float | None


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What became of a cell."""

    cell: Cell
    state: State
    before: float | None = None
    """`before`, `after`: held-out loss, nats a token."""
    after: float | None = None
    why: str | None = None
    """Of what was stopped or failed."""


def counted(cell: Cell) -> tuple[Sites, Plan | None]:
    """The data of a cell, and its plan if it has privacy. SpecError, CorpusError if it cannot be
    trained.
    """
    sites = find(cell.recipe, cell.file, together=cell.kind == "tune")
    return sites, planned(cell.recipe, cell.file, cell.lines, sites)


def cost(cell: Cell) -> Cost:
    """What a cell takes. SpecError, CorpusError, TrainingError if it cannot be trained."""
    recipe, (sites, plan) = cell.recipe, counted(cell)
    account = budget.make(plan) if plan else None
    if account and account.last_round is not None:
        raise TrainingError(
            f"cell {cell.name!r}: its budget would be overrun after round {account.last_round} of"
            f" {recipe.rounds}"
        )
    here, shares = sites.counted(), recipe.participation
    if plan and plan.privacy.unit != "site":
        steps = sum(recipe.rounds * plan.steps_per_round(site) for site in here)
    else:
        shares = plan.privacy.participation if plan else shares
        steps = sum(
            recipe.rounds
            * recipe.local_epochs
            * ceil(site.sessions / (recipe.batch_size or site.sessions))
            for site in here
        )
    return Cost(
        sites=len(here),
        sessions=sum(site.sessions for site in here),
        held_out=len(sites.held_out),
        steps=round(steps * (shares if cell.kind == "federate" else 1)),
        unit=plan.privacy.unit if plan else None,
        epsilon=account.total_epsilon if account else None,
        delta=plan.privacy.delta if plan else None,
        noise_multiplier=account.multiplier if account else None,
    )


def run(
    cells: Sequence[Cell],
    out: Path,
    *,
    tell: Callable[[str], None] = lambda _: None,
    audit: bool = False,
) -> list[Ended]:
    """Train the cells in turn, in `out`. One that fails is told of, and the next is begun; after
    one that was stopped none is. TrainingError, before anything is computed, if another process is
    at work in `out` or holds other trainings by these names.
    """
    out.mkdir(parents=True, exist_ok=True)
    ended: list[Ended] = []
    try:
        with FileLock(str(out / "sweep.lock"), timeout=0):
            done = {cell.name: finished(cell, out) for cell in cells}
            for number, cell in enumerate(cells, 1):
                head = f"cell {number} of {len(cells)}   {cell.name}"
                tell(
                    head
                    + (
                        "   is finished"
                        if done[cell.name]
                        else f"   {cell.about}"
                        if cell.about
                        else ""
                    )
                )
                one = _known(cell, out) if done[cell.name] else _trained(cell, out, tell)
                ended.append(one)
                if audit and one.state in ("finished", "was finished"):
                    _audited(out / cell.name, tell)
                if one.state == "stopped":
                    break
    except Timeout:
        raise TrainingError(
            f"{out}: another process is at work on this sweep; wait for it, or stop it first"
        ) from None
    return ended


def finished(cell: Cell, out: Path) -> bool:
    """Whether its training has come to its end. TrainingError if a training with another recipe
    lies at its place.
    """
    path = out / cell.name
    if not (path / MANIFEST).is_file():
        return False
    manifest = Folder.open(path).manifest()
    wanted = cell.recipe.model_dump(mode="json")
    data = ("corpus", "folders")  # their paths are seen from another folder
    other = sorted(
        key for key in wanted if key not in data and manifest["recipe"].get(key) != wanted[key]
    )
    if other or manifest["kind"] != cell.kind:
        what = ", ".join(other) or "kind"
        raise TrainingError(
            f"{path}: was trained otherwise than the sweep says now ({what}); remove it, or choose"
            " another --out"
        )
    card = _card(path)
    if card is None:
        return False
    return cell.kind == "tune" or card["measured"].get("rounds") == cell.recipe.rounds


def _card(path: Path) -> dict[str, Any] | None:
    file = path / ADAPTER / "card.json"
    return dict(json_data(file_bytes(file))) if file.is_file() else None


def _known(cell: Cell, out: Path) -> Ended:
    measured = (_card(out / cell.name) or {})["measured"]
    return Ended(
        cell=cell,
        state="was finished",
        before=measured["held_out_loss_before"],
        after=measured["held_out_loss_after"],
    )


def _trained(cell: Cell, out: Path, tell: Callable[[str], None]) -> Ended:
    file = out / f"{cell.name}.yaml"
    write_whole(file, cell.written_for(out))
    try:
        one = (
            _tuned(cell, file, out, tell)
            if cell.kind == "tune"
            else _federated(cell, file, out, tell)
        )
    except SimcounselError as error:
        tell(f"  failed: {error}")
        return Ended(cell=cell, state="failed", why=str(error))
    if one.state == "stopped":
        tell(f"  stopped {one.why or 'on request'}")
    return one


def _tuned(cell: Cell, file: Path, out: Path, tell: Callable[[str], None]) -> Ended:
    from training.learning.tune import Progress, tune

    def show(now: Progress) -> None:
        if now.held_out is not None:
            tell(f"  after step {now.at:>5} of {now.steps}   held-out loss {now.held_out:.4f}")

    recipe, lines = load_recipe(file)
    with stoppable() as asked:
        done = tune(recipe, file, lines, out / cell.name, on_progress=show, stop=asked)
    return Ended(
        cell=cell,
        state="finished" if done.adapter else "stopped",
        before=done.before,
        after=done.after,
    )


def _federated(cell: Cell, file: Path, out: Path, tell: Callable[[str], None]) -> Ended:
    from training.federation.rounds import RoundReport
    from training.learning.command import round_lines
    from training.learning.federated import run_federation

    def show(report: RoundReport, held_out: float | None) -> None:
        for line in round_lines(report, cell.recipe.rounds, held_out):
            tell("  " + line)

    recipe, lines = load_recipe(file)
    done = run_federation(recipe, file, lines, out / cell.name, on_round=show)
    return Ended(
        cell=cell,
        state="stopped" if done.stopped else "finished",
        before=done.before,
        after=done.after,
        why=done.stopped,
    )


def _audited(path: Path, tell: Callable[[str], None]) -> None:
    """The default attacks on a finished training, once."""
    from training.audit.running import Options, audit_training

    if (path / AUDIT).is_file():
        return
    try:
        report = audit_training(path, Options())
    except SimcounselError as error:
        tell(f"  not audited: {error}")
        return
    write_whole(path / AUDIT, report.model_dump_json(indent=1) + "\n")
    tell(
        "  audited: "
        + ", ".join(f"{one.attack} AUC {one.trained.roc_auc:.3f}" for one in report.attacks)
    )
