"""People rate dialogues of a corpus: the judge's questions word for word, blind, the judge's sample."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simcounsel.cli import app
from simcounsel.corpus.rated import label_of
from simcounsel.corpus.sampling import draw
from simcounsel.errors import StudyError
from simcounsel.instruments.scale import find_scale
from simcounsel.studies.instrument import load_instrument
from simcounsel.studies.items import Choice
from simcounsel.studies.making import is_corpus, make_study
from simcounsel.studies.study import open_key
from tests.corpus.made import dialogue


def written(folder: Path, name: str = "mine.jsonl", condition: str | None = None) -> Path:
    lines = [
        dialogue(
            f"{theme}-{n}",
            f"I am Marit, number {n}, it is {theme}.",
            "Tell me, Marit.",
            "It is Jon.",
            "Jon again?",
            theme=theme,
            client=f"{theme}{n}",
            names=("Marit", "Jon"),
            condition=condition,
        ).model_dump_json()
        for theme in ("sleep", "grief")
        for n in range(5)
    ]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / name


def test_people_and_judge_answer_the_same_questions() -> None:
    scale, asked = find_scale("dialogue_quality"), load_instrument("dialogue_quality")
    assert {item.id: item.text for item in asked.items} == {
        item.id: item.text for item in scale.items
    }
    assert {item.points for item in asked.items} == {10}
    assert (scale.range.min, scale.range.max) == (1, 10)
    assert [part.id for part in scale.subscales] == [
        "professionalism",
        "helpfulness",
        "guidance",
        "emotion",
        "trust",
    ]


def test_people_and_judge_are_asked_the_same_about_the_experience() -> None:
    scale, asked = find_scale("conversation_experience"), load_instrument("conversation_experience")
    assert [(item.id, item.text) for item in asked.items] == [
        (item.id, item.text) for item in scale.items
    ]
    assert {item.points for item in asked.items} == {5}
    assert (scale.range.min, scale.range.max) == (1, 5)
    assert {item.id for item in scale.items if item.reverse} == {"o1", "u1"}


def test_a_study_of_a_corpus(tmp_path: Path) -> None:
    file = written(tmp_path, condition="no_evaluator")
    study = make_study(
        [file], load_instrument("dialogue_quality"), tmp_path / "study", choice=Choice(most=4)
    )
    key = open_key(tmp_path / "study")
    from simcounsel.corpus.reading import read_dialogues

    assert {origin.chat for origin in key.items.values()} == {
        one.id for one in draw(read_dialogues(file), 4).dialogues
    }
    assert {(origin.run, origin.condition) for origin in key.items.values()} == {
        ("mine", "no_evaluator")
    }
    shown = study.model_dump_json()
    assert "Marit" not in shown and "Jon" not in shown and "no_evaluator" not in shown
    assert "[person 1]" in shown
    assert {line.speaker for item in study.items for line in item.lines} == {"Client", "Counselor"}


def test_the_command_line_makes_one_and_takes_answers_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    made = CliRunner().invoke(
        app,
        [
            "study",
            "rate-page",
            "mine.jsonl",
            "--instrument",
            "dialogue_quality",
            "--raters",
            "2",
            "--out",
            "study",
        ],
    )
    assert made.exit_code == 0, made.output
    assert "10 transcripts, 10 questions each, 2 raters" in made.output
    study = json.loads((tmp_path / "study" / "study.json").read_text())
    rater = study["raters"][0]
    line = {
        "study": study["study"],
        "rater": rater["name"],
        "item": rater["order"][0],
        "position": 1,
        "time": "2026-03-02T10:15:00.000Z",
        "answers": {item["id"]: 7 for item in study["instrument"]["items"]},
        "comment": "",
        "seconds": 9.0,
    }
    (tmp_path / "back.jsonl").write_text(json.dumps(line) + "\n")
    done = CliRunner().invoke(
        app,
        ["study", "rate-page", "--out", "study", "--import", "back.jsonl", "--csv", "ratings.csv"],
    )
    assert done.exit_code == 0, done.output
    rows = (tmp_path / "ratings.csv").read_text().splitlines()
    assert len(rows) == 11 and ",mine," in rows[1]


def test_runs_and_corpora_are_told_apart(tmp_path: Path) -> None:
    file = written(tmp_path)
    assert is_corpus(file) and is_corpus(Path("samples"))
    assert not is_corpus(tmp_path / "nowhere")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text('{"world": {"name": "w"}}')
    assert not is_corpus(tmp_path / "run") and not is_corpus(tmp_path)
    (tmp_path / "written").mkdir()
    (tmp_path / "written" / "manifest.json").write_text('{"synthesis": {"name": "s"}}')
    assert is_corpus(tmp_path / "written")
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "card.json").write_text("{}")
    assert is_corpus(tmp_path / "export")


def test_personas_are_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="holds transcripts"):
        make_study([written(tmp_path)], load_instrument("persona_change"), tmp_path / "study")


def test_names_of_corpora(tmp_path: Path) -> None:
    assert label_of(Path("a/mind.v2.jsonl")) == "mind.v2"
    assert label_of(Path("a/corpus.jsonl")) == "a/corpus"
    assert label_of(Path("samples")) == "samples"
    assert label_of(Path("runs/20260101-120000")) == "20260101-120000"
