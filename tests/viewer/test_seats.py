"""Seats at the command line: several people at once, who is missed on resume, how far a run goes."""

import re
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest

from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Simulation
from simcounsel.events import Measured, Said
from simcounsel.runs.run import Run
from simcounsel.viewer.human import Board
from simcounsel.viewer.turns import taking_part
from tests.commands import Command
from tests.stage import TINY, begun, happened
from tests.viewer.seated import seated
from tests.viewer.test_questionnaires import asking


def test_two_people_talk_with_each_other(tmp_path: Path) -> None:
    run = begun(tmp_path, asking(("gad7", "tick 2")))
    models, ended = models_for(run), Event()
    boards = [Board(who=who, seconds=30) for who in ("Ines", "Miriam")]

    def page(address: str) -> None:
        while not ended.wait(0.02):
            for where in ("turn", "form"):
                asked = httpx.get(f"{address}api/seat/{where}", timeout=60).json()
                if asked:
                    body = {"say": f"{asked['who']}'s line {asked['turn']}.", "turn": asked["turn"]}
                    answers = {one["id"]: 1 for one in asked.get("items", ())}
                    more = {"answers": answers} if answers else {}
                    httpx.post(f"{address}api/seat/{where}", json=body | more, timeout=60)

    with ExitStack() as pages:
        open_pages = []
        for board in boards:
            address = pages.enter_context(taking_part(run.folder, models, board, 0))
            open_pages.append(Thread(target=page, args=(address,), daemon=True))
            open_pages[-1].start()
        Simulation(run.world, run=run, models=models).run(4)
        ended.set()
        for one in open_pages:  # before the server goes
            one.join(timeout=60)
    lines = happened(run, Said)
    assert len(lines) > 2 and {one.source for one in lines} == {"human"}
    assert all(one.text.startswith(f"{one.who}'s line") for one in lines)
    assert {item.value for one in happened(run, Measured) for item in one.items} == {1}


def test_each_gets_a_page(simcounsel: Command, tmp_path: Path) -> None:
    command = ["run", TINY, "--model", "scripted", "--human-seconds", 5, "--ticks", 1, "--out"]
    both = simcounsel(*command, "out", "--human", "Ines", "--human", "miriam", "--human", "ines")
    pages = re.findall(r"speaks? for (\w+): open (http://127\.0\.0\.1:\d+/)", both.out)
    assert [name for name, _ in pages] == ["Ines", "Miriam"] and len({at for _, at in pages}) == 2
    wrong = simcounsel(*command, "other", "--human", "Ines", "--human", "Mirjam")
    assert wrong.code == 1 and 'did you mean "Miriam"' in wrong.err
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "3 of 12 ticks are complete; the other 9 come now; --ticks N stops before"),
        (("--ticks", 2), "3 of 12 ticks are complete; 2 more come now"),
    ],
)
def test_how_far_a_run_goes_is_said(
    simcounsel: Command, tmp_path: Path, more: tuple[object, ...], said: str
) -> None:
    begins = simcounsel("run", TINY, "--model", "scripted", "--ticks", 3, "--out", "out")
    assert "; `simcounsel resume` runs the other 9" in begins.out
    (run,) = (tmp_path / "out").iterdir()
    assert "; `simcounsel resume` runs the other 9" in simcounsel("show", run).out
    again = simcounsel("resume", run, *more)
    assert said in again.out
    assert ("resume` runs" in again.out) == bool(more)


def test_who_has_left_is_missed_on_resume(simcounsel: Command, tmp_path: Path) -> None:
    run = begun(tmp_path)
    seated(run, 3)
    missed = "a person spoke for Ines so far; from here on the model speaks for Ines"
    assert missed in simcounsel("resume", run.folder, "--ticks", 1).out
    present = ("--human", "Ines", "--human-seconds", 5, "--ticks", 1)
    assert missed not in simcounsel("resume", run.folder, *present).out
    assert Run.open(run.folder).ticks_done() == 5


def test_no_more_is_lived_than_comes_where_days_are_skipped(
    simcounsel: Command, tmp_path: Path
) -> None:
    begins = ("clinic", TINY, "--model", "scripted", "--sessions", 5, "--lines", 6, "--quiet")
    out = simcounsel(*begins, "--ticks", 1, "--out", "out").out
    (run,) = (tmp_path / "out").iterdir()
    for _ in range(2):
        out += simcounsel("resume", run, "--ticks", 3, "--quiet").out
    shown = re.findall(r"\((\d+) of (\d+)\)", out)
    assert len(shown) > 1 and all(int(done) <= int(of) for done, of in shown), shown
