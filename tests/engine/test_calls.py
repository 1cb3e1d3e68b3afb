"""Events name the calls that they came from, and calls.jsonl holds what was sent."""

from pathlib import Path

import pytest

from simcounsel.events import Answered, Remembered, Said, Warned
from simcounsel.llm.question import Question
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from tests.stage import NEVER, changed, happened, live, switchboard, three


def named(run: Run) -> set[str]:
    """The keys that events and memories name."""
    found: set[str] = set()
    for event in happened(run, Answered):
        found |= set(event.calls)
    for event in happened(run, Remembered):
        found |= set(event.memory.calls)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("calls"), three())


def test_every_call_is_named_and_every_name_is_a_call(run: Run) -> None:
    keys = {call["key"]: call for call in run.calls()}
    asked = {key for key, call in keys.items() if call["verb"] != "embed"}
    assert len(asked) > 20
    assert named(run) <= set(keys)
    assert asked <= named(run)


def test_an_event_of_a_fallback_says_so(tmp_path: Path) -> None:
    models = switchboard(Scripted({"line_client": lambda question, draw: "no JSON at all"}))
    run = live(tmp_path, changed(three(), fallbacks=NEVER), models=models)
    lines = happened(run, Said)
    assert {line.fallback for line in lines if line.who == "Ines"} == {True}
    assert not any(line.fallback for line in lines if line.who == "Miriam")
    failed = {call["key"] for call in run.calls() if call.get("source") == "fallback"}
    assert failed == {key for line in lines if line.fallback for key in line.calls}
    assert {warned.purpose for warned in happened(run, Warned)} == {"line_client"}


def test_what_was_sent_stands_in_the_call(tmp_path: Path) -> None:
    sent: dict[str, Question[object]] = {}

    class Watching(Scripted):
        async def complete(self, question, complaint):  # type: ignore[no-untyped-def]
            sent[question.key] = question
            return await super().complete(question, complaint)

    run = live(tmp_path, three(), 3, models=switchboard(Watching()))
    calls = {call["key"]: call for call in run.calls() if call["verb"] != "embed"}
    assert set(calls) == set(sent)
    for key, call in calls.items():
        assert tuple(call["messages"]) == sent[key].messages_with_schema
        assert call["parameters"]["seed"] == sent[key].seed
