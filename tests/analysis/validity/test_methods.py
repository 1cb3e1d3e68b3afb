"""A plan is registered before anything is asked; the study's methods say what was done otherwise."""

import json
from pathlib import Path

import pytest

from analysis.validity.methods.deviations import deviations, read_registration
from simcounsel.errors import RunError
from tests.commands import Command
from tests.stage import ROOT

PLANTED = ROOT / "experiments" / "planted_effect.yaml"


def experiment(folder: Path, **changes: str) -> Path:
    text = (
        PLANTED.read_text("utf-8")
        .replace("../", f"{ROOT}/")
        .replace("repetitions: 2", "repetitions: 1")
    )
    clients = [
        line for line in text.splitlines() if line.startswith("  - /") and "ines" not in line
    ]
    for line in clients:
        text = text.replace(line + "\n", "")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    file = folder / "e.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_what_was_registered_is_held_against_what_was_run(
    simcounsel: Command, tmp_path: Path
) -> None:
    registered = simcounsel("sweep", experiment(tmp_path), "--preregister", "plan.json")
    assert registered.code == 0, registered.err
    assert not Path("sweeps").exists(), "nothing is run"
    body = read_registration(Path("plan.json"))
    assert body["digest"] in registered.out and len(body["worlds"]) == 2
    again = simcounsel("sweep", experiment(tmp_path), "--preregister", "plan.json")
    assert again.code == 1 and "is not written over" in again.err
    assert (
        simcounsel("sweep", experiment(tmp_path), "--out", "s", "--quiet", "--processes", "1").code
        == 0
    )
    assert list(deviations(body, Path("s"))) == []
    made = simcounsel("study", "methods", "s", "--registered", "plan.json", "-o", "m.md")
    assert made.code == 0, made.err
    assert "nothing was done otherwise than registered" in made.out
    text = Path("m.md").read_text("utf-8")
    assert all(f"## {n}. " in text for n in range(1, 8)), "the seven elements of ODD"
    assert f"digest `{body['digest']}`" in text and "- None: plan, worlds" in text
    assert "### line_client (`" in text.replace("\\", "") and "### self_report (`" in text.replace(
        "\\", ""
    )
    assert "Ines and Miriam, days 0 at 09:00" in text
    assert "0.1 recency + 0.4 poignancy" in text


def test_each_deviation_is_said(simcounsel: Command, tmp_path: Path) -> None:
    assert simcounsel("sweep", experiment(tmp_path), "--preregister", "plan.json").code == 0
    changed = experiment(
        tmp_path, **{"spread=1.5": "spread=2", "direction: lower": "direction: higher", "repetitions: 1": "seeds: [1, 2]"}
    )  # fmt: skip
    assert simcounsel("sweep", changed, "--out", "s", "--quiet", "--processes", "2").code == 0
    body = read_registration(Path("plan.json"))
    body["prompts"] |= {"line_of_old.txt": "0" * 16}
    body["created"] = "2099-01-01T00:00:00Z"
    body["worlds"]["walter-s1-alone"] = {}
    found = "\n".join(deviations(body, Path("s")))
    for said in (
        "The seeds are others than registered: [1, 2]",
        "The planned tests are others than registered",
        "1 of 3 registered runs are not there: walter-s1-alone",
        "2 runs were not registered: ines-s2-alone, ines-s2-counselor",
        "`models` is another than registered in 2 of 3 runs",
        "Prompts are others than registered (line_of_old.txt) in 2",
        "The run began before the registration in 2",
    ):
        assert said in found, found


def test_a_registration_that_was_changed_is_none(simcounsel: Command, tmp_path: Path) -> None:
    assert simcounsel("sweep", experiment(tmp_path), "--preregister", "plan.json").code == 0
    body = json.loads(Path("plan.json").read_text("utf-8"))
    Path("forged.json").write_text(json.dumps(body | {"created": "2020-01-01T00:00:00Z"}), "utf-8")
    with pytest.raises(RunError, match="was changed since it was written"):
        read_registration(Path("forged.json"))
    Path("other.json").write_text("{}", "utf-8")
    with pytest.raises(RunError, match="no registration; write one with"):
        read_registration(Path("other.json"))
    with pytest.raises(RunError, match="no sweep is there"):
        list(deviations(read_registration(Path("plan.json")), tmp_path))


def test_a_model_that_does_not_exist_yet_can_be_registered(
    simcounsel: Command, tmp_path: Path
) -> None:
    ended = simcounsel("sweep", experiment(tmp_path), "--model", "openai:gpt-99", "--preregister", "later.json")  # fmt: skip
    assert ended.code == 0, ended.err
    assert "gpt-99" in ended.out


def test_a_gallery_run_is_described(simcounsel: Command) -> None:
    ended = simcounsel("study", "methods", "gallery:first-days", "-o", "g.md")
    assert ended.code == 0, ended.err
    text = Path("g.md").read_text("utf-8")
    assert "Ines and Omar: closeness 6" in text and "No registration was given" in text
