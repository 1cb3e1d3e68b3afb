"""Other people's files, as PsychEval, CPsyCounD, SMILECHAT and ExTES have them, through all that reads a corpus: checked, rated by a judge,
reported, exported, shown to people. The fixtures are texts of our own in their shape.
"""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from analysis.__main__ import app as analysis
from simcounsel.cli import app as simcounsel
from simcounsel.corpus.reading import read_dialogues
from simcounsel.errors import CorpusError
from simcounsel.studies.study import open_study
from tests.each import each

DATA = Path(__file__).parents[1] / "data" / "foreign"


class Source(NamedTuple):
    """Files of one kind, and what is in them."""

    place: str
    dialogues: dict[str, str | None]
    """Each with its condition."""
    fit: int
    """How many have four lines, as people are shown."""
    asked: str
    """How a judge is addressed."""
    said: str
    kept: tuple[str, ...]
    """What was thought and noted, which only an export with reasoning shows."""


SOURCES = {
    "psycheval": Source(
        "therapies",
        {"psycheval:7/1": "cbt", "psycheval:7/2": "cbt"},
        1,
        "You are an observer",
        "Two are plenty.",
        ("He has not told of a night yet.", "Write down three nights."),
    ),
    "cpsycoun": Source(
        "cpsycoun",
        {"case_2:1": None, "case_10:1": None},
        1,
        "你是咨询研究中的观察者",
        "一点醒了",
        (),
    ),
    "smilechat": Source(
        "smilechat", {"2:1": None, "10:1": None}, 1, "你是咨询研究中的观察者", "楼下那棵树", ()
    ),
    "extes": Source(
        "extes.json",
        {"extes:1": None, "extes:2": None},
        1,
        "You are an observer",
        "I talk to the dough.",
        (),
    ),
}


@pytest.fixture(params=SOURCES)
def source(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Source:
    """A folder of such files, beside which we are."""
    monkeypatch.chdir(tmp_path)
    for folder in ("cpsycoun", "smilechat"):
        shutil.copytree(DATA / folder, tmp_path / folder)
    shutil.copy(DATA / "extes.json", tmp_path)
    (tmp_path / "therapies").mkdir()
    shutil.copy(DATA / "psycheval.json", tmp_path / "therapies" / "psycheval.json")
    return SOURCES[request.param]


def told(app: object, *words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, list(words))  # type: ignore[arg-type]
    assert done.exit_code == code, done.output
    return done


@pytest.mark.slow
def test_a_judge_rates_them_and_a_report_compares(source: Source, tmp_path: Path) -> None:
    rate = ("corpus", "rate", source.place, "--model", "scripted")
    told(simcounsel, *rate)
    told(simcounsel, *rate, "--instrument", "session_alliance")
    files = sorted((tmp_path / f"{source.place}.ratings").glob("*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    calls = [line for line in lines if line.get("purpose") == "judge_block"]
    prompts = [" ".join(one["content"] for one in call["messages"]) for call in calls]
    assert len(prompts) == 4 and sum(source.said in prompt for prompt in prompts) == 2
    for prompt in prompts:
        assert source.asked in prompt and "<think>" not in prompt
        assert not any(one in prompt for one in source.kept)
    told(analysis, "corpus", source.place, "-o", "report")
    summary = pd.read_csv("report/tables/summary.csv")
    assert set(summary["instrument"]) == {"dialogue_quality", "session_alliance_from_transcript"}
    assert set(summary["n"]) == {2}, "every dialogue was rated"
    counted = pd.read_csv("report/tables/dialogues.csv", keep_default_na=False)
    found = dict(zip(counted["dialogue"], counted["condition"], strict=True))
    assert found == {id: condition or "" for id, condition in source.dialogues.items()}


def test_people_are_shown_them_without_what_was_thought(source: Source, tmp_path: Path) -> None:
    page = (
        "study",
        "rate-page",
        source.place,
        "--instrument",
        "dialogue_quality",
        "--out",
        "study",
    )
    told(simcounsel, *page, "--raters", "1")
    study = open_study(tmp_path / "study")
    assert len(study.items) == source.fit
    shown = " ".join(line.text for item in study.items for line in item.lines)
    assert source.said in shown or source.place == "therapies"
    assert "<think>" not in shown and "Tomasz" not in shown
    assert not any(one in shown for one in source.kept)


def test_they_are_checked_and_exported(source: Source, tmp_path: Path) -> None:
    found = json.loads(told(simcounsel, "corpus", "check", source.place, "--json", code=1).stdout)
    assert found["dialogues"] == 2
    short = {one["dialogue"] for one in found["findings"] if one["rule"] == "too_short"}
    assert len(short) == 1, "of two lines"
    made = ("export", source.place, "--no-check", "--split", "100,0,0", "--reasoning")
    told(simcounsel, *made, "--format", "trl", "-o", "out")
    rows = [
        json.loads(line)
        for line in (tmp_path / "out" / "train.jsonl").read_text("utf-8").splitlines()
    ]
    text = json.dumps(rows, ensure_ascii=False)
    assert source.said in text and all(one in text for one in source.kept)
    card = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    assert card["counts"]["dialogues"] == 2


def test_messages_by_name_keep_their_strategy_scene_and_description() -> None:
    first, second = read_dialogues(DATA / "extes.json")
    assert [(turn.speaker, turn.skill) for turn in first.turns] == [
        ("client", None),
        ("counselor", "Reflective Statements"),
        ("client", None),
        ("counselor", "Clarification"),
    ]
    assert first.turns[3].text == "What do you tell it?"
    assert (first.theme, first.situation) == (
        "Moving away",
        "A baker has moved to another town and misses the old oven.",
    )
    assert [turn.skill for turn in second.turns] == [None, None]


PAIR = [{"role": "client", "content": "A."}, {"role": "counselor", "content": "B."}]


@each(
    ("name", "text", "count"),
    [
        ("a.json", json.dumps(PAIR), 1),
        ("a.json", json.dumps([PAIR, PAIR]), 2),
        ("a.jsonl", f"{json.dumps(PAIR)}\n{json.dumps(PAIR)}\n", 2),
        ("a.json", json.dumps([{"User": "A."}, {"AI": "B."}]), 1),
        ("a.json", json.dumps([{"User": "A.", "AI": "B."}]), 1),
        ("a.jsonl", f"{json.dumps([{'User': 'A.'}, {'AI': 'B.'}])}\n", 1),
        ("a.json", json.dumps([{"content": [{"User": "A."}, {"AI": "B."}]}]), 1),
        ("a.json", json.dumps([{"messages": PAIR}, {"messages": PAIR}]), 2),
        (
            "a.json",
            json.dumps(
                [
                    {"role": "user", "content": [{"type": "text", "text": "A."}]},
                    {"role": "ai", "content": "B."},
                ]
            ),
            1,
        ),
    ],
)
def test_bare_lists(tmp_path: Path, name: str, text: str, count: int) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = read_dialogues(tmp_path / name)
    assert len(found) == count
    for one in found:
        assert [(turn.speaker, turn.text) for turn in one.turns] == [
            ("client", "A."),
            ("counselor", "B."),
        ]


@each(
    ("data", "told"),
    [
        ([1, 2], "expected a dialogue as a JSON object"),
        ([[1]], "expected a dialogue as a JSON object"),
        (
            [{"role": "client", "content": "A."}, {"role": "martian", "content": "B."}],
            "no speaker 'martian'",
        ),
        ([{"Martian": "B."}], "no dialogue in it"),
    ],
)
def test_what_is_no_dialogue_is_named(tmp_path: Path, data: object, told: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(CorpusError, match=told):
        read_dialogues(tmp_path / "a.json")


def test_a_strategy_that_esconv_notes_is_kept(tmp_path: Path) -> None:
    row = {
        "problem_type": "job",
        "situation": "Lost a job.",
        "dialog": [
            {"speaker": "seeker", "annotation": {}, "content": "I lost it."},
            {"speaker": "supporter", "annotation": {"strategy": "Question"}, "content": "When?"},
        ],
    }
    (tmp_path / "a.json").write_text(json.dumps([row]), encoding="utf-8")
    (one,) = read_dialogues(tmp_path / "a.json")
    assert [turn.skill for turn in one.turns] == [None, "Question"]
