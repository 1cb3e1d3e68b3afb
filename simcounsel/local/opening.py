"""Local models as a provider: `local:qwen2.5-1.5b`, `local:PATH.gguf`, with or without adapter."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from simcounsel.errors import ModelError
from simcounsel.llm import adapter
from simcounsel.llm.adapter import base_of, find_adapter, parted
from simcounsel.llm.gguf import read_header
from simcounsel.llm.models import ChatModel, Provider
from simcounsel.llm.weights import EMBEDDED, WEIGHTS, state
from simcounsel.prompts.sets import FOR_SMALL_MODELS
from simcounsel.specs.load import ADAPTER, LOCAL, names_file

PINNED = tuple(key for key in WEIGHTS if key not in EMBEDDED)
ENDS = 1 << 22
"""Bytes at each end of a file that its fingerprint reads."""


@dataclass(frozen=True, kw_only=True)
class Named:
    """What a model's name means."""

    base: str
    """Without the adapter: `local:qwen2.5-1.5b`."""
    key: str | None
    """Of pinned weights; None for a file of the user's own."""
    file: Path
    """Where the weights are, or will be."""
    fingerprint: str
    """Of a file of the user's own; '' for pinned weights, which have their SHA-256."""


def named(name: str) -> Named:
    """ModelError where there is no such model or file, or another file than the name says."""
    base = name.partition(ADAPTER)[0]
    inner = base.removeprefix(LOCAL)
    if inner in PINNED:
        return Named(base=base, key=inner, file=state((inner,))[0].path, fingerprint="")
    if not names_file(base):
        raise ModelError(
            f"no model {name!r}; there are {', '.join(LOCAL + one for one in PINNED)} and"
            " local:PATH.gguf"
        )
    place, digest = parted(inner)
    file = Path(os.path.expanduser(place))
    header = read_header(file)
    kind = header.metadata.get("general.type", "model")
    if kind != "model" or not header.architecture:
        raise ModelError(f"{file}: a GGUF file of the type {kind!r}, no model")
    found = fingerprint(file)
    if digest and digest != found:
        raise ModelError(
            f"{file}: another file (fingerprint {found}) than the one named, {digest}; put that one"
            " back, or begin a new run"
        )
    return Named(base=base, key=None, file=file, fingerprint=found)


def fingerprint(file: Path) -> str:
    """Of a model's file: 16 hex digits of a SHA-256 over its size and both its ends. A whole
    SHA-256 of 40 GB takes longer than loading them.
    """
    size = file.stat().st_size
    found = hashlib.sha256(str(size).encode())
    with file.open("rb") as opened:
        found.update(opened.read(ENDS))
        opened.seek(max(0, size - ENDS))
        found.update(opened.read(ENDS))
    return found.hexdigest()[:16]


def _base(one: Named) -> adapter.Base | None:
    """None where the weights are not fetched yet."""
    return base_of(one.base, read_header(one.file)) if one.file.is_file() else None


def _chat(name: str) -> ChatModel:
    from simcounsel.local.model import LocalModel

    one = named(name)
    laid = find_adapter(name, _base(one)) if ADAPTER in name else None
    called = f"{LOCAL}{one.file.name}@{one.fingerprint}" if one.fingerprint else one.base
    return LocalModel(
        name=f"{called}{ADAPTER[:-1]}@{laid.digest}" if laid else called,
        key=one.key,
        file=one.file,
        adapter=laid.file if laid else None,
    )


def _pinned(name: str) -> str:
    one = named(name)
    behind = adapter.pinned(name, _base(one)).partition(ADAPTER)[2]
    place = parted(one.base)[0]
    base = f"{place}#{one.fingerprint}" if one.fingerprint else place
    return f"{base}{ADAPTER}{behind}" if behind else base


def _weights(name: str, vectors: bool) -> tuple[str, ...]:
    key = name.partition(ADAPTER)[0].removeprefix(LOCAL)
    return (key,) if key in PINNED and not vectors else ()


def _state() -> str:
    there = [one.weights.key for one in state(PINNED) if one.fetched]
    return f"fetched: {', '.join(there) or 'none'}; --pull --model NAME fetches one"


def _about(key: str) -> str:
    one = WEIGHTS[key]
    return f"{one.model} in this process, {one.size_mb:.0f} MB, {one.licence}, no key"


LOCAL_MODELS = Provider(
    chat=_chat,
    forms={
        **{LOCAL + key: _about(key) for key in PINNED},
        "local:PATH.gguf": "any model that llama.cpp runs, with its own chat template",
        "local:NAME+adapter=PATH": "one of these, speaking through a LoRA adapter",
    },
    state=_state,
    prompts=lambda name: FOR_SMALL_MODELS,
    weights=_weights,
    pinned=_pinned,
)
