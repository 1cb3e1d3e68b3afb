"""A clinic: a world with nobody but the two, its days skipped; and a course by appointment in a
world that goes on.
"""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simcounsel.cli import app
from simcounsel.cli.check import check_file
from simcounsel.engine.forking import fork
from simcounsel.errors import SpecError
from simcounsel.events import (
    Acted,
    ConversationStarted,
    CourseAdvanced,
    Decided,
    Planned,
    Remembered,
    SessionPlanned,
)
from simcounsel.llm.question import Question
from simcounsel.policies.socratic import MOVES
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.world_file import load_world
from simcounsel.specs.world_problems import world_problems
from simcounsel.specs.world_settings import ConversationSettings
from simcounsel.therapies.clinic import clinic_world
from simcounsel.therapies.specs.course import default_plan
from simcounsel.therapies.specs.therapy import shipped_therapy
from tests.each import each
from tests.stage import (
    ROOT,
    TINY,
    Listening,
    changed,
    go_on,
    happened,
    live,
    switchboard,
    three,
    tiny,
)
from tests.therapies.held import SCRIPTS, held, world

CBT = shipped_therapy("cbt")


def test_a_week_between_sessions_at_the_usual_time_and_place() -> None:
    made = clinic_world(tiny(), therapy=CBT, sessions=5)
    (appointment,) = made.appointments
    assert (appointment.days, appointment.at, appointment.place) == (
        (0, 7, 14, 21, 28),
        "09:00",
        "Counseling Center",
    )
    assert made.appointed() == tuple(1 + 7 * 48 * number for number in range(5))
    assert made.ticks == made.appointed()[-1] + 1
    assert [resident.policy.name for resident in made.residents if resident.policy] == ["course"]


def test_others_stay_away() -> None:
    made = clinic_world(three(), therapy=CBT, sessions=5)
    assert {resident.name for resident in made.residents} == {"Ines", "Miriam"}
    assert (
        world_problems(clinic_world(load_world(ROOT / "worlds" / "insomnia.yaml"), therapy=CBT))
        == []
    )


@each(
    ("named", "pair", "at"),
    [
        ({}, ("Ines", "Miriam"), "09:00"),
        ({"client": "Ines"}, ("Ines", "Miriam"), "09:00"),
        ({"client": "bruno"}, ("Bruno", "Zoe"), "16:00"),
        ({"counselor": "Zoe"}, ("Bruno", "Zoe"), "16:00"),
        ({"counselor": "Miriam"}, ("Ines", "Miriam"), "09:00"),
        ({"client": "Bruno", "counselor": "Miriam"}, ("Bruno", "Miriam"), "10:00"),
        ({"client": "Cora"}, ("Cora", "Miriam"), "10:00"),
    ],
)
def test_those_who_see_each_other_are_put_together(
    named: dict[str, str], pair: tuple[str, str], at: str
) -> None:
    base = tiny()
    client, counselor = (
        next(one for one in base.residents if one.role == role) for role in ("client", "counselor")
    )
    (own,) = base.appointments
    more = (
        client.model_copy(update={"name": "Bruno"}),
        client.model_copy(update={"name": "Cora"}),
        counselor.model_copy(update={"name": "Zoe"}),
    )
    town = base.model_copy(
        update={
            "residents": (*base.residents, *more),
            "appointments": (own, own.model_copy(update={"who": ("Bruno", "Zoe"), "at": "16:00"})),
        }
    )
    (made,) = clinic_world(town, therapy=CBT, **named).appointments
    assert (made.who, made.at) == (pair, at)


@each(
    ("more", "words"),
    [
        ({"client": "Inez"}, 'no client .Inez. in this world; did you mean "Ines"'),
        ({"counselor": "Ines"}, "no counselor 'Ines'"),
        ({"sessions": 4}, "5 to 10"),
        ({"plan": default_plan(shipped_therapy("postmodern"), 6)}, "the plan is one of postmodern"),
        ({"sessions": 7, "plan": default_plan(CBT, 6)}, "the plan has 6"),
    ],
)
def test_what_cannot_be(more: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        clinic_world(tiny(), therapy=CBT, **more)
    lonely = tiny().model_copy(update={"residents": tiny().residents[:1]})
    with pytest.raises(SpecError, match="no counselor lives in this world"):
        clinic_world(lonely, therapy=CBT)


def test_a_world_that_skips_days_ends_with_its_last_appointment() -> None:
    made = world(5)
    assert world_problems(made) == []
    assert [where for where, _ in world_problems(made.model_copy(update={"ticks": 9999}))] == [
        ("ticks",)
    ]
    assert [where for where, _ in world_problems(made.model_copy(update={"appointments": ()}))] == [
        ("days",)
    ]


def test_only_sessions_are_lived(tmp_path: Path) -> None:
    made = world(5)
    run, _ = held(tmp_path, made)
    assert sorted({entry.tick for entry in run.entries()}) == [0, *made.appointed()]
    assert happened(run, Planned) == []
    assert {event.activity_kind for event in happened(run, Acted)} == {"counseling"}
    told = [
        (entry.tick, entry.event.memory.text)
        for entry in run.entries()
        if isinstance(entry.event, Remembered)
        and entry.event.memory.chat is None
        and entry.event.memory.origin == "summary"
    ]
    assert {tick for tick, _ in told} == set(made.appointed()[1:])
    assert len(told) == 4 * 6


def test_its_run_is_a_run_as_any_other(tmp_path: Path) -> None:
    run, _ = held(tmp_path, world(5))
    forked = fork(run, 700, {"seed": 9}, tmp_path / "forks")
    assert forked.ticks_done() == 674
    done = go_on(forked)
    assert done.ticks_done() == run.ticks_done() == run.world.ticks
    assert len(happened(done, CourseAdvanced)) == 5
    moments = History.of(run).lives().moments
    talks = [moment.tick for moment in moments if moment.kind == "conversation"]
    assert talks == list(world(5).appointed())


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    done = CliRunner().invoke(
        app,
        [
            "clinic",
            str(TINY),
            "--client",
            "Ines",
            "--therapy",
            "postmodern",
            "--sessions",
            "5",
            "--lines",
            "6",
            "--model",
            "scripted",
            "--seed",
            "4",
            "--set",
            "models.embed=scripted",
            "--out",
            str(out),
            "-q",
        ],
    )
    assert done.exit_code == 0, done.output
    run = Run.open(next(out.iterdir()))
    assert run.world.seed == 4
    assert len(happened(run, SessionPlanned)) == 5
    assert happened(run, CourseAdvanced)[-1].step == "end"


# in a world that goes on


def test_a_course_by_appointment_while_life_goes_on(tmp_path: Path) -> None:
    base = tiny()
    policies = {
        "Ines": PolicySpec(name="client"),
        "Miriam": PolicySpec(name="course", therapy=CBT, sessions=5),
    }
    day = base.appointments[0]
    made = changed(
        base,
        residents=tuple(
            one.model_copy(update={"policy": policies[one.name]}) for one in base.residents
        ),
        ticks=20,
        conversation=ConversationSettings(chance=1.0, cool_down_ticks=0),
        appointments=(
            day,
            day.model_copy(update={"at": "11:00"}),
            day.model_copy(update={"at": "16:30"}),
        ),
    )
    at_center = {"plan_slots": at_the_center}
    run = live(tmp_path, made, models=switchboard(Listening(SCRIPTS | at_center)))
    talks = happened(run, ConversationStarted)
    sessions = [talk.chat for talk in talks if talk.cause == "appointment"]
    others = {talk.chat for talk in talks} - set(sessions)
    assert [planned.chat for planned in happened(run, SessionPlanned)] == sessions
    assert len(sessions) == 3
    assert len({entry.tick for entry in run.entries()}) == 20
    assert others
    moves = {
        event.move
        for event in happened(run, Decided)
        if event.chat in others and event.policy == "course"
    }
    assert moves <= {"greet", "ask", *MOVES}


def at_the_center(request: Question, draw: Any) -> str:
    import json

    slots = [
        {
            "activity": "spends the hour there",
            "kind": "rest",
            "place": "Counseling Center",
            "emotion": "neutral",
            "intensity": 1,
            "poignancy": 1,
        }
        for _ in request.facts.minutes
    ]
    return json.dumps({"slots": slots})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CBT.model_dump_json(), "ok"),
        (default_plan(CBT).model_dump_json(), "ok"),
        (CBT.model_dump_json().replace('"holds":"table"', '"holds":"tables"', 1), "holds"),
    ],
)
def test_check_knows_therapies_and_plans(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "f.yaml").write_text(text, encoding="utf-8")
    problems = check_file(tmp_path / "f.yaml")
    assert (problems == []) == (words == "ok")
    assert words == "ok" or words in problems[0]
