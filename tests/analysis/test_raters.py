"""Ratings by people by condition: which arm each belongs to, and numbers that one can work out by hand."""

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.raters.comparing import ALL, NO_DIFFERENCE, by_arm, comments, compared, read_studies
from analysis.sample import Sample
from analysis.statistics.crossed_model import crossed, crossed_mean

CLIENTS = [f"c{n}" for n in range(7)]
RATERS = ["r1", "r2", "r3", "r4"]


def sample(**arms: str) -> Sample:
    """Runs with their arms, which is all that is asked of a sample here."""
    members = [SimpleNamespace(name=run, arm=arm, clients=("Ines",)) for run, arm in arms.items()]
    return SimpleNamespace(members=members, arms=tuple(dict.fromkeys(arms.values())))  # type: ignore[return-value]


def rows(*lines: dict[str, Any]) -> pd.DataFrame:
    common = {
        "study": "s",
        "question": "q",
        "rater": "r1",
        "item": "T1",
        "person": "Ines",
        "points": 5,
        "run": "one",
        "value": 3.0,
    }
    return pd.DataFrame([common | line for line in lines])  # fmt: skip


def drawn(
    seed: int, effect: float = 0.0, clients: float = 0.6, raters: float = 0.4
) -> pd.DataFrame:
    """Every rater rates every client in both arms once."""
    rng = np.random.default_rng(seed)
    of = {one: rng.normal(0, 0.7) for one in (*CLIENTS, *RATERS)}
    slope = {one: rng.normal(0, clients) for one in CLIENTS} | {
        one: rng.normal(0, raters) for one in RATERS
    }
    return pd.DataFrame(
        {
            "study": "s", "question": "q", "client": client, "rater": rater, "item": f"{client} {arm}", "arm": arm,
            "value": 3 + of[client] + of[rater] + x * (effect + slope[client] + slope[rater]) + rng.normal(0, 0.5),
        }
        for client, rater, (arm, x) in itertools.product(CLIENTS, RATERS, (("talk", 0.5), ("alone", -0.5)))
    )  # fmt: skip


# which arm


def test_the_arm_is_that_of_the_run_and_others_are_left_out_and_said() -> None:
    read = rows(
        {},
        {"run": "two", "value": 5},
        {"run": "elsewhere"},
        {"run": "one", "also_in": "two", "item": "T9", "chat": "2:Ines+Miriam"},
        {"run": "one", "also_in": "three", "item": "T8", "chat": "9:Ines+Miriam", "value": 1},
    )
    rated, notes = by_arm(read, sample(one="alone", two="talk", three="alone"))
    assert rated[["arm", "value"]].to_numpy().tolist() == [["alone", 3], ["talk", 5], ["alone", 1]]
    assert notes == [
        "Left out: 1 ratings of 1 runs that are not in this report.",
        "Left out: 1 conversations that runs of several arms share, such as a past.",
    ]


def test_an_equal_text_counts_in_every_arm_in_which_it_occurs() -> None:
    """Nobody who did not change is lost to an arm, and nobody counts twice in one."""
    read = rows(
        {"item": "P1", "value": 4, "also_in": "two three"},
        {"item": "P2", "value": 5, "run": "three", "person": "Kofi"},
        {"item": "P3", "value": 1, "run": "elsewhere", "also_in": "two"},
    )
    several = sample(one="alone", two="talk", three="alone")
    several.members[2].clients = ("Kofi",)  # type: ignore[misc]
    rated, notes = by_arm(read, several)
    found = rated[["item", "client", "arm", "value"]].to_numpy().tolist()
    assert found == [
        ["P1", "Ines", "alone", 4],
        ["P1", "Ines", "talk", 4],
        ["P1", "Kofi", "alone", 4],
        ["P2", "Kofi", "alone", 5],
        ["P3", "Ines", "talk", 1],
    ]
    assert notes == []


def test_a_comparison_of_personas_counts_toward_the_later() -> None:
    rated, _ = by_arm(rows({"value": 2, "toward_later": 4}), sample(one="alone"))
    assert rated["value"].tolist() == [4]


def test_recalls_are_compared_by_their_way_and_with_the_middle_of_the_scale() -> None:
    read = rows(
        {"question": "fits", "way": "emotion_aware", "value": 5},
        {"question": "fits", "way": "generative_agents", "value": 2},
        {"question": "fits", "way": "generative_agents", "value": None},
        {"question": "apter", "value": 2, "toward_emotion_aware": 4},
        {"question": "apter", "value": None, "toward_emotion_aware": None},
        {"question": "apter", "value": 5, "toward_emotion_aware": 1, "run": "elsewhere"},
    )
    rated, notes = by_arm(read, sample(one="alone"))
    known = rated.dropna(subset=["value"])
    found = {key: part["value"].tolist() for key, part in known.groupby(["question", "arm"])}
    assert found == {
        ("fits", "emotion_aware"): [5],
        ("fits", "generative_agents"): [2],
        ("apter", "emotion_aware"): [4, 1],
        ("apter", NO_DIFFERENCE): [3, 3],
    }
    assert notes == [], "what is compared is the way, of whatever run"


def test_comments_are_counted_and_listed() -> None:
    read = rows(
        {"comment": "No difference."},
        {"comment": "No difference.", "question": "another"},
        {"item": "T2", "comment": "  "},
        {"rater": "r2", "comment": None},
    )
    said, notes = comments(read)
    assert said[["rater", "item", "comment"]].to_numpy().tolist() == [
        ["r1", "T1", "No difference."]
    ]
    assert notes == ["s: 1 of 3 answers have a comment, by 1 of 2 raters."]
    none, silent = comments(rows({}))
    assert len(none) == 0 and silent == []


def test_studies_are_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(
            "rater,item,question,value,study\nr1,T1,q,3,Named\nr1,T2,q,4,\n", encoding="utf-8"
        )
    read = read_studies([tmp_path / "one.csv", tmp_path / "two.csv"])
    assert read["study"].tolist() == ["Named", "one", "Named", "two"]


# the tables


def test_means_and_pairs_are_what_one_works_out_by_hand() -> None:
    table = drawn(1, effect=1.0)
    found = compared(table, ["alone", "talk"])
    means = found["people_means"].set_index(["of", "arm"])
    by_client = table.groupby(["arm", "client"])["value"].mean()
    own = by_client["talk"]
    row = means.loc[(ALL, "talk")]
    assert row["mean"] == pytest.approx(own.mean())
    half = stats.t.ppf(0.975, len(own) - 1) * own.std(ddof=1) / np.sqrt(len(own))
    assert (row["low"], row["high"]) == pytest.approx((own.mean() - half, own.mean() + half))
    assert (row["ratings"], row["raters"], row["clients"], row["unit"]) == (28, 4, 7, "client")
    assert means.loc[("c0", "talk"), "unit"] == "rater" and means.loc[("c0", "talk"), "units"] == 4

    pairs = found["people_pairs"].set_index("of")
    difference = by_client["alone"] - by_client["talk"]
    assert pairs.loc[ALL, "difference"] == pytest.approx(difference.mean())
    flips = [
        abs(np.mean([sign * one for sign, one in zip(signs, difference, strict=True)]))
        for signs in itertools.product((1, -1), repeat=7)
    ]
    exact = np.mean([one >= abs(difference.mean()) - 1e-12 for one in flips])
    assert pairs.loc[ALL, "p"] == pytest.approx(exact)
    groups = [table.loc[table["arm"] == arm, "value"] for arm in ("alone", "talk")]
    hsd = stats.tukey_hsd(*groups)
    assert pairs.loc[ALL, "tukey_p"] == pytest.approx(hsd.pvalue[0, 1])
    assert pairs.loc[ALL, "tukey_difference"] == pytest.approx(hsd.statistic[0, 1])

    tests = found["people_anova"].set_index("of")
    f, p = stats.f_oneway(*groups)
    assert (tests.loc[ALL, "f_ratings"], tests.loc[ALL, "p_ratings"]) == pytest.approx((f, p))
    repeated = (difference.mean() / (difference.std(ddof=1) / np.sqrt(7))) ** 2
    assert tests.loc[ALL, "f"] == pytest.approx(repeated)


def test_of_one_client_raters_are_what_counts() -> None:
    found = compared(drawn(2), ["alone", "talk"])
    own = found["people_pairs"].set_index("of").loc["c3"]
    assert own["unit"] == "rater" and np.isnan(own["p"])
    assert own["reason"] == "4 raters; 6 in each are the least for a test"
    assert np.isnan(own["mixed_p"]) and own["mixed_reason"] is None


def test_with_one_client_there_is_what_raters_tell() -> None:
    table = drawn(9)
    found = compared(table[table["client"] == "c0"], ["alone", "talk"])
    means = found["people_means"].set_index(["of", "arm"])
    assert (
        np.isnan(means.loc[(ALL, "talk"), "low"]) and means.loc[(ALL, "talk"), "reason"] == "n = 1"
    )
    own = (
        table[(table["client"] == "c0") & (table["arm"] == "talk")].groupby("rater")["value"].mean()
    )
    half = stats.t.ppf(0.975, 3) * own.std(ddof=1) / 2
    assert means.loc[("c0", "talk"), "low"] == pytest.approx(own.mean() - half)


def test_who_failed_a_check_of_attention_is_named_and_counted() -> None:
    read = rows(
        {"rater": "one", "value": 2, "checks_failed": 0},
        {"rater": "two", "value": 5, "checks_failed": 1},
        {"rater": "two", "value": 4, "checks_failed": 1},
    )
    rated, notes = by_arm(read, sample(one="alone"))
    assert notes == [
        "1 of 2 raters failed a check of attention (two 1); their ratings are counted."
    ]
    assert len(rated) == 3
    assert by_arm(rows({"value": 2}), sample(one="alone"))[1] == []


def test_agreement_by_arm() -> None:
    table, rng = drawn(3), np.random.default_rng(1)
    of_client = table["client"].str[1:].astype(float)
    agreed = of_client + rng.normal(0, 0.2, len(table))
    table["value"] = agreed.where(table["arm"] == "talk", rng.normal(3, 1, len(table)))
    found = compared(table, ["alone", "talk"])["people_agreement"]
    alpha = found[found["what"] == "Krippendorff's alpha, ordinal"].set_index("arm")["value"]
    assert list(alpha.index) == ["alone", "talk"]
    assert alpha["talk"] > 0.4 > alpha["alone"]


def test_one_arm_or_ratings_all_alike() -> None:
    alone = drawn(4)[lambda table: table["arm"] == "alone"]
    found = compared(alone, ["alone"])
    assert len(found["people_means"]) and not len(found["people_pairs"])
    alike = compared(drawn(4).assign(value=3.0), ["alone", "talk"])["people_pairs"].set_index("of")
    assert alike.loc[ALL, "mixed_reason"] == "all ratings are the same"
    nothing = compared(alone.iloc[0:0], ["alone"])
    assert {name: len(table) for name, table in nothing.items()} == dict.fromkeys(nothing, 0)


def test_the_middle_of_a_scale_is_no_group_of_ratings() -> None:
    table = drawn(8).assign(
        arm=lambda t: t["arm"].map({"talk": "emotion_aware", "alone": NO_DIFFERENCE})
    )
    table.loc[table["arm"] == NO_DIFFERENCE, "value"] = 3.0
    found = compared(table, [])
    assert set(found["people_means"]["arm"]) == {"emotion_aware"} and not len(found["people_anova"])
    row = found["people_pairs"].set_index("of").loc[ALL]
    above = table[table["arm"] == "emotion_aware"].groupby("client")["value"].mean() - 3
    assert (row["first"], row["difference"]) == ("emotion_aware", pytest.approx(above.mean()))
    assert pd.isna(row["tukey_p"])
    assert row["mixed_difference"] == pytest.approx(above.mean(), abs=1e-3)
    assert row["mixed_df"] == 3 and 0 < row["mixed_p"] < 1


# the mixed model


def test_balanced_ratings_give_what_mean_squares_give() -> None:
    """Differences d of each client and rater: Var(mean d) = (MS clients + MS raters - 2 s^2) / (clients * raters), with s^2 pooled from
    differences and sums, wherever no component is at 0 (Searle, Casella and McCulloch 1992, chapter 4: REML is ANOVA then)."""
    table = drawn(5, effect=0.8, clients=0.9, raters=0.9)
    wide = table.pivot_table(index=["client", "rater"], columns="arm", values="value")
    d = (wide["talk"] - wide["alone"]).unstack()
    s = (wide["talk"] + wide["alone"]).unstack() / 2
    nc, nr = d.shape

    def squares(grid: pd.DataFrame) -> tuple[float, float, float]:
        rows_, columns = grid.mean(axis=1), grid.mean(axis=0)
        left = grid.sub(rows_, axis=0).sub(columns, axis=1) + grid.to_numpy().mean()
        return (
            nr * rows_.var(ddof=1), nc * columns.var(ddof=1),
            float((left**2).to_numpy().sum() / ((nc - 1) * (nr - 1))),
        )  # fmt: skip

    of_clients, of_raters, error_d = squares(d)
    _, _, error_s = squares(s)
    variance = (error_d / 2 + 2 * error_s) / 2
    expected = np.sqrt((of_clients + of_raters - 2 * variance) / (nc * nr))
    found = crossed(table, "talk", "alone", least_clients=6)
    assert found.difference == pytest.approx(d.to_numpy().mean(), rel=1e-6)
    assert found.df == 3, "four raters in both arms"
    assert found.low is not None and found.difference is not None
    error = (found.difference - found.low) / stats.t.ppf(0.975, 3)
    assert error == pytest.approx(expected, rel=0.01)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.difference / error), 3))


def test_a_balanced_mean_gives_what_mean_squares_give() -> None:
    """Var(mean) = (MS clients + MS raters - MS error) / (clients * raters), two-way random without replication."""
    table = drawn(10)[lambda one: one["arm"] == "talk"]
    grid = table.pivot_table(index="client", columns="rater", values="value")
    nc, nr = grid.shape
    by_client, by_rater = grid.mean(axis=1), grid.mean(axis=0)
    left = grid.sub(by_client, axis=0).sub(by_rater, axis=1) + grid.to_numpy().mean()
    error = float((left**2).to_numpy().sum() / ((nc - 1) * (nr - 1)))
    expected = np.sqrt((nr * by_client.var(ddof=1) + nc * by_rater.var(ddof=1) - error) / (nc * nr))
    found = crossed_mean(table, 2.5, least_clients=6)
    assert found.difference == pytest.approx(grid.to_numpy().mean() - 2.5, rel=1e-6)
    assert found.df == 3 and found.low is not None and found.difference is not None
    got = (found.difference - found.low) / stats.t.ppf(0.975, 3)
    assert got == pytest.approx(expected, rel=0.01)


def test_too_few_raters_or_clients_give_an_estimate_without_p() -> None:
    table = drawn(6)
    few = crossed(table[table["client"].isin(CLIENTS[:3])], "talk", "alone", least_clients=6)
    assert few.difference is not None and few.p is None
    assert few.reason == "3 clients; 6 are the least for a test"
    two = crossed(table[table["rater"].isin(RATERS[:2])], "talk", "alone", least_clients=6)
    assert two.p is None and "2 raters" in str(two.reason)
    one = crossed(table[table["rater"] == "r1"], "talk", "alone", least_clients=6)
    assert (
        one.difference is None and one.reason == "too few raters to tell what differs between them"
    )


def test_clients_who_are_in_one_arm_each_count_between_arms() -> None:
    table = drawn(7)
    nested = table[table["client"].isin(CLIENTS[:3]) == (table["arm"] == "talk")]
    found = crossed(nested, "talk", "alone", least_clients=6)
    assert found.df == 3 and found.difference is not None
