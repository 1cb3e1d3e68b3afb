"""MindChat's studies done again by commands, in small, and what the pages make of their numbers."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import yaml

from analysis.errors import ReportError
from analysis.replication import commands, mindchat, mindcorpus
from analysis.replication.__main__ import main
from analysis.replication.mind_page import own
from analysis.replication.tables import TableCell
from analysis.trainings.folders import read_trainings
from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.errors import SpecError
from tests.analysis.trained import training
from tests.commands import Command, in_process
from training.privacy.gaussian import epsilon_of, multiplier_for

THEMES = ("couple", "family", "grief", "sleep", "study", "work")


@pytest.fixture
def replicate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    return in_process("replicate", main, monkeypatch, capsys)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Ten clients of `couple`, six of each other theme, all with one short session."""
    rows = []
    for theme in THEMES:
        for number in range(10 if theme == "couple" else 6):
            turns = (
                Turn(speaker="client", text=f"Night {number} of {theme}, and I lay awake."),
                Turn(speaker="counselor", text="What kept you awake?"),
            )
            name = f"{theme}-{number}"
            rows.append(Dialogue(id=name, client=name, theme=theme, language="en", turns=turns))
    file = tmp_path / "corpus.jsonl"
    file.write_text(
        "".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in rows), encoding="utf-8"
    )
    return file


def wanted(folder: Path, corpus: Path | str, **more: Any) -> mindchat.Wanted:
    told: dict[str, Any] = {
        "folder": folder,
        "corpus": str(corpus),
        "base": "embedded",
        "sessions": 100,
        "rounds": 100,
        "local_epochs": 3,
        "learning_rate": None,
        "cases": "samples",
        "judge": "embedded",
        "beside": (),
    }
    return mindchat.Wanted(**{**told, **more})


def test_the_cells_are_those_of_the_paper(tmp_path: Path, corpus: Path) -> None:
    made = mindchat.sweep(wanted(tmp_path, corpus))
    cells = {one["name"]: one.get("set", {}) for one in made["cells"]}
    assert made["recipe"]["deal"] == {"sites": 6, "by": "theme", "sessions": 100}
    assert made["recipe"]["rounds"] == 100 and made["recipe"]["local_epochs"] == 3
    assert made["recipe"]["batch_size"] == 16 and made["recipe"]["privacy"]["stated_epsilon"] == 1
    for sites in (2, 4, 6):
        assert cells[f"quantity_{sites}"]["themes"] == ["couple"]  # the largest
        assert len(cells[f"diversity_{sites}"]["themes"]) == sites
        for kind in ("quantity", "diversity"):
            assert cells[f"{kind}_{sites}"]["deal"]["sites"] == sites
    assert [cells[f"epsilon_{e}"]["privacy"]["stated_epsilon"] for e in (1, 3, 5, 7)] == [
        1,
        3,
        5,
        7,
    ]
    assert cells["counted_3"]["privacy"]["budget_epsilon"] == 3
    assert cells["no_privacy"]["privacy"] == "none"


def test_too_few_themes_are_said(tmp_path: Path, corpus: Path) -> None:
    lines = corpus.read_text(encoding="utf-8").splitlines()
    corpus.write_text("\n".join(one for one in lines if "work" not in one), encoding="utf-8")
    with pytest.raises(ReportError, match="5 themes, and the tables want 6"):
        mindchat.sweep(wanted(tmp_path, corpus))


def test_each_adapter_is_asked_on_the_bench(tmp_path: Path, corpus: Path) -> None:
    asked = wanted(tmp_path, corpus, judge="openai:gpt-4o", beside=("scripted",), budget={"usd": 2})
    lines = [one.line for one in mindchat.steps(asked, tmp_path)]
    benches = [one for one in lines if "study bench cpsycoune" in one]
    assert len(benches) == 1 + 7 + 1 + 1  # MindChat, Table VII, the base, another model
    assert all("--judge openai:gpt-4o" in one and "--budget-usd 2" in one for one in benches)
    adapter = tmp_path / "trainings" / "quantity_4"
    assert sum(f"--model embedded+adapter={adapter} " in one for one in benches) == 1
    assert lines.index(f"simcounsel train export {adapter} --gguf") < lines.index(benches[0])
    served = [
        one.line
        for one in mindchat.steps(wanted(tmp_path / "b", corpus, base="Qwen/x"), tmp_path / "b")
    ]
    assert not any("bench" in one or "export" in one for one in served)


def test_another_study_in_the_folder_is_refused_and_a_budget_may_change(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    given = {"sessions": 4, "budget": {"usd": 5.0}}  # as a user's own file may have it
    commands.written(file, given, "About.", {"usd": 1.0})
    commands.written(file, given, "About.", {"usd": 1.0, "calls": 9.0})
    assert yaml.safe_load(file.read_text("utf-8"))["budget"] == {"usd": 1.0, "calls": 9.0}
    commands.written(file, given, "About.", {"usd": float("inf")})
    assert yaml.safe_load(file.read_text("utf-8"))["budget"] == {"calls": 9.0}
    with pytest.raises(SpecError, match="another study was begun here"):
        commands.written(file, {"sessions": 5}, "About.", {})


def test_a_budget_is_remembered_and_told_to_every_command_that_asks(tmp_path: Path) -> None:
    assert commands.remembered(tmp_path, 2.5, None, write=True) == {"usd": 2.5}
    again = commands.remembered(tmp_path, None, 2_000_000.0, write=True)
    assert commands.as_options(again) == ["--budget-usd", "2.5", "--budget-calls", "2000000"]
    lifted = commands.remembered(tmp_path, float("inf"), None, write=False)
    assert "--budget-usd none" in " ".join(commands.as_options(lifted))
    assert commands.remembered(tmp_path, None, None, write=False) == again


def test_the_bench_of_another_model_has_a_folder_of_its_own(tmp_path: Path, corpus: Path) -> None:
    """So that nobody's scores stand under another's name when the study goes on."""
    folders = []
    for beside in (("scripted", "openai:gpt-4o"), ("openai:gpt-4o",)):
        asked = wanted(tmp_path, corpus, beside=beside)
        lines = [one.line for one in mindchat.steps(asked, tmp_path)]
        folders.append([one.split("--out ")[1] for one in lines if "--model openai" in one])
        assert all("--judge embedded" in one for one in lines if "study bench" in one)
    assert folders[0] == folders[1] == [str(tmp_path / "benches" / "beside-openai-gpt-4o")]


def about(folder: Path, **more: Any) -> mindcorpus.Wanted:
    told: dict[str, Any] = {
        "folder": folder,
        "model": "scripted",
        "judge": None,
        "sessions": 3,
        "sample": 3,
        "groups": None,
        "beside": (),
        "ratings": None,
    }
    return mindcorpus.Wanted(**{**told, **more})


def test_groups_of_ones_own_keep_their_situations_and_budget(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "some.txt").write_text("I lie awake.\n", encoding="utf-8")
    mine = tmp_path / "mine" / "groups.yaml"
    told = {"name": "g", "synthesis": {"situations": "some.txt"}, "budget": {"usd": 3}}
    mine.write_text(yaml.safe_dump({**told, "conditions": [{"name": "a"}]}), encoding="utf-8")
    for _ in range(2):
        mindcorpus.steps(about(tmp_path, groups=mine), tmp_path)
    made = yaml.safe_load((tmp_path / "groups.yaml").read_text("utf-8"))
    assert made["synthesis"] == {"situations": str(tmp_path / "mine" / "some.txt"), "sessions": 3}
    assert made["budget"] == {"usd": 3}
    mine.write_text("name: g\nworlds: [insomnia]\n", encoding="utf-8")
    with pytest.raises(SpecError, match="no experiment with corpora"):
        mindcorpus.steps(about(tmp_path / "b", groups=mine), tmp_path / "b")


@pytest.mark.parametrize("name", ["arms", "MindCorpus", "twice"])
def test_corpora_with_names_that_are_taken_are_refused_before_anything_is_asked(
    name: str, tmp_path: Path
) -> None:
    beside = (tmp_path / "a" / f"{name}.jsonl", tmp_path / "b" / f"{name}.jsonl")
    with pytest.raises(SpecError, match=f"'{name}' is taken"):
        mindcorpus.steps(about(tmp_path, beside=beside), tmp_path)


def test_a_command_that_fails_stops_the_study_and_one_that_has_ended_is_not_run_again(
    tmp_path: Path,
) -> None:
    there = tmp_path / "there"
    there.touch()
    done = commands.Step(words=("no-such-command",), leaves=there)
    commands.run([done], lambda _: None)
    with pytest.raises(commands.StepStopped, match="`simcounsel no-such-command` ended with code"):
        commands.run([commands.Step(words=("no-such-command",))], lambda _: None)


def test_ours_stand_beside_the_published_and_what_the_paper_lacks_comes_last() -> None:
    cells = {"x": {"trust": TableCell(ours=7.5, n=3)}, "y": {"trust": TableCell(ours=1.5)}}
    table = own("mindcorpus", "table_3", {"MindCorpus": "x", "mine": "y"}, cells, "by hand")
    rows = {row.label: row.cells[table.columns.index("trust")] for row in table.rows}
    assert (rows["MindCorpus"].published, rows["MindCorpus"].ours) == (8.32, 7.5)
    assert (rows["ExTES"].published, rows["ExTES"].ours) == (8.38, None)
    assert (rows["mine"].published, rows["mine"].ours) == (None, 1.5)
    assert table.rows[-1].label == "mine"


def audited(folder: Path, name: str, auc: float) -> None:
    """An audit with the attacks of Table VIII, and one after each of two rounds."""

    def told(value: float) -> dict[str, Any]:
        trained = {"roc_auc": value, "low": value - 0.1, "high": value + 0.1, "pr_auc": value / 2}
        more = {"pr_low": 0.1, "pr_high": 0.9, "members": 8, "others": 4}
        base = {"roc_auc": 0.5}
        attacks = ("loss", "min_k", "zlib")
        return {
            "attacks": [
                {"attack": one, "trained": trained | more, "base": base, "bound": None}
                for one in attacks
            ],
            "memorization": [
                {"measure": "rouge1_recall", "model": model, "members": value, "others": 0.1}
                for model in ("trained", "base")
            ],
        }

    (folder / name / "audits").mkdir()
    (folder / name / "audit.json").write_text(json.dumps(told(auc)), encoding="utf-8")
    for round in (1, 2):
        (folder / name / "audits" / f"000{round}.json").write_text(
            json.dumps(told(auc - 0.1 + round / 20) | {"round": round}), encoding="utf-8"
        )


def test_table_8_and_the_figures_hold_the_audits(tmp_path: Path) -> None:
    folder = tmp_path / "trainings"
    for name, epsilon, auc in (
        ("epsilon_1", 10.39, 0.55),
        ("counted_1", 1.0, 0.51),
        ("no_privacy", None, 0.8),
    ):
        training(folder / name, 3.2, epsilon=epsilon)
        audited(folder, name, auc)
    audits = {one.parent.name: json.loads(one.read_bytes()) for one in folder.glob("*/audit.json")}
    trainings = read_trainings([folder])
    asked = wanted(tmp_path, "samples")
    scores = {
        name: SimpleNamespace(value=value, interval=(value - 0.5, value + 0.5), n=5)
        for name, value in (("comprehensiveness", 1.5), ("safety", 1.0))
    }
    result: Any = SimpleNamespace(overall=scores, judge="gpt", trial=False, model="m")
    made = mindchat.read(asked, trainings, {"quantity_4": result}, audits)
    tables = {one.id: one.frame().set_index(["row", "column"]) for one in made.tables}
    eight, seven = tables["table_8"], tables["table_7"]
    first = eight.loc[("epsilon 1, by the paper's formula", "loss_roc")]
    assert (first["published"], first["ours"], first["n"]) == (0.7245, 0.55, 12)
    assert eight.loc[("no privacy", "zlib_pr"), "ours"] == 0.4
    assert eight.loc[("epsilon 1 in all", "min_k_roc"), "ours"] == 0.51
    assert "1 is 10.39 in all" in made.tables[-1].notes[0]
    assert seven.loc[("four sites of one theme", "comprehensiveness"), "ours"] == 1.5
    assert seven.loc[("four sites of one theme", "comprehensiveness"), "low"] == 1.0
    assert {one.id for one in made.pictures["table_8"]} == {"memorization", "rounds"}
    (rounds,) = [one for one in made.pictures["table_8"] if one.id == "rounds"]
    assert "0.500 after round 1, 0.550 after round 2" in rounds.alt


@pytest.mark.parametrize("releases", [1, 2, 3, 100])
@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 5, 7])
def test_the_noise_for_an_epsilon_keeps_it_to_the_last_digit(epsilon: float, releases: int) -> None:
    for delta in (1e-3, 1e-5):
        found = multiplier_for(epsilon, delta, releases)
        assert epsilon_of(found, delta, releases) <= epsilon
        assert epsilon_of(found * (1 - 1e-6), delta, releases) > epsilon


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_mindcorpus_from_command_to_page(replicate: Command, tmp_path: Path) -> None:
    words = "mindcorpus --model scripted --sessions 3 --sample 3 --beside samples --out out"
    planned = replicate(*words.split(), "--dry-run")
    assert planned.code == 0 and "sessions     15" in planned.out and not Path("out").exists()
    done = replicate(*words.split())
    assert done.code == 0, done.err
    tables = {one.stem: pd.read_csv(one) for one in Path("out/tables").glob("*.csv")}
    names = "design table_2 table_3 table_3_people table_4 table_5 figure_5"
    assert set(tables) == set(names.split())
    rated = pd.read_csv("out/report/tables/summary.csv")
    for column in ("professionalism", "trust"):
        for row, corpus in (
            ("MindCorpus", "arms: full"),
            ("MindCorpus, informed", "arms: informed"),
            ("samples", "samples"),
        ):
            three = tables["table_3"]
            ours = three[(three["row"] == row) & (three["column"] == column)]["ours"].item()
            mine = (rated["corpus"] == corpus) & (rated["dimension"] == column)
            assert ours == pytest.approx(rated[mine]["value"].item())
    assert tables["figure_5"]["ours"].notna().all() and len(tables["figure_5"]) == 5 * 5
    page = Path("out/replication.html").read_text("utf-8")
    assert "No clinician has rated this" in page and "say nothing about counseling" not in page
    assert "These runs used the scripted model" in page
    again = replicate(*words.split())
    assert again.code == 0, again.err
    other = replicate(*words.replace("--sessions 3", "--sessions 4").split())
    assert other.code == 1 and "another study was begun here" in other.err


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_mindchat_from_command_to_page(replicate: Command, tmp_path: Path, corpus: Path) -> None:
    from tests.training.learning.small import small_model

    base = small_model(tmp_path / "tiny", ["What kept you awake? Night of grief, I lay awake."] * 3)
    words = [
        *("mindchat --sessions 1 --rounds 2 --local-epochs 1 --judge scripted".split()),
        *("--beside scripted --out out --corpus".split()),
        *(str(corpus), "--base", str(base)),
    ]
    planned = replicate(*words, "--dry-run")
    assert planned.code == 0 and "17 cells" in planned.out and not Path("out").exists()
    done = replicate(*words)
    assert done.code == 0, done.err
    eight = pd.read_csv("out/tables/table_8.csv")
    assert len(eight) == 9 * 6 and eight["ours"].notna().all()
    audit = json.loads(Path("out/trainings/counted_3/audit.json").read_bytes())
    seen = next(one for one in audit["attacks"] if one["attack"] == "zlib")["trained"]["pr_auc"]
    ours = eight.query("row == 'epsilon 3 in all' and column == 'zlib_pr'")["ours"].item()
    assert ours == pytest.approx(seen)
    assert len(list(Path("out/trainings/epsilon_1/audits").glob("*.json"))) == 2
    six = pd.read_csv("out/tables/table_6.csv")
    assert six.query("row == 'scripted'")["ours"].notna().all()
    page = Path("out/replication.md").read_text("utf-8")
    assert "is not spoken here" in page and "rounds.svg" in page and "memorization.svg" in page
    assert "1 is 1.098 in all" in page
    before = {one: one.stat().st_mtime_ns for one in Path("out").glob("trainings/*/audit.json")}
    assert replicate(*words).code == 0
    assert before == {one: one.stat().st_mtime_ns for one in before}
