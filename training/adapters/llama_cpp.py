"""A LoRA adapter as llama.cpp loads it: a GGUF file with two tensors for each layer (llama.cpp's
convert_lora_to_gguf.py).

llama.cpp multiplies B A by alpha / rank, with one alpha for the whole file; a layer that PEFT
scales otherwise (rank patterns, rsLoRA) has the difference in its B. Llama's rotary embedding turns
neighbours in llama.cpp and halves in transformers, so the rows of q and k change places, in B
alone, since A reads what comes in.
"""

import os
import re
import tempfile
from pathlib import Path

import gguf
import numpy as np

from training.adapters.bases import Decoder
from training.adapters.peft_folder import LayerFactors, PeftAdapter
from training.errors import TrainingError

NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""The linear layers of a block, as transformers and as llama.cpp call them."""
PERMUTED = ("llama",)
"""Architectures whose q and k llama.cpp keeps in its own order; Qwen's it keeps as they are."""
_LAYER = re.compile(r"model\.layers\.(\d+)\.(.+)")


def permute(b: np.ndarray, heads: int) -> np.ndarray:
    """Rows of q's or k's B (out x rank) into llama.cpp's order: within each head, halves become
    neighbours.
    """
    half = b.shape[0] // heads // 2
    return np.ascontiguousarray(
        b.reshape(heads, 2, half, b.shape[1]).swapaxes(1, 2).reshape(b.shape)
    )


def tensors(adapter: PeftAdapter, base: Decoder) -> dict[str, np.ndarray]:
    """What llama.cpp wants, by its names. TrainingError names the layers that it does not know, or
    that do not fit the base.
    """
    unknown = [layer for layer in adapter.layers if _place(layer, base) is None]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise TrainingError(
            f"{adapter.folder}: {unknown[0]}{more} cannot be told to llama.cpp; it takes"
            f" {', '.join(NAMES)} of {base.blocks} blocks"
        )
    found = {}
    for layer, factors in adapter.layers.items():
        block, part = _LAYER.fullmatch(layer).groups()  # type: ignore[union-attr]
        _check_shape(adapter, layer, factors, _shape(part, base))
        heads = {"self_attn.q_proj": base.heads, "self_attn.k_proj": base.kv_heads}.get(part)
        b = permute(factors.b, heads) if heads and base.architecture in PERMUTED else factors.b
        name = f"blk.{block}.{NAMES[part]}.weight"
        found[f"{name}.lora_a"] = factors.a
        found[f"{name}.lora_b"] = b * np.float32(factors.scale / (adapter.alpha / factors.rank))
    return found


def write(adapter: PeftAdapter, base: Decoder, out: Path) -> int:
    """Write the file, whole or not at all; how many layers it holds. TrainingError as in `tensors`,
    or when it cannot be written.
    """
    made = tensors(adapter, base)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".export-", dir=out.parent) as folder:
            new = Path(folder) / "adapter.gguf"
            _write(made, adapter, base, new)
            os.replace(new, out)
    except OSError as error:
        raise TrainingError(f"{out}: cannot be written ({error.strerror or error})") from None
    return len(made) // 2


def _write(made: dict[str, np.ndarray], adapter: PeftAdapter, base: Decoder, file: Path) -> None:
    writer = gguf.GGUFWriter(file, base.architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, adapter.alpha)
    for name, array in made.items():
        writer.add_tensor(name, np.ascontiguousarray(array, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _place(layer: str, base: Decoder) -> str | None:
    """A layer's name within its block, if llama.cpp knows it and the base has the block."""
    found = _LAYER.fullmatch(layer)
    return found[2] if found and found[2] in NAMES and int(found[1]) < base.blocks else None


def _shape(part: str, base: Decoder) -> tuple[int, int]:
    """What a linear layer takes in and gives out."""
    attended, keys = base.heads * base.head_width, base.kv_heads * base.head_width
    return {
        "self_attn.q_proj": (base.width, attended),
        "self_attn.k_proj": (base.width, keys),
        "self_attn.v_proj": (base.width, keys),
        "self_attn.o_proj": (attended, base.width),
        "mlp.down_proj": (base.inner, base.width),
    }.get(part, (base.width, base.inner))


def _check_shape(
    adapter: PeftAdapter, layer: str, factors: LayerFactors, wanted: tuple[int, int]
) -> None:
    given = (factors.a.shape[1], factors.b.shape[0])
    if given != wanted:
        way, right = (f"from {takes} to {gives}" for takes, gives in (given, wanted))
        raise TrainingError(
            f"{adapter.folder}: {layer} goes {way}, in its base model {right}; wrong --base?"
        )
