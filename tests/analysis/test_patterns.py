"""Clusters of activities: the stated rules, checked on planted groups; names by a model or the medoid."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import tables
from analysis.clustering import ClusterFit, elbow, number_of_clusters
from analysis.naming import name_clusters, question_for
from analysis.patterns import find_patterns, first_talks, periods, shares, transitions
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.prompts.twins import complained
from simcounsel.scripted import Scripted
from tests.each import each
from tests.prompts.test_golden import compare, shown
from tests.stage import switchboard

GROUPS = {"sleeps": 0, "works": 1, "walks": 2}


def embed(texts: Sequence[str]) -> np.ndarray:
    """Three groups far apart; within one, texts differ a little."""
    rows = []
    for text in texts:
        vector = np.zeros(4)
        vector[GROUPS[text.split()[0]]] = 1
        vector[3] = 0.03 * (int(text.split()[1]) % 7)
        rows.append(vector)
    return np.array(rows, dtype=np.float32)


def activities(days: int = 3, run: str = "r1") -> pd.DataFrame:
    """Mostly asleep on the first day, mostly walking on the last; every 15 minutes."""
    rows = []
    for tick in range(96 * days):
        day = tick // 96
        doing = "works" if tick % 4 == 0 else "sleeps" if day == 0 else "walks"
        rows.append(
            {
                "run": run,
                "client": "Ines",
                "tick": tick,
                "minute": 720 + 15 * tick,
                "activity": f"{doing} {tick % 5}",
                "kind": {"works": "work", "sleeps": "sleep", "walks": "exercise"}[doing],
            }
        )
    return pd.DataFrame(rows)


def test_planted_groups_and_their_shares_are_found() -> None:
    table = activities()
    found = find_patterns(table, periods(table), embed)
    assert found.k == 3 and found.reason is None
    assert {cluster.medoid.split()[0] for cluster in found.clusters} == set(GROUPS)
    assert found.agreement == pytest.approx(1.0)
    assert found.fits[2].silhouette is not None and found.fits[2].silhouette > 0.85
    name = {cluster.number: cluster.medoid.split()[0] for cluster in found.clusters}
    share = {(name[row.cluster], row.period): row.share for row in shares(found).itertuples()}
    assert share[("works", "before")] == share[("works", "after")] == pytest.approx(0.25)
    assert share[("sleeps", "before")] == pytest.approx(0.75) and share[("sleeps", "after")] == 0
    assert share[("walks", "after")] == pytest.approx(0.75)
    assert sum(cluster.size for cluster in found.clusters) == 192


def test_transitions_by_hand() -> None:
    table = activities()
    found = find_patterns(table, periods(table), embed)
    name = {cluster.number: cluster.medoid.split()[0] for cluster in found.clusters}
    moves = {
        (name[r.cluster], name[r.then], r.period): (r.count, r.share)
        for r in transitions(found).itertuples()
    }
    assert moves[("works", "sleeps", "before")] == (24, 1.0)
    assert moves[("sleeps", "works", "before")] == (23, pytest.approx(23 / 71))
    assert moves[("sleeps", "sleeps", "before")] == (48, pytest.approx(48 / 71))


@each(
    ("days", "before", "after"),
    [(3, 96, 96), (2, 96, 96), (1.5, 48, 48), (1.0, 48, 48), (0.5, 24, 24)],
)
def test_windows_of_days(days: float, before: int, after: int) -> None:
    table = activities(3).iloc[: int(96 * days)]
    cut = periods(table)
    assert ((cut == "before").sum(), (cut == "after").sum()) == (before, after)
    if days >= 1.25:
        clock = table["minute"] % 1440
        assert set(clock[cut == "before"]) == set(clock[cut == "after"])


def test_cuts_at_a_minute() -> None:
    table = pd.concat([activities(1, "r1"), activities(1, "r2")], ignore_index=True)
    cut = periods(table, "session", {"r1": 720 + 15 * 10})
    assert (cut[table["run"] == "r1"] == "before").sum() == 10
    assert cut[table["run"] == "r2"].isna().all()


def test_first_sessions_are_with_a_counselor(three_runs: Path) -> None:
    talk = tables.talk([three_runs / "client_only", three_runs / "client_counselor"])
    assert first_talks(talk, of_counselor=True) == {"client_counselor": int(talk["minute"].min())}


def test_first_meetings_are_with_anybody(three_runs: Path) -> None:
    talk = tables.talk([three_runs / name for name in ("client_layperson", "client_counselor")])
    found = first_talks(talk, of_counselor=False)
    first = talk.groupby(talk["run"].astype(str))["minute"].min()
    assert found and found == first.to_dict()


def test_the_number_is_the_largest_that_agrees() -> None:
    def fits(*agreements: float | None) -> list[ClusterFit]:
        inertias = (100.0, 60.0, 20.0, 17.0, 13.0)
        return [
            ClusterFit(k=k, inertia=inertia, agreement=agreement)
            for k, (inertia, agreement) in enumerate(zip(inertias, agreements, strict=False), 1)
        ]

    assert number_of_clusters(fits(None, 0.95, 0.6, 0.85, 0.7)) == 4
    assert number_of_clusters(fits(None, 0.3, 0.5, 0.4, 0.79)) == 3, "none agrees: the elbow"
    assert number_of_clusters(fits(None)) == 1


def test_lying_awake_is_no_sleep_whatever_its_words() -> None:
    """Words that are all but the same; the kind tells them apart."""
    table = activities(2).assign(kind="sleep")
    awake = table["tick"] % 3 == 0
    table["activity"] = "lies in bed in the dark " + (table["tick"] % 4).astype(str)
    table.loc[awake, "kind"] = "sleepless"
    table.loc[awake, "activity"] += " "

    def alike(texts: Sequence[str]) -> np.ndarray:
        return np.array([[1.0, 0.01 * len(text), int(text.split()[-1])] for text in texts])

    found = find_patterns(table, periods(table), alike)
    by_cluster = found.labels.groupby("cluster")["kind"].agg(set)
    assert all(len(kinds) == 1 for kinds in by_cluster), by_cluster


def test_the_elbow_by_hand() -> None:
    """A sharp bend at 3; the chord from (1, 100) to (6, 10) is furthest above it there."""
    assert elbow([100, 60, 20, 17, 13, 10]) == 3
    assert elbow([5, 5, 5]) == 2
    assert elbow([9, 1]) == 2 and elbow([9]) == 1


@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=12))
def test_the_elbow_is_one_of_them(drops: list[float]) -> None:
    inertias = list(np.cumsum(drops[::-1])[::-1])
    assert 2 <= elbow(inertias) <= len(inertias)


def test_too_little_to_cluster() -> None:
    table = activities().assign(activity="sleeps 1")
    assert "1 different activities" in (find_patterns(table, periods(table), embed).reason or "")
    none = table.iloc[0:0]
    assert find_patterns(none, periods(none), embed).reason


@pytest.mark.slow
def test_the_same_input_gives_the_same_clusters(three_runs: Path) -> None:
    table = tables.activities(sorted(three_runs.iterdir()))
    one, two = (find_patterns(table, periods(table), HashEmbeddings().embed_now) for _ in range(2))
    assert one.clusters == two.clusters
    assert one.k is not None and 2 <= one.k <= 12


def test_names_come_from_the_model_or_the_medoid() -> None:
    table = activities()
    found = find_patterns(table, periods(table), embed)
    models = switchboard(
        Scripted(
            {
                "name_activities": lambda request, draw: (
                    " “Quiet nights”.\n"
                    if "sleeps" in request.prompt.split("Other groups")[0]
                    else "w " * 20
                )
            }
        )
    )
    named, troubles = name_clusters(found, models)
    models.close()
    by_medoid = {cluster.medoid.split()[0]: cluster for cluster in named.clusters}
    assert (by_medoid["sleeps"].name, by_medoid["sleeps"].named_by) == ("Quiet nights", "scripted")
    assert by_medoid["works"].name.startswith("work: ")
    assert (by_medoid["works"].name.removeprefix("work: "), by_medoid["works"].named_by) == (
        by_medoid["works"].medoid,
        "medoid",
    )
    assert len(troubles) == 2 and "its medoid is its name" in troubles[0]


def test_prompt() -> None:
    table = activities()
    found = find_patterns(table, periods(table), embed)
    by_medoid = sorted(found.clusters, key=lambda cluster: cluster.medoid)
    request = question_for(by_medoid[0], tuple(by_medoid))
    compare("name_activities", shown(request.system, request.prompt))
    request = question_for(by_medoid[0], tuple(by_medoid), "name_themes")
    assert request.purpose == "name_themes"
    compare("name_themes", shown(request.system, request.prompt))


def test_chinese_activities_are_named_in_chinese() -> None:
    table = activities()
    found = find_patterns(table, periods(table), embed)
    one = replace(found.clusters[0], members=("一个人在阳台上发呆", "坐在窗边喝茶"), medoid="发呆")
    for purpose in ("name_themes", "name_activities"):
        request = question_for(one, (one,), purpose)
        assert request.language == "zh"
        assert not re.search("[A-Za-z]", request.system + request.prompt)
    assert request.check is not None and request.check("独自安静地待着") is None
    problem = request.check("独自一个人安静地待在阳台上看着窗外发呆喝茶")
    assert complained(str(problem), "zh") == "名字要四到十个字；这个有 21 个字"
