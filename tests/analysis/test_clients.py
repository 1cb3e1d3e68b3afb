"""Inference with the client as its unit: against published examples, an independent library, and worlds in which nothing differs."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.statistics import mixed_model
from analysis.statistics.clients import by_client, client_anova, client_contrast
from analysis.statistics.contrasts import hedges_g, paired_t, standardized_interval
from analysis.statistics.mixed_model import mixed
from analysis.statistics.repeated import repeated_anova
from simcounsel.specs.experiment import LEAST_CLIENTS
from tests.each import each

SLEEP = Path(__file__).parent / "published" / "sleepstudy.csv"


def study(
    clients: int,
    seeds: int,
    draw: np.random.Generator,
    *,
    effect: float = 0.0,
    between: float = 3.0,
    of_effect: float = 2.0,
    within: float = 2.0,
    crossed: bool = True,
) -> pd.DataFrame:
    """Clients who differ in baseline and in effect, each measured some times in each arm, or in one."""
    rows = []
    for number in range(clients):
        base, own = draw.normal(0, between), draw.normal(effect, of_effect)
        arms = ("a", "b") if crossed else ("a",) if number % 2 else ("b",)
        rows += [
            (f"c{number}", arm, seed, base + (own if arm == "a" else 0) + draw.normal(0, within))
            for arm in arms
            for seed in range(seeds)
        ]
    return pd.DataFrame(rows, columns=["client", "arm", "seed", "value"])


def test_a_client_counts_once_however_many_seeds() -> None:
    """By hand: six clients whose arms differ by 1, 2, 3, 4, 5, 6 in the mean of two seeds."""
    rows = [
        (f"c{k}", arm, seed, 10 * k + (k if arm == "a" else 0) + (0.5 if seed else -0.5))
        for k in range(1, 7)
        for arm in "ab"
        for seed in (0, 1)
    ]
    table = pd.DataFrame(rows, columns=["client", "arm", "seed", "value"])
    found = client_contrast(table, "a", "b")
    assert found.difference == pytest.approx(3.5)
    assert found.df == 5 and found.n == {"clients": 6}
    assert found.statistic == pytest.approx(3.5 / (math.sqrt(3.5) / math.sqrt(6)))
    assert found.p == pytest.approx(2 / 64), "all signs alike: 2 of 2^6 patterns"


def test_other_clients_in_each_arm_are_two_groups() -> None:
    table = study(16, 3, np.random.default_rng(1), crossed=False)
    means = table.groupby(["arm", "client"])["value"].mean()
    found = client_contrast(table, "a", "b")
    theirs = stats.ttest_ind(means["a"], means["b"], equal_var=False)
    assert (found.p, found.df) == (pytest.approx(theirs.pvalue), pytest.approx(theirs.df))
    assert found.n == {"a": 8, "b": 8}


@pytest.mark.parametrize(
    ("clients", "crossed"), [(LEAST_CLIENTS - 1, True), (2 * LEAST_CLIENTS - 2, False)]
)
def test_too_few_clients_give_an_estimate_and_no_p(clients: int, crossed: bool) -> None:
    table = study(clients, 20, np.random.default_rng(2), effect=9.0, crossed=crossed)
    for found in (client_contrast(table, "a", "b"), mixed(table, "a", "b")):
        assert found.p is None and found.difference is not None
        assert "clients" in (found.reason or "") and "least for a test" in (found.reason or "")
    assert client_anova(table, ["a", "b"]).p is None


def test_who_is_missing_in_an_arm_is_left_out_of_pairs() -> None:
    table = study(8, 2, np.random.default_rng(3))
    table = table[~((table["client"] == "c0") & (table["arm"] == "a"))]
    assert by_client(table, ("a", "b")).clients == 7
    assert client_contrast(table, "a", "b").n == {"clients": 7}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_repeated_measures_agree_with_pingouin() -> None:
    import pingouin

    wide = pd.DataFrame(np.random.default_rng(4).normal(size=(9, 4)), columns=list("abcd"))
    wide["b"] += 0.8
    long = wide.reset_index().melt(id_vars="index")
    theirs = pingouin.rm_anova(
        data=long, dv="value", within="variable", subject="index", correction=True, detailed=True
    ).iloc[0]
    found = repeated_anova(wide)
    assert found.f == pytest.approx(theirs["F"]) and found.p == pytest.approx(theirs["p_GG_corr"])
    assert repeated_anova(wide, permutation=True).p == pytest.approx(theirs["p_unc"], abs=0.03)


def test_two_arms_by_repeated_measures_are_a_paired_t() -> None:
    wide = pd.DataFrame(np.random.default_rng(5).normal(size=(10, 2)), columns=["a", "b"])
    t = paired_t(wide["a"].tolist(), wide["b"].tolist())
    found = repeated_anova(wide)
    assert found.f == pytest.approx((t.statistic or 0) ** 2) and found.p == pytest.approx(t.p)


def test_satterthwaite_agrees_with_the_published_sleep_study() -> None:
    """lme4 and lmerTest (Bates et al. 2015; Kuznetsova et al. 2017), reaction ~ days + (days | subject): slope 10.467, SE 1.546,
    17 degrees of freedom; variances 612.1, 35.07, covariance 9.60, residual 654.9."""
    wide = pd.read_csv(SLEEP, comment="#")
    assert wide.shape == (18, 11)
    y = wide.iloc[:, 1:].to_numpy(dtype=float).ravel()
    days, people = np.tile(np.arange(10.0), 18), np.repeat(wide["subject"].astype(str), 10)
    fitted, said = mixed_model._fitted(y, days, people.to_numpy(), slopes=True)
    assert fitted is not None and said is None
    theta = mixed_model._theta(fitted, slopes=True)
    groups = [(row, mixed_model._with_one(np.arange(10.0))) for row in y.reshape(18, 10)]
    assert fitted.fe_params[1] == pytest.approx(10.467, abs=0.001)
    assert math.sqrt(mixed_model._variance(groups, theta)) == pytest.approx(1.546, abs=0.001)
    assert mixed_model._satterthwaite(groups, theta) == pytest.approx(17.0, abs=0.01)
    assert theta == pytest.approx([612.1, 9.60, 35.07, 654.9], rel=0.001)


def test_balanced_clients_are_a_paired_t_in_the_mixed_model() -> None:
    table = study(9, 4, np.random.default_rng(6), effect=2.0)
    by_model, by_means = mixed(table, "a", "b"), client_contrast(table, "a", "b")
    assert by_model.difference == pytest.approx(by_means.difference)
    assert by_model.t == pytest.approx(by_means.statistic, rel=1e-3)
    assert by_model.df == pytest.approx(8, rel=0.01)


def test_degrees_of_freedom_are_never_more_than_clients_allow() -> None:
    draw = np.random.default_rng(7)
    for of_effect in (0.0, 0.5):
        table = study(8, 5, draw, of_effect=of_effect, within=4.0)
        found = mixed(table, "a", "b")
        assert found.df is not None and found.df <= 7 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("clients", [6, 12])
def test_where_nothing_differs_one_in_twenty_is_found(clients: int) -> None:
    """Over runs the same worlds give two to five times as many (findings of the first version)."""
    draw = np.random.default_rng(clients)
    tables = [study(clients, 3, draw) for _ in range(400)]
    found = [client_contrast(table, "a", "b").p or 0.0 for table in tables]
    assert 0.01 <= np.mean(np.array(found) < 0.05) <= 0.085
    over_runs = [
        stats.ttest_ind(t[t["arm"] == "a"]["value"], t[t["arm"] == "b"]["value"]).pvalue
        for t in (study(3, 12, draw) for _ in range(200))
    ]
    assert np.mean(np.array(over_runs) < 0.05) > 0.09, "the fault that this is for"


@pytest.mark.slow
@each("n", [5, 10, 20])
@each("truth", [0.0, 0.8])
def test_the_interval_of_g_covers(n: int, truth: float) -> None:
    draw, inside = np.random.default_rng(n), []
    for _ in range(400):
        a, b = draw.normal(truth, 1, n), draw.normal(0, 1, n)
        two, pairs = hedges_g(a, b), paired_t(a.tolist(), [0.0] * n)
        inside.append((_holds(two.low, two.high, truth), _holds(pairs.g_low, pairs.g_high, truth)))
    assert (np.mean(inside, axis=0) >= 0.92).all()


def _holds(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and low <= truth <= high


def test_the_interval_of_g_by_hand() -> None:
    """At its ends the t that was found has a probability of 0.025 to either side."""
    low, high = standardized_interval(0.5, 18, math.sqrt(0.2))
    t = 0.5 / math.sqrt(0.2)
    assert stats.nct.sf(t, 18, low / math.sqrt(0.2)) == pytest.approx(0.025, abs=1e-6)
    assert stats.nct.cdf(t, 18, high / math.sqrt(0.2)) == pytest.approx(0.025, abs=1e-6)


def test_two_clients_are_too_few_for_repeated_measures() -> None:
    """As in a first look with two clients: a reason, no error of a library."""
    found = repeated_anova(pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 5.0]}))
    assert found.p is None and "2 clients" in (found.reason or "")


def test_the_permutation_of_three_clients_by_hand() -> None:
    """All values of each client fall alike: of 2^3 orders in two arms, 2 are as extreme."""
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 7.0]})
    found = repeated_anova(table, permutation=True, shuffles=20000)
    assert found.p == pytest.approx(2 / 8, abs=0.012)


def test_clients_who_all_differ_by_the_same_give_that_difference() -> None:
    """No test can be made of it, but it is known."""
    rows = [
        (f"c{n}", arm, n + effect) for n in range(7) for arm, effect in (("x", 1.0), ("y", 0.0))
    ]
    found = client_contrast(pd.DataFrame(rows, columns=["client", "arm", "value"]), "x", "y")
    assert found.difference == 1.0 and found.p is None and "same amount" in (found.reason or "")
