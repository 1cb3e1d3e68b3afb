"""Hashes by which a log can be verified: the same everywhere, and broken by any change."""

import io
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from simcounsel.engine.forking import fork
from simcounsel.errors import RunError
from simcounsel.events import Forked, TickEnded
from simcounsel.runs.chain import LogCheck, fields_digest, start_hash, ticks_in
from simcounsel.runs.record import open_record
from simcounsel.runs.run import Run
from tests.each import each
from tests.stage import changed, go_on, happened, live, log, three, tiny
from tests.without import needs


def passes(data: bytes, run: Run) -> bool:
    """Whether a log would be taken for the one that was written."""
    check = run.check()
    return not any(
        check.tick(tick) if complete else check.rest(tick)
        for tick, complete in ticks_in(io.BytesIO(data))
    )


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("short"), tiny(), 3)


@needs("corpus")
def test_what_was_written_passes(short: Run, lived: Run, tmp_path: Path) -> None:
    from tests.corpus.written import written

    synthesis = written(tmp_path)
    for run in (short, lived, synthesis):
        assert passes(log(run), open_record(run.folder))
    assert passes(b"", short)
    hashes = [event.hash for event in happened(lived, TickEnded)]
    assert len({*hashes}) == 12 and all(one and len(one) == 64 for one in hashes)


@pytest.mark.slow
def test_what_a_crash_leaves_passes(short: Run) -> None:
    """Wherever the last tick was cut off: it was not finished, and is no damage."""
    data = log(short)
    last = data[:-1].rindex(b'"kind":"tick_ended"')
    previous = data.rindex(b'"kind":"tick_ended"', 0, last)
    assert all(passes(data[:end], short) for end in range(data.index(b"\n", previous), len(data)))
    assert passes(data + b"\0" * 4096, short)


def test_any_changed_byte_is_found(short: Run) -> None:
    """All bytes of ticks' ends, and 2000 others, each changed to another by chance."""
    data, draw = bytearray(log(short)), random.Random(1)
    ends = [
        at
        for at in range(len(data))
        if b'"kind":"tick_ended"' in data[data.rfind(b"\n", 0, at) + 1 : at + 110]
    ]
    others = draw.sample(range(len(data)), 2000)
    assert len(data) - 1 in ends
    for at in (*ends, *others):
        kept, other = data[at], draw.choice((draw.randrange(256), 10, 13, 32, 34))
        if other == kept:
            continue
        data[at] = other
        assert not passes(bytes(data), short), (at, kept, other)
        data[at] = kept
    assert passes(bytes(data), short)


def edited(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
    return lambda data: b"".join(change(data.splitlines(keepends=True)))


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a line deleted": (
        edited(lambda lines: lines[:50] + lines[51:]),
        "51: event 50 is missing before this line",
    ),
    "a line doubled": (
        edited(lambda lines: lines[:50] + lines[49:]),
        "51: event 49 is here, where event 50 should",
    ),
    "two lines swapped": (
        edited(lambda lines: [*lines[:50], lines[51], lines[50], *lines[52:]]),
        "51: event 50 is missing before this line",
    ),
    "the first 30 lines gone": (
        edited(lambda lines: lines[30:]),
        "1: events 0 to 29 are missing before this line",
    ),
    "the first tick gone": (
        lambda data: data[data.index(b"\n", data.index(b'"tick_ended"')) + 1 :],
        "1: events 0 to ",
    ),
    "a word changed": (lambda data: data.replace(b"Ines", b"Inez", 1), "1: the first tick's "),
}


@each("name", DAMAGES)
def test_damage_is_named(name: str, short: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(short.folder, tmp_path / "run"))
    spoil, what = DAMAGES[name]
    (folder / "events.jsonl").write_bytes(spoil(log(short)))
    with pytest.raises(RunError, match=f"{folder}/events.jsonl:{what}"):
        list(Run.open(folder).entries())
    with pytest.raises(RunError, match=f"{folder}/events.jsonl:{what}"):
        go_on(Run.open(folder))


def test_where_a_damaged_log_still_holds(short: Run) -> None:
    """Ticks before the damage hold, and those after it among themselves."""
    lines = log(short).splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if b'"kind":"tick_ended"' in line]
    del lines[ends[0] + 3]
    check = LogCheck(short.start_hash)
    found = [check.tick(tick) for tick, _ in ticks_in(lines)]
    assert [damage is None for damage in found] == [True, False, True]
    assert check.sound_ticks == 1
    assert found[1] is not None and found[1].line == ends[0] + 4


def test_what_decides_a_run_begins_its_hashes(short: Run, tmp_path: Path) -> None:
    """World, people, seed and prompts do; models, names, times and versions do not."""
    manifest = json.loads((short.folder / "manifest.json").read_text(encoding="utf-8"))
    own = start_hash(manifest)
    for key, value in {"run": "b", "created": "", "versions": {}, "models": {}}.items():
        assert start_hash(manifest | {key: value}) == own
    assert start_hash(manifest | {"prompts": {}}) != own
    replay = live(tmp_path, tiny(), 3, model=f"recorded:{short.folder}")
    assert replay.start_hash == own and log(replay) == log(short)
    other = live(tmp_path, changed(tiny(), seed=2), 1)
    assert other.start_hash != own


def test_a_manifest_is_covered_whole(short: Run) -> None:
    manifest = json.loads((short.folder / "manifest.json").read_text(encoding="utf-8"))
    assert fields_digest(manifest) == manifest["digest"]
    for key in manifest.keys() - {"digest"}:
        assert fields_digest(manifest | {key: "another"}) != manifest["digest"], key


def test_an_edited_manifest_is_refused(short: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(short.folder, tmp_path / "run"))
    file = folder / "manifest.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"seed": 1', '"seed": 2'), encoding="utf-8")
    with pytest.raises(RunError, match=r"manifest.json: it was changed after it was written"):
        Run.open(folder)
    read = Run.open(folder, damaged=True)
    assert len(list(read.entries())) == len(list(short.entries()))
    file.write_text(json.dumps(json.loads(text)), encoding="utf-8")  # laid out again, not changed
    assert Run.open(folder).manifest == short.manifest


def test_forks_share_their_past_hash_by_hash(tmp_path: Path) -> None:
    """Also a fork of a fork; each mark carries what decides that fork."""
    past = live(tmp_path / "past", three(), 4)
    one = go_on(fork(past, 3, {"seed": 5}, tmp_path), 1)
    two = go_on(fork(one, 4, {"seed": 6}, tmp_path), 1)
    hashes = [[event.hash for event in happened(run, TickEnded)] for run in (past, one, two)]
    assert hashes[0][:2] == hashes[1][:2] == hashes[2][:2]
    assert hashes[1][2] == hashes[2][2] != hashes[0][2]
    assert past.start_hash == one.start_hash == two.start_hash
    marks = [event.start_hash for event in happened(two, Forked)]
    assert marks == [one.own_hash, two.own_hash] and marks[0] != marks[1]
    assert all(passes(log(run), run) for run in (past, one, two))


def test_a_fork_needs_only_its_own_past(short: Run, tmp_path: Path) -> None:
    """Damage behind the tick from which it lives again does not matter to it."""
    folder = Path(shutil.copytree(short.folder, tmp_path / "run"))
    lines = log(short).splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"".join([*lines[:-3], *lines[-2:]]))
    with pytest.raises(RunError, match="is missing before this line"):
        fork(Run.open(folder), 3, {}, tmp_path)
    assert passes(log(new := fork(Run.open(folder), 2, {}, tmp_path)), new)
