"""`verify` finds what is not as it was written; who goes on from a run refuses it, who shows it says so."""

import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from simcounsel.engine.forking import fork
from simcounsel.errors import RunError
from simcounsel.runs.aside import rewind
from simcounsel.runs.call_chain import EDITED, MISPLACED
from simcounsel.runs.chain import fields_digest
from simcounsel.runs.jsonl import json_bytes
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import open_checked, verify
from tests.commands import Command
from tests.stage import go_on, live, log, tiny
from tests.without import needs


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("short"), tiny(), 4)


@pytest.fixture
def folder(short: Run, tmp_path: Path) -> Path:
    """A copy that may be spoiled."""
    return Path(shutil.copytree(short.folder, tmp_path / "run"))


def spoil(folder: Path, change: Callable[[list[bytes]], list[bytes]], file: str = "events") -> None:
    path = folder / f"{file}.jsonl"
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def edit_seed(folder: Path) -> None:
    file = folder / "manifest.json"
    text = file.read_text(encoding="utf-8")
    assert '"seed": 1,' in text
    file.write_text(text.replace('"seed": 1,', '"seed": 2,'), encoding="utf-8")


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a line deleted": (
        lambda folder: spoil(folder, lambda lines: lines[:50] + lines[51:]),
        "events.jsonl:51: event 50 is missing before this line",
    ),
    "a line doubled": (
        lambda folder: spoil(folder, lambda lines: lines[:50] + lines[49:]),
        "events.jsonl:51: event 49 is here, where event 50 should",
    ),
    "two lines swapped": (
        lambda folder: spoil(folder, lambda all: [*all[:50], all[51], all[50], *all[52:]]),
        "events.jsonl:51: event 50 is missing before this line",
    ),
    "the first 30 lines gone": (
        lambda folder: spoil(folder, lambda lines: lines[30:]),
        "events.jsonl:1: events 0 to 29 are missing before this line",
    ),
    "the seed edited": (
        edit_seed,
        "manifest.json: it was changed after it was written (its digest does not fit)",
    ),
}


@needs("corpus")
@pytest.mark.parametrize("name", DAMAGES)
def test_five_damages(name: str, folder: Path, simcounsel: Command) -> None:
    """Each went unnoticed by `resume`, `show`, `rate` and `report` once."""
    change, what = DAMAGES[name]
    change(folder)
    before = {file.name: file.read_bytes() for file in folder.glob("*.json*")}
    for command in (
        ("verify",),
        ("resume",),
        ("fork", "--at", "3"),
        ("rate", "--instrument", "talk_measures"),
        ("export", "--format", "openai", "-o", folder.parent / "out"),
    ):
        ended = simcounsel(command[0], folder, *command[1:])
        assert (ended.code, what in ended.out + ended.err) == (1, True), (command, ended)
    shown = simcounsel("show", folder)
    assert shown.code == 0 and what in shown.err
    assert "ran " in shown.out
    assert {file.name: file.read_bytes() for file in folder.glob("*.json*")} == before


def test_a_damaged_run_lives_on_from_where_it_holds(
    short: Run, folder: Path, simcounsel: Command
) -> None:
    """As `verify` and each refusal say: `resume --from`."""
    spoil(folder, lambda lines: lines[:-20] + lines[-18:-5] + [b"rubbish\n"] + lines[-4:])
    assert f"`simcounsel resume {folder} --from 2`" in simcounsel("verify", folder).out
    assert simcounsel("resume", folder, "--from", 2, "--ticks", 2, "--quiet").code == 0
    assert not verify(folder).damages
    assert log(Run.open(folder)) == log(short)


@needs("corpus")
def test_what_holds_is_said_in_a_line(short: Run, tmp_path: Path, simcounsel: Command) -> None:
    from tests.corpus.written import written

    shutil.copytree(short.folder, tmp_path / "runs" / "a")
    synthesis = written(tmp_path / "runs")
    replay = live(tmp_path / "runs", tiny(), model=f"recorded:{short.folder}", ticks=3)
    forked = go_on(fork(short, 2, {"seed": 3}, tmp_path / "runs"), 1)
    ended = simcounsel("verify", tmp_path / "runs", short.folder)
    assert ended.code == 0 and len(ended.out.splitlines()) == 5, ended.out
    assert all("  holds: " in line for line in ended.out.splitlines())
    for run in (synthesis, replay, forked):
        assert f"{run.folder}  holds: {run.ticks_done()} ticks" in ended.out
    spoil(tmp_path / "runs" / "a", lambda lines: lines[:-5] + lines[-4:])
    ended = simcounsel("verify", tmp_path / "runs")
    assert ended.code == 1
    assert f"{tmp_path / 'runs' / 'a'}  damaged in 1 place: " in ended.out
    assert f"`simcounsel resume {tmp_path / 'runs' / 'a'} --from 3`" in ended.out
    assert "no run there" in simcounsel("verify", tmp_path / "none").err


def test_an_unfinished_tick_is_no_damage(folder: Path) -> None:
    spoil(folder, lambda lines: lines[:-2])
    found = verify(folder)
    assert not found.damages and found.ticks == 3
    assert "belong to a tick that was not finished" in found.notes[0]


def test_calls_that_events_name_must_be_there(folder: Path) -> None:
    spoil(folder, lambda lines: lines[:10] + lines[11:], "calls")
    [misplaced, damage] = verify(folder).damages
    assert MISPLACED in misplaced and "which is not in calls.jsonl" in damage


def test_a_call_cut_short_by_a_crash_is_no_damage(folder: Path) -> None:
    spoil(folder, lambda lines: [*lines, lines[-1][:40] + b"\n"], "calls")
    found = verify(folder)
    number = len((folder / "calls.jsonl").read_bytes().splitlines())
    assert not found.damages
    assert f"calls.jsonl:{number}: this line was cut short" in found.notes[0]


def test_ticks_that_are_gone_from_the_end(folder: Path) -> None:
    """The log alone looks like that of a shorter run; the calls tell."""
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if b'"kind":"tick_ended"' in line]
    spoil(folder, lambda lines: lines[: ends[0] + 1])
    [damage] = verify(folder).damages
    assert "ends before tick 1, but calls.jsonl holds calls of tick" in damage


def test_a_fork_belongs_to_its_manifest(short: Run, tmp_path: Path) -> None:
    one, two = (fork(short, 2, {"seed": seed}, tmp_path) for seed in (3, 4))
    shutil.copy(two.folder / "manifest.json", one.folder / "manifest.json")
    [damage] = verify(one.folder).damages
    assert "the mark of the fork does not fit manifest.json" in damage


@pytest.mark.parametrize("broken", [b'"vectors":"AAAA', b'"vectors":"', b'"verb":'])
def test_lost_vectors_are_computed_again(
    short: Run, folder: Path, broken: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """The log goes on as if they had been there, and the recording is whole again."""

    def without(lines: list[bytes]) -> list[bytes]:
        lost = [line for line in lines if b'"purpose":"remember"' in line][1]
        spoiled = lost.replace(broken[:10], broken + b"!") if broken[-1:] != b":" else b"{\n"
        return [spoiled if line == lost else line for line in lines]

    spoil(folder, without, "calls")
    [damage, *_] = verify(folder).damages
    assert "`simcounsel resume` computes them again" in damage
    went_on, untouched = go_on(Run.open(folder), 2), live(folder.parent / "whole", tiny(), 6)
    assert log(went_on) == log(untouched)
    assert "vectors of" in caplog.text and "were computed again by scripted" in caplog.text
    assert not verify(folder).damages
    replay = live(folder.parent / "replay", tiny(), 6, model=f"recorded:{folder}")
    assert log(replay) == log(untouched)


def test_a_replay_cannot_compute_vectors(short: Run, tmp_path: Path) -> None:
    source = Path(shutil.copytree(short.folder, tmp_path / "source"))
    replay = live(tmp_path, tiny(), 3, model=f"recorded:{source}")
    lost = b'"verb":"embed"'
    spoil(source, lambda lines: [b"{\n" if lost in one else one for one in lines], "calls")
    with pytest.raises(RunError, match="it replays .*source, whose calls.jsonl lacks the vector"):
        go_on(replay)


def test_a_manifest_that_cannot_be_read(folder: Path) -> None:
    (folder / "manifest.json").write_text("{", encoding="utf-8")
    spoil(folder, lambda lines: lines[:50] + lines[51:])
    found = verify(folder)
    assert "manifest.json: damaged" in found.damages[0]
    assert "events.jsonl:51: event 50 is missing" in found.damages[1]
    assert json.loads((folder / "events.jsonl").read_bytes().splitlines()[0])["seq"] == 0


@needs("corpus")
def test_what_comes_of_a_damaged_run_is_marked(
    folder: Path, simcounsel: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--damaged` goes on, and whoever finds the result knows."""
    spoil(folder, lambda lines: lines[:50] + lines[51:])
    what = f"{folder}/events.jsonl:51: event 50 is missing before this line"
    rated = simcounsel("rate", folder, "--instrument", "talk_measures", "--damaged")
    assert (rated.code, what in rated.err) == (0, True)
    [file] = (folder / "measurements").glob("*.jsonl")
    assert json.loads(file.read_bytes().splitlines()[0])["damaged"] == [what]
    monkeypatch.setattr("sys.stdin", io.StringIO("How did you sleep?\n\n"))
    asked = simcounsel("talk", folder, "--who", "Ines", "--damaged")
    assert (asked.code, what in asked.err) == (0, True)
    [file] = (folder / "interviews").glob("*.jsonl")
    assert json.loads(file.read_bytes().splitlines()[0])["damaged"] == [what]
    out = folder.parent / "data"
    parts = ("--format", "openai", "--split", "100,0,0", "--no-check", "--damaged")
    exported = simcounsel("export", folder, *parts, "-o", out)
    assert (exported.code, what in exported.err) == (0, True), exported
    assert json.loads((out / "card.json").read_text(encoding="utf-8"))["damaged"] == [what]


def call_edited(field: str) -> Callable[[list[bytes]], list[bytes]]:
    """The fourth call with another value of a field, written as the run would have."""
    return lambda lines: [
        *lines[:3],
        json_bytes(json.loads(lines[3]) | {field: "other"}) + b"\n",
        *lines[4:],
    ]


def without_digest(line: bytes) -> bytes:
    call = json.loads(line)
    del call["digest"]
    return json_bytes(call) + b"\n"


CALL_DAMAGES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int, str]] = {
    "reply": (call_edited("reply"), 4, EDITED),
    "source": (call_edited("source"), 4, EDITED),
    "vectors": (call_edited("vectors"), 4, EDITED),
    "its digest": (call_edited("digest"), 4, EDITED),
    "written again": (
        lambda lines: [
            *lines[:3],
            json.dumps(json.loads(lines[3]) | {"reply": "other"}).encode() + b"\n",
            *lines[4:],
        ],
        4,
        EDITED,
    ),
    "no digest": (lambda lines: [*lines[:3], without_digest(lines[3]), *lines[4:]], 4, EDITED),
    "no digest at the end": (lambda lines: [*lines[:-1], without_digest(lines[-1])], -1, EDITED),
    "doubled": (lambda lines: [*lines[:4], lines[3], *lines[4:]], 5, MISPLACED),
    "doubled at the end": (lambda lines: [*lines, lines[3]], 0, MISPLACED),
    "taken out": (lambda lines: lines[:3] + lines[4:], 4, MISPLACED),
    "the first taken out": (lambda lines: lines[1:], 1, MISPLACED),
    "moved": (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], 4, MISPLACED),
}
"""How calls.jsonl is spoiled, the first line of it that is no longer as it was (counted from the end
of the whole file where it is not above 0), and what is said of it."""


@pytest.mark.parametrize("name", CALL_DAMAGES)
def test_an_edited_call_is_found_and_refused(folder: Path, tmp_path: Path, name: str) -> None:
    """In the run, in who goes on from it, and in what was forked from it."""
    change, at, what = CALL_DAMAGES[name]
    forked = fork(Run.open(folder), 3, {}, tmp_path)
    assert not verify(folder).damages and not verify(forked.folder).damages
    for each in (folder, forked.folder):
        file = each / "calls.jsonl"
        whole = len(file.read_bytes().splitlines())
        spoil(each, change, "calls")
        line = at if at > 0 else whole + 1 + at
        assert f"{file}:{line}: {what}" in verify(each).damages
        refused = re.escape(f"{file}:{line}: {what}")
        with pytest.raises(RunError, match=refused):
            go_on(Run.open(each))
        with pytest.raises(RunError, match=refused):
            open_checked(each)
        assert f"{file}:{line}: {what}" in open_checked(each, damaged=True).damages
        with pytest.raises(RunError, match=refused):
            fork(Run.open(each), 3, {}, tmp_path / "second")
        with pytest.raises(RunError, match=refused):
            rewind(Run.open(each), 3)


def test_what_stays_when_ticks_are_lived_again_is_linked_anew(folder: Path) -> None:
    """And a line that a crash cut short is no damage: the next one goes on from the one before."""
    with (folder / "calls.jsonl").open("ab") as calls:
        calls.write(b'{"key": "cut sh')
    rewind(Run.open(folder), 2)
    assert not verify(folder).damages
    assert not verify(go_on(Run.open(folder)).folder).damages
    (torn,) = (
        number
        for number, line in enumerate((folder / "calls.jsonl").read_bytes().splitlines())
        if b"cut sh" in line
    )
    assert torn


def test_calls_of_runs_that_began_earlier_have_no_digest(folder: Path) -> None:
    file = folder / "manifest.json"
    written = json.loads(file.read_text(encoding="utf-8"))
    del written["chained_calls"]
    file.write_text(json.dumps(written | {"digest": fields_digest(written)}), encoding="utf-8")
    spoil(folder, lambda lines: [*map(without_digest, lines)], "calls")
    assert not verify(folder).damages
    assert not verify(go_on(Run.open(folder)).folder).damages


@pytest.mark.slow(2)
def test_what_comes_of_a_damaged_recording_says_so(
    folder: Path, simcounsel: Command, tmp_path: Path
) -> None:
    """An edited call, in whatever reads the run."""
    spoil(folder, call_edited("reply"), "calls")
    what = f"calls.jsonl:4: {EDITED}"
    assert what in simcounsel("show", folder).err
    page = tmp_path / "page.html"
    assert what in simcounsel("view", folder, "--html", page).err
    assert what in page.read_text(encoding="utf-8")
    assert simcounsel("rate", folder, "--instrument", "talk_measures").code == 1
    rated = simcounsel("rate", folder, "--instrument", "talk_measures", "--damaged")
    assert what in rated.err and "(of a damaged run)" in rated.out
    out = folder.parent / "data"
    parts = ("--format", "openai", "--split", "100,0,0", "--no-check")
    assert simcounsel("export", folder, *parts, "-o", out).code == 1
    assert simcounsel("export", folder, *parts, "-o", out, "--damaged").code == 0
    assert what in (out / "README.md").read_text(encoding="utf-8")
    report = ("report", folder, "--out", tmp_path / "report")
    pytest.importorskip("pandas")
    assert what in simcounsel(*report).err
    assert simcounsel(*report, "--damaged").code == 0
    assert what in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    run = Run.open(folder, damaged=True)
    assert run.lines().attrs["damaged"] == [what] and what in run._repr_html_()
    assert run.measurements()["damaged"].all()


def test_what_comes_of_a_sound_run_is_not_marked(folder: Path, simcounsel: Command) -> None:
    rated = simcounsel("rate", folder, "--instrument", "talk_measures")
    assert rated.code == 0 and "damaged" not in rated.out + rated.err
    run = Run.open(folder)
    assert not run.lines().attrs and "damaged" not in run._repr_html_()
    assert not run.measurements()["damaged"].any()
