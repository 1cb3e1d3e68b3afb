"""Who worded a line: named where it is shown, counted and exported, by the call that it came from."""

import json
from pathlib import Path

import pytest

from simcounsel.corpus.reading import read_dialogues
from simcounsel.engine.forking import fork
from simcounsel.engine.simulation import Simulation
from simcounsel.gallery import folder_of
from simcounsel.runs.authors import author, in_words, lines_text
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.runs.summary import summarize
from simcounsel.viewer.parts import conversation
from tests.commands import Command
from tests.each import each


@each(
    ("source", "model", "told"),
    [
        ("generated", "byhand:answers", "by hand"),
        ("generated", "scripted", "random"),
        ("generated", "scripted:planted=4", "random"),
        ("generated", "http://localhost:11434/v1/qwen3:14b", "model qwen3:14b"),
        ("generated", "openai:gpt-4o", "model openai:gpt-4o"),
        ("generated", "embedded+adapter=/a/b/mine#12", "model embedded+adapter=mine#12"),
        ("generated", "", "a model"),
        ("chosen", "embedded", "chosen"),
        ("random", "embedded", "random"),
        ("fallback", "openai:gpt-4o", "ready-made"),
        ("human", "byhand:answers", "by a person"),
    ],
)
def test_who_worded_a_line(source: str, model: str, told: str) -> None:
    assert author(source, model) == told


def test_how_many_lines_came_about_how() -> None:
    assert in_words("model x") == "written by model x"
    assert lines_text({}) == "no lines"
    assert lines_text({"random": 1}) == "1 line, put together at random by the scripted model"
    told = lines_text({"by hand": 2, "model x": 1})
    assert told == "3 lines: 2 written by hand, as answers to the prompts; 1 written by model x"


def labels(run: Run) -> set[str]:
    """As the page of a run shows them."""
    history = History.of(run)
    shown = [conversation(history, one.id) for one in history.outline()]
    return {line["author"] for talk in shown if talk for line in talk["lines"]}


def test_lines_at_random_are_called_so(simcounsel: Command, lived: Run, tmp_path: Path) -> None:
    assert labels(lived) == {"random"}
    assert "all put together at random" in simcounsel("show", lived.folder).out
    assert "all put together at random" in simcounsel("show", lived.folder, "--conversation", 1).out
    assert {t.source for one in read_dialogues(lived.folder) for t in one.turns} == {"random"}


@pytest.mark.slow(3)
def test_lines_by_hand_are_called_so_in_replays_and_forks_too(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMCOUNSEL_CACHE", str(tmp_path / "cache"))
    run = Run.open("gallery:first-days")
    assert labels(run) == {"by hand"}
    assert summarize(run).authors.keys() == {"by hand"}
    assert simcounsel("export", run.folder, "-o", "data", "--format", "native").code == 0
    card = json.loads(Path("data/card.json").read_text("utf-8"))
    assert card["lines"].keys() == {"by hand"}
    with Simulation(run.world, model=f"recorded:{run.folder}", out=tmp_path / "again") as again:
        replay = again.run(14)
    assert labels(replay) == summarize(replay).authors.keys() == {"by hand"}
    changed = fork(run, 40, {"models.reason": "scripted"}, tmp_path / "forked")
    with Simulation(changed.world, run=changed) as on:
        on.run(60)
    assert labels(changed) == summarize(changed).authors.keys() == {"by hand", "random"}


def test_a_sessions_lines_name_who_wrote_them(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMCOUNSEL_CACHE", str(tmp_path / "cache"))
    session = simcounsel("show", "gallery:synthesis", "--conversation", 1).out
    assert "by hand):" in session and "generated" not in session
    assert "16 lines, all written by hand" in simcounsel("show", "gallery:synthesis").out
    turns = [turn for one in read_dialogues(folder_of("synthesis")) for turn in one.turns]
    assert {turn.source for turn in turns} == {"by hand"}
