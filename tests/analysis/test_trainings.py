"""What trainings are worth against what they cost: which are drawn on one axis, what is said of them, and the page."""

import struct
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from analysis.__main__ import app
from analysis.errors import ReportError
from analysis.trainings import pictures
from analysis.trainings.comparison import make
from analysis.trainings.folders import by_amount, by_privacy, doubts, read_trainings, table
from tests.analysis.drawn import assert_dark_as_drawn
from tests.analysis.trained import study, training


def test_which_trainings_are_drawn_together(tmp_path: Path) -> None:
    """By privacy: those that differ in nothing else but the seed. By amount: sites of one theme and a theme a site, with one privacy."""
    study(tmp_path)
    training(tmp_path / "larger", 2.0, epsilon=16.0, sites=3)
    training(tmp_path / "stopped", 2.0, epsilon=0.5, rounds_done=1)
    training(tmp_path / "quantity_free", 2.0, sites=2, themes=("couple",))
    training(tmp_path / "uneven", 2.0, epsilon=1.0, sites=4, themes=("couple", "sleep"))
    found = read_trainings([tmp_path])
    private = {one.name for one in by_privacy(found)}
    assert private == {
        "epsilon_1",
        "epsilon_2",
        "epsilon_4",
        "epsilon_4_again",
        "epsilon_8",
        "no_privacy",
    }
    amounts = {one.name: one.seen_as for one in by_amount(found)}
    assert amounts == {"local": "one theme"} | {f"quantity_{n}": "one theme" for n in (2, 4, 6)} | {
        f"diversity_{n}": "themes" for n in (2, 4, 6)
    }
    assert next(one for one in found if one.name == "stopped").after is None


def test_nothing_is_drawn_where_nothing_differs(tmp_path: Path) -> None:
    training(tmp_path / "a", 3.0, epsilon=1.0)
    training(tmp_path / "b", 3.0, epsilon=1.0, seed=2)
    found = read_trainings([tmp_path])
    assert by_privacy(found) == by_amount(found) == []
    assert pictures.utility([]) is pictures.attack(by_privacy(found)) is pictures.amount([]) is None


@pytest.mark.slow
def test_dark_pictures_are_as_drawn(tmp_path: Path) -> None:
    assert_dark_as_drawn(make([study(tmp_path)]).pictures)


def test_the_table_has_the_best_attack_and_no_privacy_last(tmp_path: Path) -> None:
    rows = table(read_trainings([study(tmp_path)])).set_index("training")
    assert rows.index[-1] == "no_privacy"
    last, strict = rows.loc["no_privacy"], rows.loc["epsilon_1"]
    assert (
        (last["attack"], last["auc"]) == ("loss", 0.71)
        and pd.isna(last["epsilon"])
        and pd.isna(last["auc_allowed"])
    )
    assert strict["change"] == pytest.approx(3.31 - 3.4) and (
        strict["auc"],
        strict["auc_allowed"],
    ) == (0.51, 0.59)
    assert rows.loc["diversity_4", "themes"] == "couple sleep grief work"


def test_what_must_not_be_compared_is_said(tmp_path: Path) -> None:
    many = tuple(f"h{n}" for n in range(100))
    training(tmp_path / "a", 3.0, epsilon=1.0, held_out=many)
    training(tmp_path / "b", 3.0, epsilon=2.0, held_out=many)
    assert doubts(read_trainings([tmp_path])) == []
    training(tmp_path / "c", 3.0, epsilon=2.0, held_out=many, before=3.5)
    assert doubts(read_trainings([tmp_path])) == [
        "Before training the loss of a is 3.4000 and of c 3.5000: the held-out words differ."
    ]
    training(tmp_path / "d", None, held_out=many[:50])
    assert doubts(read_trainings([tmp_path])) == [
        "The held-out sessions of a and d differ: they are not comparable.",
        "d is not finished and is left out of the figures.",
        "Only 50 sessions are held out, and one training says nothing of chance: small differences mean nothing.",
    ]


def test_what_is_no_training_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="neither a training's folder nor one that holds some"):
        read_trainings([tmp_path])
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text('{"world": {}}', encoding="utf-8")
    with pytest.raises(ReportError, match="holds no training"):
        read_trainings([tmp_path])


def test_the_command_writes_page_figures_and_table(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["privacy", str(study(tmp_path / "runs")), "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    figures = tmp_path / "out" / "figures"
    assert {one.name for one in figures.iterdir()} == {
        f"{name}.{form}" for name in ("utility", "attack", "amount") for form in ("svg", "png")
    }
    png = (figures / "utility.png").read_bytes()
    assert (
        png[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">I", png[16:20])[0] >= 1600
    )  # wide enough for print
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "epsilon 1: loss 3.310" in page and "no privacy: loss 2.900; base model 3.400" in page
    assert (
        "4 sites 3.320" in page
        and "4 sites 3.260" in page
        and "no privacy: AUC 0.710 by loss" in page
    )
    assert (
        "Held-out loss is 2.900 without privacy and 3.310 under epsilon 1 for one session; the base model has 3.400."
        in page
    )
    assert (
        "Only 16 sessions are held out" in page and "Only 16 sessions are held out" in done.output
    )
    assert ">−0.390</td>" in page and ">3.010</td>" in page
    assert len(pd.read_csv(tmp_path / "out" / "tables" / "trainings.csv")) == 13
