"""What every ChatModel must keep: answers of each verb that can be read, failures as Failure, a quiet end."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from simcounsel.agents.tasks import FeelingAnswer, QuestionsAnswer
from simcounsel.llm.answers import read_answer
from simcounsel.llm.langchain import LangChainModel
from simcounsel.llm.models import ChatModel, Completion, Failure
from simcounsel.llm.openai import OpenAIModel
from simcounsel.llm.question import Question
from simcounsel.llm.recorded import Recorded
from simcounsel.scripted import Scripted
from tests.each import each
from tests.llm.server import FaultServer

REQUESTS = {
    "write": Question(
        verb="write", purpose="any", who="Ines", prompt="Say something.", seed=3, fallback=None
    ),
    "fill": Question(
        verb="fill",
        purpose="any",
        who="Ines",
        prompt="How does it feel?",
        schema=FeelingAnswer,
        seed=3,
        fallback=None,
    ),
    "fill a list": Question(
        verb="fill",
        purpose="any",
        who="Ines",
        prompt="Which questions?",
        schema=QuestionsAnswer,
        seed=3,
        fallback=None,
    ),
    "choose": Question(
        verb="choose",
        purpose="any",
        who="Ines",
        prompt="Which?",
        options=("clarify", "evidence"),
        seed=3,
        fallback=None,
    ),
    "rate": Question(
        verb="rate",
        purpose="any",
        who="Ines",
        prompt="From 1 to 5? The number only.",
        scale=(1, 5),
        seed=3,
        fallback=None,
    ),
}
ANSWERS = {
    "write": "It was a long night.",
    "fill": json.dumps({"emotion": "fear", "intensity": 4, "poignancy": 2}),
    "fill a list": json.dumps({"questions": ["What keeps Ines awake?"]}),
    "choose": "1",
    "rate": "4",
}


@pytest.fixture(params=["scripted", "openai", "langchain"])
def model(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A function that gives a fresh model which will be asked the request of a name."""
    if request.param == "scripted":
        yield lambda name: Scripted()
    elif request.param == "openai":
        said: list[str] = []
        with FaultServer(answer=lambda body: said[-1]) as server:

            def served(name: str) -> ChatModel:
                said.append(ANSWERS[name])
                return OpenAIModel(name="http://x/v1/m", base_url=server.url, model="m")

            yield served
    else:
        yield lambda name: LangChainModel(
            "fake:m", chat=GenericFakeChatModel(messages=iter([AIMessage(ANSWERS[name])] * 2))
        )


@each("name", REQUESTS)
def test_every_verb_gets_an_answer_that_can_be_read(model: Any, name: str) -> None:
    async def ask() -> tuple[str, Completion]:
        asked: ChatModel = model(name)
        try:
            return asked.name, await asked.complete(REQUESTS[name], None)
        finally:
            await asked.close()

    called, completion = asyncio.run(ask())
    assert called and isinstance(completion, Completion) and completion.tries >= 1
    value = read_answer(REQUESTS[name], completion)
    if name == "choose":
        assert value in REQUESTS[name].options
    if name == "rate":
        assert 1 <= value <= 5


@pytest.mark.parametrize("name", ["write", "fill"])
def test_a_second_try_is_told_what_was_wrong_and_answers(model: Any, name: str) -> None:
    async def ask() -> Completion:
        asked: ChatModel = model(name)
        try:
            return await asked.complete(REQUESTS[name], "the answer was empty")
        finally:
            await asked.close()

    assert read_answer(REQUESTS[name], asyncio.run(ask())) is not None


def test_closing_twice_and_unused_is_quiet(model: Any) -> None:
    async def end() -> None:
        asked: ChatModel = model("write")
        await asked.close()
        await asked.close()

    assert asyncio.run(end()) is None


def test_a_recording_without_the_reply_fails_plainly() -> None:
    with pytest.raises(Failure, match="recorded reply"):
        asyncio.run(Recorded("runs/x").complete(REQUESTS["write"], None))


def test_scripted_answers_follow_the_seed() -> None:
    def answer(seed: int) -> str:
        request = Question(
            verb="write",
            purpose="any",
            who="Ines",
            prompt="Say something.",
            seed=seed,
            fallback=None,
        )
        return asyncio.run(Scripted().complete(request, None)).text

    assert answer(1) == answer(1)
    assert len({answer(seed) for seed in range(8)}) > 4
