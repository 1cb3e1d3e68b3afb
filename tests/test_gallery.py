"""Runs that ship with the package: listed, unpacked once, checked, and taken wherever a run's folder is."""

import hashlib
import io
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from simcounsel import gallery, packaged
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import SpecError
from simcounsel.runs.manifest import BY_HAND, label_of
from simcounsel.runs.record import open_record
from simcounsel.runs.run import Run
from tests.commands import Command
from tests.stage import live


@pytest.fixture
def shipped(lived: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gallery of one run; the folder of its files."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    packed = gallery.pack(lived.folder, "day")
    (folder / "day.tar.xz").write_bytes(packed)
    one = {
        "name": "day",
        "line": "A day in a tiny world.",
        "made": "with the scripted model",
        "sha256": hashlib.sha256(packed).hexdigest(),
    }
    (folder / "gallery.yaml").write_text(yaml.safe_dump([one]), encoding="utf-8")
    real = packaged.files

    def files(package: str) -> Any:
        """Of the gallery's package alone: others read their own files."""
        return folder if package == gallery.__name__ else real(package)

    monkeypatch.setattr(gallery, "files", files)
    monkeypatch.setattr(packaged, "files", files)
    monkeypatch.setenv("SIMCOUNSEL_CACHE", str(tmp_path / "cache"))
    gallery.exhibits.cache_clear()
    yield folder
    gallery.exhibits.cache_clear()


def test_what_ships_is_listed_and_opens(simcounsel: Command, shipped: Path, lived: Run) -> None:
    assert simcounsel("list").out.splitlines()[-1].split("  ")[1:] == [
        "gallery:day",
        *[""] * 6,
        " A day in a tiny world.",
    ]
    assert "ran            12 of 12 ticks" in simcounsel("show", "gallery:day").out
    assert "holds: 12 ticks" in simcounsel("verify", "gallery:day").out
    assert simcounsel("export", "gallery:day", "-o", "data", "--format", "openai").code == 0
    opened = Run.open("gallery:day")
    assert (opened.folder / "events.jsonl").read_bytes() == (
        lived.folder / "events.jsonl"
    ).read_bytes()


def test_it_is_unpacked_once_and_what_is_written_there_stays(shipped: Path) -> None:
    folder = gallery.folder_of("day")
    (folder / "measurements").mkdir()
    assert gallery.folder_of("day") == folder and (folder / "measurements").is_dir()
    assert not [one for one in folder.parent.iterdir() if one != folder]


def test_a_name_that_is_not_there_is_said(simcounsel: Command, shipped: Path) -> None:
    ended = simcounsel("show", "gallery:dya")
    assert ended.code == 1
    assert "gallery:dya: no such run in the gallery; did you mean gallery:day?" in ended.err
    with pytest.raises(SpecError, match="there are day"):
        gallery.folder_of("xyz")


def test_a_file_that_was_changed_is_refused(shipped: Path) -> None:
    (shipped / "day.tar.xz").write_bytes(b"another")
    with pytest.raises(SpecError, match="not the one that was pinned"):
        gallery.folder_of("day")


def test_the_same_run_is_packed_to_the_same_bytes(lived: Run, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(lived.folder, tmp_path / "copy"))
    (copy / "more.txt").write_text("not packed")
    assert gallery.pack(copy, "day") == gallery.pack(lived.folder, "day")


def test_what_was_measured_since_is_packed_as_well(lived: Run, tmp_path: Path) -> None:
    run = Path(shutil.copytree(lived.folder, tmp_path / "run"))
    (run / "measurements").mkdir()
    (run / "measurements" / "phq9-20260302-120000-000001.jsonl").write_text("{}\n", "utf-8")
    (run / "measurements" / "rate.lock").touch()
    with tarfile.open(fileobj=io.BytesIO(gallery.pack(run, "measured"))) as archive:
        names = {name.removeprefix("measured/") for name in archive.getnames()}
    assert names == {
        "manifest.json",
        *gallery.HELD,
        "measurements/phq9-20260302-120000-000001.jsonl",
    }


def test_it_replays_to_the_same_bytes(shipped: Path, lived: Run, tmp_path: Path) -> None:
    with Simulation(lived.world, model="recorded:gallery:day", out=tmp_path / "again") as again:
        made = again.run()
    assert (made.folder / "events.jsonl").read_bytes() == (
        lived.folder / "events.jsonl"
    ).read_bytes()


def test_packing_says_what_the_list_needs(simcounsel: Command, lived: Run) -> None:
    ended = simcounsel("library", "pack", lived.folder, "--name", "day", "-o", "out")
    packed = Path("out/day.tar.xz").read_bytes()
    (one,) = yaml.safe_load(ended.out)
    assert (one["name"], one["sha256"]) == ("day", hashlib.sha256(packed).hexdigest())


def test_every_run_that_ships_is_pinned_and_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMCOUNSEL_CACHE", str(tmp_path))
    for name in gallery.exhibits():
        assert open_record(f"gallery:{name}").ticks_done() > 0


def test_made_by_hand_is_said_of_the_run(simcounsel: Command, tmp_path: Path) -> None:
    assert label_of(["scripted", "byhand:answers"]) == BY_HAND
    assert label_of(["scripted", "openai:byhand"]) is None
    run = live(tmp_path, ticks=1)
    file = run.folder / "manifest.json"
    text = file.read_text(encoding="utf-8").replace('"reason": "scripted"', '"reason": "byhand:x"')
    file.write_text(text, encoding="utf-8")
    assert "replies written by hand from the prompts" in simcounsel("show", run.folder).out


def test_it_is_unpacked_by_a_python_without_filters(
    shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian 12 has Python 3.11.2, whose tarfile knows no `filter`."""
    whole = tarfile.TarFile.extractall

    def early(self: tarfile.TarFile, path: Path) -> None:
        whole(self, path, filter="data")

    monkeypatch.delattr(tarfile, "data_filter")
    monkeypatch.setattr(tarfile.TarFile, "extractall", early)
    assert (gallery.folder_of("day") / "events.jsonl").is_file()
