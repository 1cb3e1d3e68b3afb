"""Whole trials with simulated people, as they come to be analysed."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from simcounsel.llm.prices import Prices
from simcounsel.trial.opening import open_models
from simcounsel.trial.simulating import simulated
from tests.commands import Command
from tests.trial.stage import trial_of, written


def played(folder: Path, people: int) -> Path:
    plan = trial_of(folder)
    told = list(
        simulated(plan, folder, open_models(plan, folder, Prices.load(), 64).open(), people)
    )
    assert any("the log holds" in line for line in told)
    return folder / "simulated" / "export"


def known(page: Path, which: str = "ours") -> dict[tuple[str, ...], str]:
    """The numbers of a replication's tables, by table, row and column."""
    found = {}
    for table in sorted((page / "tables").glob("table_*.csv")):
        with table.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["ours"]:
                    found[table.stem, row["row"], row["column"]] = row[which]
    return found


@pytest.mark.slow(10)
def test_a_simulated_trial_is_reported_as_simulated(tmp_path: Path, simcounsel: Command) -> None:
    written(tmp_path, days="days: 2", allocation="allocation: {blocks: [1]}")
    out = played(tmp_path, 6)
    with (out / "people.csv").open(encoding="utf-8") as file:
        arms = Counter(row["arm"] for row in csv.DictReader(file) if row["arm"])
    assert arms == {"staged": 2, "single": 2, "unguided": 2}
    assert json.loads((out / "proof.json").read_text())["simulated"] is True
    assert not any('"human"' in log.read_text() for log in out.rglob("events.jsonl"))
    ended = simcounsel("verify", out / "runs")
    assert ended.code == 0 and ended.out.count("holds") == 6
    ended = simcounsel(
        "study", "replicate", "structure-matters", "--people", out, "--out", tmp_path / "page"
    )
    assert ended.code == 0, ended.err
    told = (tmp_path / "page" / "replication.md").read_text(encoding="utf-8")
    assert "6 clients, simulated" in told and "People took part" not in told
    words = ("--people", out, "--beside", tmp_path / "page", "--out", tmp_path / "both")
    assert simcounsel("study", "replicate", "structure-matters", *words).code == 0
    ours = known(tmp_path / "page")
    assert ours and known(tmp_path / "both") == known(tmp_path / "both", "beside") == ours


@pytest.mark.slow(10)
def test_practice_with_and_without_feedback(tmp_path: Path, simcounsel: Command) -> None:
    four = {"days": "days: 4", "talks": "talks: {a_day: 1, lines: 6}"}
    written(tmp_path, design="practice", allocation="allocation: {blocks: [1]}", **four)
    out = played(tmp_path, 2)
    with (out / "lines.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    noted = Counter((row["arm"], row["talk"]) for row in rows if row["who"] == "note")
    assert {arm for arm, _ in noted} == {"feedback"} and {talk for _, talk in noted} == {"2", "3"}
    runs = sorted(one.name for one in (out / "runs").iterdir() if one.is_dir())
    assert len(runs) == 8 and runs[0].startswith("alone-")
    assert not any('"human"' in log.read_text() for log in out.rglob("events.jsonl"))
    ended = simcounsel("verify", out / "runs")
    assert ended.code == 0 and ended.out.count("holds") == 8
