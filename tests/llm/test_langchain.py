"""LangChainModel in front of LangChain's own test doubles, and of ChatOpenAI at the fault server."""

import asyncio
import sys
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

from simcounsel.errors import ModelError
from simcounsel.llm.langchain import LangChainModel
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question
from simcounsel.specs.timeouts import Timeouts
from tests.each import each
from tests.llm.server import FaultServer

pytest.importorskip("langchain_core")


class Form(BaseModel):
    """A form."""

    a: int


class Chat:
    """What LangChainModel needs of a BaseChatModel."""

    def __init__(
        self, content: Any = "Hello.", error: Exception | None = None, wait_s: float = 0.0
    ) -> None:
        self.content, self.error, self.wait_s = content, error, wait_s
        self.told: list[Any] = []

    async def ainvoke(self, told: Any) -> Any:
        from langchain_core.messages import AIMessage

        self.told.append(told)
        await asyncio.sleep(self.wait_s)
        if self.error:
            raise self.error
        usage: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
        return AIMessage(content=self.content, usage_metadata=usage)


class Unavailable(Exception):
    """As the providers' packages have it."""

    def __init__(self, status_code: int) -> None:
        super().__init__("over\nloaded")
        self.status_code = status_code


class APIConnectError(Exception):
    """As the providers' packages have it."""


def complete(
    chat: Any, verb: Any = "write", complaint: str | None = None, **more: Any
) -> Completion:
    request = Question(
        verb=verb,
        purpose="test",
        who="Ann",
        system="You are Ann.",
        prompt="Well?",
        fallback=None,
        **more,
    )
    model = LangChainModel(
        "langchain:test:m", chat=chat, timeouts=Timeouts(connect_s=0.2, read_s=0.3)
    )
    assert model.name == LangChainModel("test:m", chat=chat).name == "langchain:test:m"
    return asyncio.run(model.complete(request, complaint))


def test_answers_with_text_and_tokens() -> None:
    chat = Chat()
    got = complete(chat, complaint="too short")
    assert (got.text, got.tokens_in, got.tokens_out, got.weights) == ("Hello.", 5, 2, None)
    assert [message["role"] for message in chat.told[0]] == ["system", "user", "user"]


def test_a_real_langchain_model() -> None:
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    got = complete(FakeListChatModel(responses=["One.", "Two."]))
    assert (got.text, got.tokens_in, got.tokens_out) == ("One.", None, None)


def test_chat_openai_at_a_real_server() -> None:
    chat_openai = pytest.importorskip(
        "langchain_openai", reason="pip install -e '.[test-all]'"
    ).ChatOpenAI
    told: Any = {
        "api_key": "k",
        "model": "m",
        "max_retries": 0,
        "default_headers": {"Connection": "close"},
    }
    with FaultServer() as server:
        got = complete(chat_openai(base_url=server.url, **told), "fill", schema=Form)
    assert Form.model_validate_json(got.text) and got.tokens_out == 2
    with FaultServer(faults=lambda index: "503") as server, pytest.raises(Failure) as caught:
        complete(chat_openai(base_url=server.url, **told))
    assert caught.value.cause.startswith("HTTP 503: ") and caught.value.transport


def test_blocks_are_joined_and_thinking_is_left_out() -> None:
    blocks = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "Hello"},
        " there.",
        {"type": "image"},
    ]
    assert complete(Chat(blocks)).text == "Hello there."


def test_fill_tells_the_schema_and_strips_a_fence() -> None:
    chat = Chat('```json\n{"a": 1}\n```')
    assert complete(chat, "fill", schema=Form).text == '{"a": 1}'
    assert '"properties"' in chat.told[0][0]["content"]


@each(
    ("chat", "cause", "transport"),
    [
        (Chat(error=Unavailable(503)), "HTTP 503: over loaded", True),
        (Chat(error=Unavailable(429)), "HTTP 429: over loaded", True),
        (Chat(error=Unavailable(400)), "HTTP 400: over loaded", False),
        (Chat(error=APIConnectError("gone")), "APIConnectError: gone", True),
        (Chat(error=ConnectionResetError()), "ConnectionResetError: ConnectionResetError", True),
        (Chat(error=ValueError("x" * 500)), "ValueError: " + "x" * 200, False),
        (Chat(wait_s=5), "no answer within 0.5 s (--timeout)", True),
        (Chat(content=""), "the answer is empty", False),
    ],
)
def test_failures(chat: Chat, cause: str, transport: bool) -> None:
    with pytest.raises(Failure) as caught:
        complete(chat)
    assert (caught.value.cause, caught.value.transport) == (cause, transport)


def package(monkeypatch: pytest.MonkeyPatch, init_chat_model: Any) -> None:
    module = ModuleType("langchain.chat_models")
    module.init_chat_model = init_chat_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "langchain", ModuleType("langchain"))
    monkeypatch.setitem(sys.modules, "langchain.chat_models", module)


def test_init_chat_model_makes_one_chat_for_each_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, dict[str, Any]]] = []

    def init_chat_model(model: str, **settings: Any) -> Chat:
        made.append((model, settings))
        return Chat()

    package(monkeypatch, init_chat_model)

    async def go() -> None:
        model = LangChainModel("langchain:anthropic:claude-sonnet-4-5")
        for temperature in (0.7, 0.0, 0.0):
            await model.complete(
                Question(
                    verb="write",
                    purpose="p",
                    who="A",
                    prompt="?",
                    temperature=temperature,
                    fallback=None,
                ),
                None,
            )
        await model.close()

    asyncio.run(go())
    assert made == [
        ("anthropic:claude-sonnet-4-5", {"temperature": t, "max_tokens": 400}) for t in (0.7, 0.0)
    ]


@pytest.mark.parametrize(
    "error", [ImportError("Unable to import langchain_x"), ValueError("no such"), KeyError("KEY")]
)
def test_what_cannot_be_set_up_is_a_model_error(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init_chat_model(model: str, **settings: Any) -> Chat:
        raise error

    package(monkeypatch, init_chat_model)
    with pytest.raises(ModelError, match="langchain:x:m: ") as caught:
        LangChainModel("x:m")
    assert ("pip install" in str(caught.value)) == isinstance(error, ImportError)


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain", None)
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(ModelError, match="pip install langchain"):
        LangChainModel("anthropic:claude-sonnet-4-5")
