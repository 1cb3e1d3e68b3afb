"""How many of a counselor's lines the safety protocol decided is said wherever a run is read: `show`, its end, the viewer's Outcomes, an export."""

from pathlib import Path

import pytest

from simcounsel.corpus.export import Export, export
from simcounsel.corpus.reading import read_dialogues
from simcounsel.events import Decided, Said
from simcounsel.instruments.safety_moves import dangers_in_files, files_text
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.viewer.dangers import safety_moves
from tests.commands import Command
from tests.danger.test_in_a_world import DANGER, lived, safety, says
from tests.stage import changed, happened, live, tiny


@pytest.fixture(scope="module")
def endangered(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Ines, whose file speaks of no danger, says what is one."""
    return lived(tmp_path_factory.mktemp("endangered"), safety(tiny()), says(DANGER))


def counted(run: Run) -> tuple[int, int]:
    """The moves in the log, and the counselor's lines."""
    moves = [one for one in happened(run, Decided) if one.who == "Miriam"]
    return (
        sum(one.policy == "safety" for one in moves),
        sum(one.who == "Miriam" for one in happened(run, Said)),
    )


def test_show_counts_them(endangered: Run, simcounsel: Command) -> None:
    moves, lines = counted(endangered)
    assert 0 < moves < lines
    said = f"safety moves   {moves} of {lines} lines of counselors; no danger in the file of Ines"
    assert said in simcounsel("show", endangered.folder).out


def test_none_is_said_too(tmp_path: Path, simcounsel: Command) -> None:
    run = live(tmp_path / "calm", tiny())
    moves, lines = counted(run)
    assert (moves, bool(lines)) == (0, True)
    assert (
        f"safety moves   0 of {lines} lines of counselors\n" in simcounsel("show", run.folder).out
    )
    alone = live(tmp_path / "alone", tiny(condition="client_only"), 2)
    assert "safety moves" not in simcounsel("show", alone.folder).out


def test_the_outcomes_panel_counts_them(endangered: Run) -> None:
    moves, lines = counted(endangered)
    assert safety_moves(History.of(endangered)) == {
        "moves": moves,
        "lines": lines,
        "files": "no danger in the file of Ines",
    }


def test_an_export_counts_them(endangered: Run, tmp_path: Path, simcounsel: Command) -> None:
    moves, lines = counted(endangered)
    card = export([endangered.folder], tmp_path / "out", Export(format="native", checked=False))
    assert (card.safety.moves, card.safety.of, card.safety.without_danger) == (moves, lines, moves)
    again = read_dialogues(tmp_path / "out" / "train.jsonl")
    assert sum(turn.protocol == "safety" for one in again for turn in one.turns) == moves
    said = (
        f"safety moves: {moves} of {lines} turns of counselors were decided by the safety protocol"
    )
    made = simcounsel("export", endangered.folder, "--format", "openai", "--no-check", "--out", "o")
    assert said in made.out and said.split(": ")[1] in (tmp_path / "o" / "README.md").read_text()


def test_danger_in_a_file_is_told_from_none() -> None:
    world = tiny()
    (ines,) = [one for one in world.residents if one.name == "Ines"]
    worse = ines.persona.model_copy(
        update={"history": "Ines has had thoughts of suicide since March."}
    )
    others = tuple(one for one in world.residents if one.name != "Ines")
    told = dangers_in_files(
        changed(world, residents=(ines.model_copy(update={"persona": worse}), *others))
    )
    assert told == {"Ines": ("suicide",)}
    assert files_text(told) == "the file of Ines speaks of suicide"
    assert files_text({"Ines": (), "Bram": ("self_harm",)}) == (
        "the file of Bram speaks of self harm; no danger in the file of Ines"
    )
