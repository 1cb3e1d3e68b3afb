"""What was said in a run, and what is known of it."""

import json
import shutil
from pathlib import Path

import pytest

from simcounsel.corpus.reading import read_dialogues
from simcounsel.corpus.transcripts import dialogues_of_run
from simcounsel.engine.forking import fork
from simcounsel.events import ConversationEnded, Decided, Said
from simcounsel.measuring.rate import Rating
from simcounsel.runs.run import Run
from tests.instruments.stage import measured_world
from tests.stage import go_on, happened, live, seal


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Ines with Miriam, a counselor, and Omar, a layperson; measured."""
    return live(tmp_path_factory.mktemp("runs"), measured_world())


def test_every_line_with_its_speaker(run: Run) -> None:
    found = read_dialogues(run.folder)
    assert [turn.text for one in found for turn in one.turns] == [
        said.text for said in happened(run, Said)
    ]
    assert {tuple(sorted({turn.speaker for turn in one.turns})) for one in found} == {
        ("client", "counselor"),
        ("client", "layperson"),
    }
    assert len(found) == len(happened(run, ConversationEnded))


def test_what_is_known_of_it(run: Run) -> None:
    one = read_dialogues(run.folder)[0]
    assert (one.client, one.condition) == ("Ines Duarte", run.world.condition)
    assert one.id == f"{run.name}/{one.origin.chat}" if one.origin else False
    assert (
        one.origin is not None
        and one.origin.models["reason"] == "scripted"
        and len(one.origin.hash) == 64
    )
    assert {"Ines", "Miriam", "Omar"} <= set(one.names) and "Counseling Center" in one.places
    persona = next(resident.persona for resident in run.world.residents if resident.name == "Ines")
    assert (
        one.situation is not None
        and persona.background in one.situation
        and persona.history in one.situation
    )


def test_moves_feelings_and_reasons(run: Run) -> None:
    one = next(
        one
        for one in read_dialogues(run.folder)
        if "counselor" in {turn.speaker for turn in one.turns}
    )
    assert one.origin is not None
    decided = [event for event in happened(run, Decided) if event.chat == one.origin.chat]
    said = [event for event in happened(run, Said) if event.chat == one.origin.chat]
    for turn, event, line in zip(one.turns, decided, said, strict=True):
        assert (turn.stage if turn.speaker == "client" else turn.skill) == event.move
        assert (turn.emotion, turn.intensity, turn.source) == (
            line.emotion,
            line.intensity,
            "random" if line.source == "generated" else line.source,
        )
        assert turn.reasoning in ((event.reason, None) if turn.speaker == "counselor" else (None,))
    assert any(turn.reasoning for turn in one.turns)


def test_ratings_of_the_log(run: Run) -> None:
    """The observer's of the session and the client's own after it; nothing of other times."""
    one = next(
        one
        for one in read_dialogues(run.folder)
        if "counselor" in {turn.speaker for turn in one.turns}
    )
    assert {"motivational_interviewing", "session_alliance"} <= one.ratings.keys()
    assert "phq9" not in one.ratings and "insomnia_severity" not in one.ratings
    assert any(value is not None for value in one.ratings["motivational_interviewing"].values())


def test_ratings_made_afterwards(run: Run, tmp_path: Path) -> None:
    """Counted from the talk, which needs no model; the log's stay."""
    copied = Run.open(shutil.copytree(run.folder, tmp_path / run.name))
    Rating.plan(copied, "talk_measures").measure(None)
    for one in read_dialogues(copied.folder):
        assert one.ratings["talk_measures"]


def test_two_judges_give_their_mean(run: Run, tmp_path: Path) -> None:
    """But what the scripted model says counts only where nobody else measured."""
    copied = Run.open(shutil.copytree(run.folder, tmp_path / run.name))
    chat = dialogues_of_run(copied)[0].origin.chat  # type: ignore[union-attr]
    folder = copied.folder / "measurements"
    folder.mkdir(exist_ok=True)
    for number, (judge, value) in enumerate(
        [("openai:a", 3.0), ("openai:b", 4.0), ("scripted", 1.0)]
    ):
        head = {"kind": "measurement", "run": copied.name, "judge": judge, "samples": 1}
        score = {"name": "total", "value": value, "used": 1, "of": 1}
        line = {
            "tick": 2,
            "minute": 540,
            "kind": "measured",
            "who": "Ines",
            "instrument": "empathy",
            "version": "1",
            "point": "x",
            "respondent": "observer",
            "items": [],
            "scores": [score],
            "chats": [chat],
        }
        (folder / f"empathy-2026010{number}-000000-000000.jsonl").write_text(
            "".join(json.dumps(part) + "\n" for part in (head, line)), encoding="utf-8"
        )
    one = dialogues_of_run(copied)[0]
    assert one.ratings["empathy"] == {"total": 3.5}
    assert one.origin is not None and one.origin.models["judge"] == "openai:a, openai:b, scripted"


def test_what_is_still_being_said_is_left_out(run: Run, tmp_path: Path) -> None:
    copied = Run.open(shutil.copytree(run.folder, tmp_path / run.name))
    file = copied.folder / "events.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    cut = next(
        number for number, line in enumerate(lines) if b'"kind":"conversation_ended"' in line
    )
    file.write_bytes(b"".join(lines[:cut]))
    assert dialogues_of_run(copied) == ()


def test_a_folder_of_runs_and_a_sweep(run: Run, tmp_path: Path) -> None:
    """A sweep's plan says what the condition of a run is called."""
    for name in ("b-run", "a-run"):
        shutil.copytree(run.folder, tmp_path / name)
        manifest = tmp_path / name / "manifest.json"
        manifest.write_text(
            manifest.read_text(encoding="utf-8").replace(
                f'"run": "{run.name}"', f'"run": "{name}"'
            ),
            encoding="utf-8",
        )
        seal(tmp_path / name)
    alone = len(read_dialogues(run.folder))
    found = read_dialogues(tmp_path)
    assert [one.id.split("/")[0] for one in found] == ["a-run"] * alone + ["b-run"] * alone
    (tmp_path / "experiment.json").write_text(
        json.dumps({"runs": [{"run": "a-run", "arm": "warm"}, {"run": "b-run", "arm": None}]}),
        encoding="utf-8",
    )
    assert [one.condition for one in read_dialogues(tmp_path)] == ["warm"] * alone + [
        run.world.condition
    ] * alone


def test_a_forks_past_is_the_same_dialogue(run: Run, tmp_path: Path) -> None:
    forked = go_on(fork(run, 8, {}, tmp_path), 1)
    before, after = read_dialogues(run.folder)[0], read_dialogues(forked.folder)[0]
    assert before.turns == after.turns and before.client == after.client and before.id != after.id
