"""Simulated time and keyed chance."""

import subprocess
import sys
from datetime import datetime

import pytest

from simcounsel.chance import chance, seed_of
from simcounsel.clock import (
    date_text,
    day_of,
    minute_of_tick,
    minutes_of_day,
    time_text,
    weekday_of,
)
from tests.each import each
from tests.stage import ROOT

MONDAY = datetime(2026, 3, 2, 6)


def test_minutes_of_day() -> None:
    assert [minutes_of_day(t) for t in ("00:00", "07:15", "7:15", "24:00")] == [0, 435, 435, 1440]


@each("text", ["", "7", "7:5", "07:60", "24:01", "25:00", "-1:00", "07:15:00", "noon"])
def test_no_time_of_day(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time of day"):
        minutes_of_day(text)


def test_texts() -> None:
    assert (time_text(435), time_text(1440 + 5), day_of(1439), day_of(1440)) == (
        "07:15",
        "00:05",
        0,
        1,
    )
    assert (weekday_of(0, MONDAY), weekday_of(7 * 1440, MONDAY), weekday_of(6 * 1440, MONDAY)) == (
        "Monday",
        "Monday",
        "Sunday",
    )
    assert date_text(1440 + 435, MONDAY) == "Tuesday 3 March, 07:15"
    assert [minute_of_tick(tick, MONDAY, 15) for tick in (0, 1, 72)] == [360, 375, 1440]


def test_chance_is_keyed() -> None:
    assert chance(1, "Ines", "talk").random() == chance(1, "Ines", "talk").random()
    assert (
        len({seed_of(*key) for key in [(1, "a"), (1, "b"), (2, "a"), ("1a",), (1, "a", "")]}) == 5
    )
    assert 0 <= seed_of("x") < 2**63


def test_chance_is_the_same_in_another_process() -> None:
    code = "from simcounsel.chance import seed_of; print(seed_of(1, 'Ines', 'talk'))"
    out = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    assert int(out.stdout) == seed_of(1, "Ines", "talk")
