"""A listener from outside: it counts swearwords, and its notes survive resume and fork."""

from pathlib import Path

import pytest

from simcounsel.cli.check import check_file
from simcounsel.engine.forking import fork
from simcounsel.engine.opening import check_models
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import SpecError
from simcounsel.events import Foreign, Said
from simcounsel.runs.run import Run
from tests.open.installed import distribution
from tests.stage import TINY, go_on, happened, live, log, tiny

SWEARS = """
from typing import Literal
from simcounsel import Data, ListenerKind
from simcounsel.safety.open_danger import NOTHING_OPEN

class Swore(Data):
    kind: Literal["swears.swore"] = "swears.swore"
    who: str
    chat: str
    message: int
    so_far: int

class Swearwords:
    def hear(self, view, line):
        before = len([one for one in view.own if one.kind == "swears.swore"])
        if "e" not in line.said.text:
            return ()
        said = line.said
        return (Swore(who=view.me, chat=view.chat, message=said.message, so_far=before + 1),)
        yield

    def holds(self, view):
        return False

    def left_open(self, view):
        return NOTHING_OPEN

LISTENER = ListenerKind(make=lambda hearing: Swearwords() if hearing.other == "client" else None)
"""


@pytest.fixture(autouse=True)
def swears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "installed"
    monkeypatch.syspath_prepend(folder)
    groups = {"simcounsel.listeners": {"swearwords": "swearing:LISTENER"}}
    distribution(folder, "swearing", groups, swearing=SWEARS)


def test_its_notes_survive_resume_and_fork(tmp_path: Path) -> None:
    whole = live(tmp_path / "whole", tiny(listeners=("swearwords",)))
    noted = [one for one in happened(whole, Foreign) if one.kind == "swears.swore"]
    lines = {(one.chat, one.message): one for one in happened(whole, Said)}
    assert noted and all(
        "e" in lines[one.chat or "", one.fields["message"]].text
        and lines[one.chat or "", one.fields["message"]].to == one.who
        for one in noted
    )
    assert [one.fields["so_far"] for one in noted if one.chat == noted[0].chat] == list(
        range(1, 1 + sum(one.chat == noted[0].chat for one in noted))
    )
    part = live(tmp_path / "part", tiny(listeners=("swearwords",)), ticks=6)
    assert log(go_on(part)) == log(whole)
    forked = fork(Run.open(whole.folder), 6, {}, tmp_path / "forked")
    again = Simulation(forked.world, run=forked).run()
    assert happened(again, Foreign) == happened(whole, Foreign)


def test_a_wrong_name_is_said(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no listener 'swearing'; there are danger"):
        check_models(tiny(listeners=("swearing",)))
    assert "swearing:LISTENER" in tiny(listeners=("swearing:LISTENER",)).code_names()
    text = TINY.read_text(encoding="utf-8").replace(
        "../personas", str(TINY.parent.parent / "personas")
    )
    world = tmp_path / "w.yaml"
    world.write_text(f"{text}listeners: [swearing]\n", encoding="utf-8")
    (problem,) = check_file(world)
    assert "no listener 'swearing'" in problem
