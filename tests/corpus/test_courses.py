"""Courses in a corpus: of our runs, and in the files that PsychEval and CPsyCoun publish. The fixtures are texts of our own
in their shape.
"""

import copy
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simcounsel.cli import app
from simcounsel.corpus.checks import check_dialogues
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.export import Export, export
from simcounsel.corpus.formats import FORMATS
from simcounsel.corpus.reading import read_dialogues
from simcounsel.corpus.redaction import redact
from simcounsel.corpus.split import Shares
from simcounsel.corpus.teaching import Teaching
from simcounsel.errors import CorpusError
from tests.each import each
from tests.therapies.held import held, world

DATA = Path(__file__).parents[1] / "data" / "foreign"
CHATS = ("openai", "sharegpt", "alpaca", "trl")
PLAIN = [name for name, form in FORMATS.items() if not form.paired]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions of a course."""
    made = world(sessions=5)
    run, _ = held(tmp_path_factory.mktemp("course") / "run", made, ticks=made.appointed()[1] + 1)
    return run.folder


@pytest.fixture(scope="module")
def published() -> tuple[Dialogue, ...]:
    return read_dialogues(DATA / "psycheval.json")


def written(source: Path, out: Path, format: str, **options: Any) -> str:
    """What is in train of an export, whichever way it is written."""
    teaching = Teaching(reasoning=format != "native")
    wanted = Export(
        format=format,
        teaching=options.pop("teaching", teaching),
        shares=Shares.parse("100,0,0"),
        checked=False,
        **options,
    )
    export([source], out, wanted)
    file = out / f"train.{FORMATS[format].suffix}"
    if format == "parquet":
        table = import_module("pyarrow.parquet").read_table(file)
        return json.dumps(table.to_pylist(), ensure_ascii=False)
    return file.read_text(encoding="utf-8").replace('\\"', '"')


def test_a_published_course_keeps_what_was_thought(published: tuple[Dialogue, ...]) -> None:
    first, second = published
    assert [turn.speaker for turn in first.turns] == ["counselor", "client"] * 2
    said = first.turns[0]
    assert said.text.startswith("Thank you for coming, Tomasz.")
    assert said.assessment == "He has not told of a night yet."
    assert (said.client_state, said.reasoning) == ("Tired, polite.", "Begin with last Sunday.")
    assert said.skills == ("one night in detail", "40: thank for coming")
    assert first.turns[2].text.endswith("until we meet again?")
    assert first.plan == ("Getting to know the nights", "Thoughts at three")
    assert [turn.speaker for turn in second.turns] == ["client", "counselor"]
    assert [(one.number, one.first) for one in second.sessions] == [(1, None), (2, 1)]
    kept = second.sessions[0]
    assert kept.homework == ("Write down three nights.",)
    assert kept.unresolved == ("What he fears at the wheel.",)
    assert kept.client_state == "Tired and willing."
    assert (first.client, first.condition, first.theme) == (second.client, "cbt", "sleep")
    assert not any(found.rule == "leak" for found in check_dialogues(published).findings)


FIGURES = DATA / "psycheval_figures.json"
"""In the shape of the paper's figures 42 to 53, where the client's file and the plan hold more."""


def leaves(value: Any, key: str = "") -> list[tuple[str, str]]:
    """All texts within, each with its key."""
    if isinstance(value, dict):
        return [found for name, inner in value.items() for found in leaves(inner, name)]
    if isinstance(value, list):
        return [found for inner in value for found in leaves(inner, key)]
    return [(key, str(value))]


def test_what_the_paper_counts_is_kept() -> None:
    (held,) = read_dialogues(FIGURES)
    assert held.turns[0].skills == (
        "324: Thank her for coming; say that she may stop at any time",
        "begin a working alliance",
    )
    assert held.turns[2].skills == ("say what is felt",)
    (kept,) = held.sessions
    assert kept.skills == ("begin a working alliance", "say what is felt")
    assert kept.schools == ("humanistic_existential", "cbt")
    assert kept.links == ("static_traits.name: Wen", "main_problem: reads letters twice")
    assert kept.material == ("Homework: count once.", "Task: speak of the grandmother next time.")
    assert kept.reason == "Trust comes before counting."
    assert kept.goals_met == ("开场 welcome",)
    assert kept.goal_assessment and "She named forty letters." in kept.goal_assessment
    assert kept.client_state and "alone at noon" in kept.client_state
    assert held.situation and "cbt.special_situations.event: a full tray" in held.situation
    assert "pdt.core_conflict.wish: to be trusted with secrets" in held.situation
    for line in ("marital_status: engaged", "social_status: few", "medical_history: migraine"):
        assert f"static_traits.{line}" in held.situation
    assert "static_traits.language_features: speaks in half sentences" in held.situation
    assert (held.theme, held.names, held.plan) == (
        "个人成长",
        ("Wen",),
        ("The tray", "The grandmother"),
    )
    assert held.note == "not taken from the file: unlocked_client_info"


def test_nothing_of_a_published_course_is_dropped_without_a_word() -> None:
    """Each text of the file is in the dialogue; else it is of a skill's description, or of a session that was never held."""
    data = json.loads(FIGURES.read_text(encoding="utf-8"))
    of_skills = {"meta_skill", "skill_description", "when_to_use", "trigger", "sect", "skill_id"}
    never = data["global_plan"][0]["content"].pop("第2次_session_content")
    assert never["theme"] == read_dialogues(FIGURES)[0].plan[1]
    (held,) = read_dialogues(FIGURES)
    text = held.model_dump_json().replace("\\\\n", "\n").replace('\\\\"', '"')
    numbers = {"stage_number", "stage_name", "sessions", "session_number", "theory_select", "role"}
    for key, value in leaves(data):
        if key in of_skills | numbers | {"a", "completion_status"} or not value:
            continue
        shown = value.split("</think>")[-1] if key == "text" else value
        assert shown in text, f"{key}: {shown}"


def test_names_are_hidden_in_all_that_is_kept(tmp_path: Path) -> None:
    (hidden,) = redact(read_dialogues(FIGURES)).dialogues
    assert "Wen" not in hidden.model_dump_json()
    text = written(FIGURES, tmp_path / "out", "parquet")
    assert "Trust comes before counting." in text and "Go through one letter." not in text
    (again,) = read_dialogues(tmp_path / "out")
    (first,) = read_dialogues(FIGURES)
    assert again.sessions == first.sessions


@each("format", CHATS)
def test_a_counselor_learns_nothing_that_it_could_not_know(format: str, tmp_path: Path) -> None:
    """What the plan takes from the client's file, and what became of the session, are in no prompt."""
    text = written(FIGURES, tmp_path / "out", format)
    for secret in ("hidden letters", "reads letters twice", "Trust comes before", "to be blamed"):
        assert secret not in text


@each("format", PLAIN)
def test_every_format_holds_the_course(format: str, tmp_path: Path) -> None:
    text = written(DATA / "psycheval.json", tmp_path / "out", format)
    for kept in (
        "Two are enough.",
        "A little ashamed.",
        "Take the first.",
        "Read the diary together.",
        "He told of one night awake and agreed to a diary.",
        "Write down three nights.",
        "They read the first night of the diary.",
        "Thoughts at three",
    ):
        assert kept in text, f"{format}: {kept}"


@each("format", PLAIN)
@each("course", ["session", "whole"])
def test_an_export_is_read_again(format: str, course: str, tmp_path: Path) -> None:
    written(DATA / "psycheval.json", tmp_path / "out", format, course=course)
    again = read_dialogues(tmp_path / "out")
    assert len(again) == (1 if course == "whole" else 2)
    lines = [turn.text for one in again for turn in one.turns]
    expected = [turn.text for one in read_dialogues(DATA / "psycheval.json") for turn in one.turns]
    if course == "whole" and format in CHATS:
        # The first session ends and the second begins with the client: one message of the chat.
        expected[3:5] = ["\n\n".join(expected[3:5])]
    elif format in CHATS:
        del expected[3]  # what the other says last teaches nothing
    if format in ("parquet", "native"):
        assert again[0].sessions
    assert lines == expected


def test_one_long_conversation_says_where_a_session_begins(tmp_path: Path) -> None:
    text = written(DATA / "psycheval.json", tmp_path / "out", "openai", course="whole")
    (row,) = map(json.loads, (tmp_path / "out" / "train.jsonl").read_text().splitlines())
    roles = [one["role"] for one in row["messages"]]
    assert roles == ["system", *["user", "assistant"] * 4]
    assert "[Between sessions: session 2 begins." in text
    assert "Read the diary together." not in row["messages"][0]["content"]


def test_a_client_learns_nothing_of_the_counselor(tmp_path: Path) -> None:
    for course in ("session", "whole"):
        text = written(
            DATA / "psycheval.json",
            tmp_path / course,
            "openai",
            course=course,
            teaching=Teaching(side="client", reasoning=True),
        )
        for thought in (
            "Two are enough.",
            "agreed to a diary",
            "Read the diary",
            "Begin with last",
        ):
            assert thought not in text


def test_a_course_that_was_lived(lived: Path, tmp_path: Path) -> None:
    first, second = read_dialogues(lived)
    assert [one.number for one in second.sessions] == [1, 2]
    assert len(first.plan) == 5
    assert first.sessions[0].therapy == "cbt"
    assert first.sessions[0].summary
    thinking = [turn for turn in first.turns if turn.assessment]
    assert thinking
    assert all(turn.speaker == "counselor" and turn.client_state for turn in thinking)
    text = written(lived, tmp_path / "out", "trl")
    assert f"<assessment>{thinking[0].assessment}</assessment>" in text
    assert str(first.sessions[0].summary) in text
    assert first.plan[-1] not in text, "what later sessions are for has not come up"


def test_names_are_taken_out_of_notes(published: tuple[Dialogue, ...]) -> None:
    named = published[1].model_copy(
        update={
            "sessions": tuple(
                one.model_copy(update={"summary": "Tomasz was here."})
                for one in published[1].sessions
            )
        }
    )
    (hidden,) = redact([named]).dialogues
    assert "Tomasz" not in hidden.model_dump_json()


@each(
    ("wrong", "said"),
    [
        (
            {"session_dialogue": "all in one text"},
            r"sessions 2: no list `session_dialogue`.* as str",
        ),
        ({"session_number": "two"}, r"sessions 2: session_number 'two'; expected a whole number"),
        (
            {"session_dialogue": [{"role": "Narrator", "text": "It rains."}]},
            r"session 2, line 1: no speaker 'Narrator'; known are",
        ),
        ({"session_dialogue": [{"role": "Client"}]}, r"session 2, line 1: no text; expected"),
    ],
)
def test_what_is_wrong_names_the_place(wrong: dict[str, Any], said: str, tmp_path: Path) -> None:
    row = copy.deepcopy(json.loads((DATA / "psycheval.json").read_text(encoding="utf-8")))
    row["sessions"][1].update(wrong)
    file = tmp_path / "3.json"
    file.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"3\.json:1: {said}"):
        read_dialogues(file)


def test_a_folder_of_transcripts() -> None:
    two, ten = read_dialogues(DATA / "cpsycoun")
    assert (two.id, ten.id) == ("case_2:1", "case_10:1")
    assert [turn.speaker for turn in two.turns] == ["client", "counselor"] * 2
    assert two.client != ten.client


@pytest.mark.parametrize("source", ["psycheval.json", "cpsycoun"])
def test_commands_read_them(source: str, tmp_path: Path) -> None:
    checked = CliRunner().invoke(app, ["corpus", "check", str(DATA / source)])
    assert checked.exit_code in (0, 1), checked.output
    rated = CliRunner().invoke(
        app,
        [
            "corpus",
            "rate",
            str(DATA / source),
            "--model",
            "scripted",
            "-o",
            str(tmp_path / "rated"),
        ],
    )
    assert rated.exit_code == 0, rated.output
    assert any((tmp_path / "rated").iterdir())
