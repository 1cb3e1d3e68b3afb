"""What was measured beside a run is found to be changed, by `verify` and by whatever reads it; what a kill leaves is not."""

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simcounsel.engine.forking import fork
from simcounsel.errors import RunError
from simcounsel.measuring.rate import Rating
from simcounsel.runs.call_chain import EDITED, MISPLACED
from simcounsel.runs.history import History
from simcounsel.runs.jsonl import json_bytes
from simcounsel.runs.measurements import measurement_files, measurements_in
from simcounsel.runs.rating_lines import UNFINISHED, UNREADABLE, RatingCheck
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from tests.commands import Command
from tests.instruments.stage import measured_world
from tests.llm.server import FaultServer
from tests.stage import go_on, live

Lines = list[bytes]
GIVEN = ("--instrument", "empathy", "--model", "scripted")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of which two conversations were rated."""
    run = live(tmp_path_factory.mktemp("rated"), measured_world())
    rating = Rating.plan(run, "empathy", model="scripted")
    models = rating.open_models()
    assert models is not None
    rating.measure(models)
    models.close()
    return run


@pytest.fixture
def folder(once: Run, tmp_path: Path) -> Path:
    """A copy that may be spoiled."""
    return Path(shutil.copytree(once.folder, tmp_path / once.name))


def file_in(folder: Path) -> Path:
    (file,) = measurement_files(folder)
    return file


def lines_of(file: Path) -> Lines:
    return file.read_bytes().splitlines(keepends=True)


def at(lines: Lines, kind: str) -> int:
    """Where the first line of that kind stands, from 0."""
    return next(number for number, line in enumerate(lines) if json.loads(line)["kind"] == kind)


def changed(lines: Lines, number: int, change: Callable[[dict[str, Any]], object]) -> Lines:
    """A line with other fields, written as it would have been."""
    fields = json.loads(lines[number])
    change(fields)
    return [*lines[:number], json_bytes(fields) + b"\n", *lines[number + 1 :]]


def rescored(fields: dict[str, Any]) -> None:
    fields["scores"][0]["value"] = 6.66


def without(lines: Lines, number: int) -> Lines:
    return lines[:number] + lines[number + 1 :]


DAMAGES: dict[str, tuple[Callable[[Lines], Lines], Callable[[Lines], int], str, int]] = {
    "a value": (
        lambda all: changed(all, at(all, "measured"), rescored),
        lambda all: at(all, "measured") + 1,
        f"{EDITED} (1 of 2 measurements are missing)",
        1,
    ),
    "a reply": (
        lambda all: changed(all, at(all, "call"), lambda call: call.update(reply="9")),
        lambda all: at(all, "call") + 1,
        f"{EDITED} (0 of 2 measurements are missing)",
        2,
    ),
    "the judge": (
        lambda all: changed(all, 0, lambda head: head.update(judge="openai:gpt-4o")),
        lambda all: 1,
        f"{EDITED} (its first line, which says what was measured, is not there; 2 measurements are left out)",
        0,
    ),
    "a digest taken away": (
        lambda all: changed(all, at(all, "measured"), lambda one: one.pop("digest")),
        lambda all: at(all, "measured") + 1,
        f"{EDITED} (1 of 2 measurements are missing)",
        1,
    ),
    "deleted": (
        lambda all: without(all, at(all, "measured")),
        lambda all: at(all, "measured") + 1,
        f"{MISPLACED} (1 of 2 measurements are missing)",
        1,
    ),
    "a call deleted": (
        lambda all: without(all, at(all, "call")),
        lambda all: at(all, "call") + 1,
        f"{MISPLACED} (0 of 2 measurements are missing)",
        2,
    ),
    "doubled": (
        lambda all: [*all[: at(all, "measured") + 1], *all[at(all, "measured") :]],
        lambda all: at(all, "measured") + 2,
        f"{MISPLACED} (0 of 2 measurements are missing)",
        2,
    ),
    "a byte": (
        lambda all: [one.replace(b'"kind"', b'"kind', 1) if b'"measured"' in one else one for one in all],
        lambda all: at(all, "measured") + 1,
        f"{EDITED} (2 of 2 measurements are missing)",
        0,
    ),
    "half a line": (
        lambda all: [one[:200] + b"\n" if at(all, "measured") == number else one for number, one in enumerate(all)],
        lambda all: at(all, "measured") + 1,
        f"{UNREADABLE} (1 of 2 measurements are missing)",
        1,
    ),
    "rubbish at the end": (
        lambda all: [*all, b"rubbish\n"],
        lambda all: len(all) + 1,
        f"{UNREADABLE} (0 of 2 measurements are missing)",
        2,
    ),
    "cut at a line": (
        lambda all: all[:-2],
        lambda all: len(all) - 2,
        "the end of this file is missing (1 of 2 measurements are missing)",
        1,
    ),
    "cut in a line": (
        lambda all: [*all[:-1], all[-1][:40]],
        lambda all: len(all),
        "the end of this file is missing (0 of 2 measurements are missing)",
        2,
    ),
    "all of it gone": (
        lambda all: [],
        lambda all: 1,
        "the end of this file is missing (its first line, which says what was measured, is not there; 0 measurements are left out)",
        0,
    ),
}  # fmt: skip
"""What is done to a finished file, which line is named, what is said, and how many measurements can be read still."""


@pytest.mark.parametrize("name", DAMAGES)
def test_what_was_done_to_measurements_is_found_and_named(
    folder: Path, simcounsel: Command, name: str
) -> None:
    assert simcounsel("verify", folder).code == 0
    change, where, what, left = DAMAGES[name]
    file = file_in(folder)
    whole = lines_of(file)
    file.write_bytes(b"".join(change(whole)))
    told = f"{file}:{where(whole)}: {what}"
    found = simcounsel("verify", folder)
    assert (found.code, told in found.out) == (1, True), found
    assert f"remedy: put the file back as it was, or move it out of {file.parent}" in found.out
    shown = simcounsel("show", folder)
    assert (shown.code, f"damaged: {told}" in shown.err) == (0, True), shown
    again = simcounsel("rate", folder, *GIVEN)
    assert (again.code, told in again.err) == (1, True), again
    with pytest.raises(RunError) as refused:
        list(History.of(Run.open(folder)).measurements())
    assert told in str(refused.value) and "--damaged" in str(refused.value)
    run = Run.open(folder, damaged=True)
    assert len([one for one in History.of(run).measurements() if one.source != "log"]) == left
    assert simcounsel("rate", folder, "--instrument", "talk_measures").code == 0
    file.write_bytes(b"".join(whole))
    assert simcounsel("verify", folder).code == 0


@pytest.mark.slow(2)
def test_pages_reports_and_exports_name_it(
    folder: Path, simcounsel: Command, tmp_path: Path
) -> None:
    file = file_in(folder)
    whole = lines_of(file)
    file.write_bytes(b"".join(DAMAGES["a value"][0](whole)))
    line = at(whole, "measured") + 1
    what = f"measurements/{file.name}:{line}: {EDITED} (1 of 2 measurements are missing)"
    page = tmp_path / "page.html"
    assert what in simcounsel("view", folder, "--html", page).err
    assert what in page.read_text(encoding="utf-8")
    assert "6.66" not in page.read_text(encoding="utf-8")
    parts = ("--format", "openai", "--split", "100,0,0", "--no-check", "-o", tmp_path / "data")
    refused = simcounsel("export", folder, *parts)
    assert (refused.code, what in refused.err) == (1, True)
    assert simcounsel("export", folder, *parts, "--damaged").code == 0
    assert what in (tmp_path / "data" / "README.md").read_text(encoding="utf-8")
    pytest.importorskip("pandas")
    report = ("report", folder, "--out", tmp_path / "report")
    assert what in simcounsel(*report).err
    assert simcounsel(*report, "--damaged").code == 0
    assert what in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    run = Run.open(folder, damaged=True)
    assert run.measurements().attrs["damaged"] == [what] and what in run._repr_html_()


def test_a_run_that_goes_on_and_its_fork_hold(folder: Path, tmp_path: Path) -> None:
    """Measurements belong to the run alone: a fork begins without."""
    forked = fork(Run.open(folder), 3, {}, tmp_path / "forks")
    assert not (forked.folder / "measurements").exists()
    for run in (go_on(Run.open(folder)), go_on(forked, 1)):
        assert not verify(run.folder).damages


def test_measured_again_it_is_the_same_rating_and_no_retest(
    folder: Path, simcounsel: Command
) -> None:
    """As the remedy says: the file is moved out. What is measured then takes its place."""
    assert simcounsel("rate", folder, *GIVEN, "--rounds", 2).code == 0
    first, second = measurement_files(folder)
    before = [one.measured for one in measurements_in(first)]
    assert before != [one.measured for one in measurements_in(second)]
    first.rename(folder / first.name)
    assert simcounsel("rate", folder, *GIVEN, "--rounds", 2).code == 0
    again = measurement_files(folder)[1]
    assert [one.measured for one in measurements_in(again)] == before
    assert (RatingCheck.of(second).head or {})["round"] == 1


# what a kill leaves


def unfinished(folder: Path, lines: Lines) -> Path:
    """The rating as a kill left it."""
    file = file_in(folder)
    left = file.with_name(file.name.removesuffix(".jsonl") + UNFINISHED)
    file.unlink()
    left.write_bytes(b"".join(lines))
    return left


@pytest.mark.parametrize("torn", [b"", b'{"tick": 3, "kind": "meas'])
def test_a_kill_in_the_middle_is_no_damage_and_is_gone_on_with(
    once: Run, folder: Path, simcounsel: Command, torn: bytes
) -> None:
    whole = lines_of(file_in(folder))
    left = unfinished(folder, [*whole[: at(whole, "measured") + 1], torn])
    found = simcounsel("verify", folder)
    assert found.code == 0
    assert f"note: {left}: not finished: 1 of 2 measurements are there" in found.out
    assert "damaged" not in simcounsel("show", folder).err
    again = simcounsel("rate", folder, *GIVEN)
    assert (again.code, "1 to measure of 2, the others were" in again.out) == (0, True), again
    file = file_in(folder)
    assert not left.exists() and f"kept in {file}" in again.out
    assert list(measurements_in(file)) == list(measurements_in(file_in(once.folder)))
    assert not verify(folder).damages, "the line that was cut short stays, and is no damage"


@pytest.mark.parametrize("lost", [1, 0])
def test_a_kill_at_the_very_end_measures_nothing_again(
    folder: Path, simcounsel: Command, lost: int
) -> None:
    """Before it was said that all is measured, or before the file had its lasting name."""
    whole = lines_of(file_in(folder))
    unfinished(folder, whole[: len(whole) - lost])
    ended = simcounsel("rate", folder, *GIVEN)
    assert ended.code == 0 and "Ines: empathy" not in ended.out
    assert "0 to measure of 2" in ended.out if lost else "this is measured already" in ended.out
    again = simcounsel("rate", folder, *GIVEN)
    assert "this is measured already" in again.out
    assert len(measurement_files(folder)) == 1 and not verify(folder).damages
    assert [json.loads(line)["kind"] for line in lines_of(file_in(folder))] == [
        json.loads(line)["kind"] for line in whole
    ]


def test_killed_processes_leave_nothing_damaged(once: Run, tmp_path: Path) -> None:
    """SIGKILL at each of some requests; the same command ends as if nothing had happened."""
    folder = Path(shutil.copytree(once.folder, tmp_path / once.name))
    shutil.rmtree(folder / "measurements")
    with FaultServer() as server:
        words = ["rate", str(folder), "--instrument", "phq9", "--model", f"{server.url}/m"]
        command = [sys.executable, "-m", "simcounsel", *words, "--samples", "3", "--in-flight", "1"]
        for answered in (0, 2):
            reached = threading.Event()

            def stall(
                number: int, of: int = answered, here: threading.Event = reached
            ) -> str | None:
                if number < of:
                    return None
                here.set()
                return "stall"

            server.bodies.clear()
            server.faults = stall
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
                assert reached.wait(60)
                process.kill()
            assert process.returncode == -signal.SIGKILL
            assert not verify(folder).damages
        server.faults = lambda number: None
        assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
    check = RatingCheck.of(file_in(folder))
    assert check.finished and not check.damages() and not verify(folder).damages


# earlier versions


def plain(lines: Lines) -> Lines:
    """As a version without digests wrote them."""
    return [
        json.dumps({key: one for key, one in json.loads(line).items() if key not in ("after", "digest")}).encode() + b"\n"
        for line in lines
    ]  # fmt: skip


def test_measurements_without_digests_are_read_and_said_to_have_none(
    folder: Path, simcounsel: Command
) -> None:
    file = file_in(folder)
    before = list(measurements_in(file))
    file.write_bytes(b"".join(plain(lines_of(file))))
    assert list(measurements_in(file)) == before
    found = simcounsel("verify", folder)
    assert found.code == 0
    assert f"note: {file.parent}: 1 of 1 files have no digests, since an earlier" in found.out
    assert "this is measured already" in simcounsel("rate", folder, *GIVEN).out
    file.write_bytes(b"".join(without(plain(lines_of(file)), at(lines_of(file), "measured"))))
    assert "lines of it are missing (1 of 2 measurements are missing)" in (
        simcounsel("verify", folder).out
    )


def test_an_unfinished_one_without_digests_is_gone_on_with(
    folder: Path, simcounsel: Command
) -> None:
    file = file_in(folder)
    before, whole = list(measurements_in(file)), lines_of(file)
    file.write_bytes(b"".join(plain(whole[: at(whole, "measured") + 1])))
    assert "not finished: 1 of 2 measurements are there" in simcounsel("verify", folder).out
    assert simcounsel("rate", folder, *GIVEN).code == 0
    assert file_in(folder) == file and list(measurements_in(file)) == before
    assert RatingCheck.of(file).finished and not RatingCheck.of(file).chained
    assert simcounsel("verify", folder).code == 0
