"""Trainings' folders made by hand, as `training` writes them."""

import json
from pathlib import Path
from typing import Any

HELD_OUT = tuple(f"h{n}" for n in range(16))
RECIPE: dict[str, Any] = {
    "corpus": "c.jsonl",
    "folders": {},
    "themes": [],
    "rounds": 2,
    "seed": 1,
    "deal": {"sites": 2},
    "noise": "seeded",
    "learning": {"max_tokens": 256},
}


def training(
    path: Path,
    after: float | None,
    *,
    epsilon: float | None = None,
    sites: int = 2,
    themes: tuple[str, ...] = (),
    seed: int = 1,
    auc: tuple[float, float, float] | None = None,
    allowed: float | None = None,
    before: float = 3.4,
    held_out: tuple[str, ...] = HELD_OUT,
    rounds_done: int = 2,
) -> Path:
    """One folder. auc: of the attack `loss`, and its interval. after None: it has not ended."""
    path.mkdir(parents=True)
    paid = None if epsilon is None else {"unit": "session", "epsilon": epsilon, "delta": 1e-3}
    privacy = (
        None
        if epsilon is None
        else {"unit": "session", "clip": 1.0, "delta": 1e-3, "budget_epsilon": epsilon}
    )
    recipe = {
        **RECIPE,
        "themes": list(themes),
        "seed": seed,
        "deal": {"sites": sites},
        "privacy": privacy,
    }
    _write(
        path / "manifest.json",
        {
            "format": 1,
            "kind": "federate",
            "name": path.name,
            "recipe": recipe,
            "base": {"name": "embedded", "digest": "d"},
            "sites": [{"name": f"site-{n}", "sessions": 22} for n in range(sites)],
            "account": paid,
            "data": {"held_out": list(held_out)},
        },
    )
    rows = [{"kind": "held_out", "at": 0, "loss": before}, {"kind": "round", "at": 1}]
    (path / "log.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows) + '{"kind": "cut o', encoding="utf-8"
    )
    if after is not None:
        (path / "adapter").mkdir()
        _write(
            path / "adapter" / "card.json",
            {"privacy": paid, "measured": {"held_out_loss_after": after, "rounds": rounds_done}},
        )
    if auc is not None:
        low = {"roc_auc": auc[0] - 0.1, "low": auc[1], "high": auc[2]}
        told = {"roc_auc": auc[0], "low": auc[1], "high": auc[2]}
        _write(
            path / "audit.json",
            {
                "attacks": [
                    {"attack": "zlib", "trained": low, "base": low, "bound": allowed},
                    {"attack": "loss", "trained": told, "base": {"roc_auc": 0.5}, "bound": allowed},
                ]
            },
        )
    return path


def _write(file: Path, what: Any) -> None:
    file.write_text(json.dumps(what), encoding="utf-8")


def study(folder: Path) -> Path:
    """Five budgets, one of them with two seeds, attacked; quantity and diversity."""
    for epsilon, after, auc, allowed in (
        (1.0, 3.31, 0.51, 0.59),
        (2.0, 3.2, 0.53, 0.68),
        (4.0, 3.08, 0.55, 0.81),
        (8.0, 3.01, 0.6, 0.93),
    ):
        training(
            folder / f"epsilon_{epsilon:g}",
            after,
            epsilon=epsilon,
            auc=(auc, auc - 0.11, auc + 0.12),
            allowed=allowed,
        )
    training(folder / "epsilon_4_again", 3.12, epsilon=4.0, seed=2)
    training(folder / "no_privacy", 2.9, auc=(0.71, 0.6, 0.81))
    themes = ("couple", "sleep", "grief", "work", "family", "anxiety")
    training(folder / "local", 3.38, epsilon=1.0, sites=1, themes=themes[:1])
    for sites in (2, 4, 6):
        training(
            folder / f"quantity_{sites}",
            3.36 - 0.01 * sites,
            epsilon=1.0,
            sites=sites,
            themes=themes[:1],
        )
        training(
            folder / f"diversity_{sites}",
            3.34 - 0.02 * sites,
            epsilon=1.0,
            sites=sites,
            themes=themes[:sites],
        )
    return folder
