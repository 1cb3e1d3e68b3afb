"""A rating that is broken off is gone on with: what was measured and answered is not asked for again."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import BudgetSpent, ModelUnreachable, RunError, TooManyFallbacks
from simcounsel.llm.asking import Asking, asked
from simcounsel.llm.budget import budget_in
from simcounsel.llm.ledger import FILE, Amount, Ledger
from simcounsel.measuring.rate import Rating
from simcounsel.runs.measurements import FOLDER, measurement_files, measurements_in, rating_calls
from simcounsel.runs.run import Run
from simcounsel.specs.world_settings import FallbackLimits
from tests.commands import Command
from tests.each import each
from tests.instruments.stage import measured_world
from tests.llm.server import FaultServer, default_answer
from tests.stage import live


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("rated"), measured_world())


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as serving:
        yield serving


def copy(once: Run, folder: Path) -> Run:
    return Run.open(shutil.copytree(once.folder, folder / once.name))


def rate(run: Run, server: FaultServer, instrument: str, in_flight: int = 1, **how: Any) -> Rating:
    """Measure with the model of a server; nobody waits for one that does not answer."""
    rating = Rating.plan(run, instrument, model=f"{server.url}/m", **({"samples": 3} | how))
    with asked(Asking(wait_s=0)):
        models = rating.open_models(in_flight)
    assert models is not None
    try:
        rating.measure(models)
    finally:
        models.close()
    return rating


def measured(run: Run) -> list[object]:
    (file,) = measurement_files(run.folder)
    return [one.measured for one in measurements_in(file)]


@pytest.mark.parametrize("instrument", ["empathy", "phq9", "persona_consistency"])
@pytest.mark.parametrize("in_flight", [1, 64])
def test_a_server_dies_at_each_call(
    once: Run, tmp_path: Path, server: FaultServer, instrument: str, in_flight: int
) -> None:
    whole = copy(once, tmp_path / "whole")
    rate(whole, server, instrument)
    every = len(server.bodies)
    for call in {0, 1, every // 2, every - 1}:
        run = copy(once, tmp_path / str(call))
        server.bodies.clear()
        server.faults = lambda index, at=call: "503" if index >= at else None
        with pytest.raises(ModelUnreachable, match="the same command goes on"):
            rate(run, server, instrument, in_flight)
        lost = len(server.bodies) - call
        server.faults = lambda index: None
        rate(run, server, instrument, in_flight)
        assert measured(run) == measured(whole)
        # one that was on its way when the rest was given up may arrive after they were counted
        again = len(server.bodies) - lost - every
        assert in_flight > 1 or again in (0, 1), "nothing that was answered is asked twice"


def test_it_dies_again_and_again(once: Run, tmp_path: Path, server: FaultServer) -> None:
    """Each sitting gets one answer further; in the end nothing was paid for twice."""
    whole, run = copy(once, tmp_path / "whole"), copy(once, tmp_path / "run")
    rate(whole, server, "phq9")
    every, sittings = len(server.bodies), 0
    server.bodies.clear()
    while sittings <= every:
        first = len(server.bodies)
        server.faults = lambda index, first=first: "503" if index > first else None
        sittings += 1
        try:
            rate(run, server, "phq9")
        except ModelUnreachable:
            continue
        break
    assert (sittings, len(server.bodies)) == (every, 2 * every - 1)
    assert measured(run) == measured(whole)


def test_a_larger_budget_goes_on(simcounsel: Command, once: Run, tmp_path: Path) -> None:
    run, whole = copy(once, tmp_path / "run"), copy(once, tmp_path / "whole")
    with FaultServer() as server:
        given = (
            "--instrument",
            "phq9",
            "--model",
            f"{server.url}/m",
            "--in-flight",
            1,
            "--samples",
            3,
        )
        assert simcounsel("rate", whole.folder, *given).code == 0
        every = len(server.bodies)
        server.bodies.clear()
        stopped = simcounsel("rate", run.folder, *given, "--budget-calls", every - 1)
        assert (stopped.code, len(server.bodies)) == (3, every - 1)
        assert "the same command goes on with a larger budget" in stopped.err
        ended = simcounsel("rate", run.folder, *given, "--budget-calls", every)
        assert (ended.code, len(server.bodies)) == (0, every)
    assert measured(run) == measured(whole)


def test_once_finished_it_is_a_retest(once: Run, tmp_path: Path, server: FaultServer) -> None:
    run = copy(once, tmp_path)
    assert [rate(run, server, "empathy").round for _ in range(2)] == [0, 1]
    assert len(measurement_files(run.folder)) == 2


def test_what_is_measured_otherwise_is_begun(
    once: Run, tmp_path: Path, server: FaultServer
) -> None:
    run = copy(once, tmp_path)
    server.faults = lambda index: "503"
    for number, how in enumerate(({}, {"samples": 2}, {"chat": "1"}, {}), 1):
        with pytest.raises(ModelUnreachable):
            rate(run, server, "empathy", **how)
        assert len(measurement_files(run.folder)) == min(number, 3)


def test_a_dry_run_tells_what_is_left(
    simcounsel: Command, once: Run, tmp_path: Path, server: FaultServer
) -> None:
    run = copy(once, tmp_path)
    given = ("--instrument", "empathy", "--model", f"{server.url}/m", "--samples", 3)
    assert "2 measurements" in simcounsel("rate", run.folder, *given, "--dry-run").out
    rate(copy(once, tmp_path / "whole"), server, "empathy")
    last = len(server.bodies) - 1
    server.bodies.clear()
    server.faults = lambda index: "503" if index >= last else None
    with pytest.raises(ModelUnreachable):
        rate(run, server, "empathy")
    assert "1 measurements" in simcounsel("rate", run.folder, *given, "--dry-run").out
    server.faults = lambda index: None
    assert "1 to measure of 2, the others were" in simcounsel("rate", run.folder, *given).out


def test_two_at_once_are_turned_away(once: Run, tmp_path: Path) -> None:
    run = copy(once, tmp_path)
    one, other = (Rating.plan(run, "empathy", model="scripted") for _ in range(2))
    with one.held(), pytest.raises(RunError, match="another process measures this run"):
        other.measure(other.open_models())


def test_what_was_in_flight_when_it_was_killed_counts(once: Run, tmp_path: Path) -> None:
    """Its claim is in the ledger; the next sitting takes it as spent."""
    run = copy(once, tmp_path)
    (run.folder / FOLDER).mkdir()
    Ledger(run.folder / FOLDER / FILE).claim(None, Amount(calls=1), 3, None)
    with FaultServer() as server:
        rating = Rating.plan(run, "empathy", model=f"{server.url}/m")
        models = rating.open_models(1)
        assert models is not None
        models.limit(budget_in(run.folder / FOLDER, usd=None, calls=2), rating_calls(run.folder))
        with pytest.raises(BudgetSpent):
            rating.measure(models)
        models.close()
        assert len(server.bodies) == 1


class TestFallbacks:
    """A judge whose answers are unusable stops the rating."""

    LIMITS = FallbackLimits(most=0.2, over=2)

    def test_it_is_marked_and_asked_anew(
        self, once: Run, tmp_path: Path, server: FaultServer
    ) -> None:
        run, whole = copy(once, tmp_path / "run"), copy(once, tmp_path / "whole")
        rate(whole, server, "empathy")
        server.answer = lambda body: "no idea"
        with pytest.raises(TooManyFallbacks, match="answers were unusable") as caught:
            rate(run, server, "empathy", fallbacks=self.LIMITS)
        assert "the same command goes on" in str(caught.value)
        (file,) = measurement_files(run.folder)
        kinds = [json.loads(line)["kind"] for line in file.read_text("utf-8").splitlines()]
        assert (kinds[-1], "finished" in kinds) == ("stopped", False)
        server.answer = default_answer
        rate(run, server, "empathy", fallbacks=self.LIMITS)
        assert measured(run) == measured(whole)

    def test_by_the_command(self, simcounsel: Command, once: Run, tmp_path: Path) -> None:
        run = copy(once, tmp_path)
        with FaultServer(answer=lambda body: "no idea") as server:
            given = ("--instrument", "phq9", "--model", f"{server.url}/m", "--samples", 3)
            ended = simcounsel("rate", run.folder, *given, "--fallbacks", "0.5,1")
            assert ended.code == 3 and "the same command goes on" in ended.err
            assert simcounsel("rate", run.folder, *given, "--fallbacks", "1").code == 0

    @each("given", ["2", "0.2,", "-1", "0.2,x", "much"])
    def test_what_is_no_limit_is_refused(self, simcounsel: Command, given: str) -> None:
        ended = simcounsel("rate", "run", "--instrument", "phq9", "--fallbacks", given)
        assert ended.code == 2
        assert "neither MOST nor MOST,OVER" in " ".join(ended.err.split())
