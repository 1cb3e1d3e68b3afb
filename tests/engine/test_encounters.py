"""Who meets whom by chance, and how long two are in a conversation."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from simcounsel.engine.encounters import encounters, minutes_of, occupied
from simcounsel.engine.forking import fork
from simcounsel.events import (
    Acted,
    Appraised,
    ConversationEnded,
    ConversationStarted,
    Entry,
    Left,
    Perceived,
    Planned,
    Scheduled,
)
from simcounsel.llm.question import Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.run import Run
from simcounsel.specs.residents import Appointment
from simcounsel.specs.world import World
from simcounsel.specs.world_settings import ConversationSettings
from tests.each import each
from tests.stage import (
    EIGHT,
    Alone,
    Listening,
    changed,
    go_on,
    live,
    log,
    switchboard,
    three,
    tiny,
    without_hashes,
)

AT = EIGHT + 60
"""When Ines and Miriam meet in the tiny world."""


def world(**changes: Any) -> World:
    """Quarters of an hour, and whoever meets talks."""
    settings = ConversationSettings(chance=1.0, cool_down_ticks=0, max_turns=6)
    return changed(three(), tick_minutes=15, ticks=16, conversation=settings, **changes)


def pairs(minute: int, *people: Alone) -> list[tuple[str, set[str], int]]:
    found = encounters(world(), 1, minute, [one.resident for one in people])
    return [(one.started.cause, set(one.started.who), one.minutes) for one in found]


def people() -> tuple[Alone, Alone]:
    """Ines and Miriam, close to each other, in one place."""
    both = Alone("Ines", world()), Alone("Miriam", world())
    for one, other in zip(both, both[::-1], strict=True):
        one.resident.place = "Counseling Center"
        one.resident.activity = "waits"
        one.resident.closeness[other.resident.name] = 10
    return both


def test_two_who_meet_within_the_hour_as_agreed_do_not_talk_by_chance_before() -> None:
    both = people()
    assert pairs(AT - 75, *both) == [("draw", {"Ines", "Miriam"}, 15)]
    for minute in (AT - 60, AT - 15):
        assert not pairs(minute, *both)
    assert pairs(AT, *both) == [("appointment", {"Ines", "Miriam"}, 50)]


def test_who_is_in_a_conversation_meets_nobody_by_chance() -> None:
    both = people()
    for one in both:
        one.observe(started("draw"), EIGHT - 120)
        one.observe(over(EIGHT - 90), EIGHT - 120)
    residents = [one.resident for one in both]
    assert not pairs(EIGHT - 105, *both)
    assert occupied(residents, EIGHT - 105) == {"Ines", "Miriam"}
    assert not occupied(residents[:1], EIGHT - 105), "the other is not here any more"
    assert not occupied(residents, EIGHT - 90)
    assert pairs(EIGHT - 90, *both)


def started(cause: Any) -> ConversationStarted:
    return ConversationStarted(
        chat="1:Ines+Miriam",
        who=("Miriam", "Ines"),
        place="Counseling Center",
        cause=cause,
        closeness=2,
        probability=1,
    )


def over(until: int) -> ConversationEnded:
    return ConversationEnded(chat="1:Ines+Miriam", cause="limit", by=None, messages=6, until=until)


@each(
    ("appointment", "roles", "minutes"),
    [
        ({}, ("client", "counselor"), 50),
        ({"minutes": 90}, ("client", "counselor"), 90),
        ({}, ("client", "layperson"), 15),
        ({"max_turns": 30}, ("client", "layperson"), 45),
        (None, ("client", "counselor"), 15),
    ],
)
def test_how_long_a_conversation_lasts(appointment: Any, roles: Any, minutes: int) -> None:
    """As the appointment says; else a tick for each twelve lines."""
    made = (
        Appointment(who=("Ines", "Miriam"), days=(0,), at="09:00", place="x", **appointment)
        if appointment is not None
        else None
    )
    assert minutes_of(made, world(), *roles) == minutes


def test_nobody_misses_the_next_appointment() -> None:
    """At 09:30 Ines meets Omar: the hour with Miriam is shorter."""
    omar = Appointment(who=("Ines", "Omar"), days=(0,), at="09:30", place="Counseling Center")
    made = world(appointments=(three().appointments[1], omar))
    residents = [one.resident for one in people()]
    (one,) = encounters(made, 1, AT, residents)
    assert one.minutes == 30


def quarters() -> World:
    """Without reflections, which call for new plans."""
    return changed(tiny(), tick_minutes=15, ticks=12, without=("reflect",))


def line(request: Question[Any], draw: Random) -> str:
    """Nobody takes leave."""
    felt = {"emotion": "neutral", "intensity": 1, "poignancy": 1}
    say = f"I wake at three and count the hours {draw.randrange(10**6)}."
    return json.dumps({"say": say, "wish": "go on", **felt})


LINES = {"line_client": line, "line_counselor": line}


def talks_on() -> Switchboard:
    return switchboard(Listening(LINES))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("runs"), quarters(), models=talks_on())


@pytest.fixture(scope="module")
def entries(run: Run) -> list[Entry]:
    return list(run.entries())


class TestASession:
    """Of fifty minutes, in quarters of an hour: four ticks."""

    during = (AT + 15, AT + 30, AT + 45)

    def test_it_says_until_when(self, entries: list[Entry]) -> None:
        (end,) = (e.event for e in entries if isinstance(e.event, ConversationEnded))
        assert end.until == AT + 50

    def test_both_are_in_it_and_do_nothing_else(self, entries: list[Entry]) -> None:
        for who, other in (("Ines", "Miriam"), ("Miriam", "Ines")):
            own = [e for e in entries if getattr(e.event, "who", None) == who]
            acts = {e.minute: e.event for e in own if isinstance(e.event, Acted)}
            assert acts[AT].activity == f"meets {other} as agreed"
            for minute in self.during:
                assert acts[minute].activity == f"is in session with {other}"
                assert acts[minute].place == "Counseling Center"
                assert other not in acts[minute].seen
            assert "session" not in acts[AT + 60].activity
            others = (Perceived, Appraised, Scheduled, Planned)
            assert not [
                e.event for e in own if e.minute in self.during and isinstance(e.event, others)
            ]

    def test_nobody_is_asked_anything_meanwhile(self, run: Run) -> None:
        start = run.world.start.hour * 60
        busy = {(minute - start) // 15 for minute in self.during}
        asked = [call for call in run.calls() if call["who"] in ("Ines", "Miriam")]
        assert asked and not [call["purpose"] for call in asked if call["tick"] in busy]

    def test_a_resume_in_its_middle_gives_the_same_bytes(self, run: Run, tmp_path: Path) -> None:
        for ticks in (5, 6, 7):
            half = live(tmp_path / str(ticks), quarters(), ticks, models=talks_on())
            assert log(go_on(half, models=talks_on())) == log(run)

    def test_a_fork_in_its_middle_lives_on_the_same(self, run: Run, tmp_path: Path) -> None:
        same = fork(run, 6, {}, tmp_path)
        go_on(same, models=talks_on())
        assert without_hashes(same) == without_hashes(run)

    def test_who_goes_leaves_the_other_free(self, run: Run, tmp_path: Path) -> None:
        alone = fork(run, 6, {"condition": "client_only"}, tmp_path)
        go_on(alone, models=talks_on())
        later = [entry for entry in alone.entries() if entry.minute >= AT + 30]
        assert any(isinstance(entry.event, Left) for entry in later)
        acts = [e.event.activity for e in later if isinstance(e.event, Acted)]
        assert acts and "is in session with Miriam" not in acts

    def test_afterwards_the_day_goes_on_from_there(self, tmp_path: Path) -> None:
        """The prompts say when it began and ended."""
        spy = Listening(LINES)
        live(tmp_path, quarters(), models=switchboard(spy))
        later = [
            one.prompt
            for one in spy.requests
            if one.who == "Ines" and one.purpose == "plan_slots" and "until 09:50" in one.prompt
        ]
        assert later
        assert "- 09:00 was in session with Miriam until 09:50\n" in later[0]
        assert "meets Miriam as agreed" not in later[0].split("Ines's day so far")[1]
        (summary,) = [o for o in spy.requests if o.who == "Ines" and o.purpose == "summarize"]
        began = "It is Monday 2 March, 09:50. Ines has just talked with Miriam at Counseling Center"
        assert f"{began}, since 09:00." in summary.prompt
        assert "It was their first session." in summary.prompt

    def test_a_new_plan_waits_for_its_end(self, tmp_path: Path) -> None:
        """What stayed of the session is so poignant that both plan again, but not in its middle."""
        settings = ConversationSettings(max_turns=6, replan_from_poignancy=1)
        moved = live(tmp_path, changed(quarters(), conversation=settings), models=talks_on())
        why = "the conversation with Miriam mattered to Ines"
        plans = [
            entry.minute
            for entry in moved.entries()
            if isinstance(entry.event, Planned) and entry.event.why == why
        ]
        assert plans and set(plans) == {AT + 45}, "in the last tick of it, for the time after it"
