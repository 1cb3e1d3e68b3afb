"""Adapters made for tests: PEFT folders with random factors."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

TINY = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
}
SMOLLM2 = {
    "model_type": "llama",
    "num_hidden_layers": 30,
    "hidden_size": 576,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "intermediate_size": 1536,
}
ALL = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
)


def shape_of(part: str, base: Mapping[str, Any]) -> tuple[int, int]:
    """What a linear layer of a Llama takes in and gives out."""
    width, inner = base["hidden_size"], base["intermediate_size"]
    keys = base["num_key_value_heads"] * (width // base["num_attention_heads"])
    return {
        "k_proj": (width, keys),
        "v_proj": (width, keys),
        "gate_proj": (width, inner),
        "up_proj": (width, inner),
        "down_proj": (inner, width),
    }.get(part.split(".")[-1], (width, width))


def factors(
    base: Mapping[str, Any] = TINY,
    *,
    parts: tuple[str, ...] = ALL,
    rank: int = 4,
    size: float = 0.1,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """A random adapter's tensors. size: standard deviation of B; of A it is 1 / sqrt(in)."""
    rng = np.random.default_rng(seed)
    made = {}
    for block in range(base["num_hidden_layers"]):
        for part in parts:
            takes, gives = shape_of(part, base)
            name = f"base_model.model.model.layers.{block}.{part}"
            made[f"{name}.lora_A.weight"] = (
                rng.normal(size=(rank, takes)) / np.sqrt(takes)
            ).astype(np.float32)
            made[f"{name}.lora_B.weight"] = (rng.normal(size=(gives, rank)) * size).astype(
                np.float32
            )
    return made


def peft_folder(
    folder: Path,
    tensors: Mapping[str, np.ndarray] | None = None,
    base: Mapping[str, Any] = TINY,
    **config: Any,
) -> Path:
    """A PEFT folder, and in it `base/` with the base model's config.json."""
    (folder / "base").mkdir(parents=True, exist_ok=True)
    (folder / "base" / "config.json").write_text(json.dumps(base))
    given = {
        "peft_type": "LORA",
        "r": 4,
        "lora_alpha": 8,
        "bias": "none",
        "base_model_name_or_path": "base",
        **config,
    }
    (folder / "adapter_config.json").write_text(json.dumps(given))
    save_file(
        dict(factors(base) if tensors is None else tensors), folder / "adapter_model.safetensors"
    )
    return folder
