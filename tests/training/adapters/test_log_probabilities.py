"""The written adapter in llama.cpp against PEFT, by log-probabilities: a strong adapter would hide rows in a wrong order."""

from pathlib import Path

import numpy as np
import pytest

from tests.training.adapters.made import ALL, SMOLLM2, factors, peft_folder
from training.adapters import llama_cpp
from training.adapters.bases import find_base
from training.adapters.peft_folder import read_adapter

pytestmark = [
    pytest.mark.weights,
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
PROMPT = (
    "Mara tells her counselor how she has slept.\nCounselor: How was your week?\nMara: I lay awake, and in the morning I was too tired to go to "
    "the lecture.\nCounselor: What went through your mind while you lay awake?\nMara:"
)


def by_torch(model: object, ids: object) -> np.ndarray:
    import torch

    with torch.no_grad():
        found: np.ndarray = torch.log_softmax(model(ids).logits[0, -1].float(), -1).numpy()  # type: ignore[operator]
    return found


def mean_difference(adapter: Path | None, expected: np.ndarray, tokenizer: object) -> float:
    """Mean |difference| of the natural log-probabilities of llama.cpp's 200 likeliest next tokens."""
    from simcounsel.llm.llama import Llama
    from simcounsel.llm.weights import path_of

    llama = Llama(path_of("smollm2"), adapter=adapter, context_tokens=256)
    top = dict(
        llama.complete(PROMPT, max_tokens=2, temperature=0, seed=0, n_probs=200).tokens[0].top
    )
    llama.close()
    ids = {text: tokenizer.encode(text, add_special_tokens=False) for text in top}  # type: ignore[attr-defined]
    found = [
        abs(expected[ids[text][0]] - logprob)
        for text, logprob in top.items()
        if len(ids[text]) == 1
    ]
    assert len(found) > 150
    return float(np.mean(found))


@pytest.mark.slow(17)
def test_llama_cpp_and_peft_agree_as_well_as_without_an_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is quantisation: llama.cpp computes with 8-bit activations. Rows left as PEFT has them stand out."""
    import torch
    from peft import PeftModel

    from training.learning.base import load_base

    torch.set_num_threads(1)
    peft_folder(
        tmp_path,
        factors(SMOLLM2, rank=8, size=0.08, seed=3),
        SMOLLM2,
        r=8,
        lora_alpha=16,
        target_modules=[part.split(".")[1] for part in ALL],
    )
    adapter, shape = read_adapter(tmp_path), find_base("embedded", tmp_path)
    assert shape == find_base("base", tmp_path)
    llama_cpp.write(adapter, shape, tmp_path / "right.gguf")
    monkeypatch.setattr(llama_cpp, "permute", lambda b, heads: b)
    llama_cpp.write(adapter, shape, tmp_path / "wrong.gguf")

    base = load_base("embedded", device="cpu")
    ids = base.tokenizer(PROMPT, return_tensors="pt").input_ids
    plain = by_torch(base.model, ids)
    tuned = by_torch(PeftModel.from_pretrained(base.model, str(tmp_path)), ids)
    moved = np.abs(tuned - plain)[np.argsort(-plain)[:200]].mean()
    without = mean_difference(None, plain, base.tokenizer)
    right = mean_difference(tmp_path / "right.gguf", tuned, base.tokenizer)
    wrong = mean_difference(tmp_path / "wrong.gguf", tuned, base.tokenizer)
    assert moved > 0.3
    assert right < 1.5 * without
    assert wrong > 3 * right
