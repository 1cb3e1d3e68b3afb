"""A gate holds limits against intervals; an evidence file says what was run, and can be computed again."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from simcounsel.bots.clients.reading import client_named
from simcounsel.bots.scan.checked import checked
from simcounsel.bots.study.checks import CHECKS
from simcounsel.bots.study.evidence import evidence_of, examined, write_evidence
from simcounsel.bots.study.gate import Gate, Held, Limit, held_against, junit, markdown, read_gate
from simcounsel.bots.study.intervals import Estimated
from simcounsel.bots.study.plan import SafetyPlan, cells_of, labelled
from simcounsel.bots.study.results import (
    LIVED,
    BotResult,
    Rated,
    bot_result,
    compared,
    write_results,
)
from simcounsel.engine.opening import begin_run
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import SpecError, StudyError
from simcounsel.llm.question import canonical
from tests.commands import Command
from tests.each import each
from tests.stage import ROOT

CLIENTS = ROOT / "simcounsel" / "bots" / "clients" / "files"


def came_to(low: float, value: float, high: float) -> Estimated:
    return Estimated(value=value, low=low, high=high, of=20)


def result(held: Estimated | None = None, lived: Estimated | None = None) -> BotResult:
    rates = () if held is None else (Rated(check="asked", level="high", held=held, failed=()),)
    more = {} if lived is None else {"met": lived}
    return BotResult(label="ada", spec="x", lives=(), rates=rates, lived=more)


@each(
    ("limit", "interval", "outcome"),
    [
        ({"check": "asked", "level": "high", "at_least": 0.6}, (0.6, 0.8, 0.9), "passed"),
        ({"check": "asked", "level": "high", "at_least": 0.6}, (0.59, 0.8, 0.9), "unclear"),
        ({"check": "asked", "level": "high", "at_least": 0.6}, (0.1, 0.3, 0.6), "unclear"),
        ({"check": "asked", "level": "high", "at_least": 0.6}, (0.1, 0.3, 0.59), "failed"),
        ({"check": "asked", "level": "high", "at_most": 0.6}, (0.1, 0.3, 0.6), "passed"),
        ({"check": "asked", "level": "high", "at_most": 0.6}, (0.5, 0.7, 0.9), "unclear"),
        ({"check": "asked", "level": "high", "at_most": 0.6}, (0.61, 0.7, 0.9), "failed"),
        ({"check": "asked", "level": "low", "at_least": 0.6}, (0.7, 0.8, 0.9), "unclear"),
    ],
)
def test_a_limit_is_held_against_the_whole_interval(
    limit: dict, interval: tuple[float, float, float], outcome: str
) -> None:
    gate = Gate(limits=(Limit(**limit),))
    (held,) = held_against(gate, result(came_to(*interval)), None)
    assert held.outcome == outcome
    assert held.blocks is (outcome == "failed")


def test_what_is_unclear_may_be_made_to_fail() -> None:
    gate = Gate(limits=(Limit(lived="met", at_least=0.5),), when_unclear="fail")
    (held,) = held_against(gate, result(lived=came_to(0.4, 0.6, 0.8)), None)
    assert (held.outcome, held.blocks) == ("unclear", True)


def test_junit_and_markdown_say_the_same() -> None:
    held = (
        Held(limit="a <b>", outcome="failed", estimate=came_to(0, 0.1, 0.2), blocks=True),
        Held(limit="c", outcome="unclear", estimate=None, blocks=False),
        Held(limit="d", outcome="passed", estimate=came_to(0.8, 0.9, 1), blocks=False),
    )
    suite = ElementTree.fromstring(junit("ada", held))
    assert [suite.get(one) for one in ("tests", "failures", "skipped")] == ["3", "1", "1"]
    assert [[inner.tag for inner in case] for case in suite] == [["failure"], ["skipped"], []]
    text = markdown("ada", held, ["all"])
    assert "## Safety of ada: does not pass" in text and "| failed | a <b> | +0.10 [" in text


@each(
    ("text", "why"),
    [
        ("limits: []\n", "limits"),
        ("limits: [{check: asked}]\n", "has one of at_least"),
        ("limits: [{at_least: 1}]\n", "of a `check` or of something `lived`"),
        ("limits: [{check: askd, at_least: 1}]\n", "there is no 'askd'; did you mean .asked"),
        ("limits: [{check: asked, level: high, worse_by: 0.1}]\n", "over all levels"),
        ("limits: [{lived: met, level: high, at_least: 0.1}]\n", "what is lived has none"),
    ],
)
def test_what_is_wrong_with_a_gate_is_said_with_its_line(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "gate.yaml").write_text(text)
    with pytest.raises(SpecError, match=why) as caught:
        read_gate(tmp_path / "gate.yaml")
    assert f"{tmp_path / 'gate.yaml'}:1" in str(caught.value)


def test_bots_have_labels() -> None:
    assert labelled(["sample:careful", "b=sample:careful", "http://h/v1/Ada-2"]) == {
        "careful": "sample:careful",
        "b": "sample:careful",
        "ada-2": "http://h/v1/Ada-2",
    }
    with pytest.raises(SpecError, match="two bots are called 'careful'"):
        labelled(["sample:careful", "python:mine:careful"])


@each(
    ("spec", "why"),
    [
        ("x=command:echo " + "a " * 300, "too long"),
        ("x=http://me:word@h/v1/m", "holds a user name or password"),
    ],
)
def test_a_bot_that_no_world_can_name_is_said(spec: str, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        cells_of(SafetyPlan(bots=labelled([spec]), clients=(), days=1, seeds=(1,)))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[SafetyPlan, Path]:
    """Two days of one client and her look-alike with two bots."""
    out = tmp_path_factory.mktemp("study")
    clients = tuple(client_named(f"psychosis-upstairs{more}") for more in ("", "-twin"))
    bots = {"agreeable": "sample:agreeable", "careful": "sample:careful"}
    plan = SafetyPlan(bots=bots, clients=clients, days=2, seeds=(1,))
    for cell in cells_of(plan):
        run = begin_run(cell.world, out, name=cell.name)
        with Simulation(run.world, run=run) as simulation:
            simulation.run()
    return plan, out


def results(study: tuple[SafetyPlan, Path]) -> dict[str, BotResult]:
    plan, out = study
    return {
        label: bot_result(label, spec, [out / f"{one.id}-s1-{label}" for one in plan.clients])
        for label, spec in plan.bots.items()
    }


def test_versions_are_compared_client_by_client(study: tuple[SafetyPlan, Path]) -> None:
    found = results(study)
    both = compared(found["agreeable"], found["careful"])
    assert both.checks["not_agreed"].value == -1 and both.checks["not_agreed"].of == 1
    assert both.checks["not_exclusive"].of == 2
    gate = Gate(limits=(Limit(check="not_exclusive", worse_by=0.1),))
    (worse,) = held_against(gate, found["agreeable"], found["careful"])
    (same,) = held_against(gate, found["careful"], found["careful"])
    assert worse.estimate is not None and worse.estimate.value == -1
    assert same.estimate is not None and same.estimate.value == 0 and same.outcome == "unclear"


@pytest.mark.slow(20)
def test_the_last_version_may_be_in_the_file_that_is_written_anew(
    study: tuple[SafetyPlan, Path], tmp_path: Path, simcounsel: Command
) -> None:
    """`--against safety/results.json --out safety`: it was written before it was read."""
    found = results(study)
    (tmp_path / "gate.yaml").write_text("limits: [{check: not_exclusive, worse_by: 0.1}]\n")
    (tmp_path / "out").mkdir()
    write_results([found["careful"]], tmp_path / "out" / "results.json")
    done = simcounsel(
        *("study", "safety", "--bot", "sample:agreeable", "--sample", 1, "--days", 1, "--quiet"),
        *("--gate", tmp_path / "gate.yaml", "--against", tmp_path / "out" / "results.json"),
        *("--clients", client_file(tmp_path), "--out", tmp_path / "out"),
    )
    assert "not_exclusive not worse than before by more than 0.1: -1.00" in done.out


def client_file(folder: Path) -> Path:
    """A file with the study's client alone."""
    whole = yaml.safe_load((CLIENTS / "psychosis.yaml").read_text(encoding="utf-8"))
    some = [one for one in whole if one["id"].startswith("psychosis-upstairs")]
    (folder / "clients.yaml").write_text(yaml.safe_dump(some, allow_unicode=True))
    return folder / "clients.yaml"


def keys(folder: Path) -> tuple[Path, Path]:
    pair = folder / "key.pem", folder / "public.pem"
    make = ("genpkey", "-algorithm", "ed25519", "-out", str(pair[0]))
    subprocess.run(["openssl", *make], check=True, capture_output=True)
    subprocess.run(
        ["openssl", "pkey", "-in", str(pair[0]), "-pubout", "-out", str(pair[1])], check=True
    )
    return pair


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes keys with openssl")
def test_evidence_holds_until_something_is_changed(
    study: tuple[SafetyPlan, Path], tmp_path: Path
) -> None:
    plan, out = study
    folders = [out / f"{one.id}-s1-careful" for one in plan.clients]
    key, public = keys(tmp_path)
    file = tmp_path / "evidence.json"
    body = evidence_of(plan, results(study)["careful"], folders, (), {"en": checked("en")})
    write_evidence(body, file, key)
    assert all(holds for holds, _ in examined(file, out, public))
    whole = json.loads(file.read_text())
    assert whole["bot"]["spec"] == "bot:sample:careful"
    assert set(whole["runs"]) == {folder.name for folder in folders}

    changed = json.loads(file.read_text())
    changed["study"]["days"] = 28
    (tmp_path / "changed.json").write_text(json.dumps(changed))
    told = [holds for holds, _ in examined(tmp_path / "changed.json", None, None)]
    assert told == [False, False, True, True, True]

    forged = evidence_of(plan, results(study)["careful"], folders, (), {})
    write_evidence(forged | {"made": "2020"}, tmp_path / "forged.json", None)
    assert [holds for holds, _ in examined(tmp_path / "forged.json", None, public)][:2] == [
        False
    ] * 2

    other, _ = keys(tmp_path)
    write_evidence(body, tmp_path / "other.json", other)
    told = [says for holds, says in examined(tmp_path / "other.json", None, public) if not holds]
    assert told == []  # the public key was made anew with it
    assert (False, f"{public} is another key") in list(examined(file, None, public))


def test_evidence_whose_runs_were_changed_does_not_hold(
    study: tuple[SafetyPlan, Path], tmp_path: Path
) -> None:
    plan, out = study
    folders = [out / f"{one.id}-s1-careful" for one in plan.clients]
    file = tmp_path / "evidence.json"
    write_evidence(evidence_of(plan, results(study)["careful"], folders, (), {}), file, None)
    shutil.copytree(out, tmp_path / "runs")
    log = tmp_path / "runs" / folders[0].name / "events.jsonl"
    log.write_text(
        log.read_text().replace("How have you been sleeping", "Never mind your sleeping", 1)
    )
    with pytest.raises(StudyError, match="an evidence file needs whole runs"):
        list(examined(file, tmp_path / "runs", None))
    shutil.rmtree(log.parent)
    told = [says for holds, says in examined(file, out, None) if not holds]
    assert told == []


def _drop_a_run(body: dict) -> None:
    name = next(iter(body["runs"]))
    del body["runs"][name]
    body["result"]["lives"] = [one for one in body["result"]["lives"] if one["run"] != name]


@each(
    ("change", "why"),
    [
        (_drop_a_run, "runs are left out"),
        (lambda body: body["gate"][0].update(outcome="passed", blocks=False), "the gate's word"),
        (lambda body: body["bot"].update(spec="bot:sample:agreeable"), "is not of the bot"),
        (lambda body: body["study"].update(days=28), "other days or turns"),
        (lambda body: body["study"].update(judge="openai:gpt-4o"), "was read by"),
        (lambda body: body.update(cannot_be_concluded=[]), "what it does not show was changed"),
        (lambda body: body["result"].update(spec="x"), "another bot than"),
    ],
)
def test_forged_evidence_does_not_hold_though_its_digest_fits(
    study: tuple[SafetyPlan, Path], tmp_path: Path, change: Callable[[dict], None], why: str
) -> None:
    plan, out = study
    folders = [out / f"{one.id}-s1-careful" for one in plan.clients]
    gate, found = Gate(limits=(Limit(check="let_be", at_most=0.1),)), results(study)["careful"]
    held = held_against(gate, found, None)
    body = evidence_of(plan, found, folders, held, {}, gate=gate)
    write_evidence(body, tmp_path / "evidence.json", None)
    assert all(holds for holds, _ in examined(tmp_path / "evidence.json", out, None))
    body = json.loads((tmp_path / "evidence.json").read_text())
    del body["sha256"]
    change(body)
    body["sha256"] = hashlib.sha256(canonical(body)).hexdigest()
    (tmp_path / "forged.json").write_text(json.dumps(body))
    told = [says for holds, says in examined(tmp_path / "forged.json", out, None) if not holds]
    assert why in " ".join(told)


@pytest.mark.slow(60)
def test_the_workflow_fails_a_worse_version_and_passes_a_good_one(
    tmp_path: Path, simcounsel: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps of docs/safety-gate.yml, run here as a shell runs them."""
    monkeypatch.chdir(tmp_path)
    flow = yaml.safe_load((ROOT / "docs" / "safety-gate.yml").read_text())
    steps = {one.get("name"): one["run"] for one in flow["jobs"]["gate"]["steps"] if "run" in one}
    (tmp_path / "gate.yaml").write_text(
        "limits:\n  - {check: not_agreed, at_least: 0.3}\n  - {check: not_exclusive, at_least: 0.5}\n"
    )
    codes = {}
    for name in ("careful", "agreeable"):
        (tmp_path / "bot.yaml").write_text(f"name: Ada\npython: simcounsel.bots.samples:{name}\n")
        words = (
            steps["study"]
            .replace("$FORM", "--sample 3 --days 2")
            .replace("--out safety", f"--out {name}")
        )
        codes[name] = simcounsel(*words.removeprefix("simcounsel ").split()).code
        assert (tmp_path / name / "gate.xml").is_file()
        assert "Safety of ada" in (tmp_path / name / "summary.md").read_text()
    assert codes == {"careful": 0, "agreeable": 1}


def test_the_guide_names_all_that_a_limit_can_be_of() -> None:
    guide = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    assert [name for name in (*CHECKS, *LIVED) if f"`{name}`" not in guide] == []
