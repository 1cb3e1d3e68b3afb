"""The worlds and personas that are included: all load, and there are enough of them."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import get_args

from simcounsel.specs.persona import AnyPersona, ClientPersona, CounselorPersona, LaypersonPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.vocabulary import ACTS, QUESTIONS, Chatter, Stage
from simcounsel.specs.world_file import load_world
from tests.each import each
from tests.stage import ROOT

WORLDS = sorted((ROOT / "worlds").glob("*.yaml"))
PERSONAS = sorted((ROOT / "personas").glob("*.yaml"))
THEMES = {
    "insomnia",
    "anxiety",
    "grief",
    "work stress",
    "depression",
    "family conflict",
    "loneliness",
}
load = cache(load_persona)


def of(kind: type[AnyPersona]) -> dict[str, AnyPersona]:
    return {path.stem: persona for path in PERSONAS if isinstance(persona := load(path), kind)}


@each("path", WORLDS)
def test_world_loads(path: Path) -> None:
    world = load_world(path)
    assert world.present()
    assert path.read_text(encoding="utf-8").startswith("#")


@each("path", PERSONAS)
def test_persona_loads(path: Path) -> None:
    persona = load(path)
    assert persona.name.lower().startswith(path.stem)
    assert len(persona.days) >= 2
    assert persona.thoughts


def test_enough_of_each_role() -> None:
    assert len(of(ClientPersona)) >= 12
    assert len(of(CounselorPersona)) >= 3
    assert len(of(LaypersonPersona)) >= 3


def test_themes() -> None:
    themes = Counter(p.theme for p in of(ClientPersona).values() if isinstance(p, ClientPersona))
    assert set(themes) == THEMES
    conflict = themes["work stress"] + themes["family conflict"]
    alone = [themes[one] for one in THEMES - {"work stress", "family conflict"}]
    assert min(conflict, *alone) >= 6, "six of each of six troubles: studies need so many"


def test_client_voices() -> None:
    for name, client in of(ClientPersona).items():
        assert isinstance(client, ClientPersona)
        assert len(client.voice) >= 40, name
        assert {line.stage for line in client.voice} == set(get_args(Stage)), name
        assert len({line.text for line in client.voice}) == len(client.voice), (
            f"{name} says something twice"
        )


def test_counselor_forms() -> None:
    for name, counselor in of(CounselorPersona).items():
        assert isinstance(counselor, CounselorPersona)
        assert set(counselor.forms) == {*QUESTIONS, *ACTS}, name
        for move, forms in counselor.forms.items():
            assert len({form.say for form in forms}) >= 15, (name, move)


def test_layperson_voices() -> None:
    for name, friend in of(LaypersonPersona).items():
        assert isinstance(friend, LaypersonPersona)
        assert len(friend.voice) >= 30, name
        assert {line.act for line in friend.voice} == set(get_args(Chatter)), name


def test_nobody_shares_a_line() -> None:
    lines = Counter(
        line.text
        for client in of(ClientPersona).values()
        if isinstance(client, ClientPersona)
        for line in client.voice
    )
    assert [text for text, count in lines.items() if count > 1] == []
