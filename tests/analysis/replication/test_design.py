"""What differs in design, from the manifests; and Figure 5 by hand."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from analysis.replication.design import chosen, written_experiment
from analysis.replication.differences import UNSAID, rows_of, unsaid, value_at
from analysis.replication.figure5 import figure_5, plan_steps, table
from analysis.replication.options import Choices
from analysis.replication.published import Name, published
from analysis.report import Report, ReportOptions, make
from simcounsel.engine.simulation import Simulation
from simcounsel.events import Planned, Stroke
from simcounsel.lab.cell_runs import open_cell
from simcounsel.llm.catalog import roles_for
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.sweep_plan import write_plan

ALONE, FRIEND, COUNSELOR = "alone", "friend", "counselor"
STUDIES: tuple[Name, ...] = ("simcounsel", "structure_matters")


def lived(name: Name, out: Path, wanted: Choices) -> Path:
    """A study with the scripted model, as `replicate` runs it, in this process; its folder of runs."""
    cast = chosen(name, wanted.clients, [], out)
    experiment, cells = load_experiment(
        written_experiment(name, cast, out, wanted), roles_for("scripted")
    )
    write_plan(experiment, cells, out / "runs")
    for cell in cells:
        run = open_cell(cell, out / "runs")
        Simulation(run.world, run=run).run(cell.ticks)
    return out / "runs"


@pytest.fixture(scope="module")
def simcounsel(tmp_path_factory: pytest.TempPathFactory) -> Report:
    out = tmp_path_factory.mktemp("replicated")
    runs = lived("simcounsel", out, Choices(clients=2, ticks=60))
    return make([runs], ReportOptions(stories=0, shuffles=99))


@pytest.mark.parametrize("name", STUDIES)
def test_every_setting_of_a_world_is_compared(name: Name, tmp_path: Path) -> None:
    """A setting that is new, and of which the comparison says nothing, fails here."""
    cast = chosen(name, 3, [], tmp_path)
    file = written_experiment(name, cast, tmp_path, Choices())
    _, cells = load_experiment(file, {"reason": "scripted", "embed": "scripted"})
    for cell in cells:
        world = json.loads(json.dumps(cell.about.model_dump(mode="json")))
        assert unsaid(published(name), world) == []
        for setting in published(name).settings:
            value_at(world, setting.key)
            assert setting.key.split(".")[0] in world, setting.key


@pytest.mark.slow
def test_the_comparison_says_what_the_manifests_say(simcounsel: Report) -> None:
    paper = published("simcounsel")
    rows = {one.what: one.ours for one in rows_of(paper, simcounsel, Choices(), ())}
    assert "by appointment" in rows["how conversations come about"]
    assert "by chance" not in rows["how conversations come about"]
    assert "safety protocol" in rows["danger in what a client says"]
    assert rows["how far short-term memory reaches back"] == "24 hours"
    assert "openness" in rows["what a talk moves in a client"]
    assert "counselor 0" in rows["memories at the start"]
    assert "lines of a talk" not in rows, "what is as the paper has it is left out"


@pytest.mark.slow
def test_a_setting_by_arm(simcounsel: Report) -> None:
    """Where arms differ, each is named."""
    paper = published("simcounsel")
    members = [
        SimpleNamespace(arm=one.arm, manifest=json.loads(json.dumps(one.manifest)), log=one.log,
                        seed=one.seed, clients=one.clients, ticks=one.ticks, models=one.models)
        for one in simcounsel.sample.members
    ]  # fmt: skip
    for one in members:
        if one.arm == FRIEND:
            one.manifest["world"]["conversation"]["max_turns"] = 12
    sample = SimpleNamespace(members=members, arms=simcounsel.sample.arms)
    report: Any = SimpleNamespace(sample=sample, options=simcounsel.options)
    rows = {one.what: one.ours for one in rows_of(paper, report, Choices(), ())}
    assert f"{FRIEND}: 12 lines at most" in rows["lines of a talk"]
    assert UNSAID == "?"


@pytest.mark.slow
def test_plans_are_cut_into_steps_of_a_tick(
    simcounsel: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: the last plan from before the first meeting. After: the last plan of a later day."""
    member = next(one for one in simcounsel.sample.members if one.arm == FRIEND)
    client = member.clients[0]

    def plan(minute: int, day: int, *strokes: tuple[str, str]) -> Any:
        done = tuple(Stroke(at=at, do=do) for at, do in strokes)
        event = Planned(who=client, day=day, strokes=done, why="", calls=(), fallback=False)
        return SimpleNamespace(minute=minute, event=event)

    made = (
        plan(720, 0, ("22:00", "sleeps"), ("12:00", "works")),
        plan(900, 0, ("12:00", "revised")),
        plan(1440, 1, ("23:00", "early version")),
        plan(1500, 1, ("23:00", "reads"), ("23:30", "sleeps")),
    )
    monkeypatch.setattr(
        "analysis.replication.figure5.History", lambda log: SimpleNamespace(plans=lambda: made)
    )
    steps = pd.DataFrame(plan_steps(member, 765))
    before = steps[steps["period"] == "before"]
    assert before["activity"].value_counts().to_dict() == {"works": 40, "sleeps": 8}
    after = steps[steps["period"] == "after"]
    assert after["activity"].tolist() == ["reads", "reads", "sleeps", "sleeps"]
    assert after["minute"].tolist() == [2820, 2835, 2850, 2865]
    assert len(steps) == len(before) + len(after), "the revision of the first day is neither"


@pytest.mark.slow
def test_figure_5_leaves_appointments_out(simcounsel: Report) -> None:
    wanted = Choices(clusters=3)
    made = figure_5(simcounsel, wanted, HashEmbeddings().embed_now, None)
    assert made.patterns.reason is None and made.patterns.k == 3
    shares = made.agreed.groupby("arm")["share"].mean()
    assert shares[ALONE] == 0 and shares[FRIEND] > 0 and shares[COUNSELOR] > 0
    shown = table(made, wanted, published("simcounsel").tables["figure_5"])
    frame = shown.frame()
    ours = frame[frame["row"].str.startswith("here: C")]
    summed = ours.groupby("column")["ours"].sum()
    assert summed[[one for one in summed.index if not one.startswith("paper")]].tolist() == (
        pytest.approx([1.0] * 6)
    ), "shares of what is grouped"
    assert frame[frame["row"].str.startswith("paper")]["ours"].isna().all()
    theirs = frame[frame["published"].notna()]
    assert set(theirs["column"]) == {"paper, before", "paper, after"}
    assert "as asked for" in shown.notes[0] and "elbow" in shown.notes[0]
    assert [one.id for one in made.pictures] == ["activities", "transitions", "clusters"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grouped", "cut"), [("acts", "meeting"), ("plans", "days"), ("acts", "halves")]
)
def test_other_ways_to_group(simcounsel: Report, grouped: Any, cut: Any) -> None:
    wanted = Choices(grouped=grouped, cut=cut)
    made = figure_5(simcounsel, wanted, HashEmbeddings().embed_now, None)
    assert made.patterns.reason is None
    assert set(made.patterns.labels["period"].dropna()) == {"before", "after"}
    assert "elbow" in made.notes[0]


@pytest.mark.slow
def test_the_judge_names_the_clusters(simcounsel: Report) -> None:
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.scripted import Scripted

    model = Scripted()
    judge = Switchboard({"reason": model, "quick": model, "judge": model}, HashEmbeddings())
    try:
        made = figure_5(simcounsel, Choices(), HashEmbeddings().embed_now, judge)
    finally:
        judge.close()
    assert any("named by" in note for note in made.notes)
