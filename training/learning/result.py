"""What a training hands on: an adapter in PEFT's form, with a card that says what it was learned
from and what privacy was paid.
"""

import json
import math
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from simcounsel.disk import write_text
from training.federation.all_rounds import FederationOutcome
from training.federation.shift import LEFT, RIGHT, WHOLE, Shift
from training.federation.updates import layers
from training.learning.folder import ADAPTER, TrainingFolder, replace_folder
from training.plan import TrainingPlan
from training.privacy.trust import as_rows, markdown, protections
from training.recipe import Recipe

Arrays = Mapping[str, NDArray[np.float32]]


def write_adapter(
    folder: TrainingFolder,
    weights: Arrays,
    facts: Mapping[str, Any],
    *,
    spent: Mapping[str, Any] | None,
    shift: Shift | None = None,
) -> Path:
    """Write `adapter/`. facts: what was measured. spent: the ledger at this point; None without
    privacy. shift: what rounds have added to the base weights; it becomes part of the adapter,
    whose rank grows.
    """
    manifest = folder.manifest()
    card = card_of(manifest, facts, spent)
    with tempfile.TemporaryDirectory(dir=folder.path, prefix=".adapter-") as place:
        write_peft(Path(place), manifest, weights, shift)
        write_text(Path(place) / "card.json", json.dumps(card, ensure_ascii=False, indent=1))
        write_text(Path(place) / "README.md", readme(card))
        replace_folder(Path(place), folder.path / ADAPTER)
    return folder.path / ADAPTER


def write_peft(
    place: Path, manifest: Mapping[str, Any], weights: Arrays, shift: Shift | None
) -> None:
    """The two files that PEFT reads. manifest: of the training."""
    lora = manifest["recipe"]["lora"]
    weights, alpha = combined(weights, shift, lora["alpha"])
    rank = int(next(value.shape[0] for name, value in weights.items() if "lora_A" in name))
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": manifest["base"]["name"],
        "r": rank,
        "lora_alpha": alpha,
        "lora_dropout": lora["dropout"],
        "target_modules": sorted(lora["targets"]),
        "bias": "none",
        "inference_mode": True,
        "fan_in_fan_out": False,
        "use_rslora": False,
    }
    arrays = {
        name: np.ascontiguousarray(value, dtype=np.float32) for name, value in weights.items()
    }
    save_file(arrays, place / "adapter_model.safetensors", {"format": "pt"})
    write_text(place / "adapter_config.json", json.dumps(config, indent=1))


def combined(weights: Arrays, shift: Shift | None, alpha: float) -> tuple[Arrays, float]:
    """One adapter for both: the layer adds alpha / rank * B A and its shift. Without a shift the
    weights themselves. All layers get the rank of the largest, filled with zeros; a dense shift is
    taken apart by its singular values, none dropped that is not rounding.
    """
    if not shift:
        return weights, alpha
    made: dict[str, NDArray[np.float32]] = {}
    factors = {layer: _factors(weights, shift, layer, alpha) for layer in layers(weights)}
    rank = max(a.shape[0] for _, a in factors.values())
    for layer, (b, a) in factors.items():
        more = rank - a.shape[0]
        made[f"{layer}.lora_A.weight"] = np.pad(a, ((0, more), (0, 0))).astype(np.float32)
        made[f"{layer}.lora_B.weight"] = np.pad(b, ((0, 0), (0, more))).astype(np.float32)
    return made, float(rank)


def _factors(
    weights: Arrays, shift: Shift, layer: str, alpha: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b = weights[f"{layer}.lora_A.weight"], weights[f"{layer}.lora_B.weight"]
    scaled = b * np.float32(alpha / a.shape[0])
    if layer + LEFT in shift:
        return np.concatenate([scaled, shift[layer + LEFT]], axis=1), np.concatenate(
            [a, shift[layer + RIGHT]]
        )
    if layer + WHOLE not in shift:
        return scaled, a
    u, s, v = np.linalg.svd(
        shift[layer + WHOLE].astype(np.float64) + scaled.astype(np.float64) @ a.astype(np.float64),
        full_matrices=False,
    )
    kept = max(int((s > s[0] * 1e-7).sum()), 1)
    root = np.sqrt(s[:kept])
    return u[:, :kept] * root, root[:, None] * v[:kept]


def card_of(
    manifest: Mapping[str, Any], facts: Mapping[str, Any], spent: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The card: base, data in numbers, how it was trained, privacy, measures, and what it must not
    be used for.
    """
    recipe = manifest["recipe"]
    return {
        "name": manifest["name"],
        "kind": manifest["kind"],
        "base": manifest["base"],
        "data": {
            "corpus": recipe["corpus"] or recipe["folders"],
            "hash": manifest["data"]["hash"],
            "sites": manifest["sites"],
            "held_out_sessions": len(manifest["data"]["held_out"]),
        },
        "lora": recipe["lora"],
        "learning": recipe["learning"],
        "averaging": recipe["averaging"] if manifest["kind"] == "federate" else None,
        "rounds": recipe["rounds"],
        "local_epochs": recipe["local_epochs"],
        "batch_size": recipe["batch_size"],
        # with privacy no seed: of people's data, nothing that could repeat anything leaves
        "seed": recipe["seed"] if spent is None or recipe.get("public_data") else None,
        "privacy": dict(spent) if spent else None,
        "noise": recipe["noise"] if spent else None,
        "not_covered": not_covered(recipe) if spent else [],
        "measured": dict(facts),
        "packages": manifest["packages"],
    }


def spent_of(
    outcome: FederationOutcome, plan: TrainingPlan | None, recipe: Recipe
) -> dict[str, Any] | None:
    """The ledger at the end of a federation, and from whom it protects; None without privacy."""
    ledger = outcome.ledger
    if ledger is None or plan is None:
        return None
    rounds = max(ledger.rounds_charged, 1)
    found = protections(plan, ledger.multiplier, rounds, recipe.noise)
    return {**asdict(ledger), "protects": as_rows(found)}


def not_covered(recipe: Mapping[str, Any]) -> list[str]:
    """What was told besides the noisy sums."""
    beside = [
        "numbers of sessions and clients at each site",
        "that a training took place, its recipe and its duration",
    ]
    if recipe["held_out"]:
        learning = recipe["learning"]
        chosen = [
            what
            for what, yes in (
                ("the weights", learning.get("keep") == "best"),
                ("when it ended", learning.get("patience")),
            )
            if yes
        ]
        beside.append(
            "mean losses over held-out clients, who were not trained on; chosen by them:"
            f" {' and '.join(chosen) or 'nothing'}"
        )
    if recipe["noise"] == "seeded":
        beside.append(
            "anything, from whoever knows the seed and takes the noise away: the data were declared"
            " public; people's records need `noise: secure`"
        )
    return beside


def readme(card: Mapping[str, Any]) -> str:
    """The card in words."""
    base, privacy, measured, at = (
        card["base"],
        card["privacy"],
        card["measured"],
        card["data"]["sites"],
    )
    lines = [
        f"# {card['name']}",
        "",
        f"A LoRA adapter for {base['name']}, trained on counselors' words with simcounsel.",
        (
            "**For research. It is no counselor, it was not tested on people, and it must not"
            " answer anybody in distress.**"
        ),
        "",
        (
            f"- data: {sum(site['sessions'] for site in at)} sessions at {len(at)}"
            f" site{'s' * (len(at) != 1)} (hash {card['data']['hash'][:12]})"
        ),
        _privacy_line(privacy, card["noise"]),
        *[f"    - not covered: {what}" for what in card["not_covered"]],
    ]
    for name, value in measured.items():
        lines.append(
            f"- {name.replace('_', ' ')}:"
            f" {f'{value:.4f}' if isinstance(value, float) and math.isfinite(value) else value}"
        )
    if privacy is not None and card["noise"] == "secure":
        lines += ["", *markdown(privacy["protects"], privacy["unit"], privacy["delta"])]
    return "\n".join([*lines, ""])


def _privacy_line(privacy: Mapping[str, Any] | None, noise: str | None) -> str:
    if privacy is None:
        return "- privacy: none; whoever has the adapter may find out who was trained on"
    if noise != "secure":
        return (
            "- privacy: none. Noise was added to try it out, on data declared public, from a seed:"
            " whoever knows that takes it away, so no epsilon holds"
        )
    return (
        f"- privacy: epsilon {privacy['epsilon']:.4g} at delta {privacy['delta']:g} for one"
        f" {privacy['unit']}, all rounds together, with noise from the operating system's"
        " generator; from whom, the table says"
    )
