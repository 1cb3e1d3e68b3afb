"""Interviews: an answer as of then, kept beside the run, which stays as it is; and `talk`."""

import hashlib
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import ModelError, RunError
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.interview import QUESTION_CHARACTERS, Interview
from simcounsel.measuring.interview_files import stored
from simcounsel.measuring.models import answering_model, may_cost, open_models
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from tests.commands import Command
from tests.stage import Listening, live, switchboard, three, tiny

OWN = "scripted:planted=2"


@pytest.fixture
def run(lived: Run, tmp_path: Path) -> Run:
    """A run of one's own."""
    shutil.copytree(lived.folder, tmp_path / lived.name)
    return Run.open(tmp_path / lived.name)


@pytest.fixture
def models() -> Iterator[Switchboard]:
    board = switchboard(Scripted())
    yield board
    board.close()


def hashes(run: Run) -> dict[str, str]:
    """Every file of the run but interviews."""
    files = [
        path
        for path in sorted(run.folder.rglob("*"))
        if path.is_file() and "interviews" not in path.parts
    ]
    return {
        str(path.relative_to(run.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def lines(interview: Interview) -> list[dict[str, Any]]:
    assert interview.file is not None
    return [json.loads(line) for line in interview.file.read_text(encoding="utf-8").splitlines()]


def test_an_interview_is_kept_and_the_run_is_not_touched(run: Run, models: Switchboard) -> None:
    before = hashes(run)
    interview = Interview.begin(run, "Ines", 5)
    assert interview.name is None and not (run.folder / "interviews").exists()
    first = interview.ask("How  are\nyou?", models)
    interview.ask("Why?", models)
    assert hashes(run) == before
    head, *rest = lines(interview)
    assert (head["who"], head["tick"], head["model"], head["run"]) == (
        "Ines",
        5,
        "scripted",
        run.name,
    )
    assert interview.name is not None and interview.name.endswith("-Ines-5")
    assert [line["kind"] for line in rest] == ["call", "call", "answer", "call", "call", "answer"]
    assert rest[2]["question"] == "How are you?" and rest[2] == first
    assert rest[1]["purpose"] == "interview" and rest[1]["reply"] and rest[1]["tick"] == 5
    assert first["source"] == "generated" and first["problem"] is None
    recalled = first["recalled"]
    assert recalled == sorted(recalled, key=lambda one: -one["score"]) and len(recalled) >= 5
    assert {
        "text",
        "origin",
        "store",
        "tick",
        "minute",
        "recency",
        "poignancy",
        "emotion_score",
        "emotion_relevance",
        "relevance",
    } <= set(recalled[0])
    assert all(one["tick"] <= 5 for one in recalled)


def test_what_was_asked_before_and_the_moment_are_in_the_prompt(run: Run) -> None:
    spy = Listening()
    board = switchboard(spy)
    interview = Interview.begin(run, "Ines", 5)
    interview.ask("How are you?", board)
    told = interview.ask("Has the session helped?", board)
    board.close()
    prompt = spy.requests[-1].prompt
    assert (
        "Researcher: How are you?" in prompt
        and "The researcher asks: Has the session helped?" in prompt
    )
    assert f"Ines: {interview.exchanges[0].answer}" in prompt and told["answer"] not in prompt
    later = [
        memory.text
        for memory in Interview.begin(run, "Ines", 11).past.resident.memory.short.memories
    ]
    known = [memory.text for memory in interview.past.resident.memory.short.memories]
    assert not [text for text in set(later) - set(known) if text in prompt]


def test_only_ones_own_view(run: Run) -> None:
    """Nothing of another's file, and nothing of another's memory, is in a prompt."""
    spy = Listening()
    board = switchboard(spy)
    Interview.begin(run, "Miriam", 11).ask("What is Ines hiding?", board)
    board.close()
    ines = Interview.begin(run, "Ines", 11).past.resident
    sent = spy.requests[-1].system + spy.requests[-1].prompt
    for secret in (
        ines.persona.history,
        ines.persona.core_beliefs[0].belief,
        ines.persona.situations[0].thought,
    ):  # type: ignore[union-attr]
        assert secret not in sent


def test_an_interview_goes_on_after_a_crash(run: Run, models: Switchboard) -> None:
    interview = Interview.begin(run, "Ines", 5)
    interview.ask("How are you?", models)
    assert interview.file is not None and interview.name is not None
    with interview.file.open("ab") as file:
        file.write(b'{"kind": "answer", "question": "cut sh')
    again = Interview.reopen(run, interview.name)
    assert [one.question for one in again.exchanges] == [
        "How are you?"
    ] and again.past.resident.name == "Ines"
    again.ask("And now?", models)
    (kept,) = stored(run.folder)
    assert [one["question"] for one in kept["answers"]] == ["How are you?", "And now?"] and kept[
        "name"
    ] == interview.name
    with pytest.raises(RunError, match="no interview '../manifest'"):
        Interview.reopen(run, "../manifest")


def test_two_interviews_in_one_second_are_two_files(run: Run, models: Switchboard) -> None:
    for _ in range(2):
        Interview.begin(run, "Ines", 5).ask("How are you?", models)
    assert len(stored(run.folder)) == 2
    (run.folder / "interviews" / "broken.jsonl").write_bytes(b"\xff\n[1]\n")
    assert len(stored(run.folder)) == 2


@pytest.mark.parametrize(
    ("question", "why"),
    [("", "empty"), (" \n ", "empty"), ("x" * (QUESTION_CHARACTERS + 1), "2001 characters")],
)
def test_what_cannot_be_asked(run: Run, models: Switchboard, question: str, why: str) -> None:
    interview = Interview.begin(run, "Ines", 5)
    with pytest.raises(ValueError, match=why):
        interview.ask(question, models)
    assert interview.file is None


def test_a_refusal_becomes_a_plain_line_and_is_told(run: Run) -> None:
    board = switchboard(
        Scripted({"interview": lambda request, draw: "I'm sorry, but I can't help with that."})
    )
    told = Interview.begin(run, "Ines", 5).ask("How are you?", board)
    board.close()
    assert told["source"] == "fallback" and "refusal" in told["problem"] and told["answer"]


def test_name_and_quotes_are_taken_off(run: Run) -> None:
    board = switchboard(Scripted({"interview": lambda request, draw: "Ines: “I am\n tired.”"}))
    assert Interview.begin(run, "Ines", 5).ask("How are you?", board)["answer"] == "I am tired."
    board.close()


def test_which_model_answers(run: Run, tmp_path: Path) -> None:
    assert answering_model(run, "Ines") == "scripted" and not may_cost(run, "scripted")
    again = live(tmp_path, tiny(), model=f"recorded:{run.folder}", ticks=2)
    assert answering_model(again, "Ines") == "scripted"
    assert Interview.begin(again, "Ines", 1).head["model"] == "scripted"
    for paid in ("openai:gpt-4o", "langchain:anthropic:claude", "https://example.org/v1/some"):
        assert may_cost(run, paid)
    assert not may_cost(run, "http://localhost:11434/v1/llama3")
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        open_models(run, "openai:gpt-4o")
    shutil.rmtree(run.folder)
    with pytest.raises(RunError, match="this run replays"):
        answering_model(again, "Ines")


@pytest.mark.parametrize("replayed", [False, True])
def test_a_resident_answers_by_its_own_model(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replayed: bool
) -> None:
    run = live(tmp_path / "first", tiny(residents__Ines__models__reason=OWN), ticks=2)
    if replayed:
        run = live(tmp_path / "again", run.world, model=f"recorded:{run.folder}", ticks=2)
    for who, model in (("Ines", OWN), ("Miriam", "scripted")):
        monkeypatch.setattr("sys.stdin", io.StringIO("How are you?\n"))
        ended = simcounsel("talk", run.folder, "--who", who)
        assert f"answers come from {model}" in ended.out
    head, *rest = [
        json.loads(line)
        for file in sorted((run.folder / "interviews").glob("*-Ines-1.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert head["model"] == OWN
    assert {one["model"] for one in rest if one.get("verb", "embed") != "embed"} == {OWN}


def test_a_run_that_is_still_lived_can_be_asked(tmp_path: Path, models: Switchboard) -> None:
    from simcounsel.engine.simulation import Simulation

    simulation = Simulation(three(), out=tmp_path)
    simulation.step()
    told = Interview.begin(Run.open(simulation.record.folder), "Omar").ask("How are you?", models)
    simulation.step()
    simulation.close()
    assert told["answer"] and simulation.record.ticks_done() == 2


# talk


def test_talk(simcounsel: Command, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = hashes(run)
    monkeypatch.setattr("sys.stdin", io.StringIO("How are you?\n\n  Why?  \n" + "x" * 2001 + "\n"))
    ended = simcounsel("talk", run.folder, "--who", "ines", "--at", 5)
    assert ended.code == 0 and "2001 characters" in ended.err
    for text in (
        "Ines Duarte, 34, technical illustrator",
        "the end of tick 5",
        "answers come from scripted",
        "This is a simulation, not care",
        "you: How are you?",
        "Ines: I was ",
    ):
        assert text in ended.out
    (kept,) = stored(run.folder)
    assert [one["question"] for one in kept["answers"]] == ["How are you?", "Why?"]
    assert f"kept in {run.folder / 'interviews'}" in ended.out
    assert hashes(run) == before


def test_talk_tells_a_human_what_it_is_and_where_help_is(
    simcounsel: Command, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = hashes(run)
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("What did you do today?\nI want to kill myself.\n")
    )
    ended = simcounsel("talk", run.folder, "--who", "ines", "--at", 5)
    told, first, second = ended.out.partition("you: What did you do today?")
    assert "This is a simulation for research." in told and "findahelpline.com" in told
    assert first and second.count("you matter more than this simulation") == 1
    assert (
        second.index("you: I want to kill myself.")
        < second.index("you matter more")
        < second.rindex("Ines: ")
    )
    assert hashes(run) == before


def test_talk_takes_the_last_complete_tick(
    simcounsel: Command, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    ended = simcounsel("talk", run.folder, "--who", "Miriam")
    assert ended.code == 0 and "the end of tick 11" in ended.out and "nothing is kept" in ended.out
    assert not stored(run.folder)


def test_talk_at_a_terminal(simcounsel: Command, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def typed(*texts: str | type[BaseException]) -> None:
        waiting = iter(texts)

        def read(prompt: str) -> str:
            text = next(waiting)
            if isinstance(text, str):
                return text
            raise text

        monkeypatch.setattr("builtins.input", read)

    monkeypatch.setattr("sys.stdin", Terminal())
    for last in ("", EOFError, KeyboardInterrupt):
        typed("How are you?", last)
        ended = simcounsel("talk", run.folder, "--who", "Ines", "--at", 5)
        assert ended.code == 0 and "kept in" in ended.out


def test_talk_says_what_is_wrong(simcounsel: Command, run: Run) -> None:
    assert 'did you mean "Ines"' in simcounsel("talk", run.folder, "--who", "Inez").err
    assert (
        "choose one from 0 to 11" in simcounsel("talk", run.folder, "--who", "Ines", "--at", 99).err
    )
    assert (
        "no API key"
        in simcounsel("talk", run.folder, "--who", "Ines", "--model", "openai:gpt-4o").err
    )
    assert "no model 'gpt'" in simcounsel("talk", run.folder, "--who", "Ines", "--model", "gpt").err
