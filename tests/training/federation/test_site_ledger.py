"""A site answers the rounds that it agreed on, each once, whatever a server asks, also one that
begins again.
"""

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

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
from training.errors import SiteRefused, TrainingError
from training.federation import messages
from training.federation.all_rounds import federate
from training.federation.inprocess import InProcess
from training.federation.replies import Failed
from training.federation.rounds import RoundReport
from training.federation.site import SiteSide, task_bytes
from training.federation.site_ledger import SiteLedger
from training.federation.terms import Terms, terms_of
from training.federation.updates import Learner, Task, Weights

ROUNDS = 2
RECIPE = recipe(SITE, rounds=ROUNDS, noise="secure")
PLAN = plan_of(RECIPE) or pytest.fail("no plan")
TERMS = terms_of(RECIPE, PLAN, SIZES)


def task(round: int, terms: Terms = TERMS) -> bytes:
    return task_bytes(Task(round=round, weights=start().weights, base_shift=None), terms, 1, {})


def ledger(folder: Path, site: str = "north", terms: Terms = TERMS) -> SiteLedger:
    return SiteLedger.of(folder / f"{site}.ledger.json", site, terms, PLAN)


def north(learner: Learner, kept: SiteLedger | None = None, terms: Terms = TERMS) -> SiteSide:
    return SiteSide(name="north", learner=learner, terms=terms, seed=1, frozen={}, ledger=kept)


def ask(folder: Path, round: int) -> bytes:
    """A process of the site's, which knows nothing but what is on disk."""
    learner = LeastSquares(DATA)
    return north(learner, ledger(folder)).answer(task(round))


@each("round", [0, 3, 500, 1_000_000])
def test_rounds_that_nobody_agreed_on_are_refused(tmp_path: Path, round: int) -> None:
    learner = LeastSquares(DATA)
    with pytest.raises(SiteRefused, match=f"round {round} was never agreed on: .* rounds 1 to 2"):
        north(learner, ledger(tmp_path)).answer(task(round))
    assert not learner.seen, "not even trained for"


def test_noise_cannot_be_averaged_away_by_asking_again(tmp_path: Path) -> None:
    """Thousands of answers to one round were given, each with other noise."""
    came = []
    for _ in range(30):
        try:
            came.append(messages.decoded(ask(tmp_path, 1), "fp32").weights)
        except SiteRefused as error:
            assert "round 1 was answered on" in str(error) and "is not answered again" in str(error)
    assert len(came) == 1
    ask(tmp_path, 2)
    assert ledger(tmp_path).answered() == (1, 2)


def test_it_is_on_disk_before_the_answer_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = task(1)

    def dies(*_: object) -> bytes:
        assert ledger(tmp_path).answered() == (1,)
        raise KeyboardInterrupt

    monkeypatch.setattr(messages, "encoded", dies)
    with pytest.raises(KeyboardInterrupt):
        north(LeastSquares(DATA), ledger(tmp_path)).answer(data)
    assert ledger(tmp_path).answered() == (1,)


def test_a_training_that_failed_sent_nothing_and_costs_nothing(tmp_path: Path) -> None:
    class Fails(LeastSquares):
        def learn(self, *_: object) -> None:  # type: ignore[override]
            raise MemoryError("out of memory")

    with pytest.raises(MemoryError, match="out of memory"):
        north(Fails(DATA), ledger(tmp_path)).answer(task(1))
    assert not ledger(tmp_path).answered()


def test_of_two_answers_at_once_one_leaves(tmp_path: Path) -> None:
    both, found = threading.Barrier(2), []

    class Together(LeastSquares):
        def learn(self, *given: object) -> object:  # type: ignore[override]
            both.wait(10)
            return super().learn(*given)  # type: ignore[arg-type]

    def one() -> None:
        try:
            north(Together(DATA), ledger(tmp_path)).answer(task(1))
            found.append("sent")
        except SiteRefused:
            found.append("refused")

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["refused", "sent"]


class WithLedgers(InProcess):
    """Sites that keep their ledgers, in a folder that is no server's."""

    def __init__(self, ledgers: Path) -> None:
        super().__init__(LeastSquares(DATA), TERMS, 1)
        self.ledgers = ledgers

    def ask(self, tasks: dict[str, bytes], frozen: Weights) -> dict[str, bytes | Failed]:  # type: ignore[override]
        found: dict[str, bytes | Failed] = {}
        for site, data in tasks.items():
            try:
                mine = ledger(self.ledgers, site)
                found[site] = SiteSide(
                    name=site,
                    learner=self.timed.learner,
                    terms=TERMS,
                    seed=1,
                    frozen=frozen,
                    ledger=mine,
                ).answer(data)
            except SiteRefused as error:
                found[site] = Failed(str(error))
        return found


def test_a_server_that_begins_again_in_an_empty_folder_gets_nothing(tmp_path: Path) -> None:
    def served(folder: str) -> list[RoundReport]:
        reports: list[RoundReport] = []
        federate(
            start(),
            WithLedgers(tmp_path),
            TERMS,
            PLAN,
            rounds=ROUNDS,
            seed=1,
            folder=tmp_path / folder,
            on_round=reports.append,
        )
        return reports

    first, again = served("one"), served("two")
    assert all(report.answered == tuple(sorted(SIZES)) for report in first)
    assert all(report.void and not report.answered for report in again)
    assert "was answered on" in again[0].failed["north"]


def test_a_secure_sum_takes_a_round_once_too(tmp_path: Path) -> None:
    of = recipe(
        {**SITE, "noise_at": "sum"}, rounds=ROUNDS, noise="secure", averaging={"secure": True}
    )
    plan = plan_of(of) or pytest.fail("no plan")
    terms = terms_of(of, plan, SIZES)
    mine = SiteLedger.of(tmp_path / "l.json", "north", terms, plan)
    learner = LeastSquares(DATA)
    assert north(learner, mine, terms=terms).masked_part(task(1, terms)).size
    with pytest.raises(SiteRefused, match="is not answered again"):
        north(learner, mine, terms=terms).masked_part(task(1, terms))


def test_another_plan_that_the_site_agreed_to_is_counted_beside(tmp_path: Path) -> None:
    ask(tmp_path, 1)
    other = replace(TERMS, learning_rate=0.5)
    north(LeastSquares(DATA), ledger(tmp_path, terms=other), terms=other).answer(task(1, other))
    told = json.loads((tmp_path / "north.ledger.json").read_text())
    assert [list(one["answered"]) for one in told["plans"].values()] == [["1"], ["1"]]
    assert {one["agreed"]["unit"] for one in told["plans"].values()} == {"site"}


@each("text", ["", "{", '{"format": 2}', '{"format": 1, "site": "south"}'])
def test_without_a_ledger_that_can_be_read_nothing_is_answered(tmp_path: Path, text: str) -> None:
    (tmp_path / "north.ledger.json").write_text(text)
    with pytest.raises(
        TrainingError, match=r"north.ledger.json: the ledger of site 'north' cannot"
    ):
        ask(tmp_path, 1)


KILLED = """
import os, sys
from pathlib import Path
from tests.training.federation import test_site_ledger as here
here.messages.encoded = lambda *_: os.kill(os.getpid(), 9)
here.north(here.LeastSquares(here.DATA), here.ledger(Path(sys.argv[1]))).answer(bytes.fromhex(sys.argv[2]))
"""


@pytest.mark.slow
def test_a_site_that_is_killed_while_it_sends_has_it_on_its_disk(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), task(1).hex()],
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert done.returncode == -9
    with pytest.raises(SiteRefused, match="round 1 was answered"):
        ask(tmp_path, 1)


def test_what_the_ledger_stops_would_have_worked() -> None:
    """The attack itself, on a site without one: as many answers as one likes, and the noise goes."""
    learner = LeastSquares(DATA)
    answers = [messages.decoded(north(learner).answer(task(1)), "fp32").weights for _ in range(400)]
    key = sorted(answers[0])[0]
    every = np.stack([one[key] for one in answers])
    assert every.std(axis=0).mean() == pytest.approx(TERMS.noise_std, rel=0.1)
    spread = np.stack([every[:200].mean(axis=0), every[200:].mean(axis=0)]).std(axis=0).mean()
    assert spread < TERMS.noise_std / 8
