"""What a training on a GPU takes, at the size of Qwen2.5-7B: `python -m tests.benchmarks.gpu TOKENIZER OUT`.

The base has that model's shapes and drawn weights (seed 1): seconds and memory are those of the real one, losses tell nothing.
TOKENIZER is a folder with any Qwen2.5 tokenizer, such as the unpacked `local:qwen2.5-0.5b` in the cache. Each kind of step is taken in
this process, over 16 sessions of 512 tokens, half of them learned; the ratio to the plain bfloat16 step is printed. Then four clinics
train on the samples, by the command that users type.
"""

import argparse
import gc
import json
import shutil
import time
from pathlib import Path
from typing import Any

import torch
import yaml

from training.learning.base import load_base
from training.learning.examples import Piece, ProtectedRecord
from training.learning.gradients import ModelReading
from training.learning.site import reading_of
from training.learning.steps import Local, StepProtection
from training.recipe import Learning, Recipe

QWEN_7B = {
    "vocab_size": 152064,
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "tie_word_embeddings": False,
}
BATCH, TOKENS, STEPS = 16, 512, 4
KINDS: dict[str, tuple[bool, dict[str, Any]]] = {
    "bfloat16, plain": (False, {}),
    "bfloat16, DP-SGD": (True, {}),
    "bfloat16, DP-SGD, 1 at once": (True, {"at_once": 1}),
    "bfloat16, DP-SGD, 16 at once": (True, {"at_once": 16}),
    "bfloat16, DP-SGD, checkpointing": (True, {"checkpointing": True}),
    "4 bit, plain": (False, {"quantize": "4bit"}),
    "4 bit, DP-SGD": (True, {"quantize": "4bit"}),
    "4 bit, DP-SGD, checkpointing": (True, {"quantize": "4bit", "checkpointing": True}),
    "4 bit, DP-SGD, 8-bit AdamW": (True, {"quantize": "4bit", "optimizer": "adamw_8bit"}),
}


def make_base(tokenizer: Path, out: Path) -> None:
    """A folder like the published one, with drawn weights."""
    from transformers import AutoModelForCausalLM, Qwen2Config

    out.mkdir(parents=True)
    torch.manual_seed(1)
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(Qwen2Config(**QWEN_7B), dtype=torch.bfloat16)
    model.save_pretrained(out)
    for file in (*tokenizer.glob("*token*"), *tokenizer.glob("*.jinja")):
        shutil.copy(file, out)


def reading(base: Path, learning: Learning) -> ModelReading:
    """With fresh adapters, as a site has it."""
    loaded = load_base(
        str(base), device="cuda", precision=learning.precision, quantize=learning.quantize
    )
    recipe = Recipe(corpus="samples", privacy=None, base=str(base), learning=learning)
    return reading_of(loaded, recipe)


def stepping(here: ModelReading, learning: Learning, protected: bool) -> tuple[float, float]:
    """Seconds of a step, and the most memory that it held, in GB."""
    rng = torch.Generator().manual_seed(1)
    learned = torch.arange(TOKENS) >= TOKENS // 2
    records = [
        ProtectedRecord(
            str(at),
            (Piece(torch.randint(5, 150_000, (TOKENS,), generator=rng), learned, 2 / TOKENS, ""),),
        )
        for at in range(BATCH)
    ]
    protection = StepProtection(rate=1.0, expected=BATCH, clip=1.0, std=0.5) if protected else None
    local = Local(
        reading=here,
        records=records,
        learning=learning,
        key=(1, "gpu"),
        batch=BATCH,
        protection=protection,
        in_all=STEPS,
    )
    optimizer = local.optimizer()
    with local.watching():
        local.step(0, optimizer)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        began = time.monotonic()
        for number in range(1, STEPS):
            local.step(number, optimizer)
        torch.cuda.synchronize()
    return (time.monotonic() - began) / (STEPS - 1), torch.cuda.max_memory_allocated() / 1e9


def table(base: Path) -> list[dict[str, Any]]:
    """Every kind of step."""
    rows: list[dict[str, Any]] = []
    for name, (protected, told) in KINDS.items():
        learning = Learning(precision="bfloat16", max_tokens=TOKENS, learning_rate=1e-4, **told)
        row: dict[str, Any] = {"step": name}
        try:
            seconds, memory = stepping(reading(base, learning), learning, protected)
            row |= {"seconds": round(seconds, 3), "GB": round(memory, 1)}
            row["tokens a second"] = round(BATCH * TOKENS / seconds)
            row["to plain"] = round(seconds / rows[0]["seconds"], 2) if rows else 1.0
        except Exception as error:  # the other rows are still worth their time
            row["failed"] = f"{type(error).__name__}: {error}"[:300]
        gc.collect()
        torch.cuda.empty_cache()
        rows.append(row)
        print(json.dumps(row), flush=True)
    return rows


def clinics(base: Path, out: Path, name: str, **more: Any) -> None:
    """Four clinics, by the command."""
    from training.learning.command import federate

    told = {
        "corpus": "samples",
        "base": str(base),
        "deal": {"sites": 4},
        "rounds": 3,
        "batch_size": 8,
        "lora": {"train": "b"},
        "learning": {
            "precision": "bfloat16",
            "max_tokens": 1024,
            "learning_rate": 1e-4,
            "schedule": "cosine",
            "warmup": 0.1,
            **more,
        },
        "privacy": {"unit": "session", "clip": 1.0, "delta": 1e-3, "budget_epsilon": 8},
    }
    file = out / f"{name}.yaml"
    file.write_text(yaml.safe_dump(told), encoding="utf-8")
    torch.cuda.reset_peak_memory_stats()
    began = time.monotonic()
    federate(file, out / name)
    took, most = time.monotonic() - began, torch.cuda.max_memory_allocated() / 1e9
    print(f"{name}: {took:.0f} s in all, {most:.1f} GB at most", flush=True)
    gc.collect()
    torch.cuda.empty_cache()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("tokenizer", type=Path)
    asked.add_argument("out", type=Path)
    told = asked.parse_args()
    told.out.mkdir(parents=True, exist_ok=True)
    print(torch.cuda.get_device_name(), torch.__version__, flush=True)
    began = time.monotonic()
    make_base(told.tokenizer, told.out / "base")
    gc.collect()
    torch.cuda.empty_cache()
    print(f"base made in {time.monotonic() - began:.0f} s", flush=True)
    clinics(told.out / "base", told.out, "bfloat16")
    table(told.out / "base")
    clinics(told.out / "base", told.out, "four_bits", quantize="4bit")


if __name__ == "__main__":
    main()
