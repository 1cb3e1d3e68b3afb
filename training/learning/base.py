"""The model that is adapted, frozen, and the adapters on it.

`embedded` is SmolLM2-135M-Instruct as the engine runs it, `local:qwen2.5-0.5b` and
`local:qwen2.5-1.5b` are the models of those names: transformers reads the GGUF, which takes half a
minute and more, so a dequantized copy is kept beside it. Any other word is a Hugging Face folder or
name.
"""

import hashlib
import importlib
import logging
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from simcounsel.cache import cache_dir
from simcounsel.llm.weights import WEIGHTS, path_of
from training.adapters.bases import pinned_base
from training.errors import TrainingError
from training.learning.processes import told
from training.learning.quiet import quietly
from training.recipe import Learning, Lora

UNPACKED_GB = {"smollm2": 0.6, "qwen2.5-0.5b": 2.6, "qwen2.5-1.5b": 7.2}
"""What a dequantized copy takes, by pinned weights that can be a base."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class AdaptedBase:
    """The model that is adapted."""

    model: Any
    """Frozen, on its device, in evaluation mode."""
    tokenizer: Any
    """None where only the shapes were loaded."""
    name: str
    """As in the recipe."""
    digest: str
    """Of its files (see `digest_of`)."""

    def said(self) -> dict[str, str]:
        """As it is in a manifest."""
        return {"name": self.name, "digest": self.digest}


def load_base(
    name: str, *, device: str = "auto", precision: str = "float32", quantize: str = "none"
) -> AdaptedBase:
    """Load the frozen base onto its device. TrainingError names what is missing."""
    where = device_of(device)
    folder = _place(name)
    options: dict[str, Any] = {"dtype": getattr(torch, precision)}
    if quantize == "4bit":
        options["quantization_config"] = _four_bits(where, precision)
        options["device_map"] = {"": where}
    tokenizer = load_tokenizer(name)
    try:
        with quietly():
            model: Any = AutoModelForCausalLM.from_pretrained(
                str(folder), trust_remote_code=False, **options
            )
    except (OSError, ValueError) as error:
        raise _not_loaded(name, error) from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.requires_grad_(False)
    model.eval()
    return AdaptedBase(
        model=model if quantize == "4bit" else model.to(where),
        tokenizer=tokenizer,
        name=name,
        digest=digest_of(Path(folder)),
    )


def load_tokenizer(name: str) -> Any:
    """The base's tokenizer. TrainingError names what is missing, such as a chat template."""
    try:
        with quietly():
            found = AutoTokenizer.from_pretrained(str(_place(name)), trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise _not_loaded(name, error) from error
    if not getattr(found, "chat_template", None):
        raise TrainingError(
            f"base: {name}: its tokenizer has no chat template that would tell turns apart; take an"
            " instruct model"
        )
    return found


def load_shapes(name: str, learning: Learning) -> AdaptedBase:
    """The base without its numbers, from its configuration alone: enough to draw the adapters of
    any seed just as a site draws them, without the memory or the GPU that the model takes.
    """
    folder = _place(name)
    # a base packed into 4 bits leaves adapters as they were drawn, in float32
    dtype = torch.float32 if learning.quantize == "4bit" else getattr(torch, learning.precision)
    try:
        with quietly():
            config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
            with torch.device("meta"):
                model: Any = AutoModelForCausalLM.from_config(
                    config, dtype=dtype, trust_remote_code=False
                )
    except (OSError, ValueError) as error:
        raise _not_loaded(name, error) from error
    for module in model.modules():
        for key, value in list(module.named_parameters(recurse=False)):
            zeros = torch.zeros((), dtype=value.dtype).expand(value.shape)  # one number in memory
            setattr(module, key, torch.nn.Parameter(zeros, requires_grad=False))
    return AdaptedBase(model=model, tokenizer=None, name=name, digest=digest_of(Path(folder)))


def _place(name: str) -> Path | str:
    """Where the base's files lie: a folder, or a name on a hub."""
    key = pinned_base(name)
    return unpacked(key) if key else name


def _not_loaded(name: str, error: Exception) -> TrainingError:
    first = str(error).strip().splitlines()[0]
    try:
        own_code = "auto_map" in (Path(name) / "config.json").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        own_code = False
    own = "; code that its config.json names (`auto_map`) is never run" if own_code else ""
    return TrainingError(
        f"base: {name}: cannot be loaded ({first}); name `embedded`, `local:qwen2.5-0.5b`, or a"
        f" folder with config.json and the rest{own}"
    )


def load_for(recipe_base: str, learning: Learning, device: str) -> AdaptedBase:
    """The base as a recipe wants it."""
    return load_base(
        recipe_base, device=device, precision=learning.precision, quantize=learning.quantize
    )


def device_of(word: str) -> torch.device:
    """`auto` is the GPU where there is one, else the CPU. Of several processes each has its own."""
    if word == "auto":
        word = "cuda" if torch.cuda.is_available() else "cpu"
    if word == "cuda":
        word = f"cuda:{told('LOCAL_RANK', 0)}"
    try:
        device = torch.device(word)
    except RuntimeError:
        raise TrainingError(f"device: {word}: no such device; take auto, cpu or cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise TrainingError(
            f"device: {word}: this machine, or this build of torch ({torch.__version__}), has no"
            " GPU; take `device: cpu`"
        )
    return device


def bitsandbytes(key: str, instead: str, device: torch.device) -> Any:
    """The package, which must run on a GPU. TrainingError names `key`, and what to take instead."""
    if device.type != "cuda":
        raise TrainingError(f"{key} needs a GPU; take `{instead}`")
    try:
        return importlib.import_module("bitsandbytes")
    except ImportError as error:
        raise TrainingError(
            f"{key} needs the package bitsandbytes, which is missing; pip install -e"
            f" '.[train,gpu]', or take `{instead}`"
        ) from error


def _four_bits(device: torch.device, precision: str) -> Any:
    bitsandbytes("learning.quantize: 4bit", "quantize: none", device)
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=getattr(torch, precision),
    )


def unpacked(key: str) -> Path:
    """The dequantized copy of pinned weights, made on first use, named after the first twelve
    digits of the GGUF's SHA-256.
    """
    one = WEIGHTS[key]
    folder = cache_dir() / f"{key}-dequantized-{one.sha256[:12]}"
    if (folder / "config.json").is_file():
        return folder
    gguf = path_of(key)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / "config.json").is_file():
            log.warning(
                "unpacking %s for training, once; it takes half a minute or more, and %.1f GB in"
                " the cache",
                one.model,
                UNPACKED_GB[key],
            )
            _unpack(gguf, folder, UNPACKED_GB[key])
    return folder


def _unpack(gguf: Path, folder: Path, size_gb: float) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking-") as place:
        try:
            with quietly():
                tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
                model: Any = AutoModelForCausalLM.from_pretrained(
                    str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32
                )
                model.hf_quantizer = None  # save_pretrained refuses what came out of a GGUF
                del model.config.quantization_config
                model.is_quantized = False
                tokenizer.save_pretrained(place)
                model.save_pretrained(place)
        except OSError as error:
            raise TrainingError(
                f"{folder}: {gguf.name} cannot be unpacked ({error}); it needs {size_gb:.1f} GB"
                " there"
            ) from error
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(place, folder)
        Path(place).mkdir()  # for the context manager to remove


def digest_of(folder: Path) -> str:
    """SHA-256 over the names, sizes and first megabytes of a model's files; '' for a name on a
    hub.
    """
    files = sorted(
        file
        for file in folder.glob("*")
        if file.suffix in (".json", ".safetensors", ".jinja") and file.is_file()
    )
    if not files:
        return ""
    made = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            made.update(f"{file.name}:{file.stat().st_size}:".encode() + opened.read(1 << 20))
    return made.hexdigest()


def with_adapters(base: AdaptedBase, lora: Lora, *, seed: int) -> PeftModel:
    """The base with fresh adapters: A drawn by the seed, B zero. The base must be on its device
    already: moved afterwards, Opacus' hooks would watch parameters that nobody trains.
    """
    with torch.random.fork_rng(devices=[]), quietly():
        torch.manual_seed(seed)
        try:
            model = get_peft_model(base.model, _config(lora, lora.rank))
        except ValueError as error:
            raise TrainingError(
                f"lora.targets: {', '.join(lora.targets)}: {str(error).splitlines()[0]}"
            ) from error
    _choose(model, lora)
    return model


def change_rank(model: PeftModel, lora: Lora, rank: int) -> None:
    """Give the model adapters of another rank, in place of those it has. Their numbers are to be
    set by the caller.
    """
    if getattr(model.peft_config["default"], "r", None) == rank:
        return
    with quietly():
        model.delete_adapter("default")
        model.add_adapter("default", _config(lora, rank))
        model.set_adapter("default")
    _choose(model, lora)


def _config(lora: Lora, rank: int) -> LoraConfig:
    alpha: Any = int(lora.alpha) if lora.alpha == int(lora.alpha) else lora.alpha
    return LoraConfig(
        r=rank,
        lora_alpha=alpha,
        lora_dropout=lora.dropout,
        target_modules=list(lora.targets),
        bias="none",
        task_type="CAUSAL_LM",
    )


def _choose(model: PeftModel, lora: Lora) -> None:
    """Train B, and A where both factors are trained."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("lora_B" in name or ("lora_A" in name and lora.train == "both"))
