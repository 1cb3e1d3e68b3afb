"""Concordia's entities as minds. With Concordia installed these tests use it; else a stand-in with its interface."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from simcounsel.borrowed.concordia import EntityDid, spoken_in
from simcounsel.cuts.cut import changes as cut_changes
from simcounsel.errors import PluginError, SpecError
from simcounsel.events import Said, Scheduled, written
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from tests.each import each
from tests.stage import go_on, happened, live, log, tiny, without_hashes

STANDIN = Path(__file__).parent / "entities"
REAL = find_spec("concordia") is not None


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch):
    if not REAL:
        monkeypatch.syspath_prepend(str(STANDIN))
    yield
    if not REAL:
        for name in [one for one in sys.modules if one.partition(".")[0] == "concordia"]:
            del sys.modules[name]


def world(mind: str = "concordia:basic", **more: object):
    return tiny(residents__Ines__mind=mind, appointments__0__max_turns=12, **more)


def did(run: Run) -> tuple[EntityDid, ...]:
    return written((entry.event for entry in run.entries()), EntityDid)


def test_an_entity_lives_a_day_speaks_and_remembers(tmp_path: Path) -> None:
    run = live(tmp_path, world())
    blocks = [one for one in happened(run, Scheduled) if one.who == "Ines"]
    assert blocks and all(len(one.slots) == 4 for one in blocks)
    session = next(slot for one in blocks for slot in one.slots if slot.minute == 9 * 60)
    assert (session.place, session.activity_kind) == ("Counseling Center", "counseling")
    assert [one for one in happened(run, Said) if one.who == "Ines"]
    memories = [text for one in did(run) for text in one.memories]
    assert any("Porto" in text for text in memories), "its file is what it remembers first"
    heard = next(one.text for one in happened(run, Said) if one.who == "Miriam")
    assert any(heard in text for text in memories)
    asked = {call["key"]: call["purpose"] for call in run.calls()}
    assert {asked[key] for one in did(run) for key in one.calls} == {"concordia"}
    assert not verify(run.folder).damages


@pytest.mark.skipif(REAL, reason="looks into the stand-in")
def test_an_entity_goes_on_within_a_talk_and_from_one_act_to_the_next(tmp_path: Path) -> None:
    run = live(tmp_path, world())
    acts = [one.state["act_component"]["acts"] for one in did(run) if one.state]
    talked = [one.state["act_component"]["acts"] for one in did(run) if one.chat]
    assert len(talked) >= 2
    assert acts == sorted(acts) and talked == list(range(talked[0], talked[-1] + 1))
    memories = [text for one in did(run) for text in one.memories]
    assert len(memories) == len(set(memories))


def test_the_same_world_gives_the_same_log(tmp_path: Path) -> None:
    first, again = (live(tmp_path / name, world()) for name in "ab")
    assert log(first) == log(again)


@each("ticks", [1, 3, 5])
def test_stopped_anywhere_it_goes_on_as_if_never_stopped(tmp_path: Path, ticks: int) -> None:
    whole = live(tmp_path / "whole", world())
    cut = live(tmp_path / "cut", world(), ticks=ticks)
    assert without_hashes(go_on(cut)) == without_hashes(whole)


def test_wrong_names_and_no_concordia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match="Concordia has no prefab 'nobody'"):
        live(tmp_path / "a", world("concordia:nobody"))
    with pytest.raises(SpecError, match="write concordia:PREFAB"):
        live(tmp_path / "b", world("concordia:?"))
    monkeypatch.setitem(sys.modules, "concordia", None)
    with pytest.raises(PluginError, match="pip install gdm-concordia"):
        live(tmp_path / "c", world())


@each("cut", ["block:memory=Ines", "freeze:plans=Ines", "say:Ines=Hello."])
def test_what_does_not_reach_an_entity_is_refused(tmp_path: Path, cut: str) -> None:
    mind = cut_changes((cut,), world(), 0)["residents.Ines.mind"]
    with pytest.raises(SpecError, match="remembers in a way of its own"):
        live(tmp_path, tiny(residents__Ines__mind=mind))


@each(
    ("text", "said"),
    [
        ('Ines Ines -- "Hello there."', "Hello there."),
        ("Ines -- “Hello.”", "Hello."),
        ("Ines -- Hello.", "Hello."),
        ("Hello.", "Hello."),
        ('Ines -- "She said "no" to me."', 'She said "no" to me.'),
        ('Ines -- I told him "stop", and then I cried.', 'I told him "stop", and then I cried.'),
        ("我对他说“不”，然后哭了。", "我对他说“不”，然后哭了。"),
        ("Inesita is my niece.", "Inesita is my niece."),
        ("Ines's here.", "Ines's here."),
    ],
)
def test_the_words_of_a_line(text: str, said: str) -> None:
    assert spoken_in(text, "Ines") == said
