"""Adapters written for llama.cpp: names, order of rows, scale, and what is refused."""

import dataclasses
from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.llm.gguf import read_header
from tests.each import each
from tests.training.adapters.made import ALL, TINY, factors, peft_folder
from training.adapters.bases import Decoder, find_base
from training.adapters.llama_cpp import permute, tensors, write
from training.adapters.peft_folder import read_adapter
from training.errors import TrainingError

BASE = Decoder(
    architecture="llama", blocks=2, width=32, heads=4, kv_heads=2, head_width=8, inner=48
)


def inverse(b: np.ndarray, heads: int) -> np.ndarray:
    """As transformers reads q and k out of a GGUF (modeling_gguf_pytorch_utils, LlamaTensorProcessor)."""
    width = b.shape[0] // heads // 2
    return b.reshape(heads, width, 2, b.shape[1]).swapaxes(2, 1).reshape(b.shape)


def test_halves_of_each_head_become_neighbours() -> None:
    rows = np.array(
        [[0, 100], [1, 101], [2, 102], [3, 103], [4, 104], [5, 105], [6, 106], [7, 107]],
        dtype=np.float32,
    )
    assert permute(rows, 2)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert permute(rows, 1)[:, 0].tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert permute(rows, 2)[:, 1].tolist() == [100, 102, 101, 103, 104, 106, 105, 107]


@given(heads=st.integers(1, 5), half=st.integers(1, 6), rank=st.integers(1, 4))
def test_there_and_back_is_the_identity(heads: int, half: int, rank: int) -> None:
    b = np.arange(heads * 2 * half * rank, dtype=np.float32).reshape(heads * 2 * half, rank)
    assert np.array_equal(inverse(permute(b, heads), heads), b)


def test_the_product_is_llama_cpps_own_permutation_of_the_product() -> None:
    """convert_hf_to_gguf.py permutes the rows of the whole matrix; B's rows alone give the same."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 32)), rng.normal(size=(16, 3))
    whole = b @ a
    there = (
        whole.reshape(2, 2, whole.shape[0] // 2 // 2, *whole.shape[1:])
        .swapaxes(1, 2)
        .reshape(whole.shape)
    )
    assert np.allclose(permute(b, 2) @ a, there)


def test_the_file_holds_what_was_trained(tmp_path: Path) -> None:
    """q by the heads, k by the heads of keys, the rest as it is, nothing transposed."""
    made = factors()
    out = tmp_path / "there" / "adapter.gguf"
    assert write(read_adapter(peft_folder(tmp_path, made)), find_base("base", tmp_path), out) == 14
    reader = gguf.GGUFReader(out)
    assert reader.fields["general.architecture"].contents() == "llama"
    assert reader.fields["general.type"].contents() == "adapter"
    assert reader.fields["adapter.type"].contents() == "lora"
    assert reader.fields["adapter.lora.alpha"].contents() == 8.0
    found = {tensor.name: np.array(tensor.data) for tensor in reader.tensors}
    assert len(found) == 28
    layer = "base_model.model.model.layers.1."
    assert np.array_equal(
        found["blk.1.attn_q.weight.lora_a"], made[f"{layer}self_attn.q_proj.lora_A.weight"]
    )
    assert np.array_equal(
        inverse(found["blk.1.attn_q.weight.lora_b"], 4),
        made[f"{layer}self_attn.q_proj.lora_B.weight"],
    )
    assert np.array_equal(
        inverse(found["blk.1.attn_k.weight.lora_b"], 2),
        made[f"{layer}self_attn.k_proj.lora_B.weight"],
    )
    assert np.array_equal(
        found["blk.1.attn_v.weight.lora_b"], made[f"{layer}self_attn.v_proj.lora_B.weight"]
    )
    assert np.array_equal(
        found["blk.1.ffn_down.weight.lora_a"], made[f"{layer}mlp.down_proj.lora_A.weight"]
    )
    assert [path.name for path in out.parent.iterdir()] == ["adapter.gguf"]
    header = read_header(out)
    assert (header.architecture, header.metadata["adapter.lora.alpha"]) == ("llama", 8.0)
    assert header.shapes == {
        tensor.name: tuple(int(n) for n in tensor.shape) for tensor in reader.tensors
    }


def test_names_are_llama_cpps_own() -> None:
    for architecture in (gguf.MODEL_ARCH.LLAMA, gguf.MODEL_ARCH.QWEN2, gguf.MODEL_ARCH.QWEN3):
        known = gguf.get_tensor_name_map(architecture, 2)
        made = tensors(read_adapter_of(ALL), BASE)
        for layer in read_adapter_of(ALL).layers:
            assert f"{known.get_name(layer)}.weight.lora_a" in made


def read_adapter_of(parts: tuple[str, ...]):  # type: ignore[no-untyped-def]
    from training.adapters.peft_folder import LayerFactors, PeftAdapter

    made = factors(parts=parts)
    return PeftAdapter(
        folder=Path("a"),
        base="",
        alpha=8.0,
        layers={
            name.removeprefix("base_model.model.").removesuffix(".lora_A.weight"): LayerFactors(
                a=a, b=made[name.replace("lora_A", "lora_B")], scale=2.0
            )
            for name, a in made.items()
            if "lora_A" in name
        },
    )


def test_qwen_keeps_its_rows() -> None:
    adapter = read_adapter_of(("self_attn.q_proj",))
    same = adapter.layers["model.layers.0.self_attn.q_proj"].b
    assert np.array_equal(
        tensors(adapter, dataclasses.replace(BASE, architecture="qwen3"))[
            "blk.0.attn_q.weight.lora_b"
        ],
        same,
    )
    assert not np.array_equal(tensors(adapter, BASE)["blk.0.attn_q.weight.lora_b"], same)


@each(
    ("config", "scales"),
    [
        ({}, (2.0, 2.0)),
        ({"use_rslora": True}, (8 / 2, 8 / 2)),
        ({"rank_pattern": {"v_proj": 2}}, (2.0, 4.0)),
        ({"alpha_pattern": {"layers.0.self_attn.v_proj": 3}}, (2.0, 0.75)),
        ({"rank_pattern": {"v_proj": 2}, "use_rslora": True}, (4.0, 8 / np.sqrt(2))),
    ],
)
def test_llama_cpp_adds_what_peft_adds(
    tmp_path: Path, config: dict[str, object], scales: tuple[float, float]
) -> None:
    """llama.cpp: alpha / rank, rank being the columns of B, times B A (llama-adapter.h, get_scale)."""
    parts = ("self_attn.o_proj", "self_attn.v_proj")
    made = factors(parts=parts)
    if "rank_pattern" in config:
        made = {
            name: (array[:2] if "_A" in name else array[:, :2]).copy()
            if "v_proj" in name
            else array
            for name, array in made.items()
        }
    adapter = read_adapter(peft_folder(tmp_path, made, **config))
    found = tensors(adapter, BASE)
    for part, name, scale in zip(
        ("o_proj", "v_proj"), ("attn_output", "attn_v"), scales, strict=True
    ):
        a, b = (found[f"blk.0.{name}.weight.lora_{factor}"] for factor in "ab")
        peft = [
            made[f"base_model.model.model.layers.0.self_attn.{part}.lora_{factor}.weight"]
            for factor in "BA"
        ]
        assert np.allclose(adapter.alpha / b.shape[1] * b @ a, scale * peft[0] @ peft[1], atol=1e-6)


@pytest.mark.slow(3)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_scale_is_pefts_own(tmp_path: Path) -> None:
    """The same folder loaded by PEFT: rank and alpha patterns, rsLoRA."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    model = get_peft_model(
        LlamaForCausalLM(
            LlamaConfig(vocab_size=16, **{k: v for k, v in TINY.items() if k != "model_type"})
        ),
        LoraConfig(
            r=4,
            lora_alpha=6,
            use_rslora=True,
            target_modules=["q_proj", "v_proj", "down_proj"],
            rank_pattern={r"layers\.1\.mlp\.down_proj": 3, "v_proj": 2},
            alpha_pattern={"v_proj": 5},
            init_lora_weights="gaussian",
        ),
    )
    model.save_pretrained(str(tmp_path))
    adapter = read_adapter(tmp_path)
    assert len(adapter.layers) == 6
    for layer, mine in adapter.layers.items():
        theirs = model.get_submodule(f"base_model.model.{layer}")
        assert (mine.rank, mine.scale) == (
            theirs.r["default"],
            pytest.approx(theirs.scaling["default"]),
        )


def test_what_cannot_be_told_is_refused(tmp_path: Path) -> None:
    head = {
        f"base_model.model.lm_head.lora_{f}.weight": np.ones(s, np.float32)
        for f, s in (("A", (4, 32)), ("B", (16, 4)))
    }
    adapter = read_adapter(peft_folder(tmp_path, {**factors(), **head}))
    with pytest.raises(
        TrainingError, match=r"lm_head cannot be told to llama.cpp; it takes self_attn.q_proj"
    ):
        tensors(adapter, BASE)
    with pytest.raises(
        TrainingError, match=r"layers.1.mlp.down_proj and 6 more cannot be told .* of 1 blocks"
    ):
        tensors(read_adapter(peft_folder(tmp_path)), dataclasses.replace(BASE, blocks=1))
    with pytest.raises(
        TrainingError,
        match=r"down_proj goes from 48 to 32, in its base model from 64 to 32; wrong --base",
    ):
        tensors(read_adapter(peft_folder(tmp_path)), dataclasses.replace(BASE, inner=64))


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="cannot be written"):
        write(read_adapter_of(ALL), BASE, tmp_path / "file" / "adapter.gguf")
