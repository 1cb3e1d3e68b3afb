"""`embedded+adapter=PATH`: found, checked, named by its digest; every way it can be wrong is one line."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from simcounsel.embedded.opening import SMOLLM2
from simcounsel.engine.opening import check_models
from simcounsel.errors import ModelError, RunError
from simcounsel.llm.adapter import find_adapter
from simcounsel.llm.catalog import model_lines, needed_weights, open_chat, pinned, roles_for
from simcounsel.llm.prices import Prices
from simcounsel.specs.world_file import load_world
from tests.each import each

np = pytest.importorskip("numpy")
gguf = pytest.importorskip("gguf")
ROOT = Path(__file__).parents[2]
QUERY = {"blk.3.attn_q.weight.lora_a": (4, 576), "blk.3.attn_q.weight.lora_b": (576, 4)}


def gguf_file(
    file: Path,
    shapes: Mapping[str, tuple[int, ...]] = QUERY,
    *,
    arch: str = "llama",
    kind: str = "adapter",
    alpha: float | None = 8.0,
    fill: float = 0.0,
) -> Path:
    writer = gguf.GGUFWriter(file, arch)
    writer.add_type(kind)
    writer.add_string("adapter.type", "lora")
    if alpha is not None:
        writer.add_float32("adapter.lora.alpha", alpha)
    for name, shape in shapes.items():
        writer.add_tensor(name, np.full(shape, fill, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def refused(place: object) -> str:
    with pytest.raises(ModelError) as caught:
        open_chat(f"embedded+adapter={place}")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_or_the_folder_of_a_training_is_meant(tmp_path: Path) -> None:
    inner = tmp_path / "training" / "adapter"
    inner.mkdir(parents=True)
    (inner / "adapter_config.json").write_text("{}")
    for place in (tmp_path / "training", inner):
        assert f"not exported yet; simcounsel train export {place} --gguf" in refused(place)
    file = gguf_file(inner / "adapter.gguf")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    for place in (tmp_path / "training", inner, file):
        found = find_adapter(f"embedded+adapter={place}", SMOLLM2)
        assert (found.file, found.digest) == (file, digest)
        assert (
            pinned(f"embedded+adapter={place}")
            == f"embedded+adapter={place}#{digest}"
            == pinned(f"embedded+adapter={place}#{digest}")
        )
    assert open_chat(f"embedded+adapter={file}").name == f"embedded+adapter@{digest}"


def test_another_adapter_than_the_one_named_is_noticed(tmp_path: Path) -> None:
    name = pinned(f"embedded+adapter={gguf_file(tmp_path / 'a#b.gguf')}")
    open_chat(name)
    gguf_file(tmp_path / "a#b.gguf", fill=1.0)
    assert "another adapter (SHA-256" in refused(name.removeprefix("embedded+adapter="))


def test_whatever_is_wrong_is_said(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    assert "no such adapter; name a GGUF file" in refused(file)
    assert "holds no adapter.gguf" in refused(tmp_path)
    assert "named behind its model: embedded+adapter=PATH" in refused("")
    file.write_bytes(b"no model")
    assert refused(file).endswith("a.gguf: not a GGUF file")
    whole = gguf_file(file).read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert "cut off" in refused(file)
    assert "architecture 'qwen3'; SmolLM2-135M is 'llama'" in refused(gguf_file(file, arch="qwen3"))
    assert "no LoRA adapter (general.type is 'model')" in refused(gguf_file(file, kind="model"))
    assert "adapter.lora.alpha is None" in refused(gguf_file(file, alpha=None))
    assert "without a single tensor" in refused(gguf_file(file, {}))


@each(
    "shapes",
    [
        {"blk.3.attn_q.weight.lora_a": (4, 4096), "blk.3.attn_q.weight.lora_b": (4096, 4)},
        {"blk.30.attn_q.weight.lora_a": (4, 576), "blk.30.attn_q.weight.lora_b": (576, 4)},
        {"blk.3.attn_q.weight.lora_a": (4, 576), "blk.3.attn_q.weight.lora_b": (576, 8)},
        {"blk.3.attn_q.weight.lora_a": (4, 576)},
        {"blk.3.attn_q.weight": (576, 576)},
    ],
)
def test_an_adapter_of_another_model_is_refused(
    tmp_path: Path, shapes: dict[str, tuple[int, ...]]
) -> None:
    assert "is none of an adapter of SmolLM2-135M" in refused(
        gguf_file(tmp_path / "a.gguf", shapes)
    )


def test_other_words_after_embedded_are_no_model() -> None:
    for name in ("embedded+lora=a.gguf", "embedded+", "embedded:a"):
        with pytest.raises(ModelError, match="no model 'embedded"):
            open_chat(name)


def test_it_counts_as_the_embedded_model(tmp_path: Path) -> None:
    name = f"embedded+adapter={gguf_file(tmp_path / 'a.gguf')}"
    assert needed_weights(roles_for(name)) == ("smollm2", "minilm", "minilm-tokenizer")
    assert Prices.load().cost_usd(open_chat(name).name, 1, 1) == 0.0
    assert any(line.startswith("embedded+adapter=PATH ") for line in model_lines())


def test_in_a_file_the_path_begins_at_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "worlds").mkdir()
    (tmp_path / "tuned").mkdir()
    gguf_file(tmp_path / "tuned" / "adapter.gguf")
    tiny = (
        (ROOT / "worlds" / "tiny.yaml").read_text().replace("../personas", str(ROOT / "personas"))
    )
    tiny = "\n".join(line for line in tiny.splitlines() if not line.startswith("models:"))
    (tmp_path / "worlds" / "tiny.yaml").write_text(
        f"{tiny}\nmodels: {{reason: embedded+adapter=../tuned}}\n"
    )
    world = load_world(tmp_path / "worlds" / "tiny.yaml")
    assert world.models.reason == f"embedded+adapter={tmp_path / 'tuned'}"
    check_models(world)
    monkeypatch.chdir(tmp_path)
    check_models(load_world("worlds/tiny.yaml", **{"models.reason": "embedded+adapter=tuned"}))
    with pytest.raises((ModelError, RunError), match="no such adapter"):
        check_models(
            load_world("worlds/tiny.yaml", **{"models.reason": "embedded+adapter=../tuned"})
        )
