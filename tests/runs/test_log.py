"""Reading runs that grow, were cut short, are damaged or half deleted."""

import json
import shutil
import threading
from pathlib import Path

import pytest

from simcounsel.errors import RunError
from simcounsel.events import SCHEMA_VERSION
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.viewer.run_list import RunList
from tests.stage import go_on, live, tiny


@pytest.fixture
def folder(lived: Run, tmp_path: Path) -> Path:
    """A copy that may be spoiled."""
    return Path(shutil.copytree(lived.folder, tmp_path / "run"))


def read(folder: Path) -> Log:
    log = Log(folder)
    log.refresh()
    return log


def test_all_that_is_there(lived: Run) -> None:
    log = read(lived.folder)
    assert list(log.fields()) == [
        json.loads(line) for line in (lived.folder / "events.jsonl").read_bytes().splitlines()
    ]
    assert (log.ticks, log.problems()) == (12, [])


def test_parts_are_what_a_plain_reading_gives(lived: Run) -> None:
    log, whole = (
        read(lived.folder),
        [json.loads(line) for line in (lived.folder / "events.jsonl").read_bytes().splitlines()],
    )
    assert list(log.fields(("said", "acted"), since_tick=2, until_tick=7)) == [
        e for e in whole if e["kind"] in ("said", "acted") and 2 <= e["tick"] < 7
    ]
    assert list(log.fields(("remembered",), subject="Ines")) == [
        e for e in whole if e["kind"] == "remembered" and e["who"] == "Ines"
    ]
    assert list(log.fields(("no such kind",))) == list(log.fields(subject="Nobody")) == []


def test_calls_of_a_tick(lived: Run) -> None:
    log = read(lived.folder)
    wanted = [call["key"] for call in lived.calls() if call["tick"] == 2 and call["who"] == "Ines"]
    found = list(log.calls(2, "Ines"))
    assert [call.key for call in found] == wanted
    assert wanted


def test_calls_of_a_replay_are_those_of_its_source(lived: Run, tmp_path: Path) -> None:
    replay = live(tmp_path, tiny(), model=f"recorded:{lived.folder}")
    assert [call.key for call in read(replay.folder).calls(3)] == [
        call.key for call in read(lived.folder).calls(3)
    ]


def test_a_growing_run(tmp_path: Path) -> None:
    run = live(tmp_path, tiny(), 3)
    log = read(run.folder)
    assert log.ticks == 3
    before = list(log.fields())
    go_on(run, 2)
    log.refresh()
    assert log.ticks == 5
    assert list(log.fields(until_tick=3)) == before


def test_an_unfinished_tick_is_not_shown_but_said(folder: Path) -> None:
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    ends = [n for n, line in enumerate(lines) if b'"tick_ended"' in line]
    (folder / "events.jsonl").write_bytes(b"".join(lines[: ends[4] + 4]) + lines[ends[4] + 4][:20])
    log = read(folder)
    assert log.ticks == 5
    assert len(list(log.fields())) == ends[4] + 1
    assert log.problems() == [
        "the last 3 events belong to a tick that was not finished; `simcounsel resume` runs it again"
    ]


def test_a_log_that_became_shorter_is_read_anew(folder: Path) -> None:
    log, data = read(folder), (folder / "events.jsonl").read_bytes()
    end = data.index(b'"tick_ended"')
    (folder / "events.jsonl").write_bytes(data[: data.index(b"\n", end) + 1])
    log.refresh()
    assert log.ticks == 1
    assert {e["tick"] for e in log.fields()} == {0}


def test_damaged_lines_are_left_out_and_counted(folder: Path) -> None:
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    lines[7], lines[9] = b"\x00\xff rubbish\n", lines[9][: len(lines[9]) // 2] + b"\n"
    (folder / "events.jsonl").write_bytes(b"".join(lines))
    log = read(folder)
    assert len(list(log.fields())) == len(lines) - 2
    assert log.problems() == [
        "events.jsonl:8: this line cannot be read as an event",
        "lines of events.jsonl that cannot be read or are out of order, and are left out: 2",
    ]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda f: (f / "manifest.json").unlink(), "manifest.json is missing"),
        (
            lambda f: (f / "manifest.json").write_text("{", encoding="utf-8"),
            "manifest.json cannot be read",
        ),
        (
            lambda f: (f / "manifest.json").write_text("[1]", encoding="utf-8"),
            "manifest.json cannot be read (it is not a manifest)",
        ),
        (
            lambda f: (f / "events.jsonl").unlink(),
            "events.jsonl is missing: nothing that happened can be shown",
        ),
        (
            lambda f: (f / "calls.jsonl").unlink(),
            "calls.jsonl is missing: prompts and replies cannot be shown",
        ),
    ],
)
def test_half_deleted(folder: Path, spoil: object, said: str) -> None:
    spoil(folder)  # type: ignore[operator]
    log = read(folder)
    list(log.fields())
    list(log.calls(1))
    assert any(problem.startswith(said) for problem in log.problems())


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (
            0,
            f"some of it may be missing: written with log version 0, this simcounsel reads"
            f" {SCHEMA_VERSION}; install the simcounsel that wrote it (0.1.0), or run its world again"
            " with this one",
        ),
        (
            SCHEMA_VERSION + 1,
            f"some of it may be missing: written with log version {SCHEMA_VERSION + 1}, this"
            f" simcounsel reads {SCHEMA_VERSION}; install a newer simcounsel",
        ),
    ],
)
def test_other_versions(folder: Path, version: int, said: str) -> None:
    file = folder / "manifest.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(data | {"schema_version": version}), encoding="utf-8")
    assert read(folder).problems() == [said]


def test_many_readers_at_once(lived: Run) -> None:
    log, sizes = Log(lived.folder), []

    def work() -> None:
        log.refresh()
        sizes.append(len(list(log.fields())))

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(sizes) == {len((lived.folder / "events.jsonl").read_bytes().splitlines())}


def test_shelf(lived: Run, tmp_path: Path) -> None:
    shutil.copytree(lived.folder, tmp_path / "a")
    (tmp_path / "empty").mkdir()
    shelf = RunList(tmp_path)
    assert (shelf.names(), shelf.only) == (["a"], None)
    assert RunList(tmp_path / "a").only == "a"
    for name in ("..", "a/..", "empty", "", "/etc", "a\0"):
        with pytest.raises(KeyError):
            shelf.log(name)
    with pytest.raises(RunError, match="no such folder"):
        RunList(tmp_path / "nowhere")


def test_lost_lines_are_counted(folder: Path) -> None:
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"".join(lines[10:70] + lines[73:]))
    assert read(folder).problems() == [
        "events.jsonl:1: events 0 to 9 are missing before this line; 2 places in all"
    ]


def test_a_tick_that_was_cut_off_and_written_anew_longer(folder: Path) -> None:
    """What a crash and a resume do between two looks: the file is not shorter, but another."""
    whole = (folder / "events.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(
        b"".join(lines[:50]) + b'{"seq":50,"tick":99,"minute":1,"kind":"moved","who":"X"}\n'
    )
    log = read(folder)
    (folder / "events.jsonl").write_bytes(whole)
    log.refresh()
    assert list(log.fields()) == [json.loads(line) for line in lines]
    assert log.problems() == []


def test_looking_twice_does_not_double_the_damage(folder: Path) -> None:
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    lines[9] = lines[9][: len(lines[9]) // 2] + b"\n"
    (folder / "events.jsonl").write_bytes(b"".join(lines))
    log = read(folder)
    for _ in range(3):
        list(log.fields())
    assert log.problems()[1].endswith("and are left out: 1")


def test_a_tick_that_is_no_number_of_a_tick(folder: Path) -> None:
    with (folder / "events.jsonl").open("ab") as file:
        file.write(b'{"seq":9999,"tick":99999999999,"minute":1,"kind":"moved","who":"X"}\n')
    assert read(folder).ticks == 12
