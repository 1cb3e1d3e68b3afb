"""An experiment becomes runs: planned, lived in parallel, stopped, gone on with, forked in pairs."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from simcounsel.engine.simulation import Simulation
from simcounsel.errors import ModelError, RunError, SpecError
from simcounsel.events import Forked, Joined, TickEnded
from simcounsel.lab import cell_runs, processes
from simcounsel.lab.cell_runs import open_cell
from simcounsel.lab.plan import estimate, plan_lines
from simcounsel.lab.sweep import Sweep
from simcounsel.llm.prices import Prices
from simcounsel.runs.folder import complete_ticks
from simcounsel.runs.run import Run
from simcounsel.specs.differences import differences
from simcounsel.specs.experiment_file import load_experiment
from tests.each import each
from tests.llm.server import FaultServer
from tests.stage import ROOT, happened, log

PAIRED = f"""
name: Small
worlds: [{ROOT}/worlds/tiny.yaml]
clients: [{ROOT}/personas/ines.yaml, {ROOT}/personas/walter.yaml]
in_place_of: Ines
seeds: [3]
models: {{reason: scripted, embed: scripted}}
paired_at: 2
past: {{condition: client_only}}
conditions:
  - {{name: alone, set: {{condition: client_only}}}}
  - {{name: counselor, set: {{condition: client_counselor, conversation.max_turns: 4}}}}
measurements:
  - {{instrument: insomnia_severity, when: start}}
  - {{instrument: insomnia_severity, when: end}}
hypotheses:
  - {{id: h1, instrument: insomnia_severity, contrast: [counselor, alone], test: paired_t, direction: lower}}
"""


def written(folder: Path, text: str = PAIRED) -> Path:
    file = folder / "experiment.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def sweep(folder: Path, text: str = PAIRED, **kind: int) -> Sweep:
    experiment, cells = load_experiment(written(folder, text))
    return Sweep(experiment, cells, folder / "out", **kind)  # type: ignore[arg-type]


def test_the_plan(tmp_path: Path) -> None:
    experiment, cells = load_experiment(written(tmp_path))
    assert [(c.name, c.arm, c.client, c.pair, c.past, c.at_tick, c.ticks) for c in cells] == [
        ("ines-s3-past", None, "Ines", "ines-s3", None, None, 2),
        ("walter-s3-past", None, "Walter", "walter-s3", None, None, 2),
        ("ines-s3-alone", "alone", "Ines", "ines-s3", "ines-s3-past", 2, 12),
        ("ines-s3-counselor", "counselor", "Ines", "ines-s3", "ines-s3-past", 2, 12),
        ("walter-s3-alone", "alone", "Walter", "walter-s3", "walter-s3-past", 2, 12),
        ("walter-s3-counselor", "counselor", "Walter", "walter-s3", "walter-s3-past", 2, 12),
    ]
    assert differences(cells) == [
        "condition: alone client_only | counselor client_counselor",
        "conversation.max_turns: alone 10 | counselor 4",
    ]
    assert (
        "paired       each client's first 2 ticks are run once, then forked into every condition"
        in list(plan_lines(experiment, cells, Prices.load(), tmp_path))
    )


def test_a_parallel_design_deals_each_client_to_one_condition(tmp_path: Path) -> None:
    names = ("aisha", "daniela", "henrik", "ines", "leila", "priya", "walter")
    clients = ", ".join(f"{ROOT}/personas/{name}.yaml" for name in names)
    text = f"""name: Groups
worlds: [{ROOT}/worlds/tiny.yaml]
clients: [{clients}]
in_place_of: Ines
seeds: [1, 2]
design: parallel
allocation: 3
conditions:
  - {{name: alone, set: {{condition: client_only}}}}
  - {{name: counselor, set: {{condition: client_counselor}}}}
measurements: [{{instrument: affect, when: end}}]
hypotheses: [{{id: h, instrument: affect, contrast: [counselor, alone]}}]
"""
    experiment, cells = load_experiment(written(tmp_path, text))
    arms = {cell.client: cell.arm for cell in cells}
    assert len(cells) == 14 and len(arms) == 7
    assert all(arms[cell.client] == cell.arm for cell in cells), "both seeds in the same arm"
    assert sorted(Counter(arms.values()).values()) == [3, 4]
    again, other = (text.replace("allocation: 3", f"allocation: {n}") for n in (3, 4))
    assert {c.client: c.arm for c in load_experiment(written(tmp_path, again))[1]} == arms
    assert {c.client: c.arm for c in load_experiment(written(tmp_path, other))[1]} != arms
    assert differences(cells) == ["condition: alone client_only | counselor client_counselor"]
    lines = "\n".join(plan_lines(experiment, cells, Prices.load(), tmp_path))
    assert "each client to one condition, by chance: 4 to" in lines or "3 to" in lines
    assert "64 clients in each condition are needed" in lines
    for wrong, why in (("allocation: 3", "paired_at: 2"), (clients, names[0])):
        with pytest.raises(SpecError):
            load_experiment(written(tmp_path, text.replace(wrong, why)))


def test_one_model_in_place_of_those_in_the_file(tmp_path: Path) -> None:
    """What an arm sets stays, since it may be what arms differ in; what a resident has of its own goes, unless the file names it."""
    text = PAIRED.replace(
        "conversation.max_turns: 4}", "conversation.max_turns: 4, models.judge: 'openai:j'}"
    )
    experiment, cells = load_experiment(
        written(tmp_path, text), {"reason": "openai:m", "embed": "embedded"}
    )
    assert experiment.models is not None and experiment.models.reason == "openai:m"
    by_arm = {cell.arm: cell.about.model_names() for cell in cells}
    assert {names["reason"] for names in by_arm.values()} == {"openai:m"}
    assert {arm: names["judge"] for arm, names in by_arm.items()} == {
        None: "openai:m", "alone": "openai:m", "counselor": "openai:j",
    }  # fmt: skip
    assert {names["embed"] for names in by_arm.values()} == {"embedded"}
    own = text.replace("seeds:", "set: {residents.Ines.models.reason: 'openai:own'}\nseeds:", 1)
    _, kept = load_experiment(written(tmp_path, own), {"reason": "openai:m", "embed": "embedded"})
    assert "openai:own" in {name for cell in kept for name in cell.about.model_names().values()}
    world = (ROOT / "worlds" / "tiny.yaml").read_text(encoding="utf-8")
    world = world.replace("../personas", f"{ROOT}/personas")
    world = world.replace("ines.yaml, ", "ines.yaml, models: {reason: 'openai:own'}, ", 1)
    (tmp_path / "world.yaml").write_text(world, encoding="utf-8")
    theirs = text.replace(f"{ROOT}/worlds/tiny.yaml", "world.yaml")
    for models, there in ((None, True), ({"reason": "openai:m", "embed": "embedded"}, False)):
        _, some = load_experiment(written(tmp_path, theirs), models)
        names = {name for cell in some for name in cell.about.model_names().values()}
        assert ("openai:own" in names) == there


def test_one_model_in_a_synthesis(tmp_path: Path) -> None:
    _, cells = load_experiment(
        ROOT / "experiments" / "corpus_ablation.yaml", {"reason": "scripted", "embed": "scripted"}
    )
    assert {name for cell in cells for name in cell.about.model_names().values()} == {"scripted"}


def test_policies_that_differ_are_named_as_a_whole() -> None:
    _, cells = load_experiment(ROOT / "experiments" / "policies.yaml")
    (line,) = differences(cells)
    assert line.startswith(
        "residents.1.policy: socratic socratic | staged staged (manual attachment_selfcare) | "
    )
    assert "course course (therapy cbt, sessions 5)" in line and len(line) < 400


def test_estimate_where_only_meetings_are_lived() -> None:
    """Six conditions and seven clients, four meetings of 6 to 20 lines each, 1.6 to 3.1 requests a line; the friend is not there."""
    _, cells = load_experiment(ROOT / "experiments" / "policies.yaml")
    found = estimate(cells, Prices.load())
    assert found.low.requests == pytest.approx(6 * 7 * 4 * 6 * 1.6)
    assert found.high.requests == pytest.approx(6 * 7 * 4 * 20 * 3.1)


def test_estimate_by_hand(tmp_path: Path) -> None:
    text = PAIRED.replace("paired_at: 2\npast: {condition: client_only}\n", "").replace(
        "reason: scripted", "reason: 'openai:m'"
    )
    _, cells = load_experiment(written(tmp_path, text))
    prices = tmp_path / "p.yaml"
    prices.write_text("prices:\n  openai:m: {in: 1, out: 10}\n", encoding="utf-8")
    found = estimate(cells, Prices.load(prices))
    days = 2 * (1 + 2) * 12 * 30 / 1440
    assert found.runs == 4
    assert found.resident_days == pytest.approx(days)
    assert found.low.requests == pytest.approx(days * (24 + 55))
    assert found.high.requests == pytest.approx(days * (48 + 94))
    assert found.cost_usd == pytest.approx(
        (
            days * ((90_000 + 157_000) / 5 + 79 * 40 * 10) / 1e6,
            days * ((210_000 + 360_000) / 3 + 142 * 90 * 10) / 1e6,
        ),
        rel=1e-3,
    )
    assert estimate(cells, Prices({})).cost_usd is None


def test_a_fork_is_estimated_from_its_fork_on(tmp_path: Path) -> None:
    """Two pasts of 2 ticks with one resident; four arms of 10 ticks, two of them with two residents."""
    _, cells = load_experiment(written(tmp_path))
    assert estimate(cells, Prices.load()).resident_days == pytest.approx(
        (2 * 2 + 2 * 10 * 1 + 2 * 10 * 2) * 30 / 1440
    )


@each(
    ("old", "new", "what"),
    [
        (
            "seeds: [3]",
            "seeds: [3]\nrepetitions: 2",
            "`seeds` and `repetitions` say the same thing; keep one",
        ),
        ("in_place_of: Ines\n", "", "`clients` need `in_place_of`"),
        (
            "in_place_of: Ines",
            "in_place_of: Inez",
            "no resident 'Inez' in this world whose part could be taken",
        ),
        (
            "contrast: [counselor, alone]",
            "contrast: [counsellor, alone]",
            "no condition 'counsellor'; did you mean 'counselor'?",
        ),
        ("name: alone", "name: counselor", "two conditions are called 'counselor'"),
        (
            "conversation.max_turns: 4",
            "conversation.max_turns: 1",
            "experiment.yaml:12: conversation.max_turns: 1: input should be",
        ),
        (
            "conversation.max_turns: 4",
            "start: 2026-01-01 08:00",
            "start: arms that fork a shared past cannot change it",
        ),
        (
            "conversation.max_turns: 4",
            "language: zh",
            "language: arms that fork a shared past cannot change it",
        ),
        ("test: paired_t", "test: t_test", "is not one of"),
        ("walter.yaml", "wolter.yaml", "did you mean"),
        ("seeds: [3]", "seeds: [3, 3]", "two runs would be called 'ines-s3-past'"),
        ("alone", "past", "two runs would be called 'ines-s3-past'"),
        (
            "instrument: insomnia_severity, contrast",
            "instrument: affect, contrast",
            "'affect' is never measured; add it to `measurements`",
        ),
    ],
)
def test_wrong_experiments(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert old in PAIRED
    with pytest.raises(SpecError, match="experiment.yaml:") as error:
        load_experiment(written(tmp_path, PAIRED.replace(old, new)))
    assert what in str(error.value)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    assert sweep(folder, processes=2).run()
    return folder / "out"


@pytest.mark.slow
def test_pairs_share_their_past(lived: Path) -> None:
    past, alone, counselor = (
        Run.open(lived / f"walter-s3-{name}") for name in ("past", "alone", "counselor")
    )
    assert (past.ticks_done(), alone.ticks_done(), counselor.ticks_done()) == (2, 12, 12)
    shared = [line for line in log(past).splitlines() if b"tick_ended" not in line]
    for run in (alone, counselor):
        assert [
            line
            for line in log(run).splitlines()
            if b"tick_ended" not in line and b'"forked"' not in line
        ][: len(shared)] == shared
        assert run.manifest.parent is not None
        assert (run.manifest.parent.run, run.manifest.parent.at_tick) == ("walter-s3-past", 2)
    assert [event.who for event in happened(counselor, Joined)] == ["Walter", "Miriam"]
    assert [event.who for event in happened(alone, Joined)] == ["Walter"]
    assert len(happened(counselor, Forked)) == 1


@pytest.mark.slow
def test_plan_file_says_which_run_is_which(lived: Path) -> None:
    plan = json.loads((lived / "experiment.json").read_text(encoding="utf-8"))
    assert {run["run"] for run in plan["runs"]} == {
        folder.name for folder in lived.iterdir() if folder.is_dir()
    }
    assert plan["hypotheses"][0]["contrast"] == ["counselor", "alone"]
    assert {(run["client"], run["arm"]) for run in plan["runs"]} == {
        (c, a) for c in ("Ines", "Walter") for a in (None, "alone", "counselor")
    }


@pytest.mark.slow
def test_nothing_is_lived_twice(lived: Path, tmp_path: Path) -> None:
    before = {
        file: (file.stat().st_mtime_ns, file.stat().st_size) for file in lived.glob("*/*.jsonl")
    }
    experiment, cells = load_experiment(written(tmp_path))
    again = Sweep(experiment, cells, lived)
    assert again.run()
    assert {
        file: (file.stat().st_mtime_ns, file.stat().st_size) for file in lived.glob("*/*.jsonl")
    } == before


@pytest.mark.slow
def test_same_bytes_as_one_after_the_other(lived: Path, tmp_path: Path) -> None:
    assert sweep(tmp_path, processes=1, in_flight=1).run()
    for file in lived.glob("*/events.jsonl"):
        assert (
            tmp_path / "out" / file.parent.name / "events.jsonl"
        ).read_bytes() == file.read_bytes()


@pytest.mark.slow
def test_a_failure_is_told_and_does_not_stop_the_others(tmp_path: Path) -> None:
    one = sweep(tmp_path, processes=2)
    (tmp_path / "out" / "ines-s3-past").mkdir(parents=True)
    (tmp_path / "out" / "ines-s3-past" / "manifest.json").write_text("{", encoding="utf-8")
    assert not one.run()
    assert "damaged" in str(one.progress["ines-s3-past"].cause)
    assert one.progress["ines-s3-alone"].cause == "the past that it forks, ines-s3-past, failed"
    assert one.progress["walter-s3-alone"].state == "done"
    shutil.rmtree(tmp_path / "out")
    broken = sweep(
        tmp_path,
        PAIRED.replace(
            "{name: alone, set: {condition: client_only}}",
            "{name: alone, set: {condition: client_only, models.reason: 'openai:none'}}",
        ),
    )
    assert not broken.run()
    states = {name: p.state for name, p in broken.progress.items()}
    assert states["ines-s3-alone"] == states["walter-s3-alone"] == "failed"
    assert states["ines-s3-counselor"] == states["walter-s3-counselor"] == "done"
    assert "OPENAI_API_KEY" in str(broken.progress["ines-s3-alone"].cause)
    told = [
        json.loads(line)
        for line in (tmp_path / "out" / "sweep.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {line["run"] for line in told if line["state"] == "failed"} == {
        "ines-s3-alone",
        "walter-s3-alone",
    }


@pytest.mark.slow
def test_another_experiment_in_the_same_folder(lived: Path, tmp_path: Path) -> None:
    experiment, cells = load_experiment(
        written(tmp_path, PAIRED.replace("name: Small", "name: Other"))
    )
    with pytest.raises(RunError, match="holds the sweep 'Small' already"):
        Sweep(experiment, cells, lived).run()


@pytest.mark.slow
def test_a_world_that_changed_meanwhile(lived: Path, tmp_path: Path) -> None:
    _, cells = load_experiment(
        written(tmp_path, PAIRED.replace("models:", "set: {memory.top_k: 3}\nmodels:"))
    )
    with pytest.raises(RunError, match="was run in another world than the experiment says now"):
        open_cell(cells[0], lived)
    shutil.copytree(lived, tmp_path / "out")
    changed = sweep(tmp_path, PAIRED.replace("models:", "ticks: 11\nmodels:"))
    assert not changed.run(), "runs of another length were counted as this experiment's"
    assert {p.state for p in changed.progress.values()} == {"failed"}


@pytest.mark.slow
def test_a_fork_that_a_crash_cut_short_is_made_anew(lived: Path, tmp_path: Path) -> None:
    _, cells = load_experiment(written(tmp_path))
    shutil.copytree(lived, tmp_path / "out")
    cell = next(cell for cell in cells if cell.name == "walter-s3-counselor")
    folder = tmp_path / "out" / cell.name
    shutil.rmtree(folder)
    with pytest.MonkeyPatch.context() as patching, pytest.raises(KeyboardInterrupt):
        patching.setattr(Path, "replace", cut_short)
        open_cell(cell, tmp_path / "out")
    cut = Run.open(folder)
    past = Run.open(tmp_path / "out" / "walter-s3-past")
    assert len(list(cut.calls())) == len(list(past.calls())) > 0, (
        "the log is there before the replies that it rests on"
    )
    assert not cut.whole
    with pytest.raises(
        RunError,
        match="a fork of walter-s3-past that was broken off before its past was copied; remove it and fork again, --at 2",
    ):
        Simulation(cut.world, run=cut)
    assert open_cell(cell, tmp_path / "out").ticks_done() == 2
    assert b'"forked"' in (folder / "events.jsonl").read_bytes()
    assert sweep(tmp_path).run()
    assert log(Run.open(folder)) == log(Run.open(lived / cell.name))


@pytest.mark.slow
def test_a_fork_whose_log_is_torn_is_made_anew(lived: Path, tmp_path: Path) -> None:
    """As an older version, or a copy that was broken off, may leave it."""
    _, cells = load_experiment(written(tmp_path))
    shutil.copytree(lived, tmp_path / "out")
    cell = next(cell for cell in cells if cell.name == "walter-s3-counselor")
    file = tmp_path / "out" / cell.name / "events.jsonl"
    first = file.read_bytes().index(b'"kind":"tick_ended"')
    file.write_bytes(file.read_bytes()[: file.read_bytes().index(b"\n", first) + 1])
    assert not Run.open(file.parent).whole
    assert open_cell(cell, tmp_path / "out").ticks_done() == 2
    assert b'"forked"' in file.read_bytes()


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_ctrl_c_while_one_begins_comes_when_it_is_known(handler: Any) -> None:
    """Where it is ignored, as by whatever runs in the background, it stays so."""
    begun = []
    before = signal.signal(signal.SIGINT, handler)
    try:
        with contextlib.ExitStack() as expecting:
            if handler is signal.default_int_handler:
                expecting.enter_context(pytest.raises(KeyboardInterrupt))
            with processes.interrupt_held_back():
                os.kill(os.getpid(), signal.SIGINT)
                begun.append("child")
        assert begun == ["child"]
        assert signal.getsignal(signal.SIGINT) is handler
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        signal.signal(signal.SIGINT, before)


DECOYS = ("mesa", "chromadb", "pandas", "simcounsel")


@pytest.mark.slow
def test_what_lies_where_it_is_started_is_not_imported(tmp_path: Path) -> None:
    """Neither by the process that starts the sweep, which lies elsewhere, nor by those that live its runs."""
    here = tmp_path / "here"
    here.mkdir()
    for name in DECOYS:
        (here / f"{name}.py").write_text("raise SystemExit('the wrong module')\n", encoding="utf-8")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "start.py"
    script.write_text(
        "from simcounsel.cli import main\nif __name__ == '__main__':\n    main()\n",
        encoding="utf-8",
    )
    file = written(
        here,
        PAIRED.replace("walter.yaml", "ines.yaml").replace(f", {ROOT}/personas/ines.yaml]", "]"),
    )
    done = subprocess.run(
        [sys.executable, str(script), "sweep", str(file), "--out", "out"],
        cwd=here,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and "3 of 3 done" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each imports for itself anyway")
def test_where_no_process_can_be_forked_from_each_imports_for_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_long() -> None:
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr("multiprocessing.forkserver.ensure_running", too_long)
    before = dict(os.environ)
    assert processes.process_context().get_start_method() == "spawn"
    assert dict(os.environ) == before


@pytest.mark.slow
def test_a_sweep_with_an_adapter_knows_its_own_runs(
    lived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest holds the adapter's digest, the experiment its path."""
    digest = ["0123456789abcdef"]
    monkeypatch.setattr(
        "simcounsel.llm.catalog.pinned",
        lambda name: f"{name}#{digest[0]}" if name.startswith("embedded+adapter") else name,
    )
    monkeypatch.setattr("simcounsel.engine.forking.check_models", lambda about: None)
    text = PAIRED.replace("paired_at: 2\npast: {condition: client_only}\n", "").replace(
        "{reason: scripted,", "{reason: 'embedded+adapter=x.gguf',"
    )
    _, cells = load_experiment(written(tmp_path, text))
    open_cell(cells[0], tmp_path / "out")
    assert cell_runs.ticks_of(cells[0], tmp_path / "out") == 0
    _, elsewhere = load_experiment(written(tmp_path, text.replace("x.gguf", "../elsewhere/x.gguf")))
    assert cell_runs.ticks_of(elsewhere[0], tmp_path / "out") == 0, (
        "the same adapter, seen from another folder"
    )
    digest[0] = "fedcba9876543210"
    with pytest.raises(RunError, match="run in another world"):
        cell_runs.ticks_of(cells[0], tmp_path / "out")


def test_what_an_arm_changes_holds_for_it(tmp_path: Path) -> None:
    text = PAIRED.replace("conversation.max_turns: 4", "models.judge: 'scripted:planted=3'")
    _, cells = load_experiment(written(tmp_path, text))
    assert {(cell.arm, cell.about.models.judge) for cell in cells} == {
        (None, None),
        ("alone", None),
        ("counselor", "scripted:planted=3"),
    }


def test_a_scale_that_an_experiment_names_stays_as_it_was_written(tmp_path: Path) -> None:
    """So that runs of earlier versions are known again."""
    scale = (ROOT / "simcounsel" / "instruments" / "scales" / "insomnia_severity.yaml").read_text(
        encoding="utf-8"
    )
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds" / "own.yaml").write_text(scale, encoding="utf-8")
    world = (
        (ROOT / "worlds" / "tiny.yaml")
        .read_text(encoding="utf-8")
        .replace("../personas", str(ROOT / "personas"))
    )
    (tmp_path / "worlds" / "tiny.yaml").write_text(world, encoding="utf-8")
    (tmp_path / "study").mkdir()
    text = """
name: Scales
worlds: [../worlds/tiny.yaml]
models: {reason: scripted, embed: scripted}
conditions: [{name: alone, set: {condition: client_only, about: told/in.yaml}}]
measurements: [{instrument: ../worlds/own.yaml, when: end}]
"""
    _, (cell,) = load_experiment(written(tmp_path / "study", text))
    assert cell.about.measurements[0].instrument == "../worlds/own.yaml"
    assert cell.about.about == "told/in.yaml"


def cut_short(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_arms_with_manuals_beside_the_experiment(tmp_path: Path) -> None:
    """Paired arms whose policies are files: seen from the experiment's own folder, wherever it is started."""
    study = tmp_path / "study"
    study.mkdir()
    for name in ("motivational", "insomnia_cbt"):
        shutil.copy(
            ROOT / "simcounsel" / "therapies" / "manuals" / "en" / f"{name}.yaml",
            study / f"my_{name}.yaml",
        )
    text = f"""
name: Manuals
worlds: [{ROOT}/worlds/tiny.yaml]
set: {{condition: client_counselor, ticks: 4}}
models: {{reason: scripted, embed: scripted}}
paired_at: 1
conditions:
  - {{name: motivational, set: {{residents.Miriam.policy: my_motivational.yaml}}}}
  - {{name: sleep, set: {{residents.Miriam.policy: {{name: single, manual: my_insomnia_cbt.yaml}}}}}}
"""
    experiment, cells = load_experiment(written(study, text))
    one = Sweep(experiment, cells, tmp_path / "out")
    assert one.run(), [(p.state, p.cause) for p in one.progress.values()]
    told = {
        arm: Run.open(tmp_path / "out" / f"client-s1-{arm}").world.residents[1].policy
        for arm in ("motivational", "sleep")
    }
    assert {
        arm: (policy.name, getattr(policy.manual, "name", None))
        for arm, policy in told.items()
        if policy
    } == {"motivational": ("staged", "motivational"), "sleep": ("single", "insomnia_cbt")}


@pytest.mark.slow
def test_a_shared_past_that_ends_between_two_appointments(tmp_path: Path) -> None:
    """Where days are skipped, a past is run when nothing more comes before its end, and a fork
    keeps what it lived.
    """
    text = f"""
name: Skipping
worlds: [{ROOT}/worlds/tiny.yaml]
set: {{days: skipped, appointments.0.days: [0, 2, 4], condition: client_counselor, ticks: 195}}
models: {{reason: scripted, embed: scripted}}
paired_at: 60
conditions:
  - {{name: six, set: {{conversation.max_turns: 6}}}}
  - {{name: four, set: {{conversation.max_turns: 4}}}}
"""
    one = sweep(tmp_path, text)
    assert one.run(), [(p.state, p.cause) for p in one.progress.values()]
    assert {name: p.tick for name, p in one.progress.items()} == {
        "client-s1-past": 60,
        "client-s1-six": 195,
        "client-s1-four": 195,
    }
    runs = {
        name: Run.open(tmp_path / "out" / f"client-s1-{name}") for name in ("past", "six", "four")
    }
    assert {
        name: [e.tick for e in run.entries() if isinstance(e.event, TickEnded)]
        for name, run in runs.items()
    } == {"past": [0, 2], "six": [0, 2, 98, 194], "four": [0, 2, 98, 194]}
    before = log(runs["six"])
    _, cells = load_experiment(written(tmp_path, text))
    for cell in cells:
        open_cell(cell, tmp_path / "out")
    assert log(runs["six"]) == before, "a fork was made again"


@pytest.mark.slow
def test_budget_of_calls(tmp_path: Path) -> None:
    one = sweep(tmp_path, PAIRED + "budget: {calls: 30}\n", processes=1)
    assert not one.run()
    assert one.stopping == "the budget of 30 calls is used up (30 requests sent)"
    assert "given up" in {p.state for p in one.progress.values()}
    assert any(p.state == "waiting" for p in one.progress.values()), "nothing new was begun"
    again = sweep(tmp_path, PAIRED + "budget: {calls: 30}\n", processes=1)
    assert not again.run()
    assert again.spent()[0] == one.spent()[0] == 30


@pytest.mark.slow
def test_one_budget_for_all_processes_start_after_start(tmp_path: Path) -> None:
    """Two processes at once, against a server that counts what reaches it; one of them is killed."""
    with FaultServer(latency_s=0.02) as server:

        def start(calls: int) -> Sweep:
            text = PAIRED.replace("reason: scripted", f"reason: '{server.url}/m'")
            return sweep(tmp_path, f"{text}budget: {{calls: {calls}}}\n", processes=2)

        killed: list[int] = []

        def kill(one: Sweep) -> None:
            for pid in one.workers.pids:  # type: ignore[attr-defined]
                if len(server.bodies) > 10 and not killed:
                    killed.append(pid)
                    os.kill(pid, signal.SIGKILL)

        for calls in (25, 25, 60):
            one = start(calls)
            assert not one.run(lambda one=one: kill(one))  # type: ignore[misc]
            assert len(server.bodies) <= calls
        assert killed and len(server.bodies) > 40


@pytest.mark.slow
def test_budget_of_no_money_lets_what_is_free_be_lived(tmp_path: Path) -> None:
    assert sweep(tmp_path, PAIRED + "budget: {usd: 0}\n", processes=2).run()


def test_a_budget_of_a_sweep_needs_prices(tmp_path: Path) -> None:
    text = PAIRED.replace("reason: scripted", "reason: 'https://far.example.com/v1/x'")
    with pytest.raises(ModelError, match="price of https://far.example.com/v1/x is not known"):
        sweep(tmp_path, text + "budget: {usd: 1}\n")
    with pytest.raises(SpecError, match=r"experiment.yaml:18: budget.usd"):
        sweep(tmp_path, text + "budget: {usd: .nan}\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_ctrl_c_and_go_on(tmp_path: Path) -> None:
    slow = (
        "import asyncio\nfrom simcounsel.scripted import Scripted\nfast = Scripted.complete\n"
        "async def slowly(self, request, complaint):\n    await asyncio.sleep(0.03)\n    return await fast(self, request, complaint)\n"
        "Scripted.complete = slowly\n"
    )
    (tmp_path / "sitecustomize.py").write_text(slow, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "simcounsel",
        "sweep",
        str(written(tmp_path)),
        "--out",
        str(tmp_path / "out"),
        "--processes",
        "2",
    ]
    with subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    ) as process:
        until = time.monotonic() + 90
        while not (tmp_path / "out" / "ines-s3-counselor" / "events.jsonl").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=90)
    assert "stopped by Ctrl-C; the same command goes on" in out
    assert process.returncode == 130
    lived = {
        run: complete_ticks(tmp_path / "out" / run)
        for run in ("ines-s3-alone", "ines-s3-counselor")
    }
    assert min(lived.values()) < 12, "nothing was stopped"
    told = [
        json.loads(line)
        for line in (tmp_path / "out" / "sweep.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert not [line for line in told if line["state"] == "failed"], told
    again = sweep(tmp_path)
    assert again.run(), [p.cause for p in again.progress.values()]
    assert all(
        Run.open(folder.parent).ticks_done() in (2, 12)
        for folder in (tmp_path / "out").glob("*/manifest.json")
    )


@pytest.mark.slow(30)
def test_on_a_ray_of_this_machine(lived: Path, tmp_path: Path) -> None:
    """A real local Ray: the same plan, the same bytes, and again from where it was."""
    pytest.importorskip("ray", reason="pip install -e '.[test-all]'")
    script = (
        "import sys\nfrom pathlib import Path\nfrom simcounsel.lab.ray import RaySweep\nfrom simcounsel.specs.experiment_file import load_experiment\n"
        "experiment, cells = load_experiment(Path(sys.argv[1]))\n"
        "one = RaySweep(experiment, cells, Path(sys.argv[2]), address='local')\n"
        "print(one.run(), [p.cause for p in one.progress.values()])\n"
        "two = RaySweep(experiment, cells, Path(sys.argv[2]), address='local')\n"
        "print(two.run(), two.spent()[0] - one.spent()[0])\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(written(tmp_path)), str(tmp_path / "out")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.stdout.splitlines()[-2:] == [
        "True [None, None, None, None, None, None]",
        "True 0",
    ], done.stdout + done.stderr[-2000:]
    for file in lived.glob("*/events.jsonl"):
        assert (
            tmp_path / "out" / file.parent.name / "events.jsonl"
        ).read_bytes() == file.read_bytes()
