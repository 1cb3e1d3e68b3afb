"""Whole trainings of a very small model: central, federated, private; stopped and resumed."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
import torch
from safetensors.numpy import load_file
from scipy import stats

from simcounsel.errors import SimcounselError
from tests.training.learning.conftest import PRIVATE, SEEDED, Recipes, adapted
from training.errors import TrainingError
from training.learning.base import load_base, load_shapes
from training.learning.examples import records_of
from training.learning.federated import Federated, run_federation
from training.learning.folder import TrainingFolder
from training.learning.gradients import mean_loss
from training.learning.site import Learners, must_have_moved
from training.learning.tune import TunedBase, TuneProgress, tune
from training.recipe import Learning
from training.recipe_file import load_recipe
from training.sites import find, planned

pytestmark = pytest.mark.slow


def tuned(file: Path, out: Path, *, stop_after: int | None = None) -> TunedBase:
    recipe, lines = load_recipe(file)
    at = []

    def seen(now: TuneProgress) -> None:
        at.append(now.at)

    return tune(
        recipe,
        file,
        lines,
        out,
        on_progress=seen,
        stop=lambda: stop_after is not None and at[-1] >= stop_after,
    )


def federated(file: Path, out: Path, **more: Any) -> Federated:
    recipe, lines = load_recipe(file)
    return run_federation(recipe, file, lines, out, **more)


def adapter(out: Path) -> Mapping[str, np.ndarray]:
    return load_file(out / "adapter" / "adapter_model.safetensors")


def same(a: Path, b: Path) -> bool:
    one, other = adapter(a), adapter(b)
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name]) for name in one
    )


def test_a_training_learns_and_its_adapter_is_what_was_measured(
    recipe_file: Recipes, tmp_path: Path, tiny: Path
) -> None:
    file = recipe_file(rounds=4)
    done = tuned(file, tmp_path / "out")
    assert done.before is not None and done.after is not None and done.after < done.before - 0.2
    recipe, _ = load_recipe(file)
    base = load_base(str(tiny), device="cpu")
    records = records_of(find(recipe, file).held_out, base.tokenizer, 256)
    assert done.adapter is not None
    assert mean_loss(adapted(base, done.adapter), records)[0] == pytest.approx(done.after, rel=1e-5)
    card = json.loads((tmp_path / "out" / "adapter" / "card.json").read_text(encoding="utf-8"))
    assert card["privacy"] is None and card["measured"]["held_out_loss_after"] == done.after
    assert "must not answer anybody in distress" in (
        tmp_path / "out" / "adapter" / "README.md"
    ).read_text(encoding="utf-8")
    assert "lay awake" not in (tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"), (
        "nobody's words are in the manifest"
    )


def test_a_training_that_an_earlier_version_began_is_gone_on_with(
    recipe_file: Recipes, tmp_path: Path
) -> None:
    """It said `noise: seeded` of a training without noise, and nothing of public data."""
    file = recipe_file()
    assert tuned(file, tmp_path / "out", stop_after=1).adapter is None
    manifest = tmp_path / "out" / "manifest.json"
    said = json.loads(manifest.read_text(encoding="utf-8"))
    said["recipe"]["noise"] = "seeded"
    del said["recipe"]["public_data"]
    manifest.write_text(json.dumps(said), encoding="utf-8")
    assert tuned(file, tmp_path / "out").adapter is not None


@pytest.mark.parametrize("privacy", ["none", PRIVATE], ids=["plain", "private"])
def test_stopped_and_resumed_is_the_same_to_the_bit(
    recipe_file: Recipes, tmp_path: Path, privacy: Any
) -> None:
    file = recipe_file(privacy=privacy, **(SEEDED if privacy != "none" else {}))
    tuned(file, tmp_path / "whole")
    first = tuned(file, tmp_path / "cut", stop_after=3)
    assert first.adapter is None
    tuned(file, tmp_path / "cut")
    assert same(tmp_path / "whole", tmp_path / "cut")
    logs = [TrainingFolder(tmp_path / name).said() for name in ("whole", "cut")]
    assert logs[0] == logs[1]


def test_the_same_recipe_gives_the_same_adapter_and_another_seed_another(
    recipe_file: Recipes, tmp_path: Path
) -> None:
    tuned(recipe_file(), tmp_path / "a")
    tuned(recipe_file(), tmp_path / "b")
    tuned(recipe_file(seed=4), tmp_path / "c")
    assert same(tmp_path / "a", tmp_path / "b") and not same(tmp_path / "a", tmp_path / "c")


def test_how_much_is_computed_together_changes_nothing_but_rounding(
    recipe_file: Recipes, tmp_path: Path
) -> None:
    for name, at_once in (("a", 1), ("b", 5)):
        tuned(
            recipe_file(
                privacy=PRIVATE,
                **SEEDED,
                learning={"learning_rate": 0.01, "max_tokens": 160, "at_once": at_once},
            ),
            tmp_path / name,
        )
    one, other = adapter(tmp_path / "a"), adapter(tmp_path / "b")
    assert (
        max(float(np.abs(one[name] - other[name]).max()) for name in one) < 2e-3
    )  # AdamW makes steps of 0.01


def test_a_folder_with_another_training_is_refused(recipe_file: Recipes, tmp_path: Path) -> None:
    tuned(recipe_file(), tmp_path / "out")
    with pytest.raises(TrainingError, match="another training lies here"):
        tuned(recipe_file(rounds=3), tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letters.txt").write_text("mine")
    with pytest.raises(TrainingError, match="is not empty and holds no training"):
        tuned(recipe_file(), tmp_path / "full")


def test_a_plan_that_overruns_its_budget_is_refused_before_anything_is_computed(
    recipe_file: Recipes, tmp_path: Path
) -> None:
    file = recipe_file(privacy={**PRIVATE, "budget_epsilon": 1.0})
    with pytest.raises(SimcounselError, match="would be overrun"):
        tuned(file, tmp_path / "out")
    with pytest.raises(SimcounselError, match="overrun"):
        federated(
            recipe_file(
                privacy={**PRIVATE, "budget_epsilon": 1.0}, deal={"sites": 2}, batch_size=1
            ),
            tmp_path / "fed",
        )
    assert not (tmp_path / "out").exists() and not (tmp_path / "fed" / "adapter").exists()


def test_the_noise_is_in_the_result(recipe_file: Recipes, tmp_path: Path) -> None:
    """With a clip near nothing only noise is left: its standard deviation is the account's, over the expected number of records."""
    changed = {
        "learning": {"learning_rate": 1.0, "max_tokens": 256, "optimizer": "sgd"},
        "rounds": 1,
        "batch_size": 4,
    }
    file = recipe_file(privacy={**PRIVATE, "clip": 1e-6, "noise_multiplier": 3.0}, **changed)
    recipe, lines = load_recipe(file)
    sites = find(recipe, file, together=True)
    learners = Learners(recipe=recipe, sites=sites, plan=planned(recipe, file, lines, sites))
    before = learners.first_weights()
    local, steps = learners.local("all"), -(-len(sites.sessions["all"]) // 4)
    after = learners.learn("all", before, 1, None)
    assert after.steps == steps and after.loss is None, "a loss would be paid for by nobody"
    moved = np.concatenate(
        [(after.weights[name] - before[name]).ravel() for name in before]
    ).astype(float)
    std = 3.0e-6 / 4 * steps**0.5
    # A chi-squared interval that a right noise leaves once in a million; clipped gradients add at most one part in nine hundred
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], len(moved)) / len(moved)
    assert std * low**0.5 * 0.99 < moved.std() < std * high**0.5 * 1.02
    assert local.protection is not None and local.protection.std == pytest.approx(3.0e-6)


def test_draws_are_poisson(recipe_file: Recipes) -> None:
    """Sizes vary as a binomial's do, whom a step takes is independent of the step before, and sometimes it is nobody."""
    file = recipe_file(privacy=PRIVATE, batch_size=2, held_out=0, **SEEDED)
    recipe, lines = load_recipe(file)
    sites = find(recipe, file, together=True)
    learners = Learners(recipe=recipe, sites=sites, plan=planned(recipe, file, lines, sites))
    local = learners.local("all")
    n = len(local.records)
    drawn = [{record.unit for record in local.drawn(number)} for number in range(600)]
    sizes = np.array([len(one) for one in drawn])
    assert abs(sizes.mean() - 2) < 0.25 and abs(sizes.var() - 2 * (1 - 2 / n)) < 0.5 and 0 in sizes
    together = np.mean([len(a & b) for a, b in zip(drawn, drawn[1:], strict=False)])
    assert abs(together - 4 / n) < 0.15
    assert [sorted(record.unit for record in local.drawn(7))] == [sorted(drawn[7])], (
        "a step can be repeated"
    )


def test_a_federation_of_one_site_is_that_sites_training(
    recipe_file: Recipes, tmp_path: Path
) -> None:
    done = federated(recipe_file(rounds=1), tmp_path / "one")
    recipe, _ = load_recipe(recipe_file(rounds=1))
    learners = Learners(recipe=recipe, sites=find(recipe, tmp_path / "recipe.yaml"), plan=None)
    alone = learners.learn("all", learners.first_weights(), 1, None)
    found = adapter(tmp_path / "one")
    assert done.stopped is None and all(
        np.allclose(found[name], alone.weights[name], atol=1e-6) for name in found
    )


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"averaging": {"rule": "fedadam", "server_learning_rate": 0.01}},
        {"lora": {"rank": 4, "alpha": 8, "train": "b"}, "averaging": {"send": "int8"}},
        {"averaging": {"rule": "exact"}},
        {"lora": {"rank": 4, "alpha": 8, "ranks": {"site-1": 2}}, "averaging": {"rule": "stack"}},
        {"learning": {"learning_rate": 0.01, "max_tokens": 256, "proximal": 0.1}},
        {"privacy": PRIVATE, "batch_size": 1},
        {
            "privacy": {**PRIVATE, "unit": "client", "draw": "client", "disjoint_sites": True},
            "batch_size": 1,
        },
        {"averaging": {"secure": True}, "deal": {"sites": 3}},
    ],
    ids=[
        "fedavg",
        "fedadam",
        "ffa int8",
        "exact",
        "stack",
        "fedprox",
        "record",
        "client",
        "secure",
    ],
)
def test_rounds(recipe_file: Recipes, tmp_path: Path, tiny: Path, changed: dict[str, Any]) -> None:
    """Every kind of federation runs, and its adapter, loaded by PEFT, has the held-out loss that was reported."""
    file = recipe_file(**{"deal": {"sites": 2, "by": "theme"}, **changed})
    done = federated(file, tmp_path / "out")
    assert done.stopped is None and done.after is not None and done.before is not None
    assert done.after < done.before + 0.5
    if "privacy" not in changed:
        assert done.after < done.before
    else:
        card = json.loads((tmp_path / "out" / "adapter" / "card.json").read_text(encoding="utf-8"))
        assert (
            card["privacy"]["unit"] == changed["privacy"]["unit"] and card["privacy"]["epsilon"] > 0
        )
        assert all(one["losses"] is None for one in done.folder.said("round"))
    recipe, _ = load_recipe(file)
    base = load_base(str(tiny), device="cpu")
    records = records_of(find(recipe, file).held_out, base.tokenizer, 256)
    assert done.adapter is not None
    assert mean_loss(adapted(base, done.adapter), records)[0] == pytest.approx(done.after, rel=1e-4)


@pytest.mark.parametrize("way", ["tune", "federate"])
def test_a_card_holds_no_seed_and_its_readme_no_epsilon_that_a_seed_undoes(
    recipe_file: Recipes, tmp_path: Path, way: str
) -> None:
    """An update was recovered exactly from the seed in a card."""
    keys: dict[str, Any] = {"privacy": PRIVATE, "rounds": 1, "batch_size": 1}
    if way == "federate":
        keys["deal"] = {"sites": 2}
    run = tuned if way == "tune" else federated
    cards, pages = {}, {}
    for noise, more in (("secure", {}), ("seeded", SEEDED)):
        adapter = run(recipe_file(**keys, **more), tmp_path / noise).adapter
        cards[noise] = json.loads((adapter / "card.json").read_text(encoding="utf-8"))
        pages[noise] = (adapter / "README.md").read_text(encoding="utf-8")
    assert cards["secure"]["seed"] is None and '"seed": 3' not in json.dumps(cards["secure"])
    assert cards["secure"]["noise"] == "secure" and cards["seeded"]["seed"] == 3
    assert (
        "privacy: epsilon" in pages["secure"] and "operating system's generator" in pages["secure"]
    )
    assert "| one session is protected from | epsilon (delta 0.001) | because |" in pages["secure"]
    whom = {row["whom"]: row["epsilon"] for row in cards["secure"]["privacy"]["protects"]}
    wanted = cards["secure"]["privacy"]["epsilon"]
    assert whom["outsiders"] == pytest.approx(wanted)
    assert ("whoever trains" in whom) == (way == "tune")
    assert ("lying server" in whom) == (way == "federate")
    assert "epsilon holds" in pages["seeded"] and "epsilon 0" not in pages["seeded"]
    assert not re.search(r"epsilon \d", pages["seeded"])
    assert [row["epsilon"] for row in cards["seeded"]["privacy"]["protects"]] == [None]


def test_a_federation_goes_on_from_any_round(recipe_file: Recipes, tmp_path: Path) -> None:
    file = recipe_file(deal={"sites": 2}, rounds=3, privacy=PRIVATE, batch_size=1, **SEEDED)
    federated(file, tmp_path / "whole")

    def cut(report: Any, held_out: float | None) -> None:
        if report.round == 2:
            raise RuntimeError("the power is gone")

    with pytest.raises(RuntimeError, match="the power is gone"):
        federated(file, tmp_path / "cut", on_round=cut)
    federated(file, tmp_path / "cut")
    assert same(tmp_path / "whole", tmp_path / "cut")
    assert (
        json.loads((tmp_path / "cut" / "ledger.json").read_text(encoding="utf-8"))["rounds_charged"]
        == 3
    )


def test_a_site_that_gets_nan_is_left_out_and_named(
    recipe_file: Recipes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Learners.learn

    def learn(self: Learners, site: str, *arguments: Any) -> Any:
        found = honest(self, site, *arguments)
        if site == "site-2":
            next(iter(found.weights.values()))[:] = np.nan  # type: ignore[index]
        return found

    monkeypatch.setattr(Learners, "learn", learn)
    done = federated(recipe_file(deal={"sites": 2}, rounds=1), tmp_path / "out")
    (report,) = done.folder.said("round")
    assert (
        list(report["failed"]) == ["site-2"] and done.after is not None and np.isfinite(done.after)
    )


@pytest.mark.parametrize("still", [("q_proj", "v_proj"), ("q_proj",), ("v_proj",)])
def test_adapters_of_a_target_that_stand_still_are_an_error(
    still: tuple[str, ...], recipe_file: Recipes
) -> None:
    recipe, _ = load_recipe(recipe_file())
    learners = Learners(recipe=recipe, sites=find(recipe, recipe_file()), plan=None)
    before = [parameter.detach().clone() for parameter in learners.reading.trained()]
    with torch.no_grad():
        for name, parameter in learners.reading.model.named_parameters():
            if parameter.requires_grad and not any(target in name for target in still):
                parameter.add_(1)
    with pytest.raises(TrainingError, match=f"the adapters of {', '.join(still)} did not move"):
        must_have_moved(learners.reading, before)


@pytest.mark.parametrize("private", [False, True])
def test_one_step_moves_the_adapters_of_every_layer_and_target(
    private: bool, recipe_file: Recipes
) -> None:
    given = {"unit": "session", "clip": 1.0, "delta": 1e-3, "noise_multiplier": 1e-9}
    recipe, lines = load_recipe(
        file := recipe_file(
            deal={"sites": 2}, batch_size=4, privacy=given if private else "none", rounds=1
        )
    )
    sites = find(recipe, file)
    learners = Learners(recipe=recipe, sites=sites, plan=planned(recipe, file, lines, sites))
    start = learners.first_weights()
    moved = learners.learn("site-1", start, 1, None).weights
    for name, value in moved.items():
        if "lora_B" in name:
            assert np.abs(value - start[name]).max() > 1e-6, name  # far above the noise


def test_code_that_a_base_model_brings_is_not_run_and_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda words="": asked.append(words) or "y")
    classes = {"AutoConfig": "odd.Config", "AutoModelForCausalLM": "odd.Model"}
    config = {"model_type": "odd", "auto_map": classes | {"AutoTokenizer": ["odd.Tokenizer", None]}}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "odd.py").write_text(f"open({str(tmp_path / 'RUN')!r}, 'w')", encoding="utf-8")
    for load in (load_base, lambda name: load_shapes(name, Learning())):
        with pytest.raises(TrainingError, match="never run"):
            load(str(tmp_path))
    assert not asked and not (tmp_path / "RUN").exists()


def test_what_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"nowhere: cannot be loaded .*; name `embedded`"):
        load_base(str(tmp_path / "nowhere"), device="cpu")
    if not torch.cuda.is_available():
        with pytest.raises(TrainingError, match="has no GPU; take `device: cpu`"):
            load_base(str(tmp_path / "nowhere"), device="cuda")
