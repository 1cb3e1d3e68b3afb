"""Each formula against values worked by hand, an independent library, and what must hold for any numbers."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from analysis.statistics import (
    anova,
    anova_from_summary,
    eta_squared_from_f,
    hedges_g,
    holm,
    mixed,
    paired_t,
    permutation_anova,
    power_of_contrast,
    sign_flip_p,
    spread,
    tukey,
    welch_anova,
    welch_t,
)
from tests.each import each

THREE = {"a": [6.0, 8, 4, 5, 3, 4], "b": [8.0, 12, 9, 11, 6, 8], "c": [13.0, 9, 11, 8, 7, 12]}
"""Worked by hand: means 5, 9, 10; between 84, within 68; F = 42 / 4.5333 = 9.2647."""
numbers = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3))
groups = st.dictionaries(
    st.sampled_from("abcd"), st.lists(numbers, min_size=2, max_size=8), min_size=2, max_size=4
)


def test_anova_by_hand() -> None:
    found = anova(THREE)
    assert found.f == pytest.approx(42 / (68 / 15))
    assert found.df == (2, 15)
    assert found.eta_squared == pytest.approx(84 / 152)
    assert found.p == pytest.approx(stats.f.sf(42 / (68 / 15), 2, 15))
    assert found.n == {"a": 6, "b": 6, "c": 6}


def test_anova_of_equal_means_is_zero_and_not_noise() -> None:
    found = anova({"a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3]})
    assert (found.f, found.p) == (0, 1)


def test_welch_anova_agrees_with_pingouin() -> None:
    import pingouin

    table = pd.DataFrame(
        [(name, value) for name, values in THREE.items() for value in values], columns=["arm", "y"]
    )
    theirs = pingouin.welch_anova(data=table, dv="y", between="arm")
    found = welch_anova(THREE)
    assert found.f == pytest.approx(float(theirs["F"].iloc[0]))
    assert found.df is not None and found.df[1] == pytest.approx(float(theirs["ddof2"].iloc[0]))


def test_permutation_anova_agrees_with_scipy() -> None:
    found = permutation_anova(THREE, shuffles=4000, seed=3)
    theirs = stats.permutation_test(
        list(THREE.values()),
        lambda *g: stats.f_oneway(*g).statistic,
        permutation_type="independent",
        n_resamples=2000,
        rng=5,
        vectorized=False,
        alternative="greater",
    )
    assert found.p == pytest.approx(theirs.pvalue, abs=0.004)
    assert found.f == pytest.approx(anova(THREE).f)
    assert found == permutation_anova(THREE, shuffles=4000, seed=3)


def test_permutation_anova_is_exact_where_that_can_be_counted() -> None:
    """Two groups of two: the extreme split is one of three, and ties count."""
    assert permutation_anova({"a": [1, 2], "b": [8, 9]}, shuffles=20_000).p == pytest.approx(
        1 / 3, abs=0.015
    )


def test_tukey_agrees_with_statsmodels() -> None:
    found = tukey({"a": THREE["a"], "b": THREE["b"][:4], "c": THREE["c"]})
    values = [*THREE["a"], *THREE["b"][:4], *THREE["c"]]
    theirs = pairwise_tukeyhsd(values, [*"aaaaaa", *"bbbb", *"cccccc"])
    assert [pair.p for pair in found.pairs] == pytest.approx(list(theirs.pvalues), abs=1e-5)
    assert [-pair.difference for pair in found.pairs] == pytest.approx(list(theirs.meandiffs))
    assert [-pair.high for pair in found.pairs] == pytest.approx(
        list(theirs.confint[:, 0]), abs=1e-4
    )


def test_tukeys_q_by_hand() -> None:
    pair = tukey(THREE).pairs[0]
    assert pair.q == pytest.approx(4 / math.sqrt(68 / 15 / 6))
    assert pair.p == pytest.approx(stats.studentized_range.sf(pair.q, 3, 15), abs=1e-9)


def test_hedges_g_by_hand() -> None:
    """Means 2 and 5, pooled deviation 1: d = -3; J(4) = 0.797885 (Hedges 1981, table 1)."""
    found = hedges_g([1, 2, 3], [4, 5, 6])
    assert found.g == pytest.approx(-3 * 0.797885, abs=1e-5)


def test_hedges_g_is_near_pingouins_approximation() -> None:
    import pingouin

    a, b = THREE["a"], THREE["b"]
    assert hedges_g(a, b).g == pytest.approx(
        pingouin.compute_effsize(a, b, eftype="hedges"), abs=0.005
    )


@pytest.mark.parametrize("n", [5, 10, 20])
def test_intervals_of_g_cover(n: int) -> None:
    """Of 150 samples with a true g of 0.8: 0.89 is what four standard errors below 0.95 leave."""
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(150):
        found = hedges_g(rng.normal(0.8, 1, n).tolist(), rng.normal(0, 1, n).tolist())
        assert found.low is not None and found.high is not None
        held += found.low <= 0.8 <= found.high
    assert held / 150 >= 0.88


def test_welch_t_and_paired_t_agree_with_pingouin() -> None:
    import pingouin

    a, b = THREE["a"], THREE["b"]
    for found, paired in ((welch_t(a, b), False), (paired_t(a, b), True)):
        theirs = pingouin.ttest(a, b, paired=paired, correction=True)
        assert found.statistic == pytest.approx(float(theirs["T"].iloc[0]))
        assert found.p == pytest.approx(
            float(theirs["p_val"].iloc[0] if "p_val" in theirs else theirs["p-val"].iloc[0])
        )
    assert paired_t(a, b).difference == pytest.approx(-4)


def test_interval_covers_a_known_difference_at_its_rate() -> None:
    rng = np.random.default_rng(7)
    held = [
        (lambda c: c.low <= -2 <= c.high)(
            welch_t(rng.normal(-2, 1, 8).tolist(), rng.normal(0, 2, 9).tolist())
        )
        for _ in range(300)
    ]
    assert 0.92 <= np.mean(held) <= 0.98


def test_false_positives_stay_at_the_nominal_rate() -> None:
    rng = np.random.default_rng(2)
    ps = [
        permutation_anova({k: rng.normal(0, 1, 5).tolist() for k in "abc"}, shuffles=199, seed=s).p
        or 1
        for s in range(400)
    ]
    assert 0.02 <= np.mean(np.array(ps) <= 0.05) <= 0.085


def test_sign_flip_is_exact_for_few_pairs() -> None:
    """Five pairs that all fall: 2 of 32 sign patterns are as extreme."""
    assert sign_flip_p([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]) == pytest.approx(2 / 32)
    many = sign_flip_p(list(range(20)), [x + 0.5 for x in range(19)] + [30.0])
    assert many is not None and 0 < many < 0.01


def test_mixed_agrees_with_the_balanced_case_by_hand() -> None:
    """Every client as often in each arm: the estimate is the mean of the differences within clients."""
    rng = np.random.default_rng(4)
    rows = []
    for client in range(12):
        own = rng.normal(0, 3)
        for arm, effect in (("x", 2.0), ("y", 0.0)) * 2:
            value = own + effect + rng.normal(0, 0.5)
            rows.append({"client": f"c{client}", "arm": arm, "value": value})
    table = pd.DataFrame(rows)
    found = mixed(table, "x", "y")
    wide = table.pivot_table(index="client", columns="arm", values="value")
    assert found.difference == pytest.approx(float((wide["x"] - wide["y"]).mean()), abs=1e-6)
    assert found.low is not None and found.high is not None and found.low < 2 < found.high
    assert found.client_sd == pytest.approx(3, abs=1.5)
    assert found.clients == 12


@each(
    ("rows", "why"),
    [
        ([("a", "x", 1.0), ("a", "y", 2.0)], "n = 1"),
        ([("a", "x", 1.0), ("a", "y", 2.0), ("a", "x", 1.5), ("a", "y", 2.5)], "1 client"),
        ([("a", "x", 1.0), ("b", "y", 2.0), ("c", "x", 1.5), ("d", "y", 2.5)], "one run a client"),
        (
            [(who, arm, 1.0 + (arm == "y")) for who in "abc" for arm in "xxyy"],
            "runs of a client do not differ",
        ),
    ],
)
def test_mixed_says_why_not(rows: list[tuple[str, str, float]], why: str) -> None:
    found = mixed(pd.DataFrame(rows, columns=["client", "arm", "value"]), "x", "y")
    assert found.difference is None and found.p is None
    assert why in (found.reason or "")


def test_holm_by_hand() -> None:
    """0.01 x 4, 0.02 x 3, then 0.03 x 2 and never below the one before."""
    assert holm([0.02, 0.01, None, 0.04, 0.03]) == pytest.approx([0.06, 0.04, None, 0.06, 0.06])
    assert holm([None]) == [None]
    assert holm([]) == []


def test_power_agrees_with_cohens_table() -> None:
    """Cohen 1988, table 2.3.5: d = 0.5 and 64 in each group give 80%."""
    found = power_of_contrast(64, 64)
    assert found.power == pytest.approx(0.80, abs=0.005)
    assert found.smallest == pytest.approx(0.5, abs=0.005)
    paired = power_of_contrast(34, 34, paired=True)
    assert paired.power == pytest.approx(0.80, abs=0.01)
    assert power_of_contrast(1, 9).reason


DEGENERATE: list[tuple[dict[str, list[float]], str]] = [
    ({"a": [1, 2]}, "1 group"),
    ({}, "no group"),
    ({"a": [1], "b": [1, 2]}, "n = 1"),
    ({"a": [], "b": [1, 2]}, "n = 0"),
    ({"a": [1, 1], "b": [1, 1]}, "no variance|same"),
    ({"a": [1, math.nan], "b": [1, 2]}, "missing"),
    ({"a": [1, math.inf], "b": [1, 2]}, "missing"),
]


@each(("given_groups", "why"), DEGENERATE)
@each("test", [anova, welch_anova, permutation_anova, tukey])
def test_degenerate_groups_give_none_and_a_reason(
    test: Callable[[Any], Any], given_groups: dict[str, list[float]], why: str
) -> None:
    import re

    found = test(given_groups)
    assert re.search(why, found.reason)
    assert getattr(found, "p", None) is None and getattr(found, "f", None) is None
    assert not getattr(found, "pairs", ())


def test_degenerate_contrasts_give_none_and_a_reason() -> None:
    for found in (
        welch_t([1], [2, 3]),
        welch_t([1, 1], [1, 1]),
        paired_t([1, 2], [2, 3]),
        paired_t([1], [2]),
        paired_t([1, 2], [1, 2, 3]),
        paired_t([1, math.nan], [2, 5]),
    ):
        assert found.p is None and found.difference is None and found.g is None
        assert found.reason
    assert hedges_g([1, 1], [1, 1]).reason
    assert sign_flip_p([1], [2]) is None


def test_welch_anova_refuses_a_constant_group() -> None:
    assert "no variance within a" in (welch_anova({"a": [1, 1], "b": [1, 2]}).reason or "")
    assert anova({"a": [1, 1], "b": [1, 2]}).p is not None


def test_spread_by_hand() -> None:
    found = spread("a", [1, 2, 3, math.nan])
    assert (found.n, found.mean, found.sd) == (3, 2, 1)
    assert found.high == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-5)
    assert found.reason == "1 missing left out"
    assert spread("a", [4]).mean == 4 and spread("a", [4]).low is None
    assert spread("a", []).mean is None


@given(groups)
def test_eta_squared_is_a_share_and_p_a_probability(values: dict[str, list[float]]) -> None:
    for found in (anova(values), permutation_anova(values, shuffles=99)):
        assert found.reason or (found.p is not None and 0 <= found.p <= 1)
        assert found.eta_squared is None or 0 <= found.eta_squared <= 1
    permuted = permutation_anova(values, shuffles=99)
    assert permuted.p is None or permuted.p >= 0.01


@given(groups)
def test_a_summary_gives_what_the_values_give(values: dict[str, list[float]]) -> None:
    direct = anova(values)
    arrays = [np.array(v) for v in values.values()]
    brief = anova_from_summary(
        [v.mean() for v in arrays], [v.std(ddof=1) for v in arrays], [len(v) for v in arrays]
    )
    if direct.f is not None and brief.f is not None and direct.f < 1e6:
        assert brief.f == pytest.approx(direct.f, rel=1e-5, abs=1e-6)
        assert brief.eta_squared == pytest.approx(direct.eta_squared, abs=1e-6)
        assert eta_squared_from_f(brief.f, *brief.df) == pytest.approx(brief.eta_squared, abs=1e-6)  # type: ignore[misc]


@given(st.lists(numbers, min_size=2, max_size=8), st.lists(numbers, min_size=2, max_size=8))
def test_effects_change_sign_with_the_order(a: list[float], b: list[float]) -> None:
    one, other = hedges_g(a, b).g, hedges_g(b, a).g
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one == pytest.approx(-other, abs=1e-9)
    first, second = welch_t(a, b), welch_t(b, a)
    if first.difference is not None and second.difference is not None:
        assert first.difference == pytest.approx(-second.difference)
        assert first.p == pytest.approx(second.p)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
def test_holm_is_never_below_the_raw_p(ps: list[float | None]) -> None:
    for raw, corrected in zip(ps, holm(ps), strict=True):
        assert (raw is None) == (corrected is None)
        if raw is not None and corrected is not None:
            assert raw <= corrected <= 1


@each(
    "bad",
    [
        ([1], [1], [5]),
        ([1, 2], [1, 1], [5, 1]),
        ([1, 2], [0, 0], [5, 5]),
        ([1, math.nan], [1, 1], [5, 5]),
        ([1, 2], [1, -1], [5, 5]),
        ([1, 2], [1], [5, 5]),
    ],
)
def test_an_impossible_summary_is_refused(bad: tuple[list[float], list[float], list[int]]) -> None:
    found = anova_from_summary(*bad)
    assert found.f is None and found.reason
    assert eta_squared_from_f(-1, 2, 3) is None and eta_squared_from_f(math.nan, 2, 3) is None
