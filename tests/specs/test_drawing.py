"""Clients drawn from written ones: within bounds, by seed, whole, and labelled."""

from pathlib import Path

import pytest
import yaml

from simcounsel.cli import main
from simcounsel.errors import SpecError
from simcounsel.specs.drawing import Bounds, draw_personas
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from tests.commands import in_process
from tests.stage import ROOT

BASES = [ROOT / "personas" / f"{name}.yaml" for name in ("ines", "samuel", "tomasz")]


def read(file: Path) -> ClientPersona:
    persona = load_persona(file)
    assert isinstance(persona, ClientPersona)
    return persona


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[ClientPersona]:
    return [read(file) for file in draw_personas(BASES, 15, 4, tmp_path_factory.mktemp("drawn"))]


def test_each_stays_within_the_bounds_of_its_life(drawn: list[ClientPersona]) -> None:
    lives = {read(file).name: read(file) for file in BASES}
    for one in drawn:
        assert one.drawn is not None
        life = lives[one.drawn.of]
        assert abs(one.age - life.age) <= 2
        for own, theirs in zip(one.core_beliefs, life.core_beliefs, strict=True):
            assert abs(own.strength - theirs.strength) <= 20 and own.kind == theirs.kind
        assert 4 <= len(one.situations) <= len(life.situations)
        by_behavior = {
            situation.situation.replace(life.name.split()[0], one.name.split()[0]): situation
            for situation in life.situations
        }
        for situation in one.situations:
            assert abs(situation.intensity - by_behavior[situation.situation].intensity) <= 2
        assert len(one.voice) == len(life.voice)


def test_clients_differ(drawn: list[ClientPersona]) -> None:
    assert len({one.name.split()[0] for one in drawn}) == 15, "nobody has another's name"
    assert len({tuple(b.strength for b in one.core_beliefs) for one in drawn}) == 15
    for feature in ("talk", "openness", "insight"):
        assert {getattr(one.drawn, feature) for one in drawn} == {"little", "as written", "much"}
    lives = [one.drawn.of for one in drawn if one.drawn]
    assert all(lives.count(life) == 5 for life in lives), "each life as often"


def test_the_written_name_is_nowhere_left(tmp_path: Path) -> None:
    for file in draw_personas(BASES, 3, 1, tmp_path):
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        first = data.pop("drawn")["of"].split()[0]
        assert first not in str(data).replace("Samuel's Creek", "")
        assert "not written by hand" in file.read_text(encoding="utf-8").splitlines()[0]


def test_the_same_seed_gives_the_same_clients(tmp_path: Path) -> None:
    texts = [
        [file.read_text(encoding="utf-8") for file in draw_personas(BASES, 4, seed, tmp_path / out)]
        for seed, out in ((1, "a"), (1, "b"), (2, "c"))
    ]
    assert texts[0] == texts[1] != texts[2]


def test_no_bounds_leave_all_as_it_was_written(tmp_path: Path) -> None:
    none = Bounds(years=0, belief=0, intensity=0, left_out=0.0)
    (file,) = draw_personas(BASES[:1], 1, 1, tmp_path, bounds=none)
    own, theirs = read(file), read(BASES[0])
    assert own.age == theirs.age and own.coping_strategies == theirs.coping_strategies
    assert [b.strength for b in own.core_beliefs] == [b.strength for b in theirs.core_beliefs]
    assert sorted(map(str, own.days)) == sorted(map(str, theirs.days))


def test_what_cannot_be_drawn_says_why(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no other first name is left for Ines"):
        draw_personas(BASES[:1], 7, 1, tmp_path)
    with pytest.raises(SpecError, match="persona of a counselor"):
        draw_personas([ROOT / "personas" / "miriam.yaml"], 1, 1, tmp_path)
    (file,) = draw_personas(BASES[:1], 1, 1, tmp_path / "once")
    with pytest.raises(SpecError, match="drawn itself"):
        draw_personas([file], 1, 1, tmp_path / "twice", names={"any": ["Bo"]})
    with pytest.raises(SpecError, match="exists already"):
        draw_personas(BASES[:1], 1, 1, tmp_path / "once")


def test_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cli = in_process("simcounsel", main, monkeypatch, capsys)
    done = cli(
        "library", "personas", "draw", *BASES, "--count", "2", "--theme", "grief", "--out", tmp_path
    )
    assert done.code != 0 and "no persona of a client with the theme 'grief'" in done.err
    done = cli("library", "personas", "draw", *BASES, "--count", "2", "--out", tmp_path / "d")
    assert done.code == 0 and "wrote 2 clients, drawn from 3" in done.out
