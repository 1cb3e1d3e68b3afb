"""A federation's course: the budget asked first, the ledger written first, resumed bit by bit, stopped when asked."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.each import each
from tests.training.federation.leastsquares import (
    DATA,
    SITE,
    SIZES,
    LeastSquares,
    plan_of,
    recipe,
    start,
)
from training.errors import TrainingError
from training.federation.all_rounds import LEDGER, ROUNDS, PlanSpending, federate
from training.federation.inprocess import InProcess
from training.federation.rounds import RoundReport
from training.federation.state import FACTS, TENSORS, ServerState, from_folder, latest, to_folder
from training.federation.terms import Terms, terms_of
from training.privacy import gaussian
from training.recipe import Recipe


def go(
    of: Recipe,
    folder: Path,
    *,
    rounds: int | None = None,
    seed: int = 1,
    sites: Any = None,
    **more: Any,
) -> Any:
    plan = plan_of(of)
    terms = terms_of(of, plan, SIZES)
    return federate(
        start(),
        sites or InProcess(LeastSquares(DATA), terms, seed),
        terms,
        plan,
        rounds=rounds or of.rounds,
        seed=seed,
        folder=folder,
        **more,
    )


def same(one: ServerState, two: ServerState) -> bool:
    parts = [
        (one.weights, two.weights),
        (one.shift or {}, two.shift or {}),
        (one.moments, two.moments),
    ]
    alike = all(
        left.keys() == right.keys()
        and all(
            np.array_equal(left[key], right[key]) and left[key].dtype == right[key].dtype
            for key in left
        )
        for left, right in parts
    )
    return alike and (one.round, one.charged) == (two.round, two.charged)


@each(
    "averaging",
    [
        {"rule": "fedadam", "server_learning_rate": 0.1, "send": "int8"},
        {"rule": "stack"},
        {"rule": "exact", "send": "fp16"},
        {"secure": True},
    ],
)
def test_resumed_from_any_round_it_ends_bit_by_bit_the_same(
    averaging: dict[str, Any], tmp_path: Path
) -> None:
    of = recipe(None, averaging=averaging, participation=0.8)
    reports: list[RoundReport] = []
    whole = go(of, tmp_path / "whole", on_round=reports.append)
    assert (
        whole.stopped is None
        and whole.ledger is None
        and [report.round for report in reports] == [1, 2, 3, 4, 5, 6]
    )
    for cut in (1, 4):
        part = tmp_path / f"cut{cut}"
        go(of, part, rounds=cut)
        learner = LeastSquares(DATA)
        resumed = go(of, part, sites=InProcess(learner, terms_of(of, None, SIZES), 1))
        assert same(resumed.state, whole.state)
        assert {round for _, round in learner.seen} <= set(range(cut + 1, 7))
        assert (part / ROUNDS / "0006" / TENSORS).read_bytes() == (
            tmp_path / "whole" / ROUNDS / "0006" / TENSORS
        ).read_bytes()


def test_private_rounds_resume_bit_by_bit_with_seeded_noise(tmp_path: Path) -> None:
    of = recipe(SITE)
    whole = go(of, tmp_path / "whole")
    go(of, tmp_path / "part", rounds=3)
    assert same(go(of, tmp_path / "part").state, whole.state)


def test_a_damaged_state_is_said_and_an_older_one_can_be_taken(tmp_path: Path) -> None:
    of = recipe(None)
    whole = go(of, tmp_path)
    last = tmp_path / ROUNDS / "0006"
    (last / TENSORS).write_bytes((last / TENSORS).read_bytes()[:-1] + b"\x7f")
    with pytest.raises(TrainingError, match="damaged.*take the round before"):
        go(of, tmp_path)
    shutil.rmtree(last)
    assert same(go(of, tmp_path).state, whole.state)


def test_what_a_crash_left_behind_is_no_round(tmp_path: Path) -> None:
    of = recipe(None)
    whole = go(of, tmp_path / "a")
    go(of, tmp_path / "b", rounds=2)
    (tmp_path / "b" / ROUNDS / ".0003.new").mkdir()
    (tmp_path / "b" / ROUNDS / ".0003.new" / TENSORS).write_bytes(b"half")
    assert latest(tmp_path / "b" / ROUNDS) == tmp_path / "b" / ROUNDS / "0002"
    assert same(go(of, tmp_path / "b").state, whole.state)
    assert not list((tmp_path / "b" / ROUNDS).glob(".*"))


def test_a_state_is_written_over_whole(tmp_path: Path) -> None:
    state = start()
    to_folder(state, tmp_path / "0001", {"note": 1})
    to_folder(replace(state, round=1, charged=2), tmp_path / "0001", {"note": 2})
    back, facts = from_folder(tmp_path / "0001")
    assert same(back, replace(state, round=1, charged=2)) and facts["note"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0001"]
    with pytest.raises(TrainingError, match="no state to resume from"):
        from_folder(tmp_path / "0009")
    assert latest(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 2},
        {"of": recipe({**SITE, "noise_multiplier": 6.0})},
        {"of": recipe({**SITE, "delta": 1e-4})},
    ],
)
def test_other_terms_do_not_resume(other: dict[str, Any], tmp_path: Path) -> None:
    go(recipe(SITE), tmp_path, rounds=2)
    with pytest.raises(TrainingError, match="another recipe, seed or noise"):
        go(**{"of": recipe(SITE), "folder": tmp_path, **other})


def test_more_rounds_at_the_same_noise_may_follow(tmp_path: Path) -> None:
    go(recipe(SITE, rounds=2), tmp_path)
    assert go(recipe(SITE, rounds=4), tmp_path).ledger.epsilon == pytest.approx(
        gaussian.epsilon_of(5, 1e-3, 4)
    )


def test_the_ledger_is_in_every_checkpoint_and_says_all(tmp_path: Path) -> None:
    ended = go(recipe({**SITE, "weights": "by_size", "adjacency": "replaced"}), tmp_path)
    for number in range(1, 7):
        ledger = json.loads((tmp_path / ROUNDS / f"{number:04d}" / FACTS).read_text())["ledger"]
        assert ledger["rounds_charged"] == number
        assert ledger["epsilon"] == pytest.approx(
            gaussian.epsilon_of(5, 1e-3, number)
        )  # exact composition, over 2 clip
        assert (
            ledger["unit"],
            ledger["sensitivity"],
            ledger["noise_std"],
            ledger["multiplier"],
        ) == ("site", 2.0, 10.0, 5.0)
    assert asdict(ended.ledger) == {
        **json.loads((tmp_path / LEDGER).read_text()),
        "also_released": ended.ledger.also_released,
    }
    assert (
        "differ in all data of one site" in ended.ledger.adjacency
        and "every site is charged" in ended.ledger.sampling
    )
    assert (
        "numbers of sessions of the sites, as weights" in ended.ledger.also_released
        and "seeded" in ended.ledger.noise
    )
    uniform = PlanSpending(plan_of(recipe(SITE)) or pytest.fail("no plan")).ledger(1, "secure")
    assert (
        "numbers of sessions of the sites, as weights" not in uniform.also_released
        and uniform.noise.startswith("secure")
    )


def test_without_privacy_the_ledger_says_so(tmp_path: Path) -> None:
    go(recipe(None), tmp_path, rounds=1)
    assert json.loads((tmp_path / LEDGER).read_text())["said"].startswith(
        "privacy: none; updates and losses of sites were released"
    )


class Never:
    """Sites that must not be asked."""

    def ask(self, *_: Any) -> Any:
        raise AssertionError("asked")

    ask_sum = ask


def test_a_plan_beyond_its_budget_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    three = gaussian.epsilon_of(5, 1e-3, 3)
    with pytest.raises(
        TrainingError, match=r"for one site would be overrun after round 3 of 6 \(total"
    ):
        go(recipe({**SITE, "budget_epsilon": three * 1.001}), tmp_path, sites=Never())
    assert not list(tmp_path.iterdir())


def test_noise_found_from_the_budget_lasts_for_all_rounds_and_not_one_more(tmp_path: Path) -> None:
    of = recipe(
        {key: value for key, value in SITE.items() if key != "noise_multiplier"}
        | {"budget_epsilon": 4.0}
    )
    ended = go(of, tmp_path)
    assert ended.stopped is None and 3.99 < ended.ledger.epsilon <= 4.0 + 1e-8
    spending = PlanSpending(plan_of(of) or pytest.fail("no plan"))
    assert spending.allows(6) and not spending.allows(7)
    with pytest.raises(TrainingError, match="7 rounds, but the plan accounts for 6"):
        go(of, tmp_path, rounds=7)


class Breaks(InProcess):
    """The process dies after the sites have sent their updates in a round, before the server has written anything."""

    def __init__(self, at: int, *given: Any) -> None:
        super().__init__(*given)
        self.left = at

    def ask(self, *given: Any) -> Any:
        answers = super().ask(*given)
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return answers


@pytest.mark.parametrize(("noise", "charged"), [("secure", 3), ("seeded", 2)])
def test_what_was_sent_in_a_round_that_broke_stays_charged_if_it_cannot_be_repeated(
    noise: str, charged: int, tmp_path: Path
) -> None:
    of = recipe({**SITE, "budget_epsilon": gaussian.epsilon_of(5, 1e-3, 6) * 1.0001}, noise=noise)
    with pytest.raises(KeyboardInterrupt):
        go(of, tmp_path, sites=Breaks(2, LeastSquares(DATA), terms_of(of, plan_of(of), SIZES), 1))
    assert json.loads((tmp_path / LEDGER).read_text())["rounds_charged"] == 2
    resumed = go(of, tmp_path, rounds=2)
    assert (resumed.state.round, resumed.state.charged) == (2, charged)
    ended = go(of, tmp_path)
    if noise == "seeded":
        assert ended.stopped is None and ended.state.charged == 6
    else:  # six rounds are paid for, one was lost: the sixth is refused, not overrun
        assert ended.state.round == 5 and ended.state.charged == 6
        assert ended.stopped.startswith(
            "after round 5 of 6: 6 are charged, and one more would overrun the budget of epsilon"
        )


def test_terms_and_plan_must_fit(tmp_path: Path) -> None:
    private, free = recipe(SITE), recipe(None)
    for terms, plan in (
        (terms_of(private, plan_of(private), SIZES), None),
        (terms_of(free, None, SIZES), plan_of(private)),
    ):
        with pytest.raises(
            TrainingError, match=r"no plan to account for them|accounts as if they were"
        ):
            federate(start(), Never(), terms, plan, rounds=1, seed=1, folder=tmp_path)


STOP = """
import sys
from pathlib import Path
from tests.training.federation.test_all_rounds import go, recipe
def told(report):
    print(report.round, flush=True)
    if report.round == 2:
        sys.stdin.readline()
ended = go(recipe(None, rounds=500), Path(sys.argv[1]), on_round=told)
print(ended.stopped)
"""


@pytest.mark.slow
def test_ctrl_c_ends_after_a_round_that_is_on_disk(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", STOP, str(tmp_path)],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout and process.stdin
        assert [process.stdout.readline().strip() for _ in range(2)] == ["1", "2"]
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate("\n", timeout=60)
    number = int(out.split("after round ")[1].split()[0])
    assert process.returncode == 0 and f"on request, after round {number} of 500" in out
    assert latest(tmp_path / ROUNDS) == tmp_path / ROUNDS / f"{number:04d}" and number <= 4


def test_terms_come_from_recipe_and_plan() -> None:
    of = recipe(
        {
            **SITE,
            "noise_at": "sum",
            "weights": "by_size",
            "max_weight": 0.4,
            "participation": 0.5,
            "dropouts": 1,
        },
        averaging={"secure": True, "min_sites": 2},
    )
    terms = terms_of(of, plan_of(of), SIZES)
    assert (
        terms.weights == pytest.approx({"east": 0.1, "north": 0.4, "south": 0.3})
        and terms.fixed
        and terms.hidden_draw
    )
    assert (
        terms.clip,
        terms.noise_std,
        terms.participation,
        terms.min_sites,
        terms.tells_loss,
    ) == (1.0, pytest.approx(5 * 0.4), 0.5, 2, False)
    assert (terms.dropouts, terms.needed) == (1, 2)
    record = recipe(
        {"unit": "session", "clip": 1.0, "delta": 1e-4, "noise_multiplier": 1.0},
        batch_size=5,
        participation=0.5,
    )
    terms = terms_of(record, plan_of(record), SIZES)
    assert (
        terms.clip,
        terms.fixed,
        terms.noise_at,
        terms.hidden_draw,
        terms.participation,
        terms.tells_loss,
    ) == (None, False, "none", False, 0.5, False)
    assert terms.weights["north"] == pytest.approx(0.6)
    with pytest.raises(TrainingError, match="no site 'west'; there are east, north, south"):
        terms_of(
            recipe(None, lora={"ranks": {"west": 4}}, averaging={"rule": "stack"}), None, SIZES
        )
    with pytest.raises(TrainingError, match="not the plan's sites"):
        terms_of(recipe(SITE), plan_of(recipe(SITE)), {"one": 5})


def test_a_fingerprint_tells_terms_apart() -> None:
    terms = Terms(weights={"a": 0.5, "b": 0.5})
    assert terms.fingerprint == replace(terms, timeout_s=5).fingerprint
    for other in (
        {"learning_rate": 0.5},
        {"send": "fp16"},
        {"weights": {"a": 0.6, "b": 0.4}},
        {"alpha": 1.0},
    ):
        assert terms.fingerprint != replace(terms, **other).fingerprint  # type: ignore[arg-type]
