"""Intervals of a safety study, beside published examples, other implementations and a simulation."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, sem, t
from statsmodels.stats.proportion import proportion_confint

from simcounsel.bots.study.intervals import Estimated, mean, share, share_difference, t_quantile
from tests.each import each


def paired(a: int, b: int, c: int, d: int) -> list[tuple[bool, bool]]:
    """a: both; b: the first alone; c: the second alone; d: neither."""
    both, first, second, neither = (True, True), (True, False), (False, True), (False, False)
    return [both] * a + [first] * b + [second] * c + [neither] * d


def difference(a: int, b: int, c: int, d: int) -> Estimated:
    found = share_difference(paired(a, b, c, d))
    assert found is not None
    return found


# a share


def test_a_share_has_wilsons_interval_as_statsmodels_has_it() -> None:
    for of in (1, 2, 5, 12, 24, 70):
        for hits in range(of + 1):
            found = share([True] * hits + [False] * (of - hits))
            assert found is not None
            assert (found.hits, found.of, found.value) == (hits, of, hits / of)
            expected = proportion_confint(hits, of, method="wilson")
            assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)


def test_a_share_has_wilsons_interval_as_scipy_has_it() -> None:
    low, high = binomtest(9, 12).proportion_ci(method="wilson")
    found = share([True] * 9 + [False] * 3)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


def test_of_nothing_there_is_no_interval() -> None:
    assert share([]) is None
    assert share_difference([]) is None
    assert mean([]) is None
    assert mean([]) is None


# the difference of two shares of the same clients

PUBLISHED = [
    # Newcombe 1998, Statistics in Medicine 17, 2635, method 10
    ((36, 12, 2, 0), 0.2, 0.0569, 0.3404),
    ((18, 12, 2, 18), 0.2, 0.0562, 0.3290),
    ((53, 0, 0, 1), 0.0, -0.0729, 0.0729),
    ((0, 30, 0, 0), 1.0, 0.8395, 1.0),
    # Fagerland, Lydersen and Laake 2017, Statistical Analysis of Contingency Tables, chapter 8
    ((59, 6, 16, 80), -0.0621, -0.1186, -0.0046),
]


@each(("table", "value", "low", "high"), PUBLISHED)
def test_the_interval_of_paired_shares_is_the_published_one(
    table: tuple[int, int, int, int], value: float, low: float, high: float
) -> None:
    found = difference(*table)
    assert found.of == sum(table)
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=6e-5)


def by_roots(a: int, b: int, c: int, d: int) -> tuple[float, float]:
    """Method 10 in another way: Wilson's limits as roots of a quadratic, the distances as vectors whose angle has the cosine phi."""
    n, z = a + b + c + d, norm.ppf(0.975)

    def limits(hits: int) -> tuple[float, float]:
        roots = np.roots([1 + z * z / n, -(2 * hits + z * z) / n, (hits / n) ** 2])
        low, high = sorted(np.real(roots))
        return low, high

    first, second = a + b, a + c
    margins = first * (n - first) * second * (n - second)
    covers = a * d - b * c
    shrunk = covers if covers <= 0 else max(0.0, covers - n / 2)
    angle = np.arccos(shrunk / sqrt(margins)) if margins else np.pi / 2

    def far(one: float, other: float) -> float:
        return float(np.hypot(one - other * np.cos(angle), other * np.sin(angle)))

    (low1, high1), (low2, high2) = limits(first), limits(second)
    p1, p2 = first / n, second / n
    return p1 - p2 - far(p1 - low1, high2 - p2), p1 - p2 + far(high1 - p1, p2 - low2)


CELL = st.integers(0, 40)
TABLE = st.tuples(CELL, CELL, CELL, CELL).filter(any)


@given(table=TABLE)
def test_the_interval_of_paired_shares_is_that_of_another_implementation(
    table: tuple[int, int, int, int],
) -> None:
    found = difference(*table)
    low, high = by_roots(*table)
    assert (found.low, found.high) == pytest.approx((low, high), abs=2e-6)


@given(table=TABLE)
def test_the_interval_holds_its_value_stays_within_one_and_turns_round_with_the_bots(
    table: tuple[int, int, int, int],
) -> None:
    a, b, c, d = table
    found, turned = difference(*table), difference(a, c, b, d)
    assert found.value == pytest.approx((b - c) / sum(table))
    assert found.low <= found.value <= found.high
    assert found.low >= -1 - 1e-9 and found.high <= 1 + 1e-9
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


def test_pairs_that_go_together_tell_more_than_as_many_that_do_not() -> None:
    together, apart = difference(20, 4, 0, 20), difference(12, 12, 8, 12)
    assert together.value == apart.value
    assert together.high - together.low < apart.high - apart.low
    against = difference(2, 22, 18, 2)
    assert against.high - against.low > apart.high - apart.low


COVERAGE = [(0.8, 0.6, 0.5), (0.9, 0.9, 0.3), (0.5, 0.3, 0.0), (0.7, 0.5, -0.3)]


@each(("p1", "p2", "phi"), COVERAGE)
def test_in_nineteen_of_twenty_studies_of_twelve_clients_the_true_difference_is_within(
    p1: float, p2: float, phi: float
) -> None:
    both = p1 * p2 + phi * sqrt(p1 * (1 - p1) * p2 * (1 - p2))
    cells = np.array([both, p1 - both, p2 - both, 1 - p1 - p2 + both])
    assert (cells >= 0).all()
    drawn = np.random.default_rng(1).multinomial(12, cells, size=1500)
    tables, times = np.unique(drawn, axis=0, return_counts=True)
    within = 0
    for table, count in zip(tables, times, strict=True):
        found = difference(*map(int, table))
        within += int(count) * (found.low <= p1 - p2 <= found.high)
    assert within / 1500 > 0.93


# the mean of differences

DIFFERENCES = [0.5, -1.25, 2.0, 0.0, 3.5, 0.75, -0.5, 1.0, 4.0, 0.25, 1.5, -2.0]


def test_a_mean_has_students_interval_as_scipy_has_it() -> None:
    found = mean(DIFFERENCES)
    assert found is not None
    assert (found.value, found.of, found.hits) == (pytest.approx(np.mean(DIFFERENCES)), 12, None)
    expected = t.interval(0.95, 11, loc=np.mean(DIFFERENCES), scale=sem(DIFFERENCES))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-4)


@each("freedom", [5, 6, 8, 11, 20, 69])
def test_students_quantile_is_scipys(freedom: int) -> None:
    assert t_quantile(freedom) == pytest.approx(t.ppf(0.975, freedom), abs=5e-4)


def test_of_fewer_than_six_clients_nothing_is_said() -> None:
    assert mean([1.0] * 5) is None
    found = mean([1.5] * 6)
    assert found is not None and (found.value, found.low, found.high) == (1.5, 1.5, 1.5)
