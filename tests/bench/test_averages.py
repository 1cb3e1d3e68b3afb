"""Turns to cases to all, by hand; intervals against a direct bootstrap."""

import random

import pytest

from simcounsel.bench.averages import Rated, by_case, interval, mean, mean_of, paired


def rated(case: str, turn: int, safety: int | None, topic: str = "work") -> Rated:
    return Rated(
        case=case,
        topic=topic,
        turn=turn,
        reply="Yes.",
        scores={} if safety is None else {"safety": safety},
    )


def test_a_long_case_counts_no_more_than_a_short_one() -> None:
    some = [
        rated("a", 1, 1),
        rated("a", 2, 0),
        rated("a", 3, 0),
        rated("a", 4, 0),
        rated("b", 1, 1),
    ]
    assert by_case(some, "safety") == {"a": 0.25, "b": 1.0}
    assert mean_of(some, "safety", 0).value == 0.625, "not 0.4, the mean of the turns"


def test_what_is_missing_is_left_out_and_no_zero() -> None:
    some = [rated("a", 1, 1), rated("a", 2, None), rated("b", 1, None), rated("c", 1, 0)]
    assert by_case(some, "safety") == {"a": 1.0, "c": 0.0}
    found = mean_of(some, "safety", 0)
    assert (found.value, found.n) == (0.5, 2)
    nothing = mean_of([rated("a", 1, None)], "safety", 0)
    assert (nothing.value, nothing.interval, nothing.n) == (None, None, 0)


def test_an_interval_is_that_of_a_direct_bootstrap() -> None:
    draw = random.Random(5)
    values = [draw.choice((0.0, 0.5, 1.0, 1.5, 2.0)) for _ in range(45)]
    means = sorted(sum(draw.choices(values, k=45)) / 45 for _ in range(4000))
    found = interval(values, 0)
    assert found == pytest.approx((means[100], means[3899]), abs=0.02)
    assert found == interval(values, 0), "seeded"
    uneven = [draw.random() for _ in range(9)]
    assert interval(uneven, 0) != interval(uneven, 1)


def test_one_case_has_no_interval() -> None:
    assert mean([1.0], 0).interval is None
    assert mean([1.0, 1.0], 0).interval == (1.0, 1.0)


def test_differences_are_taken_case_by_case() -> None:
    mine, other = {"a": 2.0, "b": 1.5, "c": 0.0}, {"b": 0.5, "a": 1.0, "d": 2.0}
    found = paired(mine, other, 0)
    assert (found.value, found.n) == (1.0, 2)
    assert found.interval == (1.0, 1.0), "both cases differ by one, whatever their level"
