"""The shape of a base model, as far as an adapter's layers must fit it: read from a config.json, a
GGUF file or the pinned weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcounsel.errors import WeightsError
from simcounsel.intake import file_bytes, json_data
from simcounsel.llm.gguf import read_header
from simcounsel.llm.weights import path_of
from training.errors import TrainingError

PINNED = {
    "embedded": "smollm2",
    "local:qwen2.5-0.5b": "qwen2.5-0.5b",
    "local:qwen2.5-1.5b": "qwen2.5-1.5b",
}
"""Names of bases whose weights are fetched, with the key of these."""
ARCHITECTURES = ("llama", "qwen2", "qwen3")
"""`model_type` in a config.json and general.architecture in a GGUF file are the same words for
these.
"""


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """A decoder."""

    architecture: str
    blocks: int
    """Of its layers."""
    width: int
    """Of the residual stream."""
    heads: int
    """`heads`, `kv_heads`: of attention."""
    kv_heads: int
    head_width: int
    """Of one of them."""
    inner: int
    """Width of the feed-forward layer."""


def pinned_base(name: str) -> str | None:
    """The pinned weights that a base's name means; None for a folder or a name on a hub."""
    return PINNED.get(name)


def find_base(name: str, beside: Path) -> Decoder:
    """The base that an adapter names: `embedded`, `local:qwen2.5-0.5b`, a folder with config.json
    (also relative to `beside`), a GGUF file, or a model of the Hugging Face hub that is in its
    cache. TrainingError when it is not here or of an architecture that is not supported.
    """
    if key := pinned_base(name):
        try:
            return _of_gguf(path_of(key))
        except WeightsError as error:
            raise TrainingError(str(error)) from None
    for path in (Path(name), beside / name):
        if name and (path / "config.json").is_file():
            return _of_config(path / "config.json")
        if path.is_file():
            return _of_gguf(path)
    return _of_config(_cached(name, beside))


def _cached(name: str, beside: Path) -> Path:
    """A hub model's config.json where transformers has put it; nothing is fetched."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        found = None
    if isinstance(found, str):
        return Path(found)
    raise TrainingError(
        f"{beside}: its base model {name!r} is not here; say where: --base FOLDER (with"
        " config.json), --base embedded or a GGUF file"
    )


def _of_gguf(file: Path) -> Decoder:
    header = read_header(file)
    wanted = ("block_count", "embedding_length", "attention.head_count", "feed_forward_length")
    blocks, width, heads, inner = (
        _given(file, f"{header.architecture}.{key}", header.number(key)) for key in wanted
    )
    kv_heads = header.number("attention.head_count_kv") or heads
    head_width = header.number("attention.key_length") or width // heads
    return _supported(
        file,
        Decoder(
            architecture=header.architecture,
            blocks=blocks,
            width=width,
            heads=heads,
            kv_heads=kv_heads,
            head_width=head_width,
            inner=inner,
        ),
    )


def _of_config(file: Path) -> Decoder:
    try:
        config: Any = json_data(file_bytes(file))
    except (OSError, ValueError) as error:
        raise TrainingError(
            f"{file}: cannot be read ({getattr(error, 'strerror', None) or 'not JSON'})"
        ) from None
    if not isinstance(config, Mapping):
        raise TrainingError(f"{file}: not the config of a model")
    wanted = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size")
    blocks, width, heads, inner = (_given(file, key, config.get(key)) for key in wanted)
    return _supported(
        file,
        Decoder(
            architecture=str(config.get("model_type", "")),
            blocks=blocks,
            width=width,
            heads=heads,
            kv_heads=_given(
                file, "num_key_value_heads", config.get("num_key_value_heads") or heads
            ),
            head_width=_given(file, "head_dim", config.get("head_dim") or width // heads),
            inner=inner,
        ),
    )


def _given(file: Path, key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise TrainingError(f"{file}: {key} is {value!r}; a whole number above 0 is needed")
    return value


def _supported(file: Path, base: Decoder) -> Decoder:
    if base.architecture not in ARCHITECTURES:
        raise TrainingError(
            f"{file}: a model of architecture {base.architecture!r}; adapters can be written for"
            f" {', '.join(ARCHITECTURES)}"
        )
    if base.heads % base.kv_heads or base.head_width % 2:
        raise TrainingError(
            f"{file}: {base.heads} heads, {base.kv_heads} of keys, each {base.head_width} wide, do"
            " not fit each other"
        )
    return base
