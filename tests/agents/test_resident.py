"""A resident is a fold over its events."""

from typing import Any

from simcounsel.events import (
    Acted,
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
from tests.stage import EIGHT, Alone


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
    ines = Alone()
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
    assert ines.resident.news == ("Miriam is here and waits.",)
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
        assert ines.resident.done_today == {}
        ines.observe(
            Acted(who="Ines", activity=f"reads {day}", activity_kind="rest", place="p"), EIGHT
        )
        assert ines.resident.done_today == {f"reads {day}": EIGHT}
