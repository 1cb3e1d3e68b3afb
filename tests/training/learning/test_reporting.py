"""Losses that are told to a program that draws them."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
from tests.commands import Command, in_process
from tests.training.learning.conftest import Recipes
from training.__main__ import main
from training.learning.folder import TrainingFolder

pytestmark = pytest.mark.slow


@pytest.fixture
def train(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    return in_process("training", main, monkeypatch, capsys)


@pytest.mark.parametrize("command", ["tune", "federate"])
def test_the_losses_of_the_log_are_told(
    command: str, train: Command, recipe_file: Recipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """wandb's own functions are played; what lies between is accelerate's."""
    told: list[tuple[int, dict[str, Any]]] = []
    began: list[dict[str, Any]] = []
    package = ModuleType("wandb")
    package.__spec__ = sys.__spec__
    package.init = lambda **given: began.append(given) or package  # type: ignore[attr-defined]
    package.log = lambda values, step, **more: told.append((step, values))  # type: ignore[attr-defined]
    package.finish = lambda: told.append((-1, {}))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", package)
    more = {"deal": {"sites": 2}} if command == "federate" else {}
    file = recipe_file(rounds=2, privacy="none", **more)
    done = train(command, str(file), "--out", "here", "--report-to", "wandb")
    assert done.code == 0, done.err
    assert began == [{"project": "simcounsel", "name": "here"}] and told[-1] == (-1, {})
    folder = TrainingFolder.open(Path("here"))
    losses = [(one["at"], one["loss"]) for one in folder.said("held_out")]
    seen = [(at, one["held_out_loss"]) for at, one in told if "held_out_loss" in one]
    assert seen == (losses if command == "tune" else losses[1:])
    steps = [(one["at"], one["loss"]) for one in folder.said("step")]
    assert [(at, one["loss"]) for at, one in told if "loss" in one] == steps


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("paper", "no such program; take none, tensorboard, wandb, mlflow"),
        ("mlflow", "pip install mlflow"),
    ],
)
def test_a_program_that_is_not_there_is_said_before_anything_is_computed(
    program: str, said: str, train: Command, recipe_file: Recipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = train("tune", str(recipe_file()), "--out", "here", "--report-to", program)
    assert done.code == 1 and said in done.err and not Path("here").exists()
