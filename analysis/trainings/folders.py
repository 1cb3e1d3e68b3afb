"""Trainings' folders (manifest.json, log.jsonl, adapter/card.json, audit.json) as a table, and
which of them can be drawn on one axis.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from analysis.errors import ReportError
from simcounsel.intake import file_bytes, json_data

SAME_LOSS = 1e-3
"""Relative difference of the loss before training that another machine accounts for."""
FORMAT = 1
OF_ATTACK = "attack auc auc_low auc_high auc_base auc_allowed".split()
"""Columns of the table, for the fields of `BestAttack`."""
FEW = 100
"""Held-out sessions below which the page says so."""


@dataclass(frozen=True, kw_only=True)
class BestAttack:
    """The attack of an audit with the largest ROC AUC."""

    name: str
    auc: float
    low: float | None
    """`low`, `high`: its 95% interval."""
    high: float | None
    base: float | None
    """Of the same attack on the untouched model."""
    allowed: float | None
    """The most that the account allows."""


@dataclass(frozen=True, kw_only=True)
class TrainingRead:
    """One training."""

    name: str
    kind: str
    sites: int
    sessions: int
    themes: tuple[str, ...]
    """Those that it was restricted to."""
    before: float | None
    """`before`, `after`: held-out loss, nats a token."""
    after: float | None
    """None while it is not finished."""
    unit: str | None
    """`unit`, `epsilon`, `delta`: None without privacy."""
    epsilon: float | None
    delta: float | None
    attack: BestAttack | None
    held_out: tuple[str, ...]
    base: str
    seed: int
    recipe: Mapping[str, Any] = field(repr=False)
    """As it was trained."""
    rounds: Mapping[int, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    """By round whose adapter was attacked, by attack: ROC AUC and PR AUC."""
    likeness: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By measure of memorization (`rouge1_recall`, `cosine`), by model (`trained`, `base`): how
    near its replies are to the counselor's in sessions that were learned.
    """

    @property
    def seen_as(self) -> Literal["one theme", "themes", "all"]:
        """Which study of amounts it belongs to: sites of one theme, or a theme a site."""
        return "all" if not self.themes else "one theme" if len(self.themes) == 1 else "themes"


def read_trainings(places: Sequence[Path]) -> list[TrainingRead]:
    """Trainings, or folders of them. ReportError where there is none."""
    found = dict.fromkeys(path for place in places for path in _inside(place))
    return [_of(path) for path in found]


def _inside(place: Path) -> list[Path]:
    if (place / "manifest.json").is_file():
        return [place]
    inside = sorted(one.parent for one in place.glob("*/manifest.json")) if place.is_dir() else []
    if not inside:
        raise ReportError(
            f"{place}: neither a training's folder nor one that holds some; `simcounsel train"
            " sweep FILE` makes several"
        )
    return inside


def _of(path: Path) -> TrainingRead:
    manifest = _json(path / "manifest.json") or {}
    if manifest.get("kind") not in ("tune", "federate") or "recipe" not in manifest:
        raise ReportError(
            f"{path}: holds no training (a run, perhaps: for runs there is `simcounsel report`)"
        )
    if manifest.get("format") != FORMAT:
        raise ReportError(
            f"{path}: its format is {manifest.get('format')!r}, and this version reads {FORMAT};"
            " make it again"
        )
    recipe, card = manifest["recipe"], _json(path / "adapter" / "card.json")
    measured = card["measured"] if card else {}
    done = card is not None and (
        manifest["kind"] == "tune"
        or measured.get("rounds") == recipe["rounds"]
        or "stopped_after_round" in measured
    )
    paid = (card or {}).get("privacy") or manifest["account"] or {}
    audit = _json(path / "audit.json")
    return TrainingRead(
        name=path.name,
        kind=manifest["kind"],
        sites=len(manifest["sites"]),
        sessions=sum(site["sessions"] for site in manifest["sites"]),
        themes=tuple(recipe.get("themes") or ()),
        before=_first_loss(path / "log.jsonl"),
        after=measured.get("held_out_loss_after") if done else None,
        unit=paid.get("unit"),
        epsilon=paid.get("epsilon"),
        delta=paid.get("delta"),
        attack=_attack(audit),
        rounds=_rounds(path / "audits"),
        likeness=_likeness(audit),
        held_out=tuple(manifest["data"]["held_out"]),
        base=manifest["base"]["name"],
        seed=recipe["seed"],
        recipe=recipe,
    )


def _json(file: Path) -> dict[str, Any] | None:
    if not file.is_file():
        return None
    try:
        return dict(json_data(file_bytes(file)))
    except (OSError, ValueError, TypeError) as error:
        raise ReportError(f"{file}: cannot be read ({error}); make it again") from None


def _first_loss(file: Path) -> float | None:
    """The held-out loss before the first step; a last line without its end is left out."""
    rows = (
        [json_data(line) for line in file.read_bytes().split(b"\n")[:-1]] if file.is_file() else []
    )
    return next(
        (float(row["loss"]) for row in rows if row["kind"] == "held_out" and row["at"] == 0), None
    )


def _attack(audit: Mapping[str, Any] | None) -> BestAttack | None:
    if not audit or not audit["attacks"]:
        return None
    best = max(audit["attacks"], key=lambda one: float(one["trained"]["roc_auc"]))
    trained = best["trained"]
    return BestAttack(
        name=best["attack"],
        auc=trained["roc_auc"],
        low=trained["low"],
        high=trained["high"],
        base=best["base"]["roc_auc"] if best["base"] else None,
        allowed=best["bound"],
    )


def _rounds(folder: Path) -> dict[int, dict[str, tuple[float, float]]]:
    found = {}
    for file in sorted(folder.glob("*.json")):
        audit = _json(file) or {}
        found[int(audit["round"])] = {
            one["attack"]: (one["trained"]["roc_auc"], one["trained"]["pr_auc"])
            for one in audit["attacks"]
        }
    return found


def _likeness(audit: Mapping[str, Any] | None) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for one in (audit or {}).get("memorization", ()):
        found.setdefault(one["measure"], {})[one["model"]] = one["members"]
    return found


def by_privacy(trainings: Iterable[TrainingRead]) -> list[TrainingRead]:
    """The largest group of finished trainings on the same sessions in the same way, with different
    privacy; empty if no two of a group differ. Seeds may differ.
    """
    groups: dict[str, list[TrainingRead]] = {}
    for one in trainings:
        if one.after is not None:
            rest = {
                key: value
                for key, value in one.recipe.items()
                if key not in ("privacy", "noise", "seed")
            }
            groups.setdefault(json.dumps([one.kind, rest], sort_keys=True), []).append(one)
    comparable = [
        group for group in groups.values() if len({(one.unit, one.epsilon) for one in group}) > 1
    ]
    return max(comparable, key=lambda group: len({one.epsilon for one in group}), default=[])


def by_amount(trainings: Iterable[TrainingRead]) -> list[TrainingRead]:
    """Finished trainings on sites of one theme, and on sites of a theme each: those with the
    privacy that most of them have; empty if all have as many sites.
    """
    chosen = [
        one
        for one in trainings
        if one.after is not None and one.themes and len(one.themes) in (1, one.sites)
    ]
    groups: dict[str, list[TrainingRead]] = {}
    for one in chosen:
        groups.setdefault(json.dumps(one.recipe["privacy"], sort_keys=True), []).append(one)
    largest = max(groups.values(), key=len, default=[])
    return largest if len({one.sites for one in largest}) > 1 else []


def doubts(trainings: Sequence[TrainingRead]) -> list[str]:
    """Why these must not be held against one another, and which are not finished."""
    said = []
    for what, values in (
        ("held-out sessions", [one.held_out for one in trainings]),
        ("base model", [one.base for one in trainings]),
        ("unit of privacy", [one.unit for one in trainings]),
        ("delta", [one.delta for one in trainings]),
    ):
        known = [
            (one.name, value)
            for one, value in zip(trainings, values, strict=True)
            if value is not None
        ]
        odd = next((name for name, value in known if value != known[0][1]), None)
        if odd:
            said.append(f"The {what} of {known[0][0]} and {odd} differ: they are not comparable.")
    losses = sorted((one.before, one.name) for one in trainings if one.before is not None)
    if not said and losses and losses[-1][0] - losses[0][0] > SAME_LOSS * losses[0][0]:
        (low, first), *_, (high, last) = losses
        said.append(
            f"Before training the loss of {first} is {low:.4f} and of {last} {high:.4f}: the"
            " held-out words differ."
        )
    said += [
        f"{one.name} is not finished and is left out of the figures."
        for one in trainings
        if one.after is None
    ]
    few = min(len(one.held_out) for one in trainings)
    if few < FEW:
        said.append(
            f"Only {few} sessions are held out, and one training says nothing of chance: small"
            " differences mean nothing."
        )
    return said


def table(trainings: Iterable[TrainingRead]) -> pd.DataFrame:
    """One row a training, the strictest privacy first, none last."""
    rows = sorted(
        trainings,
        key=lambda one: (one.epsilon is None, one.epsilon or 0.0, one.seen_as, one.sites, one.name),
    )
    return pd.DataFrame(
        [
            {
                "training": one.name,
                "kind": one.kind,
                "sites": one.sites,
                "sessions": one.sessions,
                "themes": " ".join(one.themes) or "all",
                "loss_before": one.before,
                "loss_after": one.after,
                "change": (
                    one.after - one.before
                    if one.after is not None and one.before is not None
                    else None
                ),
                "unit": one.unit,
                "epsilon": one.epsilon,
                "delta": one.delta,
                "seed": one.seed,
                **_columns(one.attack),
            }
            for one in rows
        ]
    )


def _columns(attack: BestAttack | None) -> dict[str, Any]:
    told = (getattr(attack, one.name, None) for one in fields(BestAttack))
    return dict(zip(OF_ATTACK, told, strict=True))
