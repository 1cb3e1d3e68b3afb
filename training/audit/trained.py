"""A finished training read again: its data, its model, what its account allows. TrainingError if
any of them is not what it was.
"""

from collections import Counter
from pathlib import Path
from typing import Any

from peft import PeftModel

from training.audit import bounds
from training.errors import TrainingError
from training.learning.base import load_for
from training.learning.folder import ADAPTER, Folder, hash_of
from training.learning.quiet import quietly
from training.sites import Sites, find


def read_again(folder: Folder) -> Sites:
    """The data of a training as its recipe finds them now. TrainingError if they are not those that
    were trained on.
    """
    manifest = folder.manifest()
    sites = find(
        folder.recipe(), Path(manifest["recipe_file"]), together=manifest["kind"] == "tune"
    )
    now, then = (
        hash_of([one for here in sites.sessions.values() for one in here] + list(sites.held_out)),
        manifest["data"]["hash"],
    )
    if now != then:
        raise TrainingError(
            f"{folder.path}: its corpus has changed since the training (hash {now[:12]}, then"
            f" {then[:12]}), so who was trained on is not known any more; bring back"
            f" {folder.recipe().corpus or 'the folders'} as it was"
        )
    return sites


def load_trained(folder: Folder) -> tuple[Any, Any]:
    """The base with the trained adapter on it, and its tokenizer. TrainingError if the base is
    another one by now.
    """
    recipe, manifest = folder.recipe(), folder.manifest()
    base = load_for(recipe.base, recipe.learning, recipe.device)
    then = manifest["base"]["digest"]
    if then and base.digest != then:
        raise TrainingError(
            f"{folder.path}: base {recipe.base!r} has changed since the training; bring back the"
            f" one with digest {then[:12]}"
        )
    with quietly():
        return (
            PeftModel.from_pretrained(base.model, str(folder.path / ADAPTER)).eval(),
            base.tokenizer,
        )


def bound_of(folder: Folder, sites: Sites) -> bounds.Bound | None:
    """What the account of the training implies for one client with all sessions; None without
    privacy.
    """
    account = folder.manifest()["account"]
    plan = folder.recipe().plan(sites.counted())
    if account is None or plan is None:
        return None
    sessions = Counter(one.client for here in sites.sessions.values() for one in here)
    return bounds.of_plan(plan, account["noise_multiplier"], max(sessions.values()))
