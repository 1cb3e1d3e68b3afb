"""`simcounsel train` as it is typed: the way from a corpus to an adapter that was attacked."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from tests.pages import TEXT, commands
from tests.training.learning.conftest import *  # noqa: F403  the very small model and its corpus
from tests.training.learning.conftest import PRIVATE, Recipes
from training import shipped
from training.__main__ import app

ROOT = Path(__file__).parents[2]

QUICK = {"account": ["--no-table"], "audit": ["--bootstrap", "20"]}
"""Added to a command, for what takes long."""
TYPED = commands(train=True)
STORIES = [["docs/training.md", "docs/privacy.md"]]
STORIES += [[page] for page in TYPED if page.startswith("docs/tutorials/")]
"""Pages that go on from one another; a tutorial is whole by itself."""
NOT_RUN = {
    "simcounsel train COMMAND": "no command, a form",
    "simcounsel train export FOLDER --gguf": "a form",
    "simcounsel train sweep privacy --audit": "takes hours",
    "simcounsel train compare trainings/privacy --csv privacy.csv": "wants what that makes",
    "simcounsel train compare trainings/privacy --attacks": "wants what that makes",
    "simcounsel train audit trainings/privacy/CELL --round 2": "wants what that makes",
    "simcounsel train plan qwen_7b": "its base lies on a hub",
    "simcounsel train federate qwen_7b": "its base lies on a hub",
    "simcounsel train audit trainings/qwen_7b --sessions 12": "wants what that makes",
}
run = CliRunner()


@pytest.mark.slow(10)
@pytest.mark.parametrize("pages", STORIES, ids=lambda pages: Path(pages[0]).stem)
def test_what_the_pages_type_runs(
    pages: list[str], tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As written and in that order, with the recipes that are included, but a very small base."""
    configs = tmp_path / "configs"
    shutil.copytree(shipped.FOLDER, configs)
    for file in configs.glob("*.yaml"):
        told = yaml.safe_load(file.read_text(encoding="utf-8"))
        if "sample" in told:
            told |= {"base": str(tiny), "device": "cpu", "sample": 14, "rounds": 1}
            told["learning"] = {"learning_rate": 2e-3, "max_tokens": 1600}
            told.get("lora", {}).pop("targets", None)  # layers that the very small base lacks
            told["privacy"] = told["privacy"] if told["privacy"] == "none" else PRIVATE
        file.write_text(yaml.safe_dump(told), encoding="utf-8")
    monkeypatch.setattr(shipped, "FOLDER", configs)
    monkeypatch.chdir(tmp_path)
    typed = [one for page in pages for one in TYPED[page] if one not in NOT_RUN]
    for command in typed:
        words = shlex.split(command)[2:]
        done = run.invoke(app, [*words, *QUICK.get(words[0], [])])
        assert done.exit_code == 0, f"{command}\n{done.output}\n{done.exception}"
    trains = any(shlex.split(one)[2] in ("tune", "federate") for one in typed)
    assert bool(list(tmp_path.glob("trainings/*/adapter"))) is trains


def test_no_page_that_trains_is_left_out() -> None:
    told = {page for pages in STORIES for page in pages}
    assert {one for page in TYPED.keys() - told for one in TYPED[page]} <= NOT_RUN.keys()


def test_recipes_come_along_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shipped.recipe(Path("smoke")) == shipped.FOLDER / "smoke.yaml"
    assert shipped.named(shipped.FOLDER / "smoke.yaml") == "smoke"
    for path in (Path("smoke.yaml"), Path("mine/smoke"), Path("nobody")):
        assert shipped.recipe(path) == path and shipped.named(path) == str(path)
    Path("smoke").write_text("mine", encoding="utf-8")
    assert shipped.recipe(Path("smoke")) == Path("smoke"), "what lies there comes first"
    assert {f"{name}.yaml" for name in shipped.recipes()} == {
        file.name for file in (ROOT / "training" / "configs").iterdir()
    }
    said = run.invoke(app, ["account", "nobody"])
    assert said.exit_code == 1 or "nobody" in str(said.exception)


def test_every_command_is_in_the_readme_and_has_help() -> None:
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        assert f"simcounsel train {name}" in TEXT, name
        shown = run.invoke(app, [name, "--help"])
        assert shown.exit_code == 0 and len(shown.output) > 200


@pytest.mark.slow
def test_from_a_corpus_to_an_adapter_that_was_attacked(
    recipe_file: Recipes, tmp_path: Path
) -> None:
    file, out = recipe_file(rounds=3), tmp_path / "trained"
    done = run.invoke(app, ["tune", str(file), "--out", str(out)])
    assert done.exit_code == 0, done.output
    before, after = map(
        float, re.findall(r"held-out loss ([\d.]+) before, ([\d.]+) after", done.output)[0]
    )
    assert after < before
    again = run.invoke(app, ["tune", str(file), "--out", str(out)])
    assert again.exit_code == 0 and f"{after:.4f} after" in again.output, (
        "a finished training is told, not repeated"
    )
    attacked = run.invoke(
        app, ["audit", str(out), "--bootstrap", "50", "--json", str(tmp_path / "audit.json")]
    )
    assert attacked.exit_code == 0, attacked.output
    assert "reference" in attacked.output and json.loads(
        (tmp_path / "audit.json").read_text(encoding="utf-8")
    )


@pytest.mark.slow
def test_from_sites_to_a_private_adapter(
    recipe_file: Recipes, tmp_path: Path, corpus: Path
) -> None:
    dealt = run.invoke(app, ["sites", str(corpus), "-n", "2", "--out", str(tmp_path / "clinics")])
    assert dealt.exit_code == 0 and "site-1: " in dealt.output, dealt.output
    folders = {f"site-{n}": str(tmp_path / "clinics" / f"site-{n}.jsonl") for n in (1, 2)}
    file = recipe_file(corpus=None, folders=folders, rounds=1, batch_size=1, privacy=PRIVATE)
    counted = run.invoke(app, ["account", str(file), "--no-table"])
    assert counted.exit_code == 0 and "session" in counted.output, counted.output
    done = run.invoke(app, ["federate", str(file), "--out", str(tmp_path / "trained")])
    assert done.exit_code == 0, done.output
    assert "round    1 of 1   2 of 2 sites answered" in done.output
    assert "epsilon" in (tmp_path / "trained" / "adapter" / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_missing_package_is_named_with_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text(
        "corpus: samples\nbatch_size: 2\nprivacy: none\n", encoding="utf-8"
    )
    code = (
        "import sys; sys.modules['peft'] = None; sys.argv = ['training', 'tune', sys.argv[1], '--out', sys.argv[2]]\n"
        "from training.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "recipe.yaml"), str(tmp_path / "out")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr.strip()) == (
        1,
        "training: the package peft is missing; pip install -e '.[train]'",
    )


def test_a_long_account_shows_how_far_it_is() -> None:
    """A plan of mixtures takes a minute; on a terminal a bar says so, in a pipe nothing is added."""
    command = ["account", str(ROOT / "training/configs/mindchat.yaml"), "--epsilon", "8"]
    shown = run.invoke(app, command, env={"FORCE_COLOR": "1", "COLUMNS": "100"})
    assert shown.exit_code == 0
    told = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.stderr)
    assert "counting the plan" in told and "counting the table" in told and "3/3" in told
    assert not run.invoke(app, command, env={"FORCE_COLOR": ""}).stderr.strip()
