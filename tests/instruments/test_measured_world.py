"""A world that is measured: when, of whom, and the same bytes however it is run."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simcounsel.engine.forking import fork
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.errors import SpecError
from simcounsel.events import Measured, Warned
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question
from simcounsel.runs.event_text import describe
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.runs.summary import summary_lines
from simcounsel.scripted import Scripted
from simcounsel.specs.measurement import MeasurementSpec
from tests.each import each
from tests.instruments.stage import measured_world
from tests.stage import changed, go_on, happened, live, log, switchboard, three, without_hashes


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("measured"), measured_world())


def test_when_and_whom(straight: Run) -> None:
    found = [
        (
            entry.tick,
            entry.event.who,
            entry.event.instrument,
            entry.event.point,
            entry.event.respondent,
        )
        for entry in straight.entries()
        if isinstance(entry.event, Measured)
    ]
    assert found == [
        (0, "Ines", "phq9", "baseline", "self"),
        (2, "Ines", "motivational_interviewing", "after session 1", "observer"),
        (2, "Ines", "session_alliance", "after session 1", "self"),
        (4, "Ines", "affect", "day 0, 10:15", "self"),
        (4, "Omar", "affect", "day 0, 10:15", "self"),
        (5, "Ines", "persona_consistency", "tick 5", "observer"),
        (11, "Ines", "insomnia_severity", "end", "self"),
        (11, "Ines", "persona_change", "end", "observer"),
        (11, "Ines", "talk_measures", "end", "talk"),
    ]
    events = [entry.event.kind for entry in straight.entries()]
    assert all(
        events[at + 1] in ("measured", "tick_ended")
        for at, kind in enumerate(events)
        if kind == "measured"
    )


def test_what_it_is_about(straight: Run) -> None:
    by_name = {event.instrument: event for event in happened(straight, Measured)}
    assert by_name["motivational_interviewing"].chats == ("2:Ines+Miriam",)
    assert by_name["talk_measures"].chats == ("4:Ines+Omar",)
    assert by_name["phq9"].chats == ()
    assert all(
        item.value is not None
        for event in by_name.values()
        if event.respondent != "talk"
        for item in event.items
    )
    assert "scripted" not in log(straight).decode()


def test_measuring_changes_nobody(tmp_path: Path, straight: Run) -> None:
    plain = live(tmp_path, three())
    kept = [event for event in without_hashes(straight) if not isinstance(event, Measured)]
    assert kept == without_hashes(plain)


def test_in_the_summary(straight: Run) -> None:
    lines = "\n".join(summary_lines(straight))
    assert "measurements   9 (2 affect, 1 insomnia_severity, 1 motivational_interviewing" in lines
    told = [
        line
        for entry in straight.entries()
        if isinstance(entry.event, Measured) and (line := describe(entry))
    ]
    assert len(told) == 9
    assert told[0].startswith("08:00  Ines: phq9, baseline (simulated self-report): total ")


def test_read(straight: Run) -> None:
    found = list(History.of(straight).measurements())
    assert len(found) == 9
    assert {
        (one.run, one.source, one.samples, one.trial)
        for one in found
        if one.measured.respondent != "talk"
    } == {(straight.name, "log", 1, True)}
    assert {one.measured.respondent: one.judge for one in found} == {
        "self": "scripted",
        "observer": "scripted",
        "talk": "",
    }


# the same bytes


@pytest.mark.parametrize("in_flight", [1, 64])
def test_however_many_are_asked_at_once(tmp_path: Path, straight: Run, in_flight: int) -> None:
    assert log(live(tmp_path, measured_world(), limits=Limits(in_flight=in_flight))) == log(
        straight
    )


def test_whoever_answers_first(tmp_path: Path, straight: Run) -> None:
    class Dawdling(Scripted):
        async def complete(self, request: Question, complaint: str | None) -> Completion:
            await asyncio.sleep(random.random() / 200)
            return await super().complete(request, complaint)

    assert log(live(tmp_path, measured_world(), models=switchboard(Dawdling()))) == log(straight)


@pytest.mark.parametrize("ticks", [1, 3, 5])
def test_stopped_and_resumed(tmp_path: Path, straight: Run, ticks: int) -> None:
    run = live(tmp_path, measured_world(), ticks)
    while run.ticks_done() < 12:
        go_on(run, ticks)
    assert log(run) == log(straight)


def test_out_of_a_recording(tmp_path: Path, straight: Run) -> None:
    again = Simulation(measured_world(), model=f"recorded:{straight.folder}", out=tmp_path).run()
    assert log(again) == log(straight)
    assert list(again.calls()) == []


@pytest.mark.parametrize("at", [3, 6])
def test_forked(tmp_path: Path, straight: Run, at: int) -> None:
    forked = fork(straight, at, {}, tmp_path)
    lived = go_on(forked)
    assert without_hashes(lived) == without_hashes(straight)


def test_measured_from_a_fork_on(tmp_path: Path) -> None:
    plain = live(tmp_path / "plain", three(), 4)
    forked = fork(
        plain,
        3,
        {
            "measurements": [
                {"instrument": "gad7", "when": "end"},
                {"instrument": "phq9", "when": "start"},
            ]
        },
        tmp_path / "forks",
    )
    assert [(event.instrument, event.point) for event in happened(go_on(forked), Measured)] == [
        ("gad7", "end")
    ]
    with pytest.raises(SpecError, match="no instrument 'gad8'"):
        fork(
            plain, 3, {"measurements": [{"instrument": "gad8", "when": "end"}]}, tmp_path / "other"
        )


def test_probabilities_are_replayed(tmp_path: Path) -> None:
    """A judge that tells probabilities is asked item by item, and so is its recording."""

    class Telling(Scripted):
        async def complete(self, request: Question, complaint: str | None) -> Completion:
            got = await super().complete(request, complaint)
            return (
                Completion(text=got.text, weights={got.text: 0.75, "3": 0.25})
                if request.verb == "rate"
                else got
            )

    world = changed(
        three(), measurements=(MeasurementSpec(instrument="empathy", when="after every session"),)
    )
    run = live(tmp_path / "one", world, models=switchboard(Telling()))
    again = Simulation(world, model=f"recorded:{run.folder}", out=tmp_path / "two").run()
    assert log(again) == log(run)
    (measured,) = happened(run, Measured)
    assert any(item.value not in (None, round(item.value or 0)) for item in measured.items)


# what can go wrong


def test_unknown_instrument_is_said_before_a_folder_is_made(tmp_path: Path) -> None:
    world = changed(three(), measurements=(MeasurementSpec(instrument="phq8", when="start"),))
    with pytest.raises(SpecError, match="no instrument 'phq8'; did you mean 'phq9'"):
        live(tmp_path / "runs", world)
    assert not (tmp_path / "runs").exists()


def test_a_judge_that_fails_warns_and_leaves_gaps(tmp_path: Path) -> None:
    class Mute(Scripted):
        async def complete(self, request: Question, complaint: str | None) -> Completion:
            if request.purpose.startswith(("judge_", "self_report")):
                raise Failure("not today")
            return await super().complete(request, complaint)

    run = live(tmp_path, measured_world(), models=switchboard(Mute()))
    asked = [event for event in happened(run, Measured) if event.respondent != "talk"]
    assert {score.value for event in asked for score in event.scores} == {None}
    assert all(
        item.reason == "no usable answer: not today" for event in asked for item in event.items
    )
    assert {event.purpose for event in happened(run, Warned)} == {
        "self_report",
        "judge_probe",
        "judge_block",
        "judge_codes",
    }


def test_nothing_said_yet(tmp_path: Path) -> None:
    world = changed(
        three(),
        measurements=(
            MeasurementSpec(instrument="empathy", when="start"),
            MeasurementSpec(instrument="talk_measures", when="start"),
        ),
    )
    run = live(tmp_path, world, 1)
    assert {item.reason for event in happened(run, Measured) for item in event.items} == {
        "no conversation yet"
    }


def test_who_is_not_there_is_not_measured(tmp_path: Path) -> None:
    world = changed(measured_world(), condition="client_only")
    run = live(tmp_path, world)
    assert {event.who for event in happened(run, Measured)} == {"Ines"}
    assert "after session 1" not in {event.point for event in happened(run, Measured)}


# times


def at(when: str) -> Callable[..., str | None]:
    spec = MeasurementSpec(instrument="phq9", when=when)
    return lambda tick, minute, **more: spec.point(
        tick, minute, **({"last_tick": 9, "tick_minutes": 15, "sessions": None} | more)
    )


@each(
    ("when", "tick", "minute", "more", "point"),
    [
        ("start", 0, 480, {}, "baseline"),
        ("start", 1, 495, {}, None),
        ("end", 9, 0, {}, "end"),
        ("end", 8, 0, {}, None),
        ("every day at 21:00", 3, 21 * 60, {}, "day 0, 21:00"),
        ("every day at 21:00", 3, 21 * 60 - 14, {}, "day 0, 21:00"),
        ("every day at 21:00", 3, 21 * 60 - 15, {}, None),
        ("every day at 21:00", 3, 1440 + 21 * 60, {}, "day 1, 21:00"),
        ("every day at 24:00", 3, 1440 - 15, {}, None),
        ("every day at 00:00", 3, 1440 - 10, {}, "day 1, 00:00"),
        ("every day at 24:00", 3, 1440, {}, "day 1, 00:00"),
        ("after every session", 3, 0, {"sessions": 2}, "after session 2"),
        ("after every session", 3, 0, {}, None),
        ("tick 4", 4, 0, {}, "tick 4"),
        ("tick 4", 5, 0, {}, None),
    ],
)
def test_points(when: str, tick: int, minute: int, more: dict[str, Any], point: str | None) -> None:
    assert at(when)(tick, minute, **more) == point


def test_a_daily_measurement_comes_once_a_day() -> None:
    for tick_minutes in (7, 15, 50, 240):
        daily = [
            at("every day at 10:15")(tick, tick * tick_minutes, tick_minutes=tick_minutes)
            for tick in range(4 * 1440 // tick_minutes + 1)
        ]
        assert [point for point in daily if point][:4] == [f"day {day}, 10:15" for day in range(4)]
