"""Counselors over whole courses: the battery on one scale, the paper's tables, and the command a second time."""

import json
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from analysis.courses.battery import battery, measured, ten
from analysis.courses.design import counselor_of
from analysis.finding import find
from analysis.reading import read_tables
from simcounsel.events import Reasoned, Said
from simcounsel.instruments.scale import find_scale
from simcounsel.runs.run import Run
from tests.commands import Command
from tests.stage import happened

ASKED = ["--model", "scripted", "--clients", "2", "--sessions", "5", "--lines", "8", "-q"]


def test_scores_on_one_scale() -> None:
    """By hand: helping_skills, a mean of items; general_distress, a sum; affect's positive items alone."""
    scale = find_scale("helping_skills")
    low, high = scale.range.min, scale.range.max
    assert scale.scoring == "mean"
    assert ten("helping_skills", low) == 0 and ten("helping_skills", high) == 10
    assert ten("helping_skills", (low + high) / 2) == pytest.approx(5)
    mood = find_scale("low_mood")
    assert mood.scoring == "sum"
    most = sum(mood.range_of(item).max for item in mood.items)
    least = sum(mood.range_of(item).min for item in mood.items)
    assert ten("low_mood", most) == 10 and ten("low_mood", least) == 0
    assert ten("low_mood", least + (most - least) / 4) == pytest.approx(2.5)
    pleasant = [item for item in find_scale("affect").items if item.subscale == "pleasant"]
    high = sum(find_scale("affect").range_of(item).max for item in pleasant)
    assert ten("affect", high, "pleasant") == 10
    assert ten("affect", high) is None or find_scale("affect").scoring is None


def test_each_therapy_has_its_own_battery() -> None:
    assert len({one.paper for one in (*battery().counselor, *battery().client)}) == 17, (
        "RRO is in both"
    )
    for therapy, own in {
        "cbt": ("cognitive_therapy_competence", "low_mood"),
        "psychodynamic": ("psychodynamic_competence", "personality_organization"),
        "behavioral": ("motivational_interviewing", "state_anxiety"),
        "humanistic_existential": ("empathy", "self_acceptance"),
        "postmodern": ("emotion_focused_work", "solution_talk"),
    }.items():
        scales = battery().scales(therapy)
        assert set(own) <= set(scales)
        assert {one["instrument"] for one in measured(therapy)} == set(scales)
    whole = set(battery().scales("integrative"))
    assert all(set(battery().scales(name)) <= whole for name in battery().statistics)
    for name in whole:
        find_scale(name)


def test_a_counselor_may_have_a_model_of_its_own() -> None:
    assert counselor_of("course") == ("course", "course", None)
    model = "http://localhost:11434/v1/qwen3"
    assert counselor_of(f"unguided@{model}") == (
        "unguided-http-localhost-11434-v1-qwen3",
        "unguided",
        model,
    )


@pytest.mark.slow(20)
def test_the_benchmark_from_the_command_to_the_tables(simcounsel: Command, tmp_path: Path) -> None:
    out = tmp_path / "study"
    dry = simcounsel("study", "courses", *ASKED, "--out", out, "--dry-run")
    assert dry.code == 0 and "4, in" in dry.out and not out.exists()
    done = simcounsel("study", "courses", *ASKED, "--out", out)
    assert done.code == 0, done.err
    tables = {file.stem: pd.read_csv(file) for file in (out / "tables").iterdir()}
    per = ("table_4", "table_5", "table_7", "pairs", "done")
    assert set(tables) == {
        "table_1",
        "table_2",
        "table_6",
        *(f"{table}_{therapy}" for table in per for therapy in ("cbt", "psychodynamic")),
    }
    page = (out / "courses.html").read_text("utf-8")
    assert "say nothing about counseling" in page or "says nothing about counseling" in page
    assert "7.26" in page and "Table 7" in page

    folders = sorted((out / "cbt" / "runs").glob("*/*/manifest.json")) or sorted(
        (out / "cbt" / "runs").glob("*/manifest.json")
    )
    runs = [Run.open(file.parent) for file in folders]
    assert len(runs) == 4
    said = [event for run in runs for event in happened(run, Said)]
    thought = [event for run in runs for event in happened(run, Reasoned)]
    size = tables["table_1"].set_index(["row", "column"])["ours"]
    assert size["cbt", "samples"] == 4
    assert size["cbt", "lines a session"] == pytest.approx(
        len(said) / len({(run.folder, e.chat) for run in runs for e in happened(run, Said)})
    )
    assert thought and size["cbt", "words a line with thoughts"] > size["cbt", "words a line"] > 5

    sample = find([out / "cbt" / "runs"])
    values = read_tables(sample)["measurements"]
    alliance = values[(values["instrument"] == "session_alliance") & (values["score"] == "total")]
    course = alliance[alliance["arm"] == "course"]
    by_client = [
        own.groupby("tick")["value"].mean().map(lambda x: ten("session_alliance", x))
        for _, own in course.groupby("client", observed=True)
    ]
    level = tables["table_7_cbt"].set_index(["row", "column"])
    row = level.loc[("SRS: session alliance", "course")]
    means = [own.mean() for own in by_client]
    assert row["ours"] == pytest.approx(sum(means) / 2)
    low, high = ttest_1samp(means, 0).confidence_interval()
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
    assert level.loc[("SRS: session alliance", "PsychEval, published"), "published"] == 8.29
    change = tables["table_5_cbt"].set_index(["row", "column"])["ours"]
    steps = [(own.iloc[-1] - own.iloc[0]) / (len(own) - 1) for own in by_client]
    assert change["SRS: session alliance", "course"] == pytest.approx(sum(steps) / 2)
    card = json.loads((out / "card.json").read_text("utf-8"))
    assert len(card["runs"]) == 8 and all(one["digest"] for one in card["runs"].values())

    before = {file: file.read_bytes() for file in out.glob("*/runs/**/events.jsonl")}
    again = simcounsel("study", "courses", *ASKED, "--out", out)
    assert again.code == 0
    assert {file: file.read_bytes() for file in out.glob("*/runs/**/events.jsonl")} == before
    other = simcounsel("study", "courses", *ASKED, "--out", out, "--sessions", "6")
    assert other.code == 1 and "another study was begun here" in other.err
