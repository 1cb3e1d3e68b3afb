"""A LoRA adapter as PEFT leaves it: adapter_config.json and adapter_model.safetensors, checked
before anything is made of it.
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, deserialize

from simcounsel.intake import file_bytes, json_data
from training.errors import TrainingError

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_NAME = re.compile(r"base_model\.model\.(?P<layer>.+)\.lora_(?P<factor>[AB])\.weight")
_PLAIN_STARTS = (None, True, False, "gaussian", "orthogonal", "eva")
"""Initialisations that leave the base model's weights as they are; PiSSA, OLoRA, CorDA and LoftQ do
not (PEFT, LoraConfig).
"""
_MORE = (
    "use_dora",
    "fan_in_fan_out",
    "modules_to_save",
    "lora_bias",
    "layer_replication",
    "trainable_token_indices",
    "alora_invocation_tokens",
    "target_parameters",
    "use_qalora",
    "use_bdlora",
    "arrow_config",
    "kasa_config",
    "velora_config",
    "monteclora_config",
)
"""Keys of LoraConfig with which a layer is more than W + scale B A."""


@dataclass(frozen=True, kw_only=True)
class LayerFactors:
    """What is added to one linear layer: scale times B A."""

    a: np.ndarray
    """Rank x in, float32."""
    b: np.ndarray
    """Out x rank, float32."""
    scale: float

    @property
    def rank(self) -> int:
        """Of the product, at most."""
        return int(self.a.shape[0])


@dataclass(frozen=True, kw_only=True)
class PeftAdapter:
    """A LoRA adapter as PEFT writes it."""

    folder: Path
    """Where it lies."""
    base: str
    """The model it was trained on, as its config says it; '' where it does not."""
    alpha: float
    """`lora_alpha`."""
    layers: Mapping[str, LayerFactors]
    """By the base model's own names, 'model.layers.0.self_attn.q_proj'."""


def locate(path: Path) -> Path:
    """The PEFT folder that is meant: itself, or `adapter/` in a training's folder. TrainingError
    when there is neither.
    """
    for folder in (path, path / "adapter"):
        if (folder / CONFIG).is_file():
            return folder
    raise TrainingError(
        f"{path}: no adapter: neither it nor its folder adapter/ holds {CONFIG}; name a PEFT folder"
        " or a training's folder"
    )


def read_adapter(path: Path) -> PeftAdapter:
    """The adapter at `path` (see `locate`). TrainingError when a file is missing, damaged or not
    plain LoRA.
    """
    folder = locate(path)
    config = _config(folder / CONFIG)
    factors: dict[str, dict[str, np.ndarray]] = defaultdict(dict)
    for name, array in _arrays(folder / WEIGHTS).items():
        found = _NAME.fullmatch(name)
        if not found:
            raise TrainingError(
                f"{folder / WEIGHTS}: the tensor {name!r} is no LoRA factor of a linear layer; only"
                " those can be used"
            )
        factors[found["layer"]][found["factor"]] = array
    if not factors:
        raise TrainingError(f"{folder / WEIGHTS}: holds no tensors; train it again")
    layers = {
        layer: _factors(folder / WEIGHTS, layer, pair, config)
        for layer, pair in sorted(factors.items())
    }
    return PeftAdapter(
        folder=folder,
        base=str(config.get("base_model_name_or_path") or ""),
        alpha=float(config["lora_alpha"]),
        layers=layers,
    )


def _config(file: Path) -> dict[str, Any]:
    try:
        config = json_data(file_bytes(file))
    except OSError as error:
        raise TrainingError(f"{file}: cannot be read ({error.strerror or error})") from None
    except ValueError:
        raise TrainingError(f"{file}: not JSON, or cut off; write the adapter again") from None
    if not isinstance(config, dict) or config.get("peft_type") != "LORA":
        kind = config.get("peft_type") if isinstance(config, dict) else None
        raise TrainingError(f"{file}: peft_type is {kind!r}; only LORA can be used")
    for key in ("r", "lora_alpha"):
        if (
            isinstance(config.get(key), bool)
            or not isinstance(config.get(key), int | float)
            or not 0 < config[key] < math.inf
        ):
            raise TrainingError(
                f"{file}: {key} is {config.get(key)!r}; it must be a number above 0"
            )
    for key in ("rank_pattern", "alpha_pattern"):
        if not _is_pattern(config.get(key) or {}):
            raise TrainingError(
                f"{file}: {key} is {config[key]!r}; it must name a number above 0 for each layer"
            )
    _refuse_more(file, config)
    return config


def _is_pattern(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    try:
        for key in value:
            re.compile(key)
    except re.error:
        return False
    return all(
        isinstance(number, int | float) and 0 < number < math.inf for number in value.values()
    )


def _refuse_more(file: Path, config: Mapping[str, Any]) -> None:
    """Whatever is more than plain LoRA would be lost without a word."""
    for key in _MORE:
        if config.get(key):
            raise TrainingError(
                f"{file}: {key} is {config[key]!r}, and only plain LoRA can be used; train"
                " without it"
            )
    if config.get("bias", "none") != "none":
        raise TrainingError(
            f"{file}: bias is {config['bias']!r}, and only plain LoRA can be used; train with bias:"
            " none"
        )
    if config.get("init_lora_weights") not in _PLAIN_STARTS:
        start = config["init_lora_weights"]
        raise TrainingError(
            f"{file}: init_lora_weights is {start!r}, which changes the base model's own weights;"
            " convert it to plain LoRA with PEFT"
        )


def _arrays(file: Path) -> dict[str, np.ndarray]:
    """All tensors, as float32."""
    try:
        stored = deserialize(file.read_bytes())  # type: ignore[no-untyped-call]
    except OSError as error:
        raise TrainingError(f"{file}: cannot be read ({error.strerror or error})") from None
    except SafetensorError as error:
        raise TrainingError(
            f"{file}: not a safetensors file, or cut off ({error}); write the adapter again"
        ) from None
    return {name: _array(file, name, part) for name, part in stored}


def _array(file: Path, name: str, part: Mapping[str, Any]) -> np.ndarray:
    data, kind = part["data"], part["dtype"]
    if kind == "BF16":
        numbers = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    elif kind in ("F16", "F32", "F64"):
        numbers = np.frombuffer(data, f"<f{int(kind[1:]) // 8}").astype("<f4")
    else:
        raise TrainingError(
            f"{file}: the tensor {name!r} is of type {kind}; F32, F16, BF16 or F64 is needed"
        )
    if not np.isfinite(numbers).all():
        raise TrainingError(
            f"{file}: the tensor {name!r} holds numbers that are not finite; its training went"
            " wrong"
        )
    return numbers.reshape(part["shape"])


def _factors(
    file: Path, layer: str, pair: Mapping[str, np.ndarray], config: Mapping[str, Any]
) -> LayerFactors:
    """The two factors of a layer, with PEFT's scale: alpha / r, or alpha / sqrt(r) for rsLoRA
    (Kalajdzievski 2023).
    """
    if set(pair) != {"A", "B"}:
        raise TrainingError(
            f"{file}: {layer} has only lora_{next(iter(pair))}; both factors are needed"
        )
    a, b = pair["A"], pair["B"]
    rank = _of_layer(config, "rank_pattern", "r", layer)
    if a.ndim != 2 or b.ndim != 2 or a.shape[0] != rank or b.shape[1] != rank:
        raise TrainingError(
            f"{file}: {layer} has factors of shape {a.shape} and {b.shape}; with rank {rank:g} they"
            " must be (rank, in), (out, rank)"
        )
    alpha = _of_layer(config, "alpha_pattern", "lora_alpha", layer)
    return LayerFactors(
        a=a, b=b, scale=alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)
    )


def _of_layer(config: Mapping[str, Any], pattern: str, otherwise: str, layer: str) -> float:
    """The layer's own value, if a pattern matches the end of its name, as in PEFT's
    `get_pattern_key`; else the config's.
    """
    own = (
        value
        for key, value in (config.get(pattern) or {}).items()
        if re.fullmatch(rf"(.*\.)?({key})", layer)
    )
    return float(next(own, config[otherwise]))
