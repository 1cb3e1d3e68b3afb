"""What counts as cacheable."""

from pathlib import Path

import pytest

from simcounsel.runs.calls import Call
from simcounsel.therapies.clinic import clinic_world
from simcounsel.therapies.specs.therapy import shipped_therapy
from tests.benchmarks.tokens import Asked, cacheable, per_day, per_session, report
from tests.stage import live, tiny

CBT = shipped_therapy("cbt")
ASKED = Asked(requests=120, tokens_in=90_000, tokens_out=9_000)


def line(who: str, text: str, purpose: str = "line_client") -> Call:
    message = {"role": "user", "content": text}
    return Call.model_validate(
        {"key": "k", "tick": 0, "who": who, "purpose": purpose, "verb": "write", "model": "m"}
        | {"messages": [message]}
    )


def test_only_a_long_prefix_of_the_same_speakers_last_line_is_cacheable() -> None:
    long, short = "a" * 5000, "a" * 4000
    assert cacheable([line("Ines", long + "b"), line("Ines", long + "c")]) == (5000, 10002)
    assert cacheable([line("Ines", short + "b"), line("Ines", short + "c")]) == (0, 8002)
    assert cacheable([line("Ines", long), line("Ben", long)]) == (0, 10000)
    assert cacheable([line("Ines", long, "appraise")]) == (0, 0)


def test_a_day_is_divided_by_residents_and_days() -> None:
    world = tiny()
    assert (len(world.residents), world.tick_minutes) == (2, 30)
    assert list(per_day(ASKED, world, 48)) == [
        "resident-days: 2.00",
        "requests a resident-day: 60.0, 1.00 of the goal of 60",
        "input tokens a resident-day: 45,000, 0.75 of the goal of 60,000",
    ]
    assert list(per_day(ASKED, world, 0)) == []


def test_a_clinic_is_divided_by_sessions_and_clients_not_by_days() -> None:
    clinic = clinic_world(tiny(), therapy=CBT, sessions=6)
    told = list(per_session(ASKED, clinic, 3, 66))
    assert told == [
        "sessions: 3 of 22.0 lines each, clients: 1",
        "a session: 40.0 requests, 30,000 input tokens",
        "a client: 120.0 requests, 90,000 input tokens",
        "requests a course of 6 sessions: 240, 1.04 of the goal of 230",
    ]


def test_the_table_of_a_clinic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clinic = clinic_world(tiny(), therapy=CBT, sessions=5, lines=6)
    run = live(tmp_path, clinic, ticks=clinic.appointed()[1] + 2)
    report(run, "openai:gpt-4o-mini")
    said = capsys.readouterr().out
    assert "sessions: 2 of " in said and "resident-day" not in said
    assert "USD a session" in said and "of the goal" in said
    report(run, "nobody:knows")
    assert "has no list price" in capsys.readouterr().out
