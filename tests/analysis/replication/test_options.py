"""What `replicate` takes: a plan on one screen, models by role, a budget for the whole study."""

from pathlib import Path

import pytest
import yaml

from analysis.replication.__main__ import main
from analysis.replication.after import After
from analysis.replication.design import chosen, written_experiment
from analysis.replication.options import Choices
from simcounsel.errors import BudgetSpent, SpecError
from simcounsel.lab.plan import estimate
from simcounsel.lab.power import clients_needed
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import PromptOnly, Question, ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.scripted import Scripted
from simcounsel.specs.experiment import Budget
from simcounsel.specs.experiment_file import load_experiment
from tests.commands import Command, in_process

LINES, WIDTH = 40, 200


@pytest.fixture
def replicate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    return in_process("replicate", main, monkeypatch, capsys)


@pytest.mark.parametrize("study", ["simcounsel", "structure-matters"])
def test_the_plan_fits_one_screen(replicate: Command, study: str, tmp_path: Path) -> None:
    done = replicate(
        study, "--model", "openai:gpt-4o", "--quick", "openai:gpt-4o-mini",
        "--embed", "openai:text-embedding-ada-002", "--power", 0.95, "--dry-run",
    )  # fmt: skip
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert len(lines) <= LINES and max(map(len, lines)) <= WIDTH, len(lines)
    assert "openai:gpt-4o-mini" in done.out and "vectors openai:text-embedding-ada-002" in done.out
    assert "for 95%" in done.out and "requests" in done.out
    assert sum(line.startswith("  appointments") for line in lines) <= 1, "differences are folded"
    assert list(tmp_path.iterdir()) == []


def test_the_power_of_the_paper() -> None:
    assert clients_needed(0.05, power=0.95) > clients_needed(0.05) == 34


def test_models_by_role_are_in_the_experiment(tmp_path: Path) -> None:
    cast = chosen("simcounsel", 2, [], tmp_path)
    wanted = Choices(model="scripted", roles={"quick": "scripted", "judge": "embedded"})
    file = written_experiment("simcounsel", cast, tmp_path, wanted)
    _, cells = load_experiment(file, {"reason": "scripted", "embed": "scripted"})
    for cell in cells:
        names = cell.about.model_names()
        assert (names["quick"], names["judge"]) == ("scripted", "embedded")


def test_a_budget_is_remembered_and_may_change(tmp_path: Path) -> None:
    cast = chosen("simcounsel", 2, [], tmp_path)

    def written(**more: object) -> dict[str, object]:
        file = written_experiment("simcounsel", cast, tmp_path, Choices(**more))  # type: ignore[arg-type]
        loaded: dict[str, object] = yaml.safe_load(file.read_text(encoding="utf-8"))
        return loaded

    assert written(budget_usd=2.0)["budget"] == {"usd": 2.0}
    assert written()["budget"] == {"usd": 2.0}, "remembered"
    assert written(budget_usd=3.0, budget_calls=10)["budget"] == {"usd": 3.0, "calls": 10}
    assert written(budget_usd=float("inf"))["budget"] == {"calls": 10}
    with pytest.raises(SpecError, match="another study was begun here"):
        written(seeds=2)
    assert written()["budget"] == {"calls": 10}, "a refusal changes nothing"


@pytest.mark.slow(10)
def test_a_budget_stops_the_study(replicate: Command, tmp_path: Path) -> None:
    small = ("--model", "scripted", "--clients", 3, "--days", 1, "--out", "small", "--quiet")
    done = replicate("structure-matters", *small, "--budget-calls", 5)
    assert done.code != 0 and "the same command goes on" in done.out
    assert not (tmp_path / "small" / "replication.html").exists()
    assert replicate("structure-matters", *small).code != 0, "it is remembered"


def question() -> Question[str]:
    return Question(
        verb="write", purpose="name_themes", who="cluster 0", tier="reason", language="en",
        system="", prompt="Name it.", fallback="it", temperature=0.0, max_tokens=8, seed=1,
        facts=PromptOnly(),
    )  # fmt: skip


def test_what_is_asked_after_the_runs_counts_too(tmp_path: Path) -> None:
    after = After(budget=Budget(calls=1), prices=Prices.load(), runs=tmp_path)
    model = Scripted()
    models = after.limited(Switchboard({"reason": model}, HashEmbeddings()))
    try:
        models.ask({"one": ask(question())})
        with pytest.raises(BudgetSpent):
            models.ask({"two": ask(question())})
    finally:
        models.close()


def test_the_low_estimate_is_below_what_short_talks_took(tmp_path: Path) -> None:
    """18 clients with the scripted model, whose talks are short, took 1,596 requests."""
    cast = chosen("structure_matters", 18, [], tmp_path)
    file = written_experiment("structure_matters", cast, tmp_path, Choices())
    _, cells = load_experiment(file, {"reason": "scripted", "embed": "scripted"})
    found = estimate(cells, Prices.load())
    assert 1000 < found.low.requests <= 1596 < found.high.requests
