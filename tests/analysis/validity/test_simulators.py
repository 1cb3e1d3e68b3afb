"""Simulators side by side: three stand-ins of PatientHub before one counselor, and their distance to real talk."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from analysis.validity.simulators.measuring import (
    Side,
    SimulatorSessions,
    client_measures,
    far,
    nearness,
    own_file,
    unlike,
)
from analysis.validity.talk.counting import coded_by_rules
from analysis.validity.talk.sessions import ClientLine, TalkSession
from simcounsel.named_code import allow_code
from tests.commands import Command
from tests.stage import ROOT

HUB = ROOT / "tests" / "borrowed" / "hub"
CLIENTS = ("aisha", "elif", "ines", "kofi", "mei", "walter")


def session(client: str, *lines: str) -> TalkSession:
    told = tuple(ClientLine(said=one, before="Mm-hm.") for one in lines)
    return TalkSession(id=client, client=client, client_lines=told, counselor_lines=("Mm-hm.",))


def embed(texts) -> np.ndarray:
    """Counts of three words."""
    return np.array(
        [[1e-3 + text.split().count(word) for word in ("sea", "wood", "sky")] for text in texts]
    )


def test_consistency_and_drift_by_hand() -> None:
    found = (session("A", "sea sea", "sea", "wood"), session("B", "sea", "sea wood", "wood wood"))
    one = SimulatorSessions(
        name="x", found=found, files={"A": "sea", "B": "wood"}, requests=1, tokens=0
    )
    values = own_file(one, embed)
    assert values["consistency"] == [1.0, 1.0], (
        "A says the sea thrice of four, B the wood thrice of five"
    )
    assert values["drift"] == pytest.approx([-1, 1], abs=0.01)
    assert unlike(found, embed) == pytest.approx([1 - 9 / np.sqrt(10 * 13)] * 2, abs=0.01)


def test_files_that_are_not_there_and_a_client_alone() -> None:
    alone = SimulatorSessions(
        name="x", found=(session("A", "sea", "sky"),), files={"A": "sea"}, requests=1, tokens=0
    )
    assert own_file(alone, embed)["consistency"] == [None], "one file is always the nearest"
    nobody = SimulatorSessions(
        name="x", found=(session("Z", "sea"),), files={}, requests=1, tokens=0
    )
    assert own_file(nobody, embed) == {"consistency": [None], "drift": [None]}
    assert unlike(nobody.found, embed) == [None]


def test_the_first_disclosure_counts_lines_before_it() -> None:
    (pace,) = [one for one in client_measures(coded_by_rules) if one.id == "first_disclosure"]
    told = session("A", "It was Tuesday.", "The bus was late.", "I feel so ashamed of it.")
    assert pace.of(told) == 2
    assert pace.of(session("A", *["The bus was late."] * 5)) == 5
    assert pace.of(session("A", *["The bus was late."] * 30)) == 20


def sides(shift: float, n: int = 20, seed: int = 1) -> Side:
    rng = np.random.default_rng(seed)
    return Side(values=rng.normal(shift, 1, size=(n, 3)), clients=np.arange(n))


def test_the_distance_is_wasserstein_in_real_deviations() -> None:
    real, other = sides(0), sides(1, seed=2)
    each = [
        stats.wasserstein_distance(real.values[:, at], other.values[:, at])
        / real.values[:, at].std(ddof=1)
        for at in range(3)
    ]
    assert far(real, other, (0, 1, 2)) == pytest.approx(np.mean(each))
    assert far(real, other, (1,)) == pytest.approx(each[1])


def test_the_nearest_is_found_with_an_interval_and_a_ceiling() -> None:
    found = nearness(sides(0, 40), {"far": sides(1.5, seed=3), "near": sides(0.1, seed=2)})
    assert found.order == ["near", "far"] and found.clients == 20
    assert found.lead and found.lead[1] > 0
    assert found.beyond["far"][1] > 0 > found.beyond["near"][1]
    for name in found.distance:
        low, high = found.ends[name]
        assert low < found.distance[name] < high
    few = nearness(sides(0, 4), {"a": sides(0, 4, 2), "b": sides(0, 4, 3)})
    assert (few.ends, few.ceiling, few.lead) == ({}, None, None)


def test_fewer_clients_make_nobody_nearer_or_farther() -> None:
    """Two equal simulators, one with few clients: in at most 3 of 20 studies one of them is the nearest."""
    told = 0
    for seed in range(20):
        both = {"many": sides(0.4, 30, 100 + seed), "few": sides(0.4, 8, 200 + seed)}
        found = nearness(sides(0, 30, 300 + seed), both)
        told += found.lead is not None and found.lead[1] > 0
    assert told <= 3


def test_what_a_side_lacks_counts_for_nobody() -> None:
    """Without the third measure a simulator that is far in it would look near."""
    gaps = sides(0.5, 30, 3)
    gaps.values[:, 2] = np.nan
    odd = sides(0.5, 30, 2)
    odd.values[:, 2] += 5
    found = nearness(sides(0, 40), {"gaps": gaps, "odd": odd})
    assert found.measures == (0, 1)
    assert found.lead and found.lead[1] < 0


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(HUB))
    monkeypatch.setenv("PYTHONPATH", f"{HUB}:{ROOT}")
    yield
    for name in [one for one in sys.modules if one.partition(".")[0] == "patienthub"]:
        del sys.modules[name]


@pytest.mark.slow
def test_a_page_of_three_simulators(tmp_path: Path, simcounsel: Command, hub: None) -> None:
    """What the user does: an experiment, a sweep, the page; beside sessions that stand in for real ones."""
    allow_code()
    plan = {
        "name": "Three",
        "worlds": [str(ROOT / "worlds" / "tiny.yaml")],
        "clients": [str(ROOT / "personas" / f"{one}.yaml") for one in CLIENTS],
        "in_place_of": "Ines",
        "seeds": [1, 2],
        "models": {"reason": "scripted", "embed": "scripted"},
        "set": {
            "appointments.0.max_turns": 24,
            "residents.Miriam.mind": "tests.analysis.validity.openers:Skilled",
            "safety.counselors": "nothing",
        },
        "conditions": [
            {"name": name, "set": {"residents.Ines.mind": f"patienthub:{name}{own}"}}
            for name, own in (("patientPsi", ""), ("eeyore", ""), ("dicing", "/1"))
        ],
    }
    plan["conditions"] = [one | {"name": one["name"].lower()} for one in plan["conditions"]]
    file = tmp_path / "three.yaml"
    file.write_text(yaml.safe_dump(plan))
    runs, out = tmp_path / "runs", tmp_path / "page"
    made = simcounsel("sweep", file, "--out", runs, "--processes", 1, "--allow-code")
    assert made.code == 0, made.err
    done = simcounsel("study", "simulators", runs, "--real", "samples", "--out", out)
    assert done.code == 0, done.err
    assert "one is nearest to real talk:" in done.out
    table = (out / "tables" / "simulators_costs.csv").read_text().splitlines()
    rows = {line.split(",")[0]: line.split(",") for line in table[1:]}
    assert {name: float(row[3]) for name, row in rows.items()} == {
        "patientpsi": 1.0, "eeyore": 1.0, "dicing": 0.0,
    }  # fmt: skip
    assert all(int(row[1]) == 12 for row in rows.values())
    measured = pd.read_csv(out / "tables" / "simulators_measures.csv")
    agrees = measured[measured["measure"] == "lines in which the client agrees"].iloc[0]
    sides = ("patientpsi", "eeyore", "dicing", "real")
    assert [agrees[f"{one} clients"] for one in sides] == [6, 6, 1, 60], (
        "its own character is one client, whoever it stands in for"
    )
    page = (out / "validity.html").read_text()
    for words in (
        "Simulators of clients, side by side",
        "What a line costs",
        "How far from real talk",
    ):
        assert words in page
