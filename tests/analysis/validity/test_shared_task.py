"""Somebody else's runs, in the form of the shared task, audited as ours. The files are made here, in that form."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from analysis.errors import ReportError
from analysis.validity.audit.shared_task import OutcomeOf, SharedStudy, audits
from analysis.validity.audit.verdicts import ClaimAudit
from tests.commands import Command
from tests.each import each

SEEDS = range(3001, 3011)
DESIGN = {
    "study": "made",
    "title": "Made here",
    "hypotheses": {"h1_feed": {"statement": "The feed moves opinions.", "signal_variables": ["feed"]}},
    "variables": {
        "feed": {
            "role": "signal", "path": "env.gm.feed", "base": 0,
            "values": [{"value": 0, "label": "chrono"}, {"value": 1, "label": "ranked-v2"}],
        },
        "model": {"role": "design_variation", "kind": "model", "base": "big", "values": ["big", "small"]},
        "persona": {"role": "design_variation", "kind": "group", "group": "agents", "base": "plain",
                    "values": ["plain", "rich"]},
    },
    "sweep": {"signal_grid": ["feed"], "seeds": {"start": 3001, "count": 10}},
}  # fmt: skip
OUTCOME = "probe_events:data.probe_return?label=opinion"
LEVELS = {"chrono": 0.0, "ranked-v2": 1.0}


def study(folder: Path, effect: dict[str, float], rows: str = "csv") -> Path:
    """Runs of which the feed moves an opinion, by the way in which they are made."""
    rng = np.random.default_rng(4)
    (folder / "sweeps").mkdir(parents=True)
    (folder / "design.yaml").write_text(yaml.safe_dump(DESIGN))
    manifest = []
    for way, moved in effect.items():
        for feed, on in LEVELS.items():
            for seed in SEEDS:
                condition = f"feed-{feed}" + (f"__{way}" if way else "")
                run_dir = f"sweeps/runs/{condition}/seed_{seed}"
                (folder / run_dir / "run").mkdir(parents=True)
                values = 3 + moved * on + rng.normal(0, 0.2, 4)
                lines = [
                    {"label": "opinion", "source_user": "a", "data": {"probe_return": str(value)}}
                    for value in values
                ]
                lines += [{"label": "other", "data": {"probe_return": "99"}}]
                lines += [{"label": "opinion", "data": {"probe_return": None}}]
                with gzip.open(folder / run_dir / "run" / "probe_events.jsonl.gz", "wt") as file:
                    file.writelines(json.dumps(one) + "\n" for one in lines)
                row = {"condition_id": condition, "seed": seed, "kind": "grid", "run_dir": run_dir}
                manifest.append(row | {"status": "success"})
    if rows == "csv":
        keys = list(manifest[0])
        text = (
            ",".join(keys)
            + "\n"
            + "".join(",".join(map(str, one.values())) + "\n" for one in manifest)
        )
    else:
        text = "".join(json.dumps(one) + "\n" for one in manifest)
    (folder / "sweeps" / f"manifest.{rows}").write_text(text)
    return folder


def audited(folder: Path) -> ClaimAudit:
    (found,) = audits(SharedStudy.read(folder), OutcomeOf.named(OUTCOME))
    return found


def test_a_claim_that_holds_however_it_is_made(tmp_path: Path) -> None:
    found = audited(study(tmp_path / "s", {"": 1.0, "model-small": 1.1, "persona-rich": 0.9}))
    assert found.becomes == "holds"
    base, *others = found.outcomes
    assert base.effect.difference == pytest.approx(1.0, abs=0.15)
    assert {one.variant: one.level for one in others} == {
        "model small": "model",
        "persona rich": "agent",
    }
    assert found.hypothesis.says.startswith("feed ranked-v2 against chrono: The feed")


@each(("small", "verdict"), [(0.0, "weakens"), (-1.0, "turns")])
def test_one_that_hangs_on_the_model(tmp_path: Path, small: float, verdict: str) -> None:
    folder = tmp_path / verdict
    found = audited(study(folder, {"": 1.0, "model-small": small}, "jsonl"))
    assert found.becomes == verdict and "“model small”" in found.because


def test_a_share_of_a_value_and_what_is_not_there(tmp_path: Path) -> None:
    folder = study(tmp_path / "s", {"": 0.0})
    run = next((folder / "sweeps" / "runs").rglob("run"))
    assert OutcomeOf.named("probe_events:label==opinion").of(run) == pytest.approx(5 / 6)
    assert OutcomeOf.named("probe_events:data.nothing").of(run) is None
    assert OutcomeOf.named("nothing:label==x").of(run) is None
    with pytest.raises(ReportError, match="no run has the outcome"):
        audits(SharedStudy.read(folder), OutcomeOf.named("nothing:label"))
    with pytest.raises(ReportError, match="write FILE:FIELD"):
        OutcomeOf.named("opinion")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    folder = study(tmp_path / "s", {"": 0.0})
    (folder / "sweeps" / "manifest.csv").write_text("condition_id,seed,run_dir\nmood-bad,1,x\n")
    with pytest.raises(ReportError, match="'mood-bad' names 'mood', which is no variable"):
        audited(folder)
    (folder / "sweeps" / "manifest.csv").write_text("condition_id,seed\nfeed-chrono,1\n")
    with pytest.raises(ReportError, match="row 1 has no run_dir"):
        audited(folder)
    (folder / "sweeps" / "manifest.csv").unlink()
    with pytest.raises(ReportError, match="neither manifest.csv nor"):
        audited(folder)
    (folder / "design.yaml").write_text("study: x\n")
    with pytest.raises(ReportError, match="no 'variables'"):
        audited(folder)


def test_the_command_makes_the_page(tmp_path: Path, simcounsel: Command) -> None:
    folder = study(tmp_path / "s", {"": 1.0, "model-small": 1.0})
    without = simcounsel("study", "audit", folder)
    assert without.code != 0 and "--outcome" in without.err
    done = simcounsel("study", "audit", folder, "--outcome", OUTCOME, "--out", tmp_path / "page")
    assert done.code == 0, done.err
    assert "h1_feed-ranked-v2: HOLDS" in done.out
    (table,) = (tmp_path / "page" / "tables").glob("audit_h1*.csv")
    assert "seeds" in table.read_text().splitlines()[0] and "clients" not in table.read_text()
    assert "runs of the shared task" in (tmp_path / "page" / "validity.html").read_text()
