"""Clinics with a corpus of their own, trained in one process: each keeps its ledger."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
from typer.testing import CliRunner

from tests.training.learning.conftest import PRIVATE, Recipes, session
from training import shipped
from training.__main__ import app
from training.errors import TrainingError
from training.learning import federated as module
from training.learning.federated import Federated, run_federation
from training.recipe_file import load_recipe

pytestmark = pytest.mark.slow
NAMES = ("north", "south")
BOTH = [["1", "2"], ["1"]]
KEYS: dict[str, Any] = {"corpus": None, "privacy": PRIVATE, "batch_size": 1, "held_out": 0.3}


@pytest.fixture
def clinics(tmp_path: Path) -> dict[str, str]:
    """Two clinics with four clients each."""
    for at, name in enumerate(NAMES):
        rows = [session(10 * at + n, f"{name} {n}", 1 + n % 2) for n in range(4)]
        lines = "".join(row.model_dump_json(exclude_defaults=True) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return {name: f"{name}.jsonl" for name in NAMES}


def trained(file: Path, out: Path, **more: Any) -> Federated:
    recipe, lines = load_recipe(file)
    return run_federation(recipe, file, lines, out, **more)


def ledgers(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        name: json.loads(file.read_text(encoding="utf-8"))
        for name in NAMES
        if (file := folder / f"{name}.jsonl.ledger.json").exists()
    }


def answered(folder: Path) -> dict[str, list[list[str]]]:
    """Of each clinic the rounds of each plan."""
    return {
        name: [sorted(plan["answered"]) for plan in found["plans"].values()]
        for name, found in ledgers(folder).items()
    }


def test_each_clinic_keeps_a_ledger_and_spends_a_round_once(
    recipe_file: Recipes, clinics: dict[str, str], tmp_path: Path
) -> None:
    file = recipe_file(**KEYS, folders=clinics)
    trained(file, tmp_path / "out")
    assert answered(tmp_path) == {"north": [["1", "2"]], "south": [["1", "2"]]}
    assert {name: found["site"] for name, found in ledgers(tmp_path).items()} == {
        name: name for name in NAMES
    }
    (agreed,) = [plan["agreed"] for plan in ledgers(tmp_path)["north"]["plans"].values()]
    assert (agreed["unit"], agreed["rounds"], agreed["noise_multiplier"]) == ("session", 2, 0.8)
    again = trained(file, tmp_path / "out")  # the same folder: there is nothing left to do
    assert again.after is not None and answered(tmp_path)["south"] == [["1", "2"]]


def test_the_same_training_in_another_folder_is_refused_before_anything_is_computed(
    recipe_file: Recipes, clinics: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = recipe_file(**KEYS, folders=clinics)
    trained(file, tmp_path / "out")
    monkeypatch.setattr(module, "Learners", lambda **_: pytest.fail("it was loaded"))
    with pytest.raises(TrainingError, match="'north' has answered 2 of this plan's 2 rounds"):
        trained(file, tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_another_plan_is_counted_beside_it(
    recipe_file: Recipes, clinics: dict[str, str], tmp_path: Path
) -> None:
    trained(recipe_file(**KEYS, folders=clinics), tmp_path / "out")
    trained(recipe_file(**KEYS, folders=clinics, rounds=1), tmp_path / "more")
    assert answered(tmp_path) == {"north": BOTH, "south": BOTH}


def test_a_round_that_was_cut_short_is_not_answered_twice(
    recipe_file: Recipes, clinics: dict[str, str], tmp_path: Path
) -> None:
    """Killed after north has answered: going on, north refuses that round and is named."""
    file = recipe_file(**KEYS, folders=clinics)

    def cut(site: str, round: int, done: int, of: int) -> None:
        if site == "south":
            raise KeyboardInterrupt

    def gone(self: Any, site: str, error: BaseException) -> Any:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.federation.inprocess.InProcess._failed", gone)
        patch.setattr("training.federation.inprocess.InProcess._alone", lambda _, s, call: call())
        with pytest.raises(KeyboardInterrupt):
            trained(file, tmp_path / "out", on_step=cut)
    assert answered(tmp_path) == {"north": [["1"]]}
    reports: list[Any] = []
    trained(file, tmp_path / "out", on_round=lambda report, held_out: reports.append(report))
    assert "is not answered again" in reports[0].failed["north"]
    assert reports[0].answered == ("south",) and not reports[1].failed
    assert answered(tmp_path) == {"north": [["1", "2"]], "south": [["1", "2"]]}


@pytest.mark.parametrize(
    "keys",
    [{"privacy": "none"}, {"noise": "seeded", "public_data": True}],
    ids=["no privacy", "seeded"],
)
def test_without_privacy_that_holds_there_is_no_ledger(
    recipe_file: Recipes, clinics: dict[str, str], tmp_path: Path, keys: dict[str, Any]
) -> None:
    trained(recipe_file(**{**KEYS, **keys}, folders=clinics), tmp_path / "out")
    assert ledgers(tmp_path) == {}


def test_progress_is_said_before_anything_slow_and_for_each_step(
    recipe_file: Recipes, clinics: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = recipe_file(**KEYS, folders=clinics)
    seen: list[Any] = []
    trained(file, tmp_path / "out", on_step=lambda *said: seen.append(said))
    assert [one[:2] for one in seen if one[2] == one[3]] == [
        (name, round) for round in (1, 2) for name in NAMES
    ]

    def slow(*_: Any, **__: Any) -> Any:
        raise TrainingError("the slow part")

    monkeypatch.setattr(module, "run_federation", slow)
    done = CliRunner().invoke(app, ["federate", str(file)])
    assert done.output.startswith("reading the sessions and the base model")
    assert "the slow part" in str(done.exception)


def test_the_tutorials_twin_learns_from_the_same_sessions_without_privacy() -> None:
    private, twin = (
        load_recipe(shipped.FOLDER / f"{name}.yaml")[0]
        for name in ("four_clinics", "four_clinics_open")
    )
    same = ("folders", "sample", "held_out", "seed", "base")
    assert all(getattr(private, key) == getattr(twin, key) for key in same)
    assert private.privacy is not None and not private.public_data
    assert twin.privacy is None and twin.public_data
