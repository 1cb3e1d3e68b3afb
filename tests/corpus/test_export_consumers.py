"""Those who are to read our files read them: datasets, TRL's trainers, OpenAI's rules, LLaMA-Factory's description of data."""

import copy
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

from simcounsel.corpus.formats import FORMATS
from tests.corpus.stories import exported
from tests.each import each

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
"""The trainers' own warnings are not ours to repair."""
IGNORED = -100
"""The label of a token that no loss counts."""
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>"
    "{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] }}<|end|>{% endgeneration %}"
    "{% else %}{{ message['content'] }}<|end|>{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Words apart, learned from nothing but our stories; every character has a token, so decoding gives the text back."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE(unk_token=None))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"]
    made.train_from_iterator(
        ["What happened to you?"],
        trainers.BpeTrainer(
            vocab_size=300,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end|>", pad_token="<|pad|>")
    fast.chat_template = TEMPLATE
    return fast


@pytest.fixture
def model(tokenizer: Any) -> Any:
    """A Llama of some ten thousand weights, none of which has learned anything."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=4096,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def config(folder: Path, **more: Any) -> dict[str, Any]:
    """One step on the CPU, nothing saved or reported."""
    return {
        "output_dir": str(folder),
        "max_steps": 1,
        "per_device_train_batch_size": 2,
        "report_to": [],
        "use_cpu": True,
        "save_strategy": "no",
        "logging_strategy": "no",
        "max_length": None,
        "disable_tqdm": True,
        "bf16": False,
        **more,
    }


def rows(folder: Path, split: str = "train") -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (folder / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def loaded(folder: Path, kind: str, cache: Path, **more: Any) -> Any:
    from datasets import load_dataset

    return load_dataset(
        kind,
        data_files={"train": str(next(folder.glob("train.*")))},
        cache_dir=str(cache),
        split="train",
        **more,
    )


@each("format", FORMATS)
def test_datasets_reads_the_file(tmp_path: Path, format: str) -> None:
    folder = exported(tmp_path, format)
    kind = {"jsonl": "json", "txt": "text", "parquet": "parquet"}[FORMATS[format].suffix]
    found = loaded(
        folder, kind, tmp_path / "cache", **({"sample_by": "paragraph"} if kind == "text" else {})
    )
    written = json.loads((folder / "card.json").read_bytes())["files"][
        next(folder.glob("train.*")).name
    ]["rows"]
    assert found.num_rows == written
    if kind == "json":
        assert [_without_none(row) for row in found] == rows(folder)


def _without_none(value: Any) -> Any:
    """Arrow has every key everywhere; what a row did not have is None."""
    if isinstance(value, dict):
        return {key: _without_none(one) for key, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("format", ["openai", "trl", "parquet"])
def test_datasets_reads_the_folder_with_its_splits(tmp_path: Path, format: str) -> None:
    """The head of README.md names them."""
    from datasets import load_dataset

    folder = exported(tmp_path, format, shares="60,20,20", count=40)
    found = load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    card = json.loads((folder / "card.json").read_bytes())
    assert {name: part.num_rows for name, part in found.items()} == {
        name: part["rows"] for name, part in card["splits"].items()
    }


def test_the_hub_and_croissant_read_what_stands_beside_the_data(tmp_path: Path) -> None:
    from huggingface_hub import DatasetCard
    from mlcroissant import Dataset

    folder = exported(tmp_path, "openai", shares="60,20,20", count=40, licence="CC-BY-4.0")
    head = DatasetCard((folder / "README.md").read_text(encoding="utf-8")).data.to_dict()
    assert (head["license"], head["language"], head["size_categories"]) == (
        "cc-by-4.0",
        ["en"],
        ["n<1K"],
    )
    assert head["pretty_name"] == "40 counseling dialogues as training data (openai)"
    told = Dataset(jsonld=str(folder / "croissant.json")).metadata
    assert not told.issues.errors and told.license == ["CC-BY-4.0"]
    files = {one.id: one.sha256 for one in told.distribution}
    assert files == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("train.jsonl", "validation.jsonl", "test.jsonl")
    }


def spans(labels: list[int], tokenizer: Any) -> Iterator[str]:
    """What a loss counts, stretch by stretch."""
    run: list[int] = []
    for label in [*labels, IGNORED]:
        if label != IGNORED:
            run.append(label)
        elif run:
            yield tokenizer.decode(run)
            run = []


@pytest.mark.parametrize("side", ["counselor", "client"])
def test_sft_learns_the_completion_and_nothing_else(
    tmp_path: Path, tokenizer: Any, model: Any, side: str
) -> None:
    """`trl` with SFTTrainer as it comes: of each row the learner's one line, with its reasoning, and its end."""
    from trl import SFTConfig, SFTTrainer

    folder = exported(tmp_path, "trl", side=side, reasoning=True, tags=("skill",))
    trainer = SFTTrainer(
        model,
        args=SFTConfig(**config(tmp_path / "sft")),
        train_dataset=loaded(folder, "json", tmp_path / "cache"),
        processing_class=tokenizer,
    )
    learned = [list(spans(one["labels"], tokenizer)) for one in trainer.train_dataset]
    assert learned == [[row["completion"][0]["content"] + "<|end|>"] for row in rows(folder)]
    assert any("<think>" in line for one in learned for line in one) == (side == "counselor")
    assert trainer.train().training_loss > 0


@pytest.mark.parametrize("format", ["openai", "parquet"])
def test_sft_learns_all_lines_of_one_side(
    tmp_path: Path, tokenizer: Any, model: Any, format: str
) -> None:
    """A chat a row, with assistant_only_loss."""
    from trl import SFTConfig, SFTTrainer

    folder = exported(tmp_path, format)
    data = loaded(folder, {"openai": "json"}.get(format, format), tmp_path / "cache")
    trainer = SFTTrainer(
        model,
        args=SFTConfig(**config(tmp_path / "sft", assistant_only_loss=True)),
        train_dataset=data,
        processing_class=tokenizer,
    )
    told = [
        [
            message["content"] + "<|end|>"
            for message in row["messages"]
            if message["role"] == "assistant"
        ]
        for row in data
    ]
    assert [list(spans(one["labels"], tokenizer)) for one in trainer.train_dataset] == told
    assert trainer.train().training_loss > 0


def test_dpo_prefers_what_was_revised(tmp_path: Path, tokenizer: Any, model: Any) -> None:
    from trl import DPOConfig, DPOTrainer

    folder = exported(tmp_path, "trl-preference")
    reference = copy.deepcopy(model)
    trainer = DPOTrainer(
        model,
        reference,
        args=DPOConfig(**config(tmp_path / "dpo")),
        train_dataset=loaded(folder, "json", tmp_path / "cache"),
        processing_class=tokenizer,
    )
    for row, one in zip(rows(folder), trainer.train_dataset, strict=True):
        assert tokenizer.decode(one["chosen_ids"]) == row["chosen"][0]["content"] + "<|end|>"
        assert tokenizer.decode(one["rejected_ids"]) == "You should simply sleep more.<|end|>"
        assert tokenizer.decode(one["prompt_ids"]).endswith(
            row["prompt"][-1]["content"] + "<|end|><|assistant|>"
        )
    assert trainer.train().training_loss > 0


def openai_problems(file: Path) -> list[str]:
    """What OpenAI would refuse (its guide to supervised fine-tuning, and its cookbook's check of the chat format, 2025)."""
    problems = []
    lines = file.read_bytes().decode("utf-8").splitlines()
    if len(lines) < 10:
        problems.append(f"{len(lines)} examples; at least 10")
    if file.stat().st_size > 512 * 2**20:
        problems.append("more than 512 MB")
    for number, line in enumerate(lines, 1):
        row = json.loads(line)
        if (
            set(row) - {"messages", "tools", "parallel_tool_calls"}
            or not isinstance(row.get("messages"), list)
            or not row["messages"]
        ):
            problems.append(f"{number}: keys {sorted(row)}")
            continue
        messages = row["messages"]
        for message in messages:
            if set(message) - {"role", "content", "name", "weight", "tool_calls", "tool_call_id"}:
                problems.append(f"{number}: keys of a message {sorted(message)}")
            if message.get("role") not in ("system", "user", "assistant", "tool"):
                problems.append(f"{number}: role {message.get('role')}")
            if not isinstance(message.get("content"), str) or not message["content"].strip():
                problems.append(f"{number}: no content")
            if "weight" in message and (
                message["role"] != "assistant" or message["weight"] not in (0, 1)
            ):
                problems.append(f"{number}: weight {message['weight']} of {message['role']}")
        if messages[-1]["role"] != "assistant":
            problems.append(f"{number}: ends on {messages[-1]['role']}")
        if not any(
            message["role"] == "assistant" and message.get("weight", 1) == 1 for message in messages
        ):
            problems.append(f"{number}: nothing to learn")
        if sum(len(message["content"]) for message in messages) / 4 > 65_536:
            problems.append(f"{number}: about more than 65,536 tokens")
        if any(message["role"] == "system" for message in messages[1:]):
            problems.append(f"{number}: a system message that is not the first")
    return problems


@pytest.mark.parametrize(
    "more", [{}, {"side": "client"}, {"reasoning": True, "tags": ("emotion", "skill", "stage")}]
)
def test_openai_takes_it(tmp_path: Path, more: dict[str, Any]) -> None:
    assert openai_problems(exported(tmp_path, "openai", **more) / "train.jsonl") == []


@each(
    ("row", "problem"),
    [
        ({"messages": [{"role": "user", "content": "Hi."}]}, "ends on user"),
        ({"messages": [{"role": "assistant", "content": " "}]}, "no content"),
        ({"messages": [{"role": "assistant", "content": "Hi.", "weight": 0.5}]}, "weight"),
        ({"messages": [{"role": "gpt", "content": "Hi."}]}, "role gpt"),
        ({"messages": [{"role": "assistant", "content": "Hi."}], "id": 1}, "keys"),
        ({"messages": [{"role": "assistant", "content": "Hi.", "weight": 0}]}, "nothing to learn"),
    ],
)
def test_the_check_of_openais_rules_sees_what_is_wrong(
    tmp_path: Path, row: dict[str, Any], problem: str
) -> None:
    """Else it would prove nothing."""
    file = tmp_path / "x.jsonl"
    file.write_text((json.dumps(row) + "\n") * 10)
    assert any(problem in told for told in openai_problems(file))


COLUMNS = {
    "prompt",
    "query",
    "response",
    "history",
    "messages",
    "system",
    "tools",
    "images",
    "videos",
    "audios",
    "chosen",
    "rejected",
    "kto_tag",
}
TAGS = {
    "role_tag",
    "content_tag",
    "user_tag",
    "assistant_tag",
    "observation_tag",
    "function_tag",
    "system_tag",
}
KEYS = {
    "file_name",
    "formatting",
    "ranking",
    "subset",
    "split",
    "folder",
    "num_samples",
    "columns",
    "tags",
}


@each("format", [name for name, form in FORMATS.items() if form.dataset_info])
@each("side", ["counselor", "client"])
def test_llama_factory_finds_its_way(tmp_path: Path, format: str, side: str) -> None:
    """dataset_info.json as its data/README.md describes it; each row as its converters demand: the user at odd, the assistant at even
    places, pairs after a user's message. Rows that do not fit it would skip."""
    if format == "sharegpt-preference" and side == "client":
        pytest.skip("no client's line was revised")
    folder = exported(tmp_path, format, side=side)
    info = json.loads((folder / "dataset_info.json").read_bytes())
    assert set(info) == {"simcounsel_train"}
    one = info["simcounsel_train"]
    assert (
        set(one) <= KEYS
        and set(one.get("columns", {})) <= COLUMNS
        and set(one.get("tags", {})) <= TAGS
    )
    assert (folder / one["file_name"]).is_file() and one.get("formatting", "alpaca") in (
        "alpaca",
        "sharegpt",
    )
    data = loaded(folder, "parquet" if format == "parquet" else "json", tmp_path / "cache")
    assert set(one["columns"].values()) <= set(data.column_names)
    for row in data:
        (_alpaca_fits if one.get("formatting", "alpaca") == "alpaca" else _sharegpt_fits)(row, one)


def _alpaca_fits(row: dict[str, Any], info: dict[str, Any]) -> None:
    assert row["instruction"] and row["output"] and row["system"]
    assert all(
        len(pair) == 2 and all(isinstance(text, str) and text for text in pair)
        for pair in row["history"]
    )


def _sharegpt_fits(row: dict[str, Any], info: dict[str, Any]) -> None:
    tags = {
        "role_tag": "from",
        "content_tag": "value",
        "user_tag": "human",
        "assistant_tag": "gpt",
        "system_tag": "system",
        **info.get("tags", {}),
    }
    messages = row[info["columns"]["messages"]]
    if messages[0][tags["role_tag"]] == tags["system_tag"]:
        messages = messages[1:]
    else:
        assert row[info["columns"]["system"]]
    roles = [message[tags["role_tag"]] for message in messages]
    assert roles == [
        tags["user_tag"] if number % 2 == 0 else tags["assistant_tag"]
        for number in range(len(roles))
    ]
    assert len(roles) % 2 == (1 if info.get("ranking") else 0)
    assert all(message[tags["content_tag"]] for message in messages)
    if info.get("ranking"):
        for side in ("chosen", "rejected"):
            assert (
                row[info["columns"][side]][tags["role_tag"]] == tags["assistant_tag"]
                and row[info["columns"][side]][tags["content_tag"]]
            )
