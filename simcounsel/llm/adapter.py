"""`+adapter=PATH` behind a model's name: a LoRA adapter, found, checked and named by its SHA-256.

A run's manifest holds `embedded+adapter=PATH#DIGEST`, so that it is not gone on with under another
adapter; its calls are recorded under `embedded+adapter@DIGEST`, wherever the file lies.
"""

import hashlib
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from simcounsel.errors import ModelError
from simcounsel.llm.gguf import Header, read_header
from simcounsel.specs.load import ADAPTER

FILE = "adapter.gguf"
_TENSOR = re.compile(r"(blk\.\d+\.\w+\.weight)\.lora_([ab])")


@dataclass(frozen=True, kw_only=True)
class Base:
    """The model over which an adapter is laid."""

    name: str
    architecture: str
    shape: Callable[[str], tuple[int, ...] | None]
    """Of a weight, such as `blk.3.attn_q.weight`: what it takes in and gives out; None where there
    is no such weight."""


def base_of(name: str, header: Header) -> Base:
    """A model by the header of its file."""
    return Base(name=name, architecture=header.architecture, shape=header.shapes.get)


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """An adapter on disk."""

    file: Path
    """The GGUF file."""
    digest: str
    """Its SHA-256, the first 16 hex digits."""


def find_adapter(name: str, base: Base | None) -> Adapter:
    """The adapter that a model's name means: a GGUF file, or a folder that holds `adapter.gguf` or
    `adapter/adapter.gguf`. base: None where it is not fetched yet; then only llama.cpp can tell
    whether the two fit.

    ModelError when it is not there, is no adapter of the base, or is not the one whose digest the
    name gives.
    """
    model, _, rest = name.partition(ADAPTER)
    place, digest = parted(rest)
    if not place:
        raise ModelError(
            f"no model {name!r}; an adapter is named behind its model: {model.split('+')[0]}"
            f"{ADAPTER}PATH"
        )
    file = _locate(Path(os.path.expanduser(place)), place)
    _check(file, read_header(file), base)
    found = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    if digest and found != digest:
        raise ModelError(
            f"{file}: another adapter (SHA-256 {found}…) than the one named, {digest}…; put that"
            " one back, or begin a new run"
        )
    return Adapter(file=file, digest=found)


def pinned(name: str, base: Base | None) -> str:
    """A model's name as a manifest holds it: with the digest of its adapter, if it has one.
    ModelError as in `find_adapter`.
    """
    model, behind, rest = name.partition(ADAPTER)
    if not behind:
        return name
    return f"{model}{ADAPTER}{parted(rest)[0]}#{find_adapter(name, base).digest}"


def parted(place: str) -> tuple[str, str]:
    """A path and the digest behind it, '' if it has none."""
    found = re.search(r"#([0-9a-f]{16})$", place)
    return (place[: found.start()], found[1]) if found else (place, "")


def _locate(path: Path, named: str) -> Path:
    if path.is_file():
        return path
    inner = next((file for file in (path / FILE, path / "adapter" / FILE) if file.is_file()), None)
    if inner:
        return inner
    if any((folder / "adapter_config.json").is_file() for folder in (path, path / "adapter")):
        raise ModelError(
            f"{path}: a PEFT adapter that was not exported yet; simcounsel train export {named}"
            " --gguf"
        )
    if path.is_dir():
        raise ModelError(
            f"{path}: holds no {FILE}; name a GGUF file, or a training's folder after python -m"
            f" training export {named} --gguf"
        )
    raise ModelError(f"{path}: no such adapter; name a GGUF file or the folder of a training")


def _check(file: Path, header: Header, base: Base | None) -> None:
    """ModelError says why this cannot be laid over its base, if it cannot."""
    kind = header.metadata.get("general.type", "model")
    if kind != "adapter" or header.metadata.get("adapter.type") != "lora":
        raise ModelError(
            f"{file}: a GGUF file, but no LoRA adapter (general.type is {kind!r}); simcounsel train"
            " export writes one"
        )
    if base and header.architecture != base.architecture:
        raise ModelError(
            f"{file}: an adapter for the architecture {header.architecture!r}; {base.name} is"
            f" {base.architecture!r}"
        )
    if not header.shapes:
        raise ModelError(f"{file}: an adapter without a single tensor; export it again")
    alpha = header.metadata.get("adapter.lora.alpha")
    if not isinstance(alpha, float) or not 0 < alpha < math.inf:
        raise ModelError(
            f"{file}: its adapter.lora.alpha is {alpha!r}; a number above 0 is needed; export it"
            " again"
        )
    for tensor, shape in header.shapes.items() if base else ():
        if base and not _fits(tensor, header, base):
            raise ModelError(
                f"{file}: its tensor {tensor} {shape} is none of an adapter of {base.name}; it was"
                " trained on another model"
            )


def _fits(tensor: str, header: Header, base: Base) -> bool:
    """Whether a tensor is one of a pair that belongs to a layer: A (in x rank) and B (rank x out),
    the fastest dimension first.
    """
    found = _TENSOR.fullmatch(tensor)
    if not found:
        return False
    a, b = (header.shapes.get(f"{tensor[:-1]}{factor}", ()) for factor in "ab")
    return len(a) == len(b) == 2 and a[1] == b[0] and (a[0], b[1]) == base.shape(found[1])
