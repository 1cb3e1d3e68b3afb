"""Two processes that share each step come to what one comes to, with and without privacy."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
from safetensors.numpy import load_file

from simcounsel.disk import write_text
from tests.training.learning.conftest import PRIVATE, SEEDED, Recipes
from tests.training.learning.test_training import tuned
from training.learning.folder import TrainingFolder
from training.learning.processes import Processes

pytestmark = pytest.mark.slow

BOTH = """
import sys
from pathlib import Path
import numpy as np
from training.learning import tune as tuning
from training.recipe_file import load_recipe
file, out = Path(sys.argv[1]), Path(sys.argv[2])
recipe, lines = load_recipe(file)
kept = []
class Kept(tuning.CentralTraining):
    def run(self, stop):
        kept.append(self)
        return super().run(stop)
tuning.CentralTraining = Kept
done = tuning.tune(recipe, file, lines, out)
reading = kept[0].local.reading
weights = tuning.adapter_weights(reading.model)
np.savez(out.parent / f"weights{reading.processes.number}.npz", **weights)
"""
"""Trains, and writes what each process has in its memory at the end."""


def launched(*what: str, count: int = 2) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            f"--nproc-per-node={count}",
            *what,
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.parametrize(
    "changed",
    [{}, {"privacy": PRIVATE, **SEEDED}, {"batch_size": 1, "rounds": 1}],
    ids=["plain", "private", "a process without a record"],
)
def test_two_processes_equal_one(recipe_file: Recipes, tmp_path: Path, changed: Any) -> None:
    learning = {"learning_rate": 0.1, "optimizer": "sgd", "max_tokens": 256}
    file = recipe_file(learning=learning, **changed)
    done = launched("-m", "simcounsel", "train", "tune", str(file), "--out", str(tmp_path / "two"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("wrote ") == 1, "one of the two speaks"
    tuned(file, tmp_path / "one")
    one, two = (
        load_file(tmp_path / name / "adapter" / "adapter_model.safetensors")
        for name in ("one", "two")
    )
    assert all(np.allclose(one[name], two[name], atol=1e-6) for name in one)
    logs = [TrainingFolder(tmp_path / name).said() for name in ("one", "two")]
    assert [row["kind"] for row in logs[0]] == [row["kind"] for row in logs[1]]
    losses = [[row["loss"] or 0.0 for row in log] for log in logs]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_secret_draws_and_noise_are_the_same_in_both(recipe_file: Recipes, tmp_path: Path) -> None:
    """They come from the system's generator, which each process would ask for itself."""
    write_text(tmp_path / "both.py", BOTH)
    file = recipe_file(privacy={**PRIVATE, "noise_multiplier": 3.0})
    done = launched(str(tmp_path / "both.py"), str(file), str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    first, second = (dict(np.load(tmp_path / f"weights{at}.npz")) for at in (0, 1))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert any(np.abs(value).max() > 0 for name, value in first.items() if "lora_B" in name)


def test_a_federation_is_started_once(recipe_file: Recipes, tmp_path: Path) -> None:
    file = recipe_file(deal={"sites": 2})
    done = launched(
        "-m", "simcounsel", "train", "federate", str(file), "--out", str(tmp_path / "f")
    )
    assert done.returncode != 0 and "share the steps of `train tune` only" in done.stderr


def test_each_takes_its_part() -> None:
    parts = [Processes(number, 3).share(list(range(7))) for number in range(3)]
    assert sorted(one for part in parts for one in part) == list(range(7))
    assert Processes(1, 3).share([8]) == []
