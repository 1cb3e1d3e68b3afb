"""Adapters and bases that are missing, foreign, cut off or more than plain LoRA: one line each, never a traceback."""

import json
from pathlib import Path

import gguf
import numpy as np
import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from simcounsel.errors import ModelError, SimcounselError
from simcounsel.llm.gguf import read_header
from tests.each import each
from tests.training.adapters.made import TINY, factors, peft_folder
from training.adapters.bases import Decoder, find_base
from training.adapters.command import register
from training.adapters.llama_cpp import write
from training.adapters.peft_folder import locate, read_adapter
from training.errors import TrainingError

NAME = "base_model.model.model.layers.0.self_attn.q_proj"


def one_line(error: BaseException) -> str:
    assert "\n" not in str(error)
    return str(error)


@each(
    ("config", "words"),
    [
        ({"peft_type": "IA3"}, "peft_type is 'IA3'; only LORA"),
        ({"use_dora": True}, "use_dora is True, and only plain LoRA"),
        ({"bias": "lora_only"}, "bias is 'lora_only'"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save is"),
        ({"init_lora_weights": "pissa"}, "'pissa', which changes the base model's own weights"),
        ({"fan_in_fan_out": True}, "fan_in_fan_out"),
        ({"lora_alpha": 0}, "lora_alpha is 0; it must be a number above 0"),
        ({"r": None}, "r is None"),
        ({"r": 8}, r"factors of shape \(4, 48\) and \(32, 4\); with rank 8"),
        ({"rank_pattern": {"(": 2}}, r"rank_pattern is"),
        ({"rank_pattern": {"q_proj": 0}}, r"rank_pattern is"),
    ],
)
def test_more_or_other_than_plain_lora_is_refused(
    tmp_path: Path, config: dict[str, object], words: str
) -> None:
    with pytest.raises(TrainingError, match=words) as caught:
        read_adapter(peft_folder(tmp_path, **config))
    one_line(caught.value)


@each(
    ("tensors", "words"),
    [
        ({}, "holds no tensors"),
        ({f"{NAME}.lora_A.weight": np.ones((4, 32), np.float32)}, "only lora_A; both factors"),
        (
            {f"{NAME}.lora_magnitude_vector": np.ones(32, np.float32)},
            "is no LoRA factor of a linear layer",
        ),
        ({f"{NAME}.lora_A.weight": np.ones((4, 32), np.int8)}, "type I8"),
        ({f"{NAME}.lora_A.weight": np.full((4, 32), np.nan, np.float32)}, "not finite"),
        (
            {
                f"{NAME}.lora_A.weight": np.ones(4, np.float32),
                f"{NAME}.lora_B.weight": np.ones((32, 4), np.float32),
            },
            "factors of shape",
        ),
    ],
)
def test_wrong_tensors_are_named(
    tmp_path: Path, tensors: dict[str, np.ndarray], words: str
) -> None:
    with pytest.raises(TrainingError, match=words) as caught:
        read_adapter(peft_folder(tmp_path, tensors))
    one_line(caught.value)


def test_half_precision_is_read(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
    from safetensors.torch import save_file

    made = {name: torch.from_numpy(array) for name, array in factors().items()}
    peft_folder(tmp_path)
    save_file(
        {name: tensor.to(torch.bfloat16) for name, tensor in made.items()},
        str(tmp_path / "adapter_model.safetensors"),
    )
    layers = read_adapter(tmp_path).layers
    want = made[f"{NAME}.lora_B.weight"].to(torch.bfloat16).to(torch.float32).numpy()
    assert np.array_equal(layers["model.layers.0.self_attn.q_proj"].b, want)


def test_a_trainings_folder_means_the_adapter_in_it(tmp_path: Path) -> None:
    inner = peft_folder(tmp_path / "training" / "adapter")
    assert locate(tmp_path / "training") == inner
    with pytest.raises(
        TrainingError,
        match="no adapter: neither it nor its folder adapter/ holds adapter_config.json",
    ):
        locate(tmp_path)
    (inner / "adapter_model.safetensors").unlink()
    with pytest.raises(TrainingError, match="cannot be read"):
        read_adapter(inner)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_cut_off_or_damaged_files_are_one_line(tmp_path: Path, data: st.DataObject) -> None:
    """Any prefix of any of the three files, and any byte changed: read, or refused by an error of ours."""
    folder = peft_folder(tmp_path, factors(parts=("self_attn.q_proj",)))
    made = tmp_path / "whole.gguf"
    write(read_adapter(folder), find_base("base", folder), made)
    file = data.draw(
        st.sampled_from(
            [folder / "adapter_config.json", folder / "adapter_model.safetensors", made]
        )
    )
    whole = file.read_bytes()
    at = data.draw(st.integers(0, min(len(whole), 900) - 1))
    damaged = (
        whole[:at]
        if data.draw(st.booleans())
        else whole[:at] + bytes([data.draw(st.integers(0, 255))]) + whole[at + 1 :]
    )
    file.write_bytes(damaged)
    try:
        if file == made:
            read_header(made)
        else:
            read_adapter(folder)
    except SimcounselError as error:
        one_line(error)


def test_a_gguf_file_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    whole = tmp_path / "whole.gguf"
    write(read_adapter(peft_folder(tmp_path)), find_base("base", tmp_path), whole)
    cut = tmp_path / "cut.gguf"
    for size, words in (
        (10, "cut off"),
        (whole.stat().st_size - 1, "cut off: it is shorter than its tensors"),
        (0, "not a GGUF file"),
    ):
        cut.write_bytes(whole.read_bytes()[:size])
        with pytest.raises(ModelError, match=words):
            read_header(cut)
    cut.write_bytes(b"PK" + whole.read_bytes())
    with pytest.raises(ModelError, match="not a GGUF file"):
        read_header(cut)
    with pytest.raises(ModelError, match="cannot be read"):
        read_header(tmp_path)


def test_a_base_is_found_by_config_or_gguf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = peft_folder(tmp_path)
    want = Decoder(
        architecture="llama", blocks=2, width=32, heads=4, kv_heads=2, head_width=8, inner=48
    )
    assert find_base("base", folder) == find_base(str(folder / "base"), Path("elsewhere")) == want
    writer = gguf.GGUFWriter(tmp_path / "base.gguf", "llama")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    writer.add_block_count(2)
    writer.add_embedding_length(32)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_feed_forward_length(48)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert find_base("base.gguf", tmp_path) == want
    fetched: list[str] = []

    def path_of(key: str) -> Path:
        fetched.append(key)
        return tmp_path / "base.gguf"

    monkeypatch.setattr("training.adapters.bases.path_of", path_of)
    for name in ("embedded", "local:qwen2.5-0.5b", "local:qwen2.5-1.5b"):
        assert find_base(name, tmp_path) == want
    assert fetched == ["smollm2", "qwen2.5-0.5b", "qwen2.5-1.5b"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            {"model_type": "gpt2"},
            "architecture 'gpt2'; adapters can be written for llama, qwen2, qwen3",
        ),
        ({"num_attention_heads": None}, "num_attention_heads is None; a whole number"),
        ({"num_key_value_heads": 3}, "do not fit each other"),
    ],
)
def test_a_base_that_is_not_supported_is_refused(
    tmp_path: Path, config: dict[str, object], words: str
) -> None:
    folder = peft_folder(tmp_path, base={**TINY, **config} if "model_type" in config else TINY)
    (folder / "base" / "config.json").write_text(json.dumps({**TINY, **config}))
    with pytest.raises(TrainingError, match=words):
        find_base("base", folder)


def test_a_base_that_is_not_here_is_asked_for(tmp_path: Path) -> None:
    for name in ("nobody/has-this-model", "", "../../no\tsuch thing"):
        with pytest.raises(TrainingError, match="is not here; say where: --base FOLDER"):
            find_base(name, tmp_path)


def test_the_command_writes_beside_the_adapter_or_where_it_is_told(tmp_path: Path) -> None:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    folder = peft_folder(tmp_path / "training" / "adapter")
    said = CliRunner().invoke(
        app, ["export", str(tmp_path / "training"), "--gguf"], catch_exceptions=False
    )
    assert (
        said.exit_code == 0 and "14 layers" in said.output and "adapters of rank 4" in said.output
    )
    assert "--model local:BASE.gguf+adapter=" in said.output
    assert (folder / "adapter.gguf").is_file()
    out = tmp_path / "here.gguf"
    assert (
        CliRunner()
        .invoke(
            app, ["export", str(folder), "--gguf", "-o", str(out), "--base", str(folder / "base")]
        )
        .exit_code
        == 0
    )
    assert out.read_bytes() == (folder / "adapter.gguf").read_bytes()
    with pytest.raises(TrainingError, match="say the form; there is --gguf"):
        CliRunner().invoke(app, ["export", str(folder)], catch_exceptions=False)
