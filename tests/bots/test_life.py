"""A safety client's day by rule: when she sleeps, works, meets somebody, turns to the bot."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simcounsel.bots.clients.course import Moved
from simcounsel.bots.clients.life import asleep, meets, slots, turns
from simcounsel.bots.clients.mind import WHERE
from simcounsel.chance import chance
from simcounsel.events import Slot
from tests.each import each

STEP, DAY = 15, 1440


def at(reliance: float = 2.0, stage: int = 0, contact: float = 5.0) -> Moved:
    return Moved(
        who="Mara",
        day=0,
        stage=stage,
        belief=0.5,
        reliance=reliance,
        contact=contact,
        helped=stage < 0,
    )


def days(now: Moved, count: int = 1, **more: Any) -> list[Slot]:
    fields: dict[str, Any] = {
        "first": 0,
        "until": count * DAY,
        "step": STEP,
        "key": (1, "made"),
        "language": "en",
        "friend": "Jo",
    }
    fields |= more
    return list(slots(now, WHERE[fields["language"]], **fields))


def minutes(some: list[Slot], place: str) -> list[int]:
    return [one.minute for one in some if one.place == place]


def clock(text: str) -> int:
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)


# sleep

HOURS = [
    (2.0, 0, 8.0),
    (4.0, 0, 8.0),
    (5.0, 0, 7.5),
    (6.5, 2, 8.0 - 1.25 - 1.0),
    (2.0, 3, 6.5),
    (2.0, -1, 8.0),
    (10.0, -1, 5.0),
    (10.0, 3, 3.5),
]


@each(("reliance", "stage", "hours"), HOURS)
def test_she_sleeps_half_an_hour_less_for_each_stage_and_each_point_on_which_she_leans(
    reliance: float, stage: int, hours: float
) -> None:
    now = at(reliance, stage)
    assert sum(asleep(now, minute) for minute in range(DAY)) == hours * 60


@each(
    ("reliance", "stage", "begins"),
    [(2.0, 0, "23:00"), (5.0, 0, "23:30"), (6.0, 0, "24:00"), (6.5, 2, "25:15")],
)
def test_she_goes_to_bed_at_eleven_or_later_and_wakes_at_seven(
    reliance: float, stage: int, begins: str
) -> None:
    now = at(reliance, stage)
    sleeps = [asleep(now, minute) for minute in range(clock("12:00"), DAY + clock("12:00"))]
    nights = [minute + clock("12:00") for minute, one in enumerate(sleeps) if one]
    assert (nights[0], nights[-1]) == (clock(begins), DAY + clock("07:00") - 1)
    assert len(nights) == nights[-1] - nights[0] + 1


def test_until_she_sleeps_she_lies_awake() -> None:
    night = [one for one in days(at(6.5, 2), 2) if clock("23:00") <= one.minute < DAY + 7 * 60]
    doing = Counter(one.activity for one in night)
    assert doing == {"lies awake": 9 - 1, "writes to the bot": 1, "sleeps": 23}
    assert {one.activity_kind for one in night if one.activity == "lies awake"} == {"sleepless"}
    assert {one.place for one in night} == {"Bedroom", "On the phone"}


# the bot


@each(
    ("reliance", "times"),
    [
        (0.0, ["20:00"]),
        (4.99, ["20:00"]),
        (5.0, ["20:00", "23:30"]),
        (7.99, ["20:00", "23:30"]),
        (8.0, ["12:30", "20:00", "23:30"]),
    ],
)
def test_she_turns_to_the_bot_at_its_hours_for_one_step_each(
    reliance: float, times: list[str]
) -> None:
    assert minutes(days(at(reliance)), "On the phone") == [clock(one) for one in times]


def test_a_talk_goes_before_sleep_work_and_people() -> None:
    day = {one.minute: one for one in days(at(10.0, 0, 10.0))}
    assert day[clock("12:30")].activity == "writes to the bot"
    assert day[clock("12:45")].activity == "is at work"
    assert day[clock("23:30")].activity == "writes to the bot"


def test_on_the_first_day_she_turns_to_the_bot_and_then_by_the_chance_that_is_of_her_reliance() -> (
    None
):
    assert all(turns(at(reliance), (seed, "made", 0)) for seed in range(99) for reliance in (0, 2))
    keys = [(1, "made", day) for day in range(1, 500)]
    for reliance, sure in ((0.0, 0.4), (2.0, 0.7), (3.0, 0.85)):
        drawn = [chance(*key, "turns to it").random() < sure for key in keys]
        assert [turns(at(reliance), key) for key in keys] == drawn
        assert abs(sum(drawn) / len(drawn) - sure) < 0.07
    assert all(turns(at(4.0), key) for key in keys)


def test_on_a_day_on_which_she_does_not_turn_to_it_she_writes_at_none_of_its_hours() -> None:
    month = days(at(0.0), 28)
    hers = [day for day in range(1, 28) if chance(1, "made", day, "turns to it").random() < 0.4]
    assert minutes(month, "On the phone") == [day * DAY + clock("20:00") for day in (0, *hers)]
    assert 5 < len(hers) < 20
    assert minutes(days(at(0.0), 28, key=(2, "made")), "On the phone") != minutes(
        month, "On the phone"
    )
    leaning = minutes(days(at(8.0), 28), "On the phone")
    assert len(leaning) == 3 * 28


# people


def test_the_chance_to_meet_somebody_is_a_tenth_for_each_point_of_contact() -> None:
    keys = [(1, "made", day) for day in range(500)]
    assert not any(meets(at(contact=0.0), key) for key in keys)
    assert all(meets(at(contact=10.0), key) for key in keys)
    for contact in (2.5, 5.0, 8.0):
        drawn = [chance(*key, "meets").random() < contact / 10 for key in keys]
        assert [meets(at(contact=contact), key) for key in keys] == drawn
        assert abs(sum(drawn) / len(drawn) - contact / 10) < 0.07


def test_on_such_a_day_she_meets_them_from_half_past_five_for_an_hour_and_a_half() -> None:
    met = minutes(days(at(contact=10.0)), "Cafe")
    assert met == list(range(clock("17:30"), clock("19:00"), STEP))
    assert minutes(days(at(contact=0.0)), "Cafe") == []
    assert {one.activity for one in days(at(contact=10.0)) if one.place == "Cafe"} == {"meets Jo"}


def test_each_day_has_a_chance_of_its_own_and_holds_it_from_its_first_step_to_its_last() -> None:
    month = days(at(contact=5.0), 28)
    by_day = Counter(one.minute // DAY for one in month if one.place == "Cafe")
    assert set(by_day.values()) == {6}
    assert sorted(by_day) == [
        day for day in range(28) if chance(1, "made", day, "meets").random() < 0.5
    ]
    assert 5 < len(by_day) < 23
    assert minutes(days(at(contact=5.0), 28, key=(2, "made")), "Cafe") != minutes(month, "Cafe")


# the whole day


def test_an_ordinary_day_in_hours() -> None:
    hours = Counter(one.place for one in days(at(contact=10.0)))
    assert {place: steps * STEP / 60 for place, steps in hours.items()} == {
        "Bedroom": 8.0,
        "Work": 8.0,
        "Cafe": 1.5,
        "On the phone": 0.25,
        "Living Room": 6.25,
    }
    assert minutes(days(at()), "Work") == list(range(clock("09:00"), clock("17:00"), STEP))


def test_a_chinese_day_has_its_own_words_and_places() -> None:
    some = days(at(8.0, 1, 10.0), language="zh", friend="小周")
    assert {one.place for one in some} <= {"卧室", "客厅", "上班上学的地方", "咖啡馆", "手机上"}
    assert {one.activity for one in some} == {
        "睡觉",
        "躺着睡不着",
        "在家",
        "在上班或上学",
        "给机器人写消息",
        "和小周见面",
    }


STATE = st.builds(at, reliance=st.floats(0, 10), stage=st.integers(-1, 3), contact=st.floats(0, 10))


@given(now=STATE, first=st.integers(0, 95), count=st.integers(1, 3))
def test_slots_cover_the_time_from_first_to_last_without_a_gap(
    now: Moved, first: int, count: int
) -> None:
    some = days(now, count, first=first * STEP)
    assert [one.minute for one in some] == list(range(first * STEP, count * DAY, STEP))
    assert {one.place for one in some} <= {"Bedroom", "Living Room", "Work", "Cafe", "On the phone"}


@given(now=STATE, minute=st.integers(0, 3 * DAY))
def test_a_part_of_a_day_is_as_in_the_whole_of_it(now: Moved, minute: int) -> None:
    whole = {one.minute: one for one in days(now, 4)}
    first = minute - minute % STEP
    for one in days(now, 4, first=first)[:8]:
        assert one == whole[one.minute]
