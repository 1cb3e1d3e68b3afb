"""Chat templates of other families: the counselor's words and what ends them are learned, and nothing else."""

import copy
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
pytest.importorskip("trl", reason="pip install -e '.[test-all]'")

from tests.training.learning.conftest import session
from training.errors import TrainingError
from training.learning.base import load_tokenizer
from training.learning.examples import TEACHING, encode

pytestmark = pytest.mark.slow

ALTERNATE = (
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
)
MISTRAL_FIRST = (  # the first tokenizer: nothing but user and assistant, in turn
    "{{ bos_token }}{% for message in messages %}"
    + ALTERNATE
    + "{% if message['role'] == 'user' %}"
    "{{ ' [INST] ' + message['content'] + ' [/INST]' }}"
    "{% else %}{{ ' ' + message['content'] + eos_token }}{% endif %}{% endfor %}"
)
MISTRAL_THIRD = (  # the system prompt stands before the last message of the user
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set told = messages[0]['content'] %}"
    "{% set messages = messages[1:] %}{% endif %}{% set users = messages | selectattr('role', 'equalto', 'user') | list %}"
    "{% for message in messages %}" + ALTERNATE + "{% if message['role'] == 'user' %}"
    "{{ '[INST] ' + (told + '\n\n' if told is defined and message == users[-1] else '') + message['content'] + '[/INST]' }}"
    "{% else %}{{ ' ' + message['content'] + eos_token }}{% endif %}{% endfor %}"
)
OWN = {"mistral, first": MISTRAL_FIRST, "mistral, third": MISTRAL_THIRD}
END = {
    "qwen2_5": "<|im_end|>",
    "qwen3": "<|im_end|>",
    "llama3": "<|eot_id|>",
    "llama3_1": "<|eot_id|>",
    "llama3_2": "<|eot_id|>",
    "gemma": "<end_of_turn>",
    "gemma3": "<end_of_turn>",
    "mistral, first": "</s>",
    "mistral, third": "</s>",
}


def tokenizer_with(folder: Path, template: str, end: str) -> Any:
    made = copy.deepcopy(load_tokenizer(str(folder)))
    made.add_special_tokens({"bos_token": "<s>", "eos_token": "</s>"})
    made.add_tokens([end], special_tokens=True)  # as Gemma has it: special, and under no name
    made.chat_template = template
    return made


@pytest.fixture(params=END)
def tokenizer(tiny: Path, request: pytest.FixtureRequest) -> Any:
    name = str(request.param)
    template = OWN.get(name) or files("trl").joinpath("chat_templates", f"{name}.jinja").read_text(
        encoding="utf-8"
    )
    made = tokenizer_with(tiny, template, END[name])
    made.end = END[name]
    return made


def test_what_is_learned_and_what_is_read(tokenizer: Any) -> None:
    told = session(1, "a", 3)
    ((ids, learned),) = encode(told, tokenizer, 4096)
    assert tokenizer.decode(ids[learned]) == "".join(
        turn.text + tokenizer.end for turn in told.turns if turn.speaker == "counselor"
    )
    whole, system = tokenizer.decode(ids), TEACHING.system_of(told)
    assert whole.count(system) == 1
    places = [whole.index(system), *(whole.index(text) for text in told.lines("client"))]
    assert places == sorted(places), "the system prompt leads"


def test_a_long_session_is_cut_and_each_part_has_the_system_prompt(tokenizer: Any) -> None:
    told = session(1, "a", 8)
    ((whole, _),) = encode(told, tokenizer, 4096)
    parts = encode(told, tokenizer, len(whole) * 2 // 3)
    assert len(parts) > 1
    assert all(TEACHING.system_of(told) in tokenizer.decode(ids) for ids, _ in parts)


def test_the_date_in_a_template_does_not_change_the_tokens(tiny: Path) -> None:
    llama = files("trl").joinpath("chat_templates", "llama3_2.jinja").read_text(encoding="utf-8")
    for template in (llama, "{{ date_string }}" + MISTRAL_FIRST):
        ((ids, _),) = encode(
            session(1, "a"), (made := tokenizer_with(tiny, template, "<|eot_id|>")), 4096
        )
        assert "26 Jul 2024" in made.decode(ids)


def test_a_template_that_takes_no_talk_is_refused(tiny: Path) -> None:
    made = tokenizer_with(tiny, "{{ raise_exception('one question only') }}", "<end>")
    with pytest.raises(TrainingError, match="one question only.*take another base"):
        encode(session(1, "a"), made, 4096)
