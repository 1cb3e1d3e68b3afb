"""What comes to mind is told with when it was, and nothing that the day's list says already."""

import pytest

from simcounsel.agents.appointments import appointments_text
from simcounsel.agents.lived import beside_the_day, dated, remembered
from simcounsel.agents.mind import Agreed, Reachable
from simcounsel.agents.ties import together
from simcounsel.agents.views import at_this_moment, whereabouts
from simcounsel.clock import day_text
from simcounsel.events import Acted, Hit
from tests.each import each
from tests.stage import EIGHT, HERE, Alone, memory, scene, view

A_DAY = 24 * 60


@each(
    ("when", "text", "told"),
    [
        (None, "Wakes at three.", "Before these days: Wakes at three."),
        (2 * A_DAY + 510, "Ines drew.", "Today, 08:30: Ines drew."),
        (A_DAY + 1275, "Ines drew.", "Yesterday, 21:15: Ines drew."),
        (A_DAY + 495, "08:00 to 08:15: Ines drew.", "Yesterday, 08:00 to 08:15: Ines drew."),
        (480, "08:00 to 08:15: Ines drew.", "Monday 2 March: 08:00 to 08:15: Ines drew."),
        (480, "Ines drew.", "Monday 2 March, 08:00: Ines drew."),
    ],
)
def test_a_memory_says_when_it_was(when: int | None, text: str, told: str) -> None:
    assert dated(text, when, scene(minute=2 * A_DAY + 600)) == told
    chinese = dated("她醒了。", when, scene(minute=2 * A_DAY + 600, language="zh"))
    days = {None: "这些日子以前：", 0: "3月2日", 1: "昨天 ", 2: "今天 "}
    assert chinese.startswith(days[None if when is None else when // A_DAY])


def hits(*numbers: int) -> tuple[Hit, ...]:
    terms = dict.fromkeys(
        ("recency", "poignancy", "emotion_score", "emotion_relevance", "relevance"), 0.5
    )
    return tuple(Hit(id=f"Ines:{n}", score=1 - n / 10, **terms) for n in numbers)


def test_what_the_day_s_list_says_does_not_come_to_mind_as_well() -> None:
    ines = Alone()
    ines.remember(memory(0, "Wakes at three.", origin="initial"))
    ines.remember(memory(1, "Ines draws a valve.", type="event", origin="own act"))
    ines.remember(memory(2, "08:00 to 08:30: Ines draws a valve.", type="slot", origin="plan"))
    ines.remember(memory(3, "Omar draws a valve.", type="event", origin="sight"))
    ines.observe(
        Acted(who="Ines", activity="draws a valve", activity_kind="work", place="Ines's Kitchen")
    )
    now, found = scene(minute=EIGHT + 60), hits(0, 1, 2, 3)
    assert beside_the_day(ines.resident, found, now) == (
        "Before these days: Wakes at three.",
        "Today, 08:00: Omar draws a valve.",
    )
    assert len(remembered(ines.resident, found, now)) == 4
    tomorrow = scene(minute=EIGHT + A_DAY)
    assert "Yesterday, 08:00: Ines draws a valve." in beside_the_day(ines.resident, found, tomorrow)


def test_an_appointment_says_with_whom_and_how_long() -> None:
    at = 9 * 60
    agreed = {
        (at, "Miriam"): Agreed(minutes=50, role="counselor", session=True),
        (at, "Omar"): Agreed(minutes=30, role="layperson", session=False),
    }
    known = scene(
        appointments=((at, "Counseling Center", "Miriam"), (at, "Willow Park", "Omar")),
        agreed=agreed,
    )
    assert appointments_text(Alone().resident, known) == (
        "Ines's appointments today: 09:00 with Miriam (counselor) at Counseling Center, for 50"
        " minutes; 09:00 with Omar (neighbour and friend) at Willow Park, for 30 minutes."
    )
    first = together(Alone().resident, scene(), view())
    assert "Ines and Miriam have not talked before. Miriam is a counselor." in first


def test_a_place_and_a_feeling_are_worded_as_they_are() -> None:
    there = (*HERE, Reachable(name="Omar's Garden", kind="garden", own_home=False))
    now = scene(places=there)
    assert whereabouts("Ines's Bedroom", now) == "at home, in Ines's Bedroom"
    assert whereabouts("Omar's Garden", now) == "in Omar's Garden"
    assert whereabouts("Counseling Center", now) == "at Counseling Center"
    ines = Alone().resident
    assert at_this_moment(ines, "neutral", 9) == ""
    assert at_this_moment(ines, "fear", 5) == "Ines feels rather afraid at this moment."


@pytest.mark.parametrize("text", ["Tuesday 3 March: She slept.", "3月3日星期二：她睡了。"])
def test_a_day_that_was_told_in_short_says_itself_which_it_was(text: str) -> None:
    language = "zh" if "月" in text else "en"
    at = 9 * A_DAY
    assert text.startswith(day_text(A_DAY, scene().start, language))
    assert dated(text, at, scene(minute=at, language=language)) == text
