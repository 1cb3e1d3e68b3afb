"""Trainings side by side: what they are worth on held-out sessions, what they cost in privacy, and
what an attack makes of them.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from simcounsel.disk import csv_text
from training.audit.table import grid
from training.errors import TrainingError
from training.learning.folder import MANIFEST, TrainingFolder, json_of
from training.sweeps.plan import AUDIT

SAME_LOSS = 1e-3
"""Relative difference of the loss before training that other machines and numbers of threads
account for.
"""


@dataclass(frozen=True, kw_only=True)
class Trained:
    """One training."""

    name: str
    path: str
    kind: str
    sites: int
    sessions: int
    themes: str
    before: float | None
    """`before`, `after`: held-out loss, nats a token."""
    after: float | None
    """None while it is not finished."""
    unit: str | None
    """`unit`, `epsilon`, `delta`: what was paid, or is planned while it is not finished; None
    without privacy.
    """
    epsilon: float | None
    delta: float | None
    attack: str | None = None
    """The one with the largest ROC AUC in its audit."""
    auc: float | None = None
    auc_low: float | None = None
    auc_high: float | None = None
    auc_base: float | None = None
    auc_allowed: float | None = None
    """The most that the account allows."""
    rouge: float | None = None
    """`rouge`, `cosine`: how near replies of the trained model are to those of sessions that it
    was trained on, less those held out; None where memorization was not audited."""
    cosine: float | None = None
    finished: bool
    yardstick: dict[str, Any] = field(default_factory=dict)
    """What must be equal for losses to be compared."""

    @property
    def change(self) -> float | None:
        """Of the loss, below 0 where it fell; None while that is not known."""
        return None if self.after is None or self.before is None else self.after - self.before


@dataclass(frozen=True, kw_only=True)
class Attacked:
    """One attack of one training's audit, as MindChat's Table VIII has them."""

    name: str
    """Of the training."""
    unit: str | None
    """`unit`, `epsilon`: as of `Trained`."""
    epsilon: float | None
    attack: str
    roc_auc: float
    """`roc_auc`, `low`, `high`: of the trained model, with its 95% interval over clients."""
    low: float | None
    high: float | None
    roc_auc_base: float | None
    """The same attack on the untouched base."""
    roc_auc_allowed: float | None
    """The most that the account allows."""
    pr_auc: float
    pr_low: float | None
    pr_high: float | None
    pr_auc_chance: float
    """What guessing reaches: the share of members."""
    members: int
    others: int


def attacked(rows: Sequence[Trained]) -> list[Attacked]:
    """Every attack of every audit, in the order of the trainings."""
    return [
        Attacked(
            name=row.name,
            unit=row.unit,
            epsilon=row.epsilon,
            attack=one["attack"],
            roc_auc=one["trained"]["roc_auc"],
            low=one["trained"]["low"],
            high=one["trained"]["high"],
            roc_auc_base=one["base"]["roc_auc"] if one["base"] else None,
            roc_auc_allowed=one["bound"],
            pr_auc=one["trained"]["pr_auc"],
            pr_low=one["trained"]["pr_low"],
            pr_high=one["trained"]["pr_high"],
            pr_auc_chance=one["trained"]["chance_pr_auc"],
            members=one["trained"]["members"],
            others=one["trained"]["others"],
        )
        for row in rows
        for one in (json_of(Path(row.path) / AUDIT) or {}).get("attacks", ())
    ]


def attack_lines(found: Sequence[Attacked]) -> list[str]:
    """That table, a line each."""
    made = ["training unit epsilon attack ROC base allowed PR chance members others".split()]
    for one in found:
        made.append(
            [
                one.name,
                one.unit or "none",
                _number(one.epsilon, ".4g"),
                one.attack,
                f"{one.roc_auc:.3f}{_between(one.low, one.high)}",
                _number(one.roc_auc_base, ".3f"),
                _number(one.roc_auc_allowed, ".3f"),
                f"{one.pr_auc:.3f}{_between(one.pr_low, one.pr_high)}",
                f"{one.pr_auc_chance:.3f}",
                str(one.members),
                str(one.others),
            ]
        )
    return grid(made)


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"


COLUMNS = tuple(one.name for one in fields(Trained) if one.name != "yardstick")
ATTACK_COLUMNS = tuple(one.name for one in fields(Attacked))


def read(places: Sequence[Path]) -> list[Trained]:
    """Trainings, or folders of trainings; the strictest privacy first, none last. TrainingError
    where there is none.
    """
    found = [folder for place in places for folder in _folders(place)]
    rows = [_of(TrainingFolder.open(path)) for path in dict.fromkeys(found)]
    return sorted(
        rows, key=lambda one: (one.epsilon is None, one.unit or "", one.epsilon or 0.0, one.name)
    )


def _folders(place: Path) -> list[Path]:
    if (place / MANIFEST).is_file():
        return [place]
    inside = sorted(one.parent for one in place.glob(f"*/{MANIFEST}")) if place.is_dir() else []
    if not inside:
        raise TrainingError(
            f"{place}: neither a training's folder nor one that holds some; `simcounsel train"
            " sweep FILE` makes several"
        )
    return inside


def _of(folder: TrainingFolder) -> Trained:
    manifest, card, done = folder.manifest(), folder.card() or {}, folder.finished()
    recipe, paid = manifest["recipe"], card.get("privacy") or manifest["account"] or {}
    losses = [one["loss"] for one in folder.said("held_out")]
    return Trained(
        name=folder.path.name,
        path=str(folder.path),
        kind=manifest["kind"],
        sites=len(manifest["sites"]),
        sessions=sum(site["sessions"] for site in manifest["sites"]),
        themes=", ".join(recipe.get("themes") or ["all"]),
        before=losses[0] if losses else None,
        after=card["measured"].get("held_out_loss_after") if done else None,
        unit=paid.get("unit"),
        epsilon=paid.get("epsilon"),
        delta=paid.get("delta"),
        finished=done,
        **_attacked(json_of(folder.path / AUDIT)),
        yardstick={
            "held-out sessions": manifest["data"]["held_out"],
            "base": (manifest["base"]["name"], manifest["base"].get("digest")),
            "corpus": recipe["corpus"] or recipe["folders"],
            "max_tokens": recipe["learning"]["max_tokens"],
            "objective": _objective(recipe["learning"]),
            "precision": (recipe["learning"]["precision"], recipe["learning"]["quantize"]),
        },
    )


def _objective(learning: dict[str, Any]) -> tuple[str, float | None]:
    """What the loss is of; an earlier version wrote nothing of it."""
    named = learning.get("objective", "sft")
    return named, learning.get("beta") if named == "dpo" else None


def _attacked(audit: dict[str, Any] | None) -> dict[str, Any]:
    """The attack that tells most, of an audit, and what was memorized."""
    if not audit or not audit["attacks"]:
        return {}
    memorized = {
        one["measure"]: one["difference"]
        for one in audit.get("memorization", ())
        if one["model"] == "trained"
    }
    best = max(audit["attacks"], key=lambda one: float(one["trained"]["roc_auc"]))
    trained = best["trained"]
    return {
        "attack": best["attack"],
        "auc": trained["roc_auc"],
        "auc_low": trained["low"],
        "auc_high": trained["high"],
        "auc_base": best["base"]["roc_auc"] if best["base"] else None,
        "auc_allowed": best["bound"],
        "rouge": memorized.get("rouge1_recall"),
        "cosine": memorized.get("cosine"),
    }


def warnings(rows: Sequence[Trained]) -> list[str]:
    """Why losses, or epsilons, of these must not be held against one another; empty where nothing
    speaks against it.
    """
    said = []
    for key in rows[0].yardstick if rows else ():
        if len({json.dumps(one.yardstick[key], sort_keys=True) for one in rows}) > 1:
            odd = next(one for one in rows if one.yardstick[key] != rows[0].yardstick[key])
            said.append(f"not comparable: {key} of {rows[0].name} and {odd.name} differ")
    known = [one for one in rows if one.before is not None]
    low, high = min(known, key=_before, default=None), max(known, key=_before, default=None)
    if not said and low and high and _before(high) - _before(low) > SAME_LOSS * abs(_before(low)):
        said.append(
            f"not comparable: the loss before training of {low.name} is {_before(low):.4f} and of"
            f" {high.name} {_before(high):.4f}: the held-out words are not the same"
        )
    private = [one for one in rows if one.epsilon is not None]
    for key, what in (("unit", "the unit that is protected"), ("delta", "delta")):
        values = sorted({str(getattr(one, key)) for one in private})
        if len(values) > 1:
            said.append(f"epsilons are not comparable: {what} is {' and '.join(values)}")
    said += [
        f"{one.name}: not finished" + ("; its epsilon is what is planned" if one.epsilon else "")
        for one in rows
        if not one.finished
    ]
    return said


def _before(one: Trained) -> float:
    return one.before if one.before is not None else 0.0


def lines(rows: Sequence[Trained]) -> list[str]:
    """The table, a line each."""
    heads = "training sites sessions before after change unit epsilon delta".split()
    audited = any(one.auc is not None for one in rows)
    memorized = any(one.rouge is not None for one in rows)
    made = [
        heads
        + (["AUC", "allowed", "by attack"] if audited else [])
        + (["ROUGE", "cosine"] if memorized else [])
    ]
    for one in rows:
        row = [
            one.name,
            str(one.sites),
            str(one.sessions),
            _number(one.before, ".4f"),
            _number(one.after, ".4f"),
            _number(one.change, "+.4f"),
            one.unit or "none",
            _number(one.epsilon, ".4g"),
            _number(one.delta, "g"),
        ]
        attack = [_number(one.auc, ".3f"), _number(one.auc_allowed, ".3f"), one.attack or ""]
        likeness = [_number(one.rouge, "+.3f"), _number(one.cosine, "+.3f")]
        made.append(row + (attack if audited else []) + (likeness if memorized else []))
    return grid(made)


def _number(value: float | None, how: str) -> str:
    return "–" if value is None else format(value, how)


def as_csv(rows: Sequence[Trained] | Sequence[Attacked]) -> str:
    """All columns; an empty field is a missing value."""
    told = [asdict(one) for one in rows]
    names = COLUMNS if rows and isinstance(rows[0], Trained) else ATTACK_COLUMNS
    return csv_text(names, ([one.get(name, "") for name in names] for one in told))
