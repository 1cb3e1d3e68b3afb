"""A resident is a fold over its events."""

from typing import Any

from simcounsel.agents.views import done_today
from simcounsel.events import (
    Acted,
    Appraised,
    ConversationEnded,
    ConversationStarted,
    Perceived,
    PersonaChanged,
    Planned,
    RelationChanged,
    Said,
    Scheduled,
    Sight,
    Slot,
    Stroke,
)
from tests.stage import EIGHT, Alone, changed, scene, three, tiny


def slot(minute: int, activity: str) -> Slot:
    return Slot(minute=minute, activity=activity, activity_kind="rest", place="Ines's Kitchen")


def heard(who: str, to: str, text: str, emotion: Any, intensity: int) -> Said:
    return Said(
        chat="c",
        message=1,
        who=who,
        to=to,
        text=text,
        emphasis=None,
        emotion=emotion,
        intensity=intensity,
        poignancy=1,
        source="chosen",
    )


def test_later_slots_replace_earlier_ones() -> None:
    ines = Alone()
    ines.observe(Scheduled(who="Ines", slots=tuple(slot(EIGHT + 30 * n, "old") for n in range(4))))
    ines.observe(Scheduled(who="Ines", slots=(slot(EIGHT + 60, "new"),)), EIGHT + 30)
    assert {m: s.activity for m, s in ines.resident.slots.items()} == {
        EIGHT + 30: "old",
        EIGHT + 60: "new",
    }


def test_news_is_whom_one_comes_upon() -> None:
    ines = Alone(world=changed(three(), appointments=()))
    act = Acted(who="Ines", activity="reads", activity_kind="rest", place="Ines's Kitchen")
    ines.observe(act)
    assert ines.resident.news == ()
    ines.observe(Perceived(who="Ines", others=(Sight(name="Omar", activity="bakes"),)))
    ines.observe(act)
    ines.observe(
        Perceived(
            who="Ines",
            others=(Sight(name="Miriam", activity="waits"), Sight(name="Omar", activity="rests")),
        )
    )
    stranger = "A woman whom Ines does not know is here and waits."
    assert ines.resident.news == (stranger,)
    assert ines.resident.come_upon == ((stranger, ""),)
    assert ines.resident.place == "Ines's Kitchen"


def test_talk() -> None:
    ines = Alone()
    assert ines.resident.close_to("Miriam") == 2
    ines.observe(
        ConversationStarted(
            chat="2:Ines+Miriam",
            who=("Miriam", "Ines"),
            place="p",
            cause="draw",
            closeness=2,
            probability=0.1,
        )
    )
    ines.observe(heard("Miriam", "Ines", "Hello.", "joy", 9))
    assert (ines.resident.emotion, ines.resident.said) == ("neutral", [])
    ines.observe(heard("Ines", "Miriam", "Hm.", "fear", 4))
    assert (ines.resident.emotion, ines.resident.intensity, ines.resident.said) == (
        "fear",
        4,
        ["Hm."],
    )
    ines.observe(RelationChanged(who="Ines", other="Miriam", before=2, after=2.5, why="closer"))
    ines.observe(ConversationEnded(chat="2:Ines+Miriam", cause="limit", by=None, messages=2))
    assert (ines.resident.close_to("Miriam"), ines.resident.meetings, ines.resident.news) == (
        2.5,
        {"Miriam": 1},
        (),
    )


def at_the_center(until: int | None, cause: Any = "appointment") -> Alone:
    """Ines, who talked with Miriam from eight o'clock on, and what was planned for the morning."""
    ines = Alone()
    hours = [slot(EIGHT + 15 * n, "meets Miriam as agreed" if n < 4 else "walks") for n in range(6)]
    ines.observe(Scheduled(who="Ines", slots=tuple(hours)))
    ines.observe(
        Acted(
            who="Ines",
            activity="meets Miriam as agreed",
            activity_kind="counseling",
            place="Counseling Center",
        )
    )
    ines.observe(
        ConversationStarted(
            chat="0:Ines+Miriam",
            who=("Miriam", "Ines"),
            place="Counseling Center",
            cause=cause,
            closeness=2,
            probability=1,
        )
    )
    ines.observe(
        ConversationEnded(chat="0:Ines+Miriam", cause="limit", by=None, messages=10, until=until)
    )
    return ines


def test_a_session_lasts_and_stands_in_the_day_with_its_end() -> None:
    ines = at_the_center(EIGHT + 50).resident
    doing = ines.talks.engaged_at(EIGHT + 45)
    assert doing is not None and doing.activity == "is in session with Miriam"
    assert "Miriam" not in doing.seen and doing.kind == "counseling"
    assert ines.talks.engaged_at(EIGHT + 50) is None
    assert ines.done_on(0) == {"was in session with Miriam until 08:50": EIGHT}
    assert ines.sessions == {"Miriam": [0]} and len(ines.slots) == 6


def test_while_it_lasts_nothing_else_begins() -> None:
    ines = at_the_center(EIGHT + 50)
    stays = {"who": "Ines", "activity_kind": "counseling", "place": "Counseling Center"}
    ines.observe(Acted(activity="is in session with Miriam", **stays), EIGHT + 15)
    assert ines.resident.begun is None
    assert list(ines.resident.done_on(0)) == ["was in session with Miriam until 08:50"]
    ines.observe(Acted(activity="walks", **stays), EIGHT + 60)
    assert ines.resident.begun == ines.resident.slots[EIGHT + 60]


def test_what_was_planned_of_a_session_that_ended_early_is_free() -> None:
    ines = at_the_center(EIGHT + 20).resident
    assert sorted(ines.slots) == [EIGHT, EIGHT + 15, EIGHT + 60, EIGHT + 75]


def test_a_talk_by_chance_goes_on_too_and_an_older_log_says_nothing_of_it() -> None:
    doing = at_the_center(EIGHT + 30, "draw").resident.talks.engaged_at(EIGHT + 15)
    assert doing is not None and doing.activity == "goes on talking with Miriam"
    assert at_the_center(None).resident.talks.engaged_at(EIGHT) is None


def test_a_new_plan_answers_what_called_for_it() -> None:
    ines = Alone()
    assert ines.resident.needs_day(EIGHT)
    for version in (0, 1):
        ines.observe(
            PersonaChanged(
                who="Ines",
                version=version,
                background="b",
                characteristic="c",
                recent_feeling="r",
                evidence=(),
            )
        )
        assert bool(ines.resident.replan_why) == bool(version)
    ines.observe(
        Planned(who="Ines", day=0, strokes=(Stroke(at="08:00", do="reads"),), why="a new day")
    )
    assert ines.resident.replan_why is None
    assert not ines.resident.needs_day(EIGHT)
    assert ines.resident.needs_day(EIGHT + 1440)


def test_what_was_done_is_forgotten_with_the_day() -> None:
    ines = Alone()
    for day in (0, 1):
        ines.observe(Planned(who="Ines", day=day, strokes=(), why="a new day"))
        assert ines.resident.done_on(day) == {}
        minute = EIGHT + day * 1440
        ines.observe(
            Acted(who="Ines", activity=f"reads {day}", activity_kind="rest", place="p"), minute
        )
        assert ines.resident.done_on(day) == {f"reads {day}": minute}
    assert ines.resident.done_on(0) == {}


def test_before_the_new_day_is_planned_yesterday_is_not_today() -> None:
    """At midnight slots are asked for before the day's plan has been taken in."""
    ines = Alone()
    ines.observe(Acted(who="Ines", activity="reads", activity_kind="rest", place="p"), 1439)
    assert done_today(ines.resident, scene(minute=1439)) == (("reads", 1439),)
    assert done_today(ines.resident, scene(minute=1440)) == ()


def test_a_feeling_that_nothing_feeds_fades_by_half_in_a_half_life() -> None:
    ines = Alone()
    felt = Appraised(who="Ines", about="a talk", emotion="anger", intensity=8, poignancy=5)
    ines.observe(felt, EIGHT)
    assert [ines.resident.mood.faded(EIGHT + after) for after in (0, 60, 120, 240, 300, 360)] == [
        ("anger", 8),
        ("anger", 6),  # 8 / 2 ** 0.5 = 5.66
        ("anger", 4),
        ("anger", 2),
        ("neutral", 1),  # 1.41
        ("neutral", 1),
    ]


def test_it_can_be_held_until_the_next_hours_are_planned() -> None:
    held = tiny().model_copy(update={"feelings_fade_minutes": None})
    ines = Alone(world=held)
    felt = Appraised(who="Ines", about="a talk", emotion="anger", intensity=8, poignancy=5)
    ines.observe(felt, EIGHT)
    assert ines.resident.mood.faded(EIGHT + 600) == ("anger", 8)
