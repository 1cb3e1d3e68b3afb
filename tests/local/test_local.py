"""`local:` models: names, files, adapters; forms, ratings and prompts of a real one in this process."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from simcounsel.danger.hearing.judging import RiskAnswer, RiskFacts
from simcounsel.engine.opening import begin_run, with_digests
from simcounsel.errors import ModelError
from simcounsel.llm.catalog import needed_weights, open_chat, pinned, placeless, roles_for
from simcounsel.llm.llama import Llama, Loading
from simcounsel.llm.models import ChatModel, Failure
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import Question
from simcounsel.llm.weights import path_of
from simcounsel.local.model import grammar_of, threads
from simcounsel.local.opening import fingerprint
from simcounsel.specs.load import read_yaml
from simcounsel.specs.prompt_set import prompts_named
from tests.commands import Command
from tests.each import each
from tests.embedded.test_adapter import gguf_file
from tests.stage import tiny

pytest.importorskip("gguf")


def model_file(file: Path, fill: float = 0.0) -> Path:
    return gguf_file(file, {"blk.3.attn_q.weight": (8, 4)}, kind="model", fill=fill)


def refused(name: str) -> str:
    with pytest.raises(ModelError) as caught:
        open_chat(name)
    return str(caught.value)


# names and files


@each(
    ("name", "said"),
    [
        ("local:qwen2.5", "there are local:qwen2.5-0.5b, local:qwen2.5-1.5b and local:PATH.gguf"),
        ("local:", "there are local:qwen2.5-0.5b"),
        ("local:/no/where.gguf", "/no/where.gguf: cannot be read (No such file"),
        ("local:qwen2.5-1.5b+adapter=/no/where.gguf", "no such adapter"),
    ],
)
def test_a_name_that_means_nothing_says_what_there_is(name: str, said: str) -> None:
    assert said in refused(name)


def test_a_file_is_known_by_its_fingerprint(tmp_path: Path) -> None:
    file = model_file(tmp_path / "own.gguf")
    name = f"local:{file}"
    digest = fingerprint(file)
    assert open_chat(name).name == f"local:own.gguf@{digest}"
    assert pinned(name) == pinned(pinned(name)) == f"{name}#{digest}"
    assert placeless(pinned(name)) == f"local:#{digest}"
    model_file(file, fill=1.0)
    assert fingerprint(file) != digest
    assert "another file" in refused(f"{name}#{digest}")


def test_a_fingerprint_is_of_both_ends_and_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simcounsel.local.opening.ENDS", 4)
    seen = set()
    for content in (b"abcd--abcd", b"abcd----abcd", b"abcx--abcd", b"abcd--abcx"):
        (tmp_path / "own.gguf").write_bytes(content)
        seen.add(fingerprint(tmp_path / "own.gguf"))
    assert len(seen) == 4 and all(len(one) == 16 for one in seen)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    assert "type 'adapter', no model" in refused(f"local:{gguf_file(tmp_path / 'a.gguf')}")
    (tmp_path / "b.gguf").write_bytes(b"no model")
    assert "not a GGUF file" in refused(f"local:{tmp_path / 'b.gguf'}")


def test_an_adapter_must_fit_its_base(tmp_path: Path) -> None:
    file = model_file(tmp_path / "own.gguf")
    shapes = {"blk.3.attn_q.weight.lora_a": (2, 4), "blk.3.attn_q.weight.lora_b": (8, 2)}
    fits = gguf_file(tmp_path / "fits.gguf", shapes)
    name = f"local:{file}+adapter={fits}"
    assert (
        open_chat(name).name.startswith("local:own.gguf@") and "+adapter@" in open_chat(name).name
    )
    assert placeless(pinned(name)).count("#") == 2 and str(tmp_path) not in placeless(pinned(name))
    shapes["blk.3.attn_q.weight.lora_b"] = (9, 2)
    other = gguf_file(tmp_path / "other.gguf", shapes)
    assert "none of an adapter of local:" in refused(f"local:{file}+adapter={other}")


def test_paths_in_a_file_are_seen_from_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "worlds" / "one.yaml"
    file.parent.mkdir()
    file.write_text(
        "- local:own.gguf\n- local:qwen2.5-1.5b+adapter=../a\n- local:qwen2.5-0.5b\n- 'local: news'\n"
        "- embedded+adapter=b.gguf\n"
    )
    assert read_yaml(file)[0] == [
        f"local:{tmp_path}/worlds/own.gguf",
        f"local:qwen2.5-1.5b+adapter={tmp_path}/a",
        "local:qwen2.5-0.5b",
        "local: news",
        f"embedded+adapter={tmp_path}/worlds/b.gguf",
    ]


def test_what_it_needs_and_costs() -> None:
    name = "local:qwen2.5-1.5b"
    assert needed_weights(roles_for(name)) == ("qwen2.5-1.5b", "minilm", "minilm-tokenizer")
    assert needed_weights({"reason": "local:/a/b.gguf"}) == ()
    assert Prices.load().cost_usd(name, 1000, 1000) == 0 and Prices.load().in_process(name)


def test_the_small_ones_leave_danger_to_the_rules(tmp_path: Path) -> None:
    """And answer without their weights then; a file of the user's own is asked."""
    fallback = RiskAnswer(level="low", kinds=["suicide"])
    question: Question[Any] = Question(
        verb="fill",
        purpose="risk",
        who="Ines",
        schema=RiskAnswer,
        prompt="?",
        fallback=fallback,
        facts=RiskFacts(level="low"),
    )
    got = asyncio.run(open_chat("local:qwen2.5-1.5b").complete(question, None))
    assert RiskAnswer.model_validate_json(got.text) == fallback
    assert got.source == "chosen" and "by rule" in got.notes["why"] and got.tokens_in is None
    own = open_chat(f"local:{model_file(tmp_path / 'own.gguf')}")
    with pytest.raises(ModelError, match="llama.cpp can load"):
        asyncio.run(own.complete(question, None))


def test_threads_are_all_cores_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcounsel.llm.llama.cores", lambda: 12)
    assert threads() == 8
    monkeypatch.setenv("SIMCOUNSEL_THREADS", "3")
    assert threads() == 3
    monkeypatch.setenv("SIMCOUNSEL_THREADS", "many")
    monkeypatch.setattr("simcounsel.local.model.parent_process", lambda: object())
    assert threads() == 1


# prompts


def with_model(name: str, **changes: Any) -> Any:
    world = tiny()
    return world.model_copy(
        update={"models": world.models.model_copy(update={"reason": name}), **changes}
    )


def test_its_prompts_are_compact_unless_the_world_says_otherwise(tmp_path: Path) -> None:
    def prompts_of(**changes: Any) -> str | None:
        found = with_digests(with_model("local:qwen2.5-1.5b", **changes)).prompts
        return found.name if found else None

    assert prompts_of() == "compact"
    assert prompts_of(prompts=prompts_named("usual", tmp_path)) == "usual"
    assert prompts_of(prompts=prompts_named("reworded", tmp_path)) == "reworded"
    assert prompts_of(language="zh") == "compact"
    assert with_digests(tiny()).prompts is None
    begun = begin_run(with_model("local:qwen2.5-1.5b"), tmp_path)
    assert begun.world.prompts and begun.world.prompts.name == "compact"


# a real one


@pytest.fixture(scope="module")
def model() -> Iterator[ChatModel]:
    made = open_chat(f"local:{path_of('smollm2')}")
    yield made
    asyncio.run(made.close())


def ask(model: ChatModel, **fields: Any) -> Any:
    question: Question[Any] = Question(
        **{"purpose": "test", "who": "Ines", "fallback": None, "max_tokens": 60} | fields
    )
    return asyncio.run(model.complete(question, None))


class Feeling(BaseModel):
    emotion: str = Field(pattern="^(joy|fear)$")
    intensity: int = Field(ge=1, le=10)


@pytest.mark.weights
def test_forms_are_always_whole(model: ChatModel) -> None:
    for seed in range(4):
        got = ask(model, verb="fill", schema=Feeling, prompt="How does Ines feel?", seed=seed)
        assert Feeling.model_validate(json.loads(got.text)) and "\n" not in got.text
        got = ask(model, verb="choose", options=("cat", "dog"), prompt="Who barks?", seed=seed)
        assert got.text in ("1", "2")
    assert ask(model, verb="write", prompt="Say a word.").text and got.tokens_in and got.tokens_out


@pytest.mark.weights
def test_a_rating_has_a_reason_and_the_weights_of_its_number(model: ChatModel) -> None:
    got = ask(model, verb="rate", scale=(1, 5), prompt="Rate: “I slept well.”", max_tokens=120)
    assert got.text.startswith("because: ") and got.weights
    assert sum(got.weights.values()) == pytest.approx(1) and set(got.weights) <= set("12345")
    for seed in range(3):
        text = ask(model, verb="rate", scale=(1, 2), may_be_null=True, prompt="?", seed=seed).text
        assert text.rpartition("\nscore: ")[2] in ("1", "2", "null"), text


def test_a_rating_may_be_null_only_where_it_is_asked_so() -> None:
    fields: dict[str, Any] = {"verb": "rate", "purpose": "x", "who": "x", "fallback": None}
    for may_be_null in (False, True):
        question = Question[Any](**fields, scale=(1, 2), max_tokens=60, may_be_null=may_be_null)
        told = grammar_of(question) or ""
        assert ('"null"' in told) is may_be_null and '("1" | "2"' in told and "{1,44}" in told


@pytest.mark.weights
def test_what_is_too_long_is_a_failure(model: ChatModel) -> None:
    with pytest.raises(Failure, match="context"):
        ask(model, verb="write", prompt="again " * 20_000)


@pytest.mark.weights
def test_a_persons_file_is_computed_once() -> None:
    """Two people take turns: the second time each one's file is not computed again."""
    llama = Llama(
        path_of("smollm2"), context_tokens=512, loading=Loading(batch=64, kept_mib=64, gpu=True)
    )
    files = ["Ines sleeps badly. " * 20, "Omar bakes bread at night. " * 20]
    counted = [
        llama.complete(f"{file}\n{what}", max_tokens=2, temperature=0, seed=1)
        for what in ("It is noon.", "It is late in the evening.")
        for file in files
    ]
    llama.close()
    assert all(one.tokens_cached < 20 for one in counted[:2])
    for again in counted[2:]:
        assert again.tokens_cached > 0.8 * again.tokens_in


@pytest.mark.slow(60)
@pytest.mark.weights
def test_a_day_by_a_local_model_is_repeated_by_its_recording(
    tmp_path: Path, simcounsel: Command
) -> None:
    file = path_of("smollm2")
    words = ("run", "tiny", "--ticks", "1", "--out", tmp_path, "--set", "plan_slots=1")
    done = simcounsel(*words, "--model", f"local:{file}")
    assert done.code == 0 and "prompts: compact" in done.out, done.err
    (folder,) = (one for one in tmp_path.iterdir() if one.is_dir())
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    answered = [one for one in calls if one.get("verb") == "fill"]
    assert {one["model"] for one in answered} == {f"local:{file.name}@{fingerprint(file)}"}
    assert any(one["source"] == "generated" for one in answered)
    assert simcounsel("verify", folder).code == 0
    again = simcounsel(*words, "--model", f"recorded:{folder}")
    assert again.code == 0, again.err
    (other,) = (one for one in tmp_path.iterdir() if one.is_dir() and one != folder)
    assert (other / "events.jsonl").read_bytes() == (folder / "events.jsonl").read_bytes()
