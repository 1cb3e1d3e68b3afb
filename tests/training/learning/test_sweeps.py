"""Several trainings out of one file: what is trained in each, what is left alone, how they stand side by side."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
import yaml
from typer.testing import CliRunner

from simcounsel.corpus.reading import read_dialogues
from simcounsel.errors import SimcounselError, SpecError
from simcounsel.specs.experiment_file import load_experiment
from tests.stage import ROOT
from tests.training.learning.conftest import PRIVATE, Recipes
from training.__main__ import app
from training.dealing import deal
from training.recipe import Deal
from training.recipe_file import load_recipe
from training.sites import find
from training.sweeps import command
from training.sweeps.command import cost, run
from training.sweeps.comparing import as_csv, attack_lines, attacked, lines, read, warnings
from training.sweeps.plan import laid_over, load_sweep

pytestmark = pytest.mark.slow

PRIVACY = ROOT / "experiments" / "privacy.yaml"
Sweeps = Callable[..., Path]


@pytest.fixture
def sweep_file(tmp_path: Path, recipe_file: Recipes) -> Sweeps:
    """Writes a sweep of these cells, over a recipe with these keys changed."""

    def write(*cells: dict[str, Any], **changed: Any) -> Path:
        recipe = json.loads(
            recipe_file(**{"rounds": 1, "deal": {"sites": 2}, **changed}).read_text(
                encoding="utf-8"
            )
        )
        file = tmp_path / "sweep.yaml"
        file.write_text(
            yaml.safe_dump({"name": "Tiny", "recipe": recipe, "cells": list(cells)}),
            encoding="utf-8",
        )
        return file

    return write


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the cells are trained."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


OPEN, CLOSED = (
    {"name": "open"},
    {"name": "closed", "about": "A budget.", "set": {"privacy": PRIVATE}},
)


def test_the_shipped_sweep_is_the_papers_design(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets 1, 2, 4, 8 and none over the same sessions; 2, 4, 6 sites of one theme and of as many themes, each with as much."""
    monkeypatch.setattr(
        "training.sites.read_dialogues", cache(read_dialogues)
    )  # twelve times the same
    _, cells = load_sweep(PRIVACY)
    at = {cell.name: find(cell.recipe, cell.file) for cell in cells}
    held_out = {tuple(one.id for one in sites.held_out) for sites in at.values()}
    assert len(held_out) == 1 and len(at) == 12
    for epsilon in (1, 2, 4, 8):
        assert at[f"epsilon_{epsilon}"].sessions == at["no_privacy"].sessions
    for many in (2, 4, 6):
        alike, various = at[f"quantity_{many}"].sessions, at[f"diversity_{many}"].sessions
        assert {len(here) for here in (*alike.values(), *various.values())} == {1}
        assert {one.theme for here in alike.values() for one in here} == {"couple"} and len(
            alike
        ) == many
        assert len({one.theme for here in various.values() for one in here}) == many == len(various)
    trained = [
        {one.id for here in at[f"quantity_{many}"].sessions.values() for one in here}
        for many in (2, 4, 6)
    ]
    assert trained[0] < trained[1] < trained[2]
    costs = {
        cell.name: cost(cell)
        for cell in cells
        if cell.name in ("epsilon_1", "no_privacy", "quantity_6")
    }
    assert (
        costs["epsilon_1"]["epsilon"] == pytest.approx(1, rel=0.01)
        and costs["no_privacy"]["epsilon"] is None
    )
    assert costs["epsilon_1"]["steps"] == 2 * (6 + 6)  # 22 sessions a site, four a step, two rounds
    assert costs["quantity_6"]["steps"] == 2 * 6


def test_themes_are_trained_on_and_all_are_held_out(recipe_file: Recipes) -> None:
    file = recipe_file(themes=["work"])
    recipe, _ = load_recipe(file)
    sites, whole = find(recipe, file), find(recipe.model_copy(update={"themes": ()}), file)
    assert {one.theme for here in sites.sessions.values() for one in here} == {"work"}
    assert sites.held_out == whole.held_out and len({one.theme for one in sites.held_out}) == 2
    with pytest.raises(
        SpecError,
        match=r"no session has the theme 'sport'; there are (sleep|work) \d, (sleep|work) \d",
    ):
        find(recipe.model_copy(update={"themes": ("sport",)}), file)


def test_a_theme_a_site_and_at_most_so_many_sessions(corpus: Path, recipe_file: Recipes) -> None:
    file = recipe_file(held_out=0)
    recipe, _ = load_recipe(file)
    every = find(recipe, file).sessions["all"]
    few = [one for one in every if one.theme == "work"][:2]
    uneven = deal(
        [*few, *(one for one in every if one.theme == "sleep")], Deal(sites=2, by="theme"), 1
    )
    assert [{one.theme for one in here} for here in uneven.values()] == [
        {"sleep"},
        {"work"},
    ]  # though of very unequal sizes
    cut = deal(every, Deal(sites=2, sessions=3), 1)
    whole = deal(every, Deal(sites=2), 1)
    for name, here in cut.items():
        assert len(here) <= 3 and {one.client for one in here} <= {
            one.client for one in whole[name]
        }
        assert all(
            sum(one.client == other.client for one in every)
            == sum(one.client == other.client for one in here)
            for other in here
        )


def test_changes_are_laid_over_key_by_key() -> None:
    base = {"a": {"b": 1, "c": {"d": 2}}, "e": [1, 2]}
    assert laid_over(base, {"a": {"c": {"d": 3}}, "e": [4]}) == {
        "a": {"b": 1, "c": {"d": 3}},
        "e": [4],
    }
    assert laid_over(base, {"a": "none"}) == {"a": "none", "e": [1, 2]}
    assert base == {"a": {"b": 1, "c": {"d": 2}}, "e": [1, 2]}


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (
            {"name": "x", "set": {"roundz": 2}},
            r"sweep.yaml:\d+: roundz: unknown key; did you mean 'rounds'",
        ),
        (
            {"name": "x", "set": {"learning": {"learning_rate": -1}}},
            r"sweep.yaml:\d+: learning.learning_rate: -1: input should be greater than 0",
        ),
        ({"name": "x", "set": {"noise": "secure"}}, "there is no noise with `privacy: none`"),
        ({"name": "Two Words"}, "should match pattern"),
    ],
)
def test_wrong_cells_are_named_with_their_line(
    cell: dict[str, Any], said: str, sweep_file: Sweeps
) -> None:
    with pytest.raises(SpecError, match=said):
        load_sweep(sweep_file(cell))


def test_two_cells_of_one_name(sweep_file: Sweeps) -> None:
    with pytest.raises(SpecError, match=r"cells.1.name: 'open' is here a second time"):
        load_sweep(sweep_file(OPEN, OPEN))


def test_each_kind_of_file_names_its_command() -> None:
    with pytest.raises(
        SpecError, match="this is a sweep of trainings: simcounsel train sweep .*privacy.yaml"
    ):
        load_experiment(PRIVACY)
    with pytest.raises(SpecError, match="a sweep of several: simcounsel train sweep"):
        load_recipe(PRIVACY)
    with pytest.raises(SpecError, match="an experiment in worlds: simcounsel sweep"):
        load_sweep(ROOT / "experiments" / "quick.yaml")
    with pytest.raises(SpecError, match="a single training: simcounsel train tune"):
        load_sweep(ROOT / "training" / "configs" / "smoke.yaml")


def test_a_sweep_trains_each_cell_once(
    sweep_file: Sweeps,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Federated and central, private and not; another start does nothing; the cell's own file trains the same."""
    central = {"name": "central", "set": {"deal": None}}
    _, cells = load_sweep(sweep_file(OPEN, CLOSED, central))
    assert not run(cells, out)
    assert "cell 2 of 3   closed   A budget.\n" in capsys.readouterr().out
    alone = load_recipe(out / "closed.yaml")[0]
    assert alone.model_copy(update={"corpus": None}) == cells[1].recipe.model_copy(
        update={"corpus": None}
    )
    monkeypatch.setattr(command, "train", None)  # nothing is trained again
    assert not run(cells, out)
    assert "cell 2 of 3   closed   is finished\n" in capsys.readouterr().out

    rows = read([out])
    assert [one.name for one in rows] == ["closed", "central", "open"]  # privacy first
    assert not warnings(rows)
    assert (
        rows[0].unit == "session"
        and rows[0].epsilon == pytest.approx(cost(cells[1])["epsilon"])
        and rows[0].sites == 2
    )
    for one in rows:
        card = json.loads((out / one.name / "adapter" / "card.json").read_text())
        assert one.after == card["measured"]["held_out_loss_after"]
        assert one.before == pytest.approx(card["measured"]["held_out_loss_before"])
    table = lines(rows)
    assert (
        "closed" in table[1]
        and "session" in table[1]
        and f"{rows[0].after:.4f}" in table[1]
        and "none" in table[2]
    )
    written = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert written[1]["epsilon"] == "" and float(written[0]["after"]) == rows[0].after


def test_another_sweep_does_not_write_into_the_first(sweep_file: Sweeps, out: Path) -> None:
    run(load_sweep(sweep_file(OPEN))[1], out)
    with pytest.raises(
        SimcounselError, match="was trained otherwise than the sweep says now .learning."
    ):
        run(
            load_sweep(sweep_file(OPEN, learning={"learning_rate": 0.02, "max_tokens": 256}))[1],
            out,
        )


def test_a_cell_that_fails_does_not_end_the_sweep(
    sweep_file: Sweeps, tmp_path: Path, out: Path
) -> None:
    lost = {"name": "lost", "set": {"base": str(tmp_path / "nowhere")}}
    failed = run(load_sweep(sweep_file(lost, OPEN))[1], out)
    assert list(failed) == ["lost"] and "nowhere" in failed["lost"]
    assert [(one.name, one.finished) for one in read([out])] == [("open", True)]


def test_a_stop_ends_the_sweep_and_the_next_start_goes_on(
    sweep_file: Sweeps, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("federation.all_rounds", "learning.tune"):
        import_module(f"training.{module}")  # keep the one that is not patched
    file = sweep_file({"name": "central", "set": {"deal": None, "rounds": 2}}, OPEN)
    typed = ["sweep", str(file), "--out", str(out)]
    with monkeypatch.context() as patch:
        patch.setattr("training.stopping.stoppable", contextmanager(lambda: iter([lambda: True])))
        stopped = CliRunner().invoke(app, typed)
    assert stopped.exit_code == 130 and stopped.output.endswith(
        "stopped; the same command goes on\n"
    )
    assert "cell 2" not in stopped.output
    assert [one.finished for one in read([out])] == [False]
    assert "central: not finished" in warnings(read([out]))
    done = CliRunner().invoke(app, typed)
    assert done.exit_code == 0 and "2 of 2 cells are finished" in done.output
    assert all(one.finished for one in read([out]))


def _folder(
    path: Path,
    *,
    held_out: tuple[str, ...] = ("a", "b"),
    before: float = 3.0,
    epsilon: float | None = None,
    delta: float = 1e-3,
    learning: Mapping[str, Any] = MappingProxyType({}),
) -> Path:
    (path / "adapter").mkdir(parents=True)
    paid = None if epsilon is None else {"unit": "session", "epsilon": epsilon, "delta": delta}
    recipe = {
        "corpus": "c.jsonl",
        "folders": {},
        "themes": [],
        "rounds": 1,
        "learning": {"max_tokens": 256, "precision": "float32", "quantize": "none"}
        | dict(learning),
    }
    manifest = {
        "format": 1,
        "kind": "tune",
        "recipe": recipe,
        "base": {"name": "b", "digest": "d"},
        "sites": [{"sessions": 5}],
        "account": paid,
        "data": {"held_out": list(held_out)},
    }
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (path / "log.jsonl").write_text(
        json.dumps({"kind": "held_out", "at": 0, "loss": before}) + "\n", encoding="utf-8"
    )
    (path / "adapter" / "card.json").write_text(
        json.dumps({"measured": {"held_out_loss_after": 2.5}, "privacy": paid}), encoding="utf-8"
    )
    return path


def test_what_must_not_be_compared_is_said(tmp_path: Path) -> None:
    first = _folder(tmp_path / "first", epsilon=1)
    assert not warnings(read([first, _folder(tmp_path / "alike", epsilon=2)]))
    assert warnings(read([first, _folder(tmp_path / "others", held_out=("a",))])) == [
        "not comparable: held-out sessions of first and others differ"
    ]
    changed = warnings(read([first, _folder(tmp_path / "changed", before=3.1)]))
    assert (
        len(changed) == 1
        and "the loss before training of first is 3.0000 and of changed 3.1000" in changed[0]
    )
    assert warnings(read([first, _folder(tmp_path / "wide", epsilon=1, delta=1e-2)])) == [
        "epsilons are not comparable: delta is 0.001 and 0.01"
    ]
    pairs = [
        _folder(tmp_path / f"beta {beta}", learning={"objective": "dpo", "beta": beta})
        for beta in (0.1, 0.5)
    ]
    for other in (first, pairs[1]):  # losses of lines and of pairs, or of pairs on other scales
        (said,) = warnings(read([other, pairs[0]]))
        assert said.startswith("not comparable: objective of ")
    with pytest.raises(
        SimcounselError, match="neither a training's folder nor one that holds some"
    ):
        read([tmp_path / "first" / "adapter"])


def test_the_attack_that_tells_most_is_shown(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "first", epsilon=1)
    told = {"low": 0.4, "high": 0.7}
    attacks = [
        {
            "attack": name,
            "bound": 0.6,
            "base": {"roc_auc": 0.5},
            "trained": {"roc_auc": auc, **told},
        }
        for name, auc in (("loss", 0.52), ("zlib", 0.58))
    ]
    (folder / "audit.json").write_text(json.dumps({"attacks": attacks}), encoding="utf-8")
    (row,) = read([folder])
    assert (row.attack, row.auc, row.auc_allowed, row.auc_base) == ("zlib", 0.58, 0.6, 0.5)
    assert lines([row])[1].split()[-3:] == ["0.580", "0.600", "zlib"]


def test_every_attack_and_what_was_memorized_are_tabled(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "first", epsilon=1)
    whole = {
        "low": 0.4, "high": 0.7, "pr_auc": 0.66, "pr_low": None, "pr_high": None,
        "chance_pr_auc": 0.6, "members": 12, "others": 8,
    }  # fmt: skip
    attacks = [
        {"attack": "loss", "bound": 0.6, "base": None, "trained": {"roc_auc": 0.52, **whole}},
        {"attack": "zlib", "bound": 0.6, "base": {"roc_auc": 0.5}, "trained": {"roc_auc": 0.58, **whole}},
    ]  # fmt: skip
    alike = [
        {"measure": measure, "model": model, "difference": difference}
        for model, difference in (("base", 0.5), ("trained", 0.25))
        for measure in ("rouge1_recall", "cosine")
    ]
    (folder / "audit.json").write_text(json.dumps({"attacks": attacks, "memorization": alike}))
    rows = read([folder])
    assert (rows[0].rouge, rows[0].cosine) == (0.25, 0.25)
    assert lines(rows)[1].split()[-2:] == ["+0.250", "+0.250"]
    found = attacked(rows)
    assert [(one.attack, one.roc_auc, one.roc_auc_base, one.pr_auc) for one in found] == [
        ("loss", 0.52, None, 0.66),
        ("zlib", 0.58, 0.5, 0.66),
    ]
    assert "0.520 [0.400, 0.700]" in attack_lines(found)[1]
    table = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert [one["attack"] for one in table] == ["loss", "zlib"] and table[0]["members"] == "12"


def test_the_commands(sweep_file: Sweeps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = partial(command.attack, bootstrap=0)  # which takes most of the time
    monkeypatch.setattr(command, "attack", few)
    file, out = str(sweep_file(OPEN, CLOSED)), str(tmp_path / "out")
    plan = CliRunner().invoke(app, ["sweep", file, "--dry-run", "--out", out])
    assert (
        plan.exit_code == 0
        and "closed" in plan.output
        and "Nothing was trained" in plan.output
        and not Path(out).exists()
    )
    wrong = CliRunner().invoke(app, ["sweep", file, "--only", "opne"])
    assert isinstance(wrong.exception, SimcounselError) and "there are open, closed" in str(
        wrong.exception
    )
    done = CliRunner().invoke(app, ["sweep", file, "--only", "open", "--out", out, "--audit"])
    assert done.exit_code == 0, done.output
    assert "cell 1 of 1   open" in done.output and "1 of 1 cells are finished" in done.output
    assert json.loads((tmp_path / "out" / "open" / "audit.json").read_text(encoding="utf-8"))[
        "attacks"
    ]
    table = CliRunner().invoke(app, ["compare", out, "--csv", str(tmp_path / "t.csv")])
    assert table.exit_code == 0 and "by attack" in table.output and (tmp_path / "t.csv").is_file()
    every = CliRunner().invoke(app, ["compare", out, "--attacks"])
    assert every.exit_code == 0 and "min_k_plus_plus" in every.output and "ROC" in every.output


def test_ctrl_c_while_nothing_can_be_kept(
    sweep_file: Sweeps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "train", pressed)
    done = CliRunner().invoke(app, ["sweep", str(sweep_file(OPEN)), "--out", str(tmp_path / "out")])
    assert done.exit_code == 130 and "the same command goes on" in done.output
