"""People's ratings set models' right: against ppi_py's numbers, by hand, and by simulation."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.errors import ReportError
from analysis.validity.__main__ import main
from analysis.validity.people.estimating import Units, bias, difference, mean
from analysis.validity.people.making import make
from analysis.validity.people.reading import from_csv
from analysis.validity.runs import SaidOf
from tests.commands import Command, in_process
from tests.each import each


def units(model: np.ndarray, people: np.ndarray, clients: list[str] | None = None) -> Units:
    return Units(
        model=model, people=people, clients=tuple(clients or [f"c{at}" for at in range(len(model))])
    )


def test_a_mean_is_that_of_ppi_py() -> None:
    """The numbers of ppi-python 0.2.3 (ppi_mean_pointestimate, ppi_mean_ci with lam=None) for these
    values: 2.72418 with standard error 0.10842; of people alone 0.16863 (without n - 1).
    """
    rng = np.random.default_rng(7)
    truth = rng.normal(3, 1, 80)
    model = np.round(0.5 + 0.8 * truth + rng.normal(0, 0.5, 80), 3)
    people = np.round(truth + rng.normal(0, 0.2, 80), 3)
    people[20:] = np.nan
    found = mean(units(model, people))
    t = stats.t.isf(0.025, 19)
    assert found.together.value == pytest.approx(2.72418, abs=0.005)
    assert found.together.low is not None and found.together.high is not None
    assert (found.together.high - found.together.low) / 2 / t == pytest.approx(
        0.10842 * np.sqrt(20 / 19), rel=0.01
    )
    assert found.people.low is not None and found.people.high is not None
    assert (found.people.high - found.people.low) / 2 / t == pytest.approx(
        0.16863 * np.sqrt(20 / 19), rel=0.001
    )
    assert found.worth is not None and found.worth > 2
    assert (found.units, found.rated, found.clients) == (80, 20, 20)


def test_a_mean_by_hand() -> None:
    # people 1, 3 where the model says 1, 2; elsewhere the model says 4, 6.
    # b = (-1/2, 1/2), d = (-1/4, 1/4), a = (-1/2, 1/2), each times the root of 2:
    # w = sum(b d) / (sum(a a) + sum(d d)) = 0.25 / 0.625 = 0.4
    found = mean(units(np.array([1.0, 2, 4, 6]), np.array([1.0, 3, np.nan, np.nan])))
    assert found.together.weight == pytest.approx(0.4)
    assert found.together.value == pytest.approx(0.4 * 5 + (2 - 0.4 * 1.5))
    assert found.people.value == 2 and found.model.value == 3.25
    assert found.together.low is None and "2 clients" in str(found.together.reason)


def test_a_model_that_is_worth_nothing_does_no_harm_and_bias_is_taken_out() -> None:
    rng = np.random.default_rng(3)
    held = useless = 0
    for _ in range(200):
        truth = rng.normal(3, 1, 60)
        people = np.where(np.arange(60) < 15, truth, np.nan)
        good = mean(units(truth + 2 + rng.normal(0, 0.3, 60), people)).together
        assert good.low is not None and good.high is not None
        held += good.low <= 3 <= good.high
        noise = mean(units(rng.normal(0, 1, 60), people))
        assert noise.together.low is not None and noise.together.high is not None
        useless += noise.together.low <= 3 <= noise.together.high
        assert noise.together.weight is not None and noise.together.weight <= 1
    assert held >= 180 and useless >= 180, (held, useless)


def test_clients_are_the_unit() -> None:
    """Ten ratings of one client that say the same are worth one."""
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 1, 16)
    people = np.where(np.arange(16) < 8, truth, np.nan)
    once = mean(units(truth + 1, people)).together
    names = [f"c{at}" for at in range(16) for _ in range(10)]
    again = mean(units(np.repeat(truth + 1, 10), np.repeat(people, 10), names)).together
    assert again.value == pytest.approx(once.value)
    assert once.low is not None and again.low == pytest.approx(once.low)


def test_a_difference_pairs_the_clients_of_both_arms() -> None:
    rng = np.random.default_rng(8)
    client = rng.normal(0, 3, 12)
    first = units(client, client + rng.normal(0, 0.1, 12))
    later = units(client + 1, client + 1 + rng.normal(0, 0.1, 12))
    found = difference(later, first)
    assert found.people.value == pytest.approx(1, abs=0.15)
    assert found.people.low is not None and found.people.low > 0.8, "the clients differ by far more"
    assert found.together.weight == 0, "people rated all"


def test_a_bias_is_the_model_minus_people() -> None:
    found = bias(units(np.array([2.0] * 8 + [9]), np.array([1.0] * 8 + [np.nan])))
    assert found.value == 1 and found.low == 1 and found.high == 1


def _csv(file: Path, shift: float) -> Path:
    rng = np.random.default_rng(1)
    rows = []
    for arm, effect in (("alone", 0.0), ("counselor", 1.5)):
        for at in range(30):
            truth = effect + rng.normal(0, 1)
            rows.append(
                {
                    "arm": arm,
                    "client": f"c{at}",
                    "score": "alliance",
                    "model": round(truth + shift + rng.normal(0, 0.3), 3),
                    "people": round(truth, 3) if at % 2 else None,
                }
            )
    pd.DataFrame(rows).to_csv(file, index=False)
    return file


def test_the_part_says_what_holds(tmp_path: Path) -> None:
    part = make(from_csv(_csv(tmp_path / "a.csv", 0)), "", SaidOf())
    assert [claim.verdict for claim in part.claims] == ["holds", "holds"]
    off = make(from_csv(_csv(tmp_path / "b.csv", 2)), "", SaidOf())
    assert [claim.verdict for claim in off.claims] == ["does not hold", "holds"]
    table = off.tables[0]
    of = table.columns.index("of")
    assert [row[of] for row in table.rows] == ["alone", "counselor", "counselor − alone"]
    together, model = table.columns.index("together"), table.columns.index("model alone")
    assert abs(float(str(table.rows[0][together]))) < 0.5 < float(str(table.rows[0][model]))


@each(
    ("text", "said"),
    [
        ("client,model\na,1\n", "1: no column people"),
        ("client,model,people\na,1,2\nb,x,2\n", "3: model 'x' is no number"),
        ("client,model,people\na,1,2\nb,,2\n", "3: no model"),
        ("client,model,people\na,1,\n", "people rated nothing"),
        ("", "cannot be read"),
    ],
)
def test_a_faulty_file_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "r.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ReportError, match=said):
        from_csv(file)


@pytest.fixture
def validity(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    return in_process("validity", main, monkeypatch, capsys)


def test_from_the_command_to_the_page(validity: Command, tmp_path: Path) -> None:
    done = validity("people", str(_csv(tmp_path / "a.csv", 0)), "--out", "v")
    assert done.code == 0, done.err
    html = (tmp_path / "v" / "validity.html").read_text(encoding="utf-8")
    assert "worth" in html and "counselor − alone" in html
    assert validity("people", "runs").code == 2
