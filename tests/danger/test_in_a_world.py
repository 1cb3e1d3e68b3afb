"""Danger in a whole run: heard in a client's line, dealt with by the counselor, kept in the log, asked about again."""

import json
from pathlib import Path
from random import Random
from typing import Any

from simcounsel.agents.facts import LineFacts
from simcounsel.events import Assessed, Decided, Measured, Said, Transitioned
from simcounsel.llm.question import Question
from simcounsel.runs.as_text import conversation_lines
from simcounsel.runs.event_text import describe
from simcounsel.runs.run import Run
from simcounsel.scripted import Script, Scripted
from simcounsel.specs.practice import SafetySettings
from simcounsel.specs.world import World
from tests.danger.planted import risk
from tests.each import each
from tests.instruments.stage import measured_world
from tests.stage import begun, changed, go_on, happened, live, log, switchboard, three, tiny

DANGER = "I want to kill myself tonight. I have everything here in my room."

DOUBT = "My wrists hurt after the typing."


def says(text: str, to: str = "Miriam", at: int = 2) -> dict[str, Script]:
    """Ines says it with that line of a conversation, and small things otherwise."""

    def line(request: Question, draw: Random) -> str:
        seen = request.facts
        assert isinstance(seen, LineFacts)
        mine = seen.other == to and len(seen.lines) + 1 == at
        say = text if mine else f"I was at the window with a tea, number {draw.randrange(10**6)}."
        return json.dumps(
            {"say": say, "emotion": "sadness", "intensity": 5, "poignancy": 5, "wish": "go on"}
        )

    return {"line_client": line}


def lived(folder: Path, world: World, scripts: dict[str, Script], ticks: int | None = None) -> Run:
    return live(folder, world, ticks, models=switchboard(Scripted(scripts)))


def safety(world: World, **settings: Any) -> World:
    return changed(world, safety=SafetySettings(**settings))


def test_protocol_in_a_run(tmp_path: Path) -> None:
    run = lived(tmp_path, safety(tiny(), locale="en-GB"), says(DANGER))
    (heard,) = happened(run, Assessed)
    assert (heard.who, heard.level, heard.by, heard.message) == ("Ines", "imminent", "words", 2)
    steps = [event.state for event in happened(run, Transitioned)]
    assert steps[0] == "emergency" and steps[-1] in ("leave_safely", "over")
    assert "999" in next(
        said.text for said in happened(run, Said) if said.chat == heard.chat and said.message == 3
    )
    mine = [
        event
        for event in happened(run, Decided)
        if event.who == "Miriam" and event.chat == heard.chat
    ]
    assert [event.move for event in mine if event.policy == "safety"] == [
        step for step in steps if step != "over"
    ]
    assert mine[0].policy == "socratic"


@each(("settings", "assessed"), [("assess", 1), ("nothing", 0)])
def test_settings_for_research(tmp_path: Path, settings: Any, assessed: int) -> None:
    run = lived(tmp_path, safety(tiny(), counselors=settings), says(DANGER))
    assert len(happened(run, Assessed)) == assessed
    assert not happened(run, Transitioned)
    assert {event.policy for event in happened(run, Decided)} == {"socratic", "client"}


@each(("ask", "by"), [("in_doubt", []), ("every_line", ["model"])])
def test_a_model_may_be_asked_about_every_line(tmp_path: Path, ask: Any, by: list[str]) -> None:
    """A line in which no word tells; the model knows better, and the protocol begins."""
    quiet = "The tomcat sits at the window of the shop."
    scripts = says(quiet) | {
        "risk": lambda request, draw: risk(
            "high" if "tomcat" in request.prompt.split("The client's line:")[1] else "none"
        )
    }
    run = lived(tmp_path, safety(tiny(), ask=ask), scripts)
    assert [heard.by for heard in happened(run, Assessed)][:1] == by
    assert bool(happened(run, Transitioned)) == bool(by)


def test_a_layperson_is_only_told_apart(tmp_path: Path) -> None:
    """What a client says to a friend is assessed as well; the friend does what friends do."""
    heard, run = next(
        (found[0], run)
        for at in (1, 2)
        if (
            found := happened(
                run := lived(tmp_path / str(at), three(), says(DANGER, to="Omar", at=at)), Assessed
            )
        )
    )
    assert heard.chat is not None and "Omar" in heard.chat
    assert not [
        event
        for event in happened(run, Decided)
        if event.policy == "safety" and event.chat == heard.chat
    ]


def test_same_bytes_after_a_break_in_the_middle(tmp_path: Path) -> None:
    whole = lived(tmp_path / "a", tiny(), says(DANGER))
    world = tiny()
    part = begun(tmp_path / "b", world)
    go_on(part, 3, models=switchboard(Scripted(says(DANGER))))
    go_on(part, models=switchboard(Scripted(says(DANGER))))
    assert log(part) == log(whole)


def test_a_questionnaire_is_written_down_and_asked_about(tmp_path: Path) -> None:
    def sheet(request: Question, draw: Random) -> str:
        assert request.schema is not None
        return json.dumps(dict.fromkeys(request.schema.model_json_schema()["properties"], 2))

    run = lived(tmp_path, measured_world(), {"self_report": sheet})
    told = [event for event in happened(run, Assessed) if event.by == "questionnaire"]
    measured = [event for event in happened(run, Measured) if event.instrument == "phq9"]
    assert len(told) == len(measured) > 0
    assert {(event.who, event.level, event.chat) for event in told} == {("Ines", "high", None)}
    steps = [event.state for event in happened(run, Transitioned)]
    assert steps[0] == "follow_up"


def test_doubts_are_shown_to_whom_asks_for_them(tmp_path: Path) -> None:
    run = lived(tmp_path, safety(tiny()), says(DOUBT))
    (heard,) = happened(run, Assessed)
    assert heard.level == "none" and heard.evidence
    assert not any("danger:" in line for line in conversation_lines(run, 1))
    assert any("danger: none, by words" in line for line in conversation_lines(run, 1, doubts=True))
    assert not any("danger" in (describe(entry) or "") for entry in run.entries())


def test_danger_is_told_while_the_run_goes_on(tmp_path: Path) -> None:
    run = lived(tmp_path, safety(tiny()), says(DANGER))
    told = [line for entry in run.entries() if (line := describe(entry))]
    (at,) = (number for number, line in enumerate(told) if DANGER in line)
    assert told[at + 1].endswith("danger: imminent (suicide), by words")
