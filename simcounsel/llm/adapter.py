"""`embedded+adapter=PATH`: a LoRA adapter for the embedded model, found, checked and named by its
SHA-256.

A run's manifest holds `embedded+adapter=PATH#DIGEST`, so that it is not gone on with under another
adapter; its calls are recorded under `embedded+adapter@DIGEST`, wherever the file lies.
"""

import hashlib
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from simcounsel.errors import ModelError
from simcounsel.llm.gguf import Header, read_header
from simcounsel.specs.load import ADAPTED

FILE = "adapter.gguf"
BLOCKS, WIDTH, KEYS, INNER = 30, 576, 192, 1536
LAYERS = {
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (WIDTH, KEYS),
    "attn_v": (WIDTH, KEYS),
    "attn_output": (WIDTH, WIDTH),
    "ffn_gate": (WIDTH, INNER),
    "ffn_up": (WIDTH, INNER),
    "ffn_down": (INNER, WIDTH),
}
"""Of SmolLM2-135M, whose weights are pinned: what each linear layer of a block takes in and gives
out.
"""
_TENSOR = re.compile(r"blk\.(\d+)\.(\w+)\.weight\.lora_([ab])")


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """An adapter on disk."""

    file: Path
    """The GGUF file."""
    digest: str
    """Its SHA-256, the first 16 hex digits."""


def find_adapter(name: str) -> Adapter:
    """The adapter that a model's name means: a GGUF file, or a folder that holds `adapter.gguf` or
    `adapter/adapter.gguf`.

    ModelError when it is not there, is no adapter of the embedded model, or is not the one whose
    digest the name gives.
    """
    place, digest = _parts(name)
    if not name.startswith(ADAPTED) or not place:
        raise ModelError(
            f"no model {name!r}; an adapter of the embedded model is named {ADAPTED}PATH"
        )
    file = _locate(Path(os.path.expanduser(place)), place)
    _check(file, read_header(file))
    found = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    if digest and found != digest:
        raise ModelError(
            f"{file}: another adapter (SHA-256 {found}…) than the one named, {digest}…; put that"
            " one back, or begin a new run"
        )
    return Adapter(file=file, digest=found)


def pinned(name: str) -> str:
    """A model's name as a manifest holds it: an adapter's with its digest, any other as it is.
    ModelError as in `find_adapter`.
    """
    return (
        f"{ADAPTED}{_parts(name)[0]}#{find_adapter(name).digest}"
        if name.startswith(ADAPTED)
        else name
    )


def placeless(name: str) -> str:
    """A pinned name without the adapter's path: the same from wherever it is seen."""
    return f"{ADAPTED}#{_parts(name)[1]}" if name.startswith(ADAPTED) and _parts(name)[1] else name


def _parts(name: str) -> tuple[str, str]:
    """The path and the digest, '' if it has none."""
    place = name.removeprefix(ADAPTED)
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


def _check(file: Path, header: Header) -> None:
    """ModelError says why this cannot be laid over SmolLM2-135M, if it cannot."""
    kind = header.metadata.get("general.type", "model")
    if kind != "adapter" or header.metadata.get("adapter.type") != "lora":
        raise ModelError(
            f"{file}: a GGUF file, but no LoRA adapter (general.type is {kind!r}); python -m"
            " training export writes one"
        )
    if header.architecture != "llama":
        raise ModelError(
            f"{file}: an adapter for the architecture {header.architecture!r}; the embedded model,"
            " SmolLM2-135M, is a llama"
        )
    if not header.shapes:
        raise ModelError(f"{file}: an adapter without a single tensor; export it again")
    alpha = header.metadata.get("adapter.lora.alpha")
    if not isinstance(alpha, float) or not 0 < alpha < math.inf:
        raise ModelError(
            f"{file}: its adapter.lora.alpha is {alpha!r}; a number above 0 is needed; export it"
            " again"
        )
    for tensor, shape in header.shapes.items():
        if not _fits(tensor, header):
            raise ModelError(
                f"{file}: its tensor {tensor} {shape} is none of an adapter of SmolLM2-135M; it was"
                " trained on another model"
            )


def _fits(tensor: str, header: Header) -> bool:
    """Whether a tensor is one of a pair that belongs to a layer: A (in x rank) and B (rank x out),
    the fastest dimension first.
    """
    found = _TENSOR.fullmatch(tensor)
    if not found or found[2] not in LAYERS or int(found[1]) >= BLOCKS:
        return False
    a, b = (header.shapes.get(f"{tensor[:-1]}{factor}", ()) for factor in "ab")
    takes, gives = LAYERS[found[2]]
    return len(a) == len(b) == 2 and a[1] == b[0] and (a[0], b[1]) == (takes, gives)
