"""The same experiment over choices: what is planned, what each choice does to the effect, what may be claimed."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from typer.testing import CliRunner

from analysis import tables
from analysis.errors import ReportError
from analysis.sample import Sample
from analysis.statistics import client_contrast
from analysis.validity.__main__ import app
from analysis.validity.multiverse.effects import (
    CHOICES,
    EffectTable,
    Specification,
    adjusted,
    effects,
)
from analysis.validity.multiverse.making import curve, make, sign, size
from analysis.validity.multiverse.pictures import curve_picture, shares_picture
from analysis.validity.multiverse.shares import HIGHER, NOISE, SHARED, shares
from analysis.validity.multiverse.universes import Universes, plan, plan_words
from analysis.validity.page import add
from simcounsel.engine.opening import begin_run
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import RunError, SpecError
from simcounsel.lab.cell_runs import open_cell
from simcounsel.specs.sweep_plan import write_plan
from simcounsel.specs.world import World
from tests.benchmarks.multiverse import verdicts
from tests.each import each
from tests.stage import ROOT

CLIENTS = ("aisha", "daniela", "henrik", "ines", "leila", "priya")
WEAK = "scripted:planted=0,spread=1.5"


def experiment(
    folder: Path, multiverse: str = "", clients: Sequence[str] = CLIENTS, more: str = ""
) -> Path:
    named = ", ".join(str(ROOT / "personas" / f"{one}.yaml") for one in clients)
    file = folder / "small.yaml"
    file.write_text(
        f"""name: Small
worlds: [{ROOT / "worlds" / "tiny.yaml"}]
clients: [{named}]
in_place_of: Ines
seeds: [1]
ticks: 4
models: {{reason: "scripted:planted=6,spread=1.5", judge: scripted, embed: scripted}}
conditions:
  - {{name: alone, set: {{condition: client_only}}}}
  - {{name: counselor, set: {{condition: client_counselor}}}}
measurements:
  - {{instrument: insomnia_severity, when: start}}
  - {{instrument: insomnia_severity, when: end}}
hypotheses:
  - {{id: one, instrument: insomnia_severity, contrast: [counselor, alone], direction: lower}}
{more}{multiverse}""",
        encoding="utf-8",
    )
    return file


# what is planned


def test_each_way_has_all_runs_with_its_own_prompts_model_and_temperature(tmp_path: Path) -> None:
    block = f'multiverse:\n  models: [usual, "{WEAK}"]\n  temperatures: [usual, 0.25]\n  prompts: [usual, reworded]\n'
    made = plan(experiment(tmp_path, block, CLIENTS[:1]))
    assert len(made.ways) == 8 and len(made.cells) == 16 and made.specifications == 64
    worlds = {cell.name: cast(World, cell.about) for cell in made.cells}
    world = worlds["reworded_scripted-planted-0-spread-1.5_0.25-aisha-s1-counselor"]
    assert world.prompts is not None and world.prompts.name == "reworded"
    assert world.temperature == 0.25 and world.models.reason == WEAK
    assert world.models.judge == "scripted", "who measures is the same in all ways"
    usual = worlds["usual_usual_usual-aisha-s1-alone"]
    assert usual.prompts is None and usual.temperature is None
    assert usual.models.reason == "scripted:planted=6,spread=1.5"
    assert made.contrast == ("counselor", "alone")
    assert "run in       8 ways: prompts usual, reworded;" in "\n".join(plan_words(made))


def test_without_a_block_prompts_are_varied_and_the_command_line_comes_first(
    tmp_path: Path,
) -> None:
    file = experiment(tmp_path, clients=CLIENTS[:1])
    assert [way.prompts for way in plan(file).ways] == ["usual", "reworded"]
    (tmp_path / "mine").mkdir()
    text = (ROOT / "simcounsel/prompts/sets/reworded/questions.txt").read_text()
    (tmp_path / "mine" / "questions.txt").write_text(text)
    made = plan(file, prompts=[str(tmp_path / "mine")], temperatures=[0.5, 1.0])
    assert {way.name for way in made.ways} == {"mine_usual_0.5", "mine_usual_1"}
    assert cast(World, made.cells[0].about).prompts is not None


def test_only_the_two_conditions_are_lived(tmp_path: Path) -> None:
    file = experiment(tmp_path, clients=CLIENTS[:1])
    third = "  - {name: friend, set: {condition: client_layperson}}\nmeasurements:"
    file.write_text(file.read_text().replace("measurements:", third, 1))
    made = plan(file)
    assert {cell.arm for cell in made.cells} == {"alone", "counselor"}
    assert [arm.name for arm in made.experiment.conditions] == ["alone", "counselor"]


def test_pasts_are_those_of_their_way(tmp_path: Path) -> None:
    made = plan(experiment(tmp_path, clients=CLIENTS[:1], more="paired_at: 1\n"))
    names = {cell.name for cell in made.cells}
    pasts = {cell.past for cell in made.cells if cell.past}
    assert len(pasts) == 2 and pasts <= names
    assert all(
        (cell.past or cell.name).startswith(made.way_of[cell.name].name) for cell in made.cells
    )


@each(
    ("block", "line", "said"),
    [
        ("multiverse:\n  promts: [usual]\n", 17, "promts"),
        (
            "multiverse:\n  contrast: [counselor, nobody]\n",
            17,
            "'nobody': two different conditions",
        ),
        ("multiverse:\n  outcomes: [{instrument: phq9}]\n", 17, "'phq9' is never measured"),
        ("multiverse:\n  temperatures: [3]\n", 17, "number from 0 to 2, or `usual`"),
        ("multiverse:\n  models: [usual, usual]\n", 17, "is here twice"),
        ("multiverse:\n  prompts: [rewordt]\n", 17, 'did you mean "reworded"'),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, block: str, line: int, said: str
) -> None:
    with pytest.raises(SpecError) as error:
        plan(experiment(tmp_path, block, CLIENTS[:1]))
    assert said in str(error.value)
    assert f"small.yaml:{line}:" in str(error.value)


def test_a_condition_that_sets_prompts_itself_cannot_be_lived_with_others(tmp_path: Path) -> None:
    file = experiment(tmp_path, clients=CLIENTS[:1])
    text = file.read_text().replace(
        "condition: client_only}", "condition: client_only, prompts: reworded}"
    )
    file.write_text(text)
    with pytest.raises(SpecError, match="'alone' sets `prompts` itself"):
        plan(file)
    assert len(plan(file, prompts=["usual"], temperatures=[0.2]).cells) == 2


def test_a_run_of_another_set_is_refused(tmp_path: Path) -> None:
    made = plan(experiment(tmp_path, clients=CLIENTS[:1]))
    usual, reworded = (
        next(cell for cell in made.cells if made.way_of[cell.name].prompts == one)
        for one in ("usual", "reworded")
    )
    open_cell(usual, tmp_path / "runs")
    with pytest.raises(RunError, match="than the experiment says now"):
        open_cell(replace(reworded, name=usual.name), tmp_path / "runs")


def test_without_measurements_there_is_no_effect() -> None:
    with pytest.raises(SpecError, match="nothing is measured, so there is no effect"):
        plan(ROOT / "experiments" / "quick.yaml")


def test_the_plan_is_printed_and_nothing_lived(tmp_path: Path) -> None:
    file, out = experiment(tmp_path, clients=CLIENTS[:1]), tmp_path / "out"
    done = CliRunner().invoke(app, ["multiverse", str(file), "--dry-run", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "runs         4, in" in done.output and "cost         0 USD" in done.output
    assert "effects      16, each counselor minus alone" in done.output
    assert not out.exists()


# what came of it


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Universes, Path]:
    """Two models, of which one has an effect of 6 points and one of none, on six clients."""
    folder = tmp_path_factory.mktemp("multiverse")
    block = f'multiverse:\n  models: [usual, "{WEAK}"]\n  times: [last]\n  runs: [all]\n  baselines: [subtracted]\n'
    made, runs = plan(experiment(folder, block)), folder / "runs"
    write_plan(made.experiment, made.cells, runs)
    for cell in made.cells:
        world = cast(World, cell.about)
        Simulation(world, run=begin_run(world, runs, name=cell.name)).run(ticks=cell.ticks)
    return made, runs


@pytest.mark.slow
def test_the_effect_of_each_specification_is_that_of_its_runs(
    lived: tuple[Universes, Path],
) -> None:
    made, runs = lived
    part, pictures = make(made, runs, "simcounsel study validity multiverse")
    table = next(one for one in part.tables if one.id == "multiverse_specifications")
    strong, weak = (
        pd.DataFrame(table.rows, columns=list(table.columns)).set_index("model").loc[model]
        for model in ("usual", WEAK)
    )
    assert -8 < strong["estimate"] < -4 and strong["p"] == 0.03125 and strong["clients"] == 6
    assert strong["low"] < -6 < strong["high"] and weak["low"] < 0 < weak["high"]
    assert {one.verdict for one in part.claims[1:]} <= {"undecided", "does not hold"}
    assert part.toys == ("scripted",) and "p < .05" in pictures[0].alt
    assert len(pictures) == 2 and all(one.svg for one in pictures)


@pytest.mark.slow
def test_the_page_has_it(lived: tuple[Universes, Path], tmp_path: Path) -> None:
    part, pictures = make(*lived, "simcounsel study validity multiverse")
    html = add(part, pictures, tmp_path).read_text(encoding="utf-8")
    assert "Does the effect hang on choices?" in html and "not measured" in html
    curve_csv = pd.read_csv(tmp_path / "tables" / "multiverse_specifications.csv")
    assert len(curve_csv) == 2 and set(CHOICES) < set(curve_csv.columns)


@pytest.mark.slow
def test_the_command_goes_on_where_it_was(
    lived: tuple[Universes, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = lived[1].parent
    logs = {file: file.stat().st_mtime_ns for file in lived[1].glob("*/events.jsonl")}
    done = CliRunner().invoke(
        app, ["multiverse", str(folder / "small.yaml"), "--quiet", "--out", str(folder)]
    )
    assert done.exit_code == 0, done.output
    assert "validity.html" in done.output and (folder / "parts" / "multiverse.json").is_file()
    assert {file: file.stat().st_mtime_ns for file in lived[1].glob("*/events.jsonl")} == logs


def measured(rows: Sequence[tuple[str, str, str, str, float]]) -> pd.DataFrame:
    """Client, arm, score, point, value."""
    minutes = {"baseline": 0, "after 1": 10, "end": 20}
    return pd.DataFrame(
        [
            {
                "run": f"usual_usual_usual-{client}-s1-{arm}",
                "client": client,
                "instrument": "insomnia_severity",
                "score": score,
                "respondent": "self",
                "judge": "scripted",
                "point": point,
                "minute": minutes[point],
                "value": value,
                "reason": None,
            }
            for client, arm, score, point, value in rows
        ]
    )


def by_hand(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    block: str,
    frame: pd.DataFrame,
    warned: Sequence[str] = (),
) -> EffectTable:
    made = plan(experiment(tmp_path, block, CLIENTS[:2]))
    members = [SimpleNamespace(name=cell.name, arm=cell.arm, seed=cell.seed) for cell in made.cells]
    monkeypatch.setattr(tables, "measurements", lambda logs: frame)
    monkeypatch.setattr(tables, "warnings", lambda logs: pd.DataFrame({"run": list(warned)}))
    return effects(made, cast(Sample, SimpleNamespace(members=members, logs=[])))


VALUES = [
    (client, arm, "total", point, value)
    for client, arm, values in (
        ("aisha", "alone", (20.0, 19.0, 18.0)),
        ("aisha", "counselor", (22.0, 14.0, 10.0)),
        ("daniela", "alone", (16.0, 16.0, 15.0)),
        ("daniela", "counselor", (16.0, 12.0, 8.0)),
    )
    for point, value in zip(("baseline", "after 1", "end"), values, strict=True)
]


def test_last_or_mean_with_the_baseline_or_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = "multiverse: {prompts: [usual], baselines: [subtracted, ignored, covariate]}\n"
    found = by_hand(tmp_path, monkeypatch, block, measured(VALUES))
    estimates = {
        (one.levels["time"], one.levels["baseline"]): one.estimate for one in found.specifications
    }
    assert estimates == {
        ("last", "ignored"): pytest.approx(((10 - 18) + (8 - 15)) / 2),
        ("last", "subtracted"): pytest.approx(((10 - 22 - 18 + 20) + (8 - 16 - 15 + 16)) / 2),
        ("mean", "ignored"): pytest.approx(((12 - 18.5) + (10 - 15.5)) / 2),
        ("mean", "subtracted"): pytest.approx(((12 - 22 - 18.5 + 20) + (10 - 16 - 15.5 + 16)) / 2),
    }
    assert found.notes == (
        "baseline: covariate is the same as ignored in every specification, and counts once.",
        "runs: no fallbacks is the same as all in every specification, and counts once.",
    )
    assert all(one.p is None and one.clients == 2 for one in found.specifications)


@pytest.mark.parametrize("groups", [False, True])
def test_baselines_held_equal_as_statsmodels_does(groups: bool) -> None:
    rng = np.random.default_rng(8)
    rows = []
    for at in range(16):
        for arm in ("counselor", "alone"):
            if not groups or (at < 8) == (arm == "counselor"):
                before = rng.normal(15, 3)
                value = 0.7 * before - 2 * (arm == "counselor") + rng.normal()
                rows.append({"client": f"c{at:02}", "arm": arm, "baseline": before, "value": value})
    frame = pd.DataFrame(rows)
    done, means = adjusted(frame, ("counselor", "alone"))
    if groups:
        theirs, name = smf.ols("value ~ C(arm) + baseline", frame).fit(), "C(arm)[T.counselor]"
    else:
        wide = frame.pivot(index="client", columns="arm")
        pairs = pd.DataFrame(
            {k: wide[k]["counselor"] - wide[k]["alone"] for k in ("value", "baseline")}
        )
        theirs, name = smf.ols("value ~ baseline", pairs).fit(), "Intercept"
    low, high = theirs.conf_int().loc[name]
    assert done.difference == pytest.approx(theirs.params[name])
    assert (done.low, done.high) == (pytest.approx(low), pytest.approx(high))
    assert done.p == pytest.approx(theirs.pvalues[name]) and done.df == theirs.df_resid
    assert means["counselor"].mean() - means["alone"].mean() == pytest.approx(done.difference)
    assert done.g is not None and done.g_low is not None and done.g_low < done.g < 0


def test_baselines_that_tell_nothing_are_left_alone() -> None:
    frame = pd.DataFrame(
        {
            "client": [*"aabb"],
            "arm": ["x", "y"] * 2,
            "baseline": [9.0, 9, 4, 4],
            "value": [1.0, 3, 2, 5],
        }
    )
    assert adjusted(frame, ("x", "y"))[0] == client_contrast(frame, "x", "y")


def test_runs_with_fallbacks_can_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = by_hand(
        tmp_path,
        monkeypatch,
        "multiverse: {prompts: [usual], times: [last], baselines: [ignored]}\n",
        measured(VALUES),
        ["usual_usual_usual-daniela-s1-alone"],
    )
    all_, clean = found.specifications
    assert (all_.clients, clean.levels["runs"]) == (2, "no fallbacks")
    assert clean.estimate is None and all_.estimate == -7.5


def test_outcomes_of_different_directions_are_turned_and_in_standard_deviations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = (
        "multiverse:\n  prompts: [usual]\n  times: [last]\n  baselines: [ignored]\n  runs: [all]\n  outcomes:\n"
        "    - {instrument: insomnia_severity, better: lower}\n"
        "    - {instrument: insomnia_severity, score: hope, better: higher}\n"
    )
    hope = [(client, arm, "hope", point, -value) for client, arm, _, point, value in VALUES]
    frame = measured([*VALUES, *hope])
    found = by_hand(tmp_path, monkeypatch, block, frame)
    assert found.unit.startswith("standard deviations")
    assert found.notes[0].startswith("Effects are turned")
    one = found.specifications[0]
    assert one.means["counselor"].mean() > one.means["alone"].mean(), "better is higher now"


def test_several_respondents_must_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = measured(VALUES)
    frame.loc[::2, "respondent"] = "observer"
    with pytest.raises(ReportError, match=r"answered by several \(observer, self\)"):
        by_hand(tmp_path, monkeypatch, "multiverse: {prompts: [usual]}\n", frame)


# shares


def table(values: dict[tuple[str, str, str], float]) -> pd.DataFrame:
    rows = [
        {"prompts": prompts, "time": time, "seed": seed, "estimate": value}
        for (prompts, time, seed), value in values.items()
    ]
    return pd.DataFrame(rows)


def test_shares_by_hand() -> None:
    """Effects 1 and 5 by prompts, seeds 0.5 up and down, time 0.2 more: sums of squares by hand."""
    values = {
        (prompts, time, seed): {"a": 1.0, "b": 5.0}[prompts]
        + {"last": 0.0, "mean": 0.2}[time]
        + {"1": -0.5, "2": 0.5}[seed]
        for prompts, time, seed in itertools.product("ab", ("last", "mean"), "12")
    }
    found = {one.of: one for one in shares(table(values), ["prompts", "seed", "time"])}
    assert found["prompts"].squares == pytest.approx(8 * 2**2)
    assert found["time"].squares == pytest.approx(8 * 0.1**2)
    assert found[NOISE].squares == pytest.approx(8 * 0.5**2)
    assert found["prompts x time"].squares == 0
    whole = 32 + 0.08 + 2
    assert found["prompts"].share == pytest.approx(32 / whole)
    assert sum(one.share or 0 for one in found.values()) == pytest.approx(1)
    # seeds differ between runs: 2 of them in each of 2 ways, 2 degrees of freedom
    assert found["prompts"].f == pytest.approx(32 / (2 / 2))
    assert found["prompts"].beyond == pytest.approx((32 - 1) / whole)
    # within a run seeds do nothing to what time does
    assert found["time"].f is None and found["time"].p == 0
    assert SHARED not in found


@pytest.mark.parametrize("missing", [(), (3, 7, 20)])
def test_shares_are_those_of_statsmodels(missing: Sequence[int]) -> None:
    rng = np.random.default_rng(4)
    rows = [
        {"prompts": p, "model": m, "seed": s, "time": t, "estimate": 2 * (p == "b") + rng.normal()}
        for p, m, s, t in itertools.product("ab", "mno", "123", ("last", "mean"))
    ]
    frame = pd.DataFrame(rows).drop(index=list(missing))
    found = {one.of: one for one in shares(frame, ["prompts", "model", "seed", "time"])}
    mains = sm.stats.anova_lm(
        smf.ols("estimate ~ C(prompts) + C(model) + C(time)", frame).fit(), typ=2
    )
    full = sm.stats.anova_lm(
        smf.ols("estimate ~ C(prompts) * C(model) * C(time)", frame).fit(), typ=2
    )
    for choice in ("prompts", "model", "time"):
        assert found[choice].squares == pytest.approx(mains["sum_sq"][f"C({choice})"])
    assert found["prompts x model"].squares == pytest.approx(full["sum_sq"]["C(prompts):C(model)"])
    assert found[HIGHER].squares == pytest.approx(full["sum_sq"]["C(prompts):C(model):C(time)"])
    assert found[NOISE].squares == pytest.approx(full["sum_sq"]["Residual"])
    assert (SHARED in found) is bool(missing)


def test_with_one_seed_nothing_is_called_noise() -> None:
    values = {(p, t, "1"): float(p == "b") for p, t in itertools.product("ab", ("last", "mean"))}
    found = shares(table(values), ["prompts", "time"])
    assert NOISE not in {one.of for one in found} and all(one.p is None for one in found)


# the curve as a whole


def specification(differences: Sequence[float], **levels: str) -> Specification:
    means = pd.DataFrame(
        {"counselor": list(differences), "alone": 0.0},
        index=[f"client {at}" for at in range(len(differences))],
    )
    estimate = float(np.mean(differences))
    return Specification(
        levels=dict.fromkeys(CHOICES, "usual") | levels,
        estimate=estimate,
        p=0.01 if abs(estimate) > 1 else 0.5,
        clients=len(differences),
        means=means,
    )


def test_the_curve_counts_signs_and_flips_them() -> None:
    same = [specification([2.0, 3, 2, 3, 2, 3], model=str(at)) for at in range(3)]
    odd = specification([0.1, -0.2, 0.1, -0.1, 0.0, 0.1], model="weak")
    against = specification([-2.0, -3, -2, -3, -2, -3], model="against")
    found = curve([*same, odd])
    assert found is not None
    assert (found.count, found.same, found.significant, found.against) == (4, 3, 3, 0)
    assert found.median == 2.5 and found.p_median == 2 / 64
    turned = curve([*same, against])
    assert turned is not None and turned.against == 1
    few = curve([specification([2.0, 3.0, 2.0])])
    assert few is not None and few.p_median is None


def test_what_may_be_claimed() -> None:
    rng = np.random.default_rng(5)
    shapes = rng.normal(0, 0.3, (8, 8))
    steady = [specification([*(2 + one)], model=str(at)) for at, one in enumerate(shapes)]
    small = specification([*(0.4 + shapes[0])], model="small")
    away = [specification([*(at - 2 + one)], model=str(at)) for at, one in enumerate(shapes)]
    few = [specification([2.0, 2.1, 1.9], model=str(at)) for at in range(4)]
    verdicts = {
        name: (of_sign := sign(("a", "b"), whole).verdict, size(whole, of_sign).verdict)
        for name, some in {
            "steady": steady,
            "one small": [*steady[:3], small],
            "away": away,
            "few": few,
        }.items()
        if (whole := curve(some)) is not None
    }
    assert verdicts == {
        "steady": ("holds", "holds"),
        "one small": ("holds", "undecided"),
        "away": ("does not hold", "does not hold"),
        "few": ("undecided", "undecided"),
    }


@pytest.mark.slow
def test_a_choice_is_refuted_and_never_shown() -> None:
    """Errors in 5 of 100 draws: tests/benchmarks/multiverse.py."""
    said, below = verdicts(0.0, 0.0, 12, 8, 2)
    assert said["choices"]["holds"] == 0 and said["choices"]["does not hold"] <= 4
    assert said["sign"]["holds"] <= 4 and below <= 0.34
    moved, _ = verdicts(2.0, 2.0, 6, 8, 2)
    assert moved["choices"]["does not hold"] >= 4


def test_clients_in_groups_are_dealt_anew() -> None:
    rng = np.random.default_rng(2)
    groups = pd.DataFrame(
        {
            "counselor": [*rng.normal(3, 1, 8), *[np.nan] * 8],
            "alone": [*[np.nan] * 8, *rng.normal(0, 1, 8)],
        },
        index=[f"client {at}" for at in range(16)],
    )
    one = replace(specification([3.0] * 8), means=groups, clients=16)
    found = curve([one, replace(one, levels=one.levels | {"model": "b"})])
    assert found is not None and found.p_median is not None and found.p_median < 0.01
    none = groups.assign(counselor=[*rng.normal(0, 1, 8), *[np.nan] * 8])
    estimate = float(none["counselor"].mean() - none["alone"].mean())
    idle = curve([replace(one, means=none, estimate=estimate)])
    assert idle is not None and idle.p_median is not None and idle.p_median > 0.05


def test_figures_name_what_was_chosen() -> None:
    several = tuple(
        specification(list(np.linspace(at, at + 1, 6)), model=str(at), seed=str(at % 2))
        for at in range(6)
    )
    drawn = curve_picture(
        EffectTable(specifications=several, unit="points"), ("counselor", "alone")
    )
    svg = next(iter(drawn.svg.values())).decode()
    assert "model: 3" in svg and "seed: 1" in svg and "6 effects from 0.5" in drawn.alt
    frame = EffectTable(specifications=several, unit="points").table()
    bars: Any = shares_picture(shares(frame, ["model"]))
    assert (
        "model" in bars.alt
        and shares_picture(shares(frame.assign(estimate=1.0), ["model"])) is None
    )
