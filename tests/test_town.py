"""A town without counseling: it runs, and all that its tutorial says is typed, saved and run, top to bottom."""

import re
from pathlib import Path
from typing import Any

import pytest

from simcounsel.events import Said
from simcounsel.runs.run import Run
from simcounsel.specs.world_file import load_world
from tests.commands import Command, only_run
from tests.pages import PAGES
from tests.stage import ROOT, happened

pytest.importorskip("pandas", reason="pip install -e '.[analysis]'")

PAGE = PAGES["docs/tutorials/town.md"]
QUICK = {"repetitions: 5": "repetitions: 1", "ticks=12": "ticks=4", '"seed": [1, 2]': '"seed": [1]'}
BLOCK = re.compile(
    r"(?:[Ss]ave this as `([\w.]+)`(?:(?!```).)*?)?^```(\w*)\n(.*?)^```", re.S | re.M
)
"""A file's name, where it is one to save; its language; its text."""


def test_nobody_in_the_town_is_a_client_or_a_counselor() -> None:
    world = load_world("town")
    assert {one.role for one in world.present()} == {"layperson"}
    assert "counsel" not in " ".join(place.name.lower() for _, place in world.every_place())


def test_its_people_meet_and_talk(tmp_path: Path, simcounsel: Command) -> None:
    """As the first line of its file says, with the model that needs nothing."""
    done = simcounsel("run", "town", "--ticks", 24, "--model", "scripted", "-o", tmp_path / "runs")
    assert done.code == 0, done.err
    run: Run = only_run(tmp_path / "runs")
    assert {line.who for line in happened(run, Said)} == {"Ben", "Grace", "Omar"}
    for words in (["verify"], ["show"], ["view", "--html", tmp_path / "page.html"]):
        done = simcounsel(words[0], run.folder, *words[1:])
        assert done.code == 0, done.err
    fork = ("--at", 12, "--do", "mute:Omar", "--ticks", 2, "-o", tmp_path / "forks")
    assert simcounsel("fork", run.folder, *fork).code == 0


def test_the_tutorial_has_at_most_150_lines_of_code() -> None:
    assert sum(len(text.splitlines()) for _, _, text in BLOCK.findall(PAGE)) <= 150


def test_all_of_the_tutorial_runs(
    tmp_path: Path, simcounsel: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer repetitions and ticks, and the scripted model where the page names none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMCOUNSEL_CODE", "")  # `allow_code` writes it
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("personas", "worlds"):
        (tmp_path / name).symlink_to(ROOT / name)
    found: dict[str, Any] = {}
    for file, language, text in BLOCK.findall(PAGE):
        for usual, quick in QUICK.items():
            text = text.replace(usual, quick)
        if file:
            Path(file).write_text(text, encoding="utf-8")
        if language == "python":
            exec(compile(text, file or "docs/tutorials/town.md", "exec"), found)
        for command in text.splitlines() if not language else ():
            asks = command.startswith("simcounsel run ")
            words = [*command.split()[1:], *(["--model", "scripted"] if asks else [])]
            done = simcounsel(*words)
            assert done.code == 0, f"{command}\n{done.out}\n{done.err}"
    assert sorted(found["know"].columns) == ["no-table", "table"]
    assert found["know"].min().min() >= 1 and found["know"].max().max() > 1, "Abe knows, and tells"
    assert set(found["agents"]["name"].dropna()) == set(found["NAMES"])
    page = Path("cafe-report/report.md").read_text(encoding="utf-8")
    assert "Models that read prompts answered 0.0% of" in page
