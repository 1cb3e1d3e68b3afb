"""Fidelity to a persona over conversations, retest, and controls: planted drift is found, none where
none is.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.validity.__main__ import main
from analysis.validity.persona.controls import controls
from analysis.validity.persona.drifting import agreement, drifts, retest
from analysis.validity.persona.making import _stable, _stays, _tells
from tests.commands import Command, in_process
from tests.stage import live


def rows(values: dict[str, list[float]], score: str = "total", run: str = "r") -> pd.DataFrame:
    """By client one value a conversation."""
    return pd.DataFrame(
        [
            {
                "run": f"{run}-{client}",
                "client": client,
                "minute": 60 * at,
                "score": score,
                "value": value,
                "source": "a",
                "judge": "m",
            }
            for client, some in values.items()
            for at, value in enumerate(some)
        ]
    )


def test_a_drift_is_that_of_each_clients_line() -> None:
    # slopes -1 and 0 a conversation, over two steps: -2 and 0
    (found,) = drifts(rows({"a": [5, 4, 3], "b": [4, 4, 4]}))
    assert found.first.mean == 4.5 and found.last.mean == 3.5
    assert found.drift.mean == pytest.approx(-1) and found.drift.n == 2
    assert found.conversations == 6


def test_runs_of_one_client_are_one_client() -> None:
    twice = pd.concat([rows({"a": [5, 3]}), rows({"a": [5, 5]}, run="s"), rows({"b": [4, 4]})])
    (found,) = drifts(twice)
    assert found.drift.n == 2 and found.drift.mean == pytest.approx((-1 + 0) / 2)


def _faded(by: float, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return rows(
        {
            f"c{at}": [4 + by * step / 5 + float(rng.normal(0, 0.2)) for step in range(6)]
            for at in range(12)
        }
    )


def test_a_persona_that_fades_is_found_and_one_that_stays_is_not_called_fading() -> None:
    assert _stays(drifts(_faded(-1))).verdict == "does not hold"
    assert _stays(drifts(_faded(0))).verdict == "holds"
    assert _stays(drifts(_faded(0).query("client in ('c1', 'c2', 'c3')"))).verdict == "undecided"
    alone = rows({f"c{at}": [4.0] for at in range(12)})
    assert _stays(drifts(alone)).verdict == "undecided", "one conversation each has no course"
    assert _stays([]).verdict == "undecided"


def test_the_icc_is_shrout_and_fleiss_second() -> None:
    """Against the mean squares by hand (McGraw and Wong 1996, ICC(A,1))."""
    rng = np.random.default_rng(2)
    true = rng.normal(4, 1, 10)
    pairs = [(float(t), float(t + 0.3 + rng.normal(0, 0.3))) for t in true]
    x = np.array(pairs)
    n, k = x.shape
    rows_ms = k * ((x.mean(axis=1) - x.mean()) ** 2).sum() / (n - 1)
    cols_ms = n * ((x.mean(axis=0) - x.mean()) ** 2).sum() / (k - 1)
    rest = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0, keepdims=True) + x.mean()
    error_ms = (rest**2).sum() / ((n - 1) * (k - 1))
    by_hand = (rows_ms - error_ms) / (rows_ms + (k - 1) * error_ms + k / n * (cols_ms - error_ms))
    found = agreement("s", pairs)
    assert found.icc == pytest.approx(by_hand, abs=1e-4)
    assert found.low is not None and found.high is not None and found.low < found.icc < found.high
    assert found.change == pytest.approx(float((x[:, 1] - x[:, 0]).mean()))


def test_a_retest_takes_the_same_time_twice_and_a_course_the_first_and_the_last() -> None:
    rng = np.random.default_rng(5)
    true = {f"c{at}": float(rng.normal(4, 1)) for at in range(10)}
    one = rows({client: [value, value + 2] for client, value in true.items()}, "curious")
    again = one.assign(source="b", value=one["value"] + rng.normal(0, 0.05, len(one)))
    both = pd.concat([one, again])
    (stable,) = retest(both, over_time=False)
    assert stable.icc is not None and stable.icc > 0.95 and stable.clients == 10
    (moved,) = retest(one, over_time=True)
    assert moved.change == pytest.approx(2) and moved.icc is not None and moved.icc < 0.6
    assert _stable("again", [stable]).verdict == "holds"
    assert _stable("over time", [moved]).verdict in ("does not hold", "undecided")
    assert _stable("again", []).verdict == "undecided"
    same = rows({client: [4.0, 4.0] for client in true}, "curious")
    assert retest(same, over_time=True)[0].reason == "clients do not differ"


def test_what_the_judge_can_tell() -> None:
    own = rows({f"c{at}": [4.5, 4.6] for at in range(8)})
    assert _tells(own, [1.5] * 10).verdict == "holds"
    assert _tells(own, list(own["value"])).verdict == "does not hold"
    assert _tells(own, [1.5]).verdict == "undecided"


@pytest.fixture
def validity(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    return in_process("validity", main, monkeypatch, capsys)


@pytest.mark.slow
def test_from_the_command_to_the_page(validity: Command, tmp_path: Path) -> None:
    run = live(tmp_path / "runs", ticks=12)
    every = controls([run], 50)
    assert every and {one.client for one in every}.isdisjoint({one.other for one in every})
    assert all(one.other not in str(one.material.profile) for one in every), "blind"
    scripted = ("--judge", "scripted", "--model", "scripted", "--processes", "1", "-q")
    done = validity("persona", "runs", *scripted, "--out", "v")
    assert done.code == 0, done.err
    kept = tmp_path / "v" / "parts" / "persona_controls.jsonl"
    answers = kept.read_text(encoding="utf-8").splitlines()
    assert len(answers) == min(len(every), 40)
    html = (tmp_path / "v" / "validity.html").read_text(encoding="utf-8")
    assert "scripted model. They show that the software works" in html
    retests = pd.read_csv(tmp_path / "v" / "tables" / "persona_retest.csv")
    assert {"again at once", "first to last"} >= set(retests["asked"])
    again = validity("persona", "runs", *scripted, "--out", "v")
    assert again.code == 0 and kept.read_text(encoding="utf-8").splitlines() == answers


def test_without_a_judge_and_ratings_it_says_what_to_do(validity: Command, tmp_path: Path) -> None:
    live(tmp_path / "runs", ticks=2)
    done = validity("persona", "runs")
    assert done.code == 1 and "name a --judge" in done.err
