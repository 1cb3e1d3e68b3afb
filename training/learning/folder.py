"""What a training leaves on disk.

manifest.json   the recipe, the base, whose sessions lie where, the privacy account; written once,
                at the beginning
log.jsonl       one JSON object a line: steps, evaluations, rounds
state/          what going on needs: adapters, optimizer, how far it came; replaced as a whole
adapter/        the result: a PEFT folder with card.json and README.md
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.disk import append_text, write_text, write_whole
from simcounsel.intake import file_bytes, json_data
from training.errors import TrainingError
from training.plan import SiteSize, TrainingPlan
from training.privacy.budget import PrivacyAccount
from training.recipe import Recipe
from training.sites import Sites

Kind = Literal["tune", "federate"]
MANIFEST, LOG, STATE, ADAPTER = "manifest.json", "log.jsonl", "state", "adapter"
FORMAT = 1
PACKAGES = ("torch", "transformers", "peft", "opacus", "dp-accounting", "simcounsel")


@dataclass(frozen=True)
class TrainingFolder:
    """A training's folder, as far as both kinds of training share it."""

    path: Path

    @classmethod
    def begin(cls, path: Path, manifest: Mapping[str, Any]) -> "TrainingFolder":
        """Make it, or go on in it if it holds this very training. TrainingError if it holds
        another, or anything else.
        """
        file = path / MANIFEST
        if file.is_file():
            there, wanted = cls(path).manifest(), json.loads(json.dumps(manifest))
            other = sorted(
                key
                for key in ("kind", "recipe", "base", "data")
                if _compared(key, there.get(key)) != _compared(key, wanted[key])
            )
            if other:
                raise TrainingError(
                    f"{path}: another training lies here (its {' and '.join(other)} differ); choose"
                    " another --out, or remove it"
                )
            return cls(path)
        if path.exists() and any(path.iterdir()):
            raise TrainingError(f"{path}: is not empty and holds no training; choose another --out")
        path.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps(manifest, ensure_ascii=False, indent=1))
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> "TrainingFolder":
        """One that is there. TrainingError if it is not."""
        if not (path / MANIFEST).is_file():
            raise TrainingError(
                f"{path}: no training's folder: it has no {MANIFEST}; `simcounsel train tune"
                " CONFIG` makes one"
            )
        return cls(path)

    def manifest(self) -> dict[str, Any]:
        """What was written at the beginning."""
        try:
            found = json_data(file_bytes(self.path / MANIFEST))
        except (OSError, ValueError) as error:
            raise TrainingError(
                f"{self.path / MANIFEST}: cannot be read ({error}); the training cannot go on:"
                " remove the folder"
            ) from error
        if found.get("format") != FORMAT:
            raise TrainingError(
                f"{self.path / MANIFEST}: format {found.get('format')!r}, and this version reads"
                f" {FORMAT}"
            )
        return dict(found)

    def recipe(self) -> Recipe:
        """The recipe of the training."""
        return Recipe.model_validate(self.manifest()["recipe"])

    def card(self) -> dict[str, Any] | None:
        """What the adapter says of itself; None before there is one."""
        return json_of(self.path / ADAPTER / "card.json")

    def finished(self) -> bool:
        """Whether the training has come to its end."""
        card, manifest = self.card(), self.manifest()
        return card is not None and (
            manifest["kind"] == "tune"
            or card["measured"].get("rounds") == manifest["recipe"]["rounds"]
            or "stopped_after_round" in card["measured"]
        )

    def say(self, kind: str, **what: Any) -> None:
        """Append to the log."""
        append_text(self.path / LOG, json.dumps({"kind": kind, **what}, ensure_ascii=False) + "\n")

    def said(self, kind: str | None = None) -> list[dict[str, Any]]:
        """What the log holds, of one kind or all; a line that was cut off by the end of the process
        is left out.
        """
        if not (self.path / LOG).is_file():
            return []
        lines = (self.path / LOG).read_bytes().split(b"\n")[:-1]
        found = [json_data(line) for line in lines]
        return [one for one in found if kind is None or one["kind"] == kind]

    def trim(self, kept: Mapping[str, int]) -> None:
        """Forget what was logged after the state that is gone on from: of each kind, entries whose
        `at` is above the number.
        """
        rows = [one for one in self.said() if one.get("at", 0) <= kept.get(one["kind"], 1 << 62)]
        write_whole(
            self.path / LOG, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)
        )

    def keep(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Replace the state, as a whole or not at all."""
        with tempfile.TemporaryDirectory(dir=self.path, prefix=".state-") as place:
            save_file(
                {name: np.ascontiguousarray(value) for name, value in arrays.items()},
                Path(place) / "arrays.safetensors",
            )
            write_text(Path(place) / "state.json", json.dumps(state))
            replace_folder(Path(place), self.path / STATE)

    def kept(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]] | None:
        """The state, None before the first."""
        folder = self.path / STATE
        if not folder.is_dir() and (self.path / f"{STATE}.old").is_dir():
            os.replace(self.path / f"{STATE}.old", folder)  # the process ended between two renames
        if not folder.is_dir():
            return None
        try:
            return dict(load_file(folder / "arrays.safetensors")), json_data(
                (folder / "state.json").read_bytes()
            )
        except (OSError, ValueError, SafetensorError) as error:
            raise TrainingError(
                f"{folder}: cannot be read ({error}); remove it to begin again"
            ) from error


def json_of(file: Path) -> dict[str, Any] | None:
    """What a file holds; None if there is none. TrainingError if it cannot be read."""
    if not file.is_file():
        return None
    try:
        return dict(json_data(file_bytes(file)))
    except (OSError, ValueError, TypeError) as error:
        raise TrainingError(f"{file}: cannot be read ({error}); make it again") from None


def _compared(key: str, value: Any) -> Any:
    """A recipe that was written by an earlier version has the keys of this one; without privacy, it
    says nothing of noise. How much is computed together may change in between.
    """
    if key != "recipe" or not isinstance(value, dict):
        return value
    whole = Recipe.model_validate(value).model_dump(mode="json", exclude={"learning": {"at_once"}})
    return whole if whole["privacy"] else {**whole, "noise": None}


def replace_folder(new: Path, old: Path) -> None:
    """Put a finished folder where another is. `new` exists afterwards, empty, for a context manager
    to remove.
    """
    away = old.with_name(f"{old.name}.old")
    shutil.rmtree(away, ignore_errors=True)
    if old.exists():
        os.replace(old, away)
    os.replace(new, old)
    new.mkdir()
    shutil.rmtree(away, ignore_errors=True)


def manifest_of(
    kind: Kind,
    recipe: Recipe,
    recipe_file: Path,
    base: Mapping[str, str],
    data: Mapping[str, Any],
    sites: Iterable[SiteSize],
    account: PrivacyAccount | None,
) -> dict[str, Any]:
    """What a training's folder says of it. data: as `data_of` has it."""
    return {
        "format": FORMAT,
        "kind": kind,
        "name": recipe_file.stem,
        "recipe": recipe.model_dump(mode="json"),
        "recipe_file": str(recipe_file.resolve()),
        "base": dict(base),
        "data": dict(data),
        "sites": [site.model_dump(mode="json") for site in sites],
        "account": account_fields(account),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def data_of(sites: Sites, *, drafts: bool = False) -> dict[str, Any]:
    """Of sessions ids and a hash, never a word. drafts: where they are learned from, too."""
    return {
        "hash": hash_of(
            [one for here in sites.sessions.values() for one in here] + list(sites.held_out),
            drafts=drafts,
        ),
        "members": {name: [one.id for one in here] for name, here in sites.sessions.items()},
        "held_out": [one.id for one in sites.held_out],
        "left_out": sites.left_out,
    }


ELSEWHERE: dict[str, Any] = {"hash": "", "members": {}, "held_out": [], "left_out": 0}
"""Of sessions that lie at sites on other machines."""


def hash_of(dialogues: Iterable[Dialogue], *, drafts: bool = False) -> str:
    """SHA-256 over ids, clients and what was said, with drafts also over these."""
    made = hashlib.sha256()
    for one in dialogues:
        said = [
            [turn.speaker, turn.text, *([turn.draft.text] if drafts and turn.draft else [])]
            for turn in one.turns
        ]
        made.update(json.dumps([one.id, one.client, said], ensure_ascii=False).encode())
    return made.hexdigest()


def account_fields(account: PrivacyAccount | None) -> dict[str, Any] | None:
    """A privacy account as it is in manifests and cards; None without privacy."""
    if account is None:
        return None
    plan: TrainingPlan = account.plan
    return {
        "unit": plan.privacy.unit,
        "epsilon": account.total_epsilon,
        "delta": plan.privacy.delta,
        "round_epsilon": account.round_epsilon,
        "rounds": plan.rounds,
        "noise_multiplier": account.multiplier,
        "noise_std": account.noise_std,
        "sensitivity": account.sensitivity,
        "clip": plan.privacy.clip,
        "calibration": plan.privacy.calibration,
        "by_site": dict(account.by_site),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
