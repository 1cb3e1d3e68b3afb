"""Any LangChain chat model, as `langchain:PROVIDER:MODEL` or as an object.

Slower than `openai` by some ten milliseconds of CPU a call; for the providers that speak no
OpenAI dialect.
"""

import asyncio
import importlib
from typing import Any

from simcounsel.errors import ModelError
from simcounsel.intake import whole_characters
from simcounsel.llm.chat import clean, messages
from simcounsel.llm.models import NOT_SERVED, Completion, Failure, token_count
from simcounsel.llm.question import Question
from simcounsel.llm.usage import meter
from simcounsel.specs.timeouts import TIMEOUTS, Timeouts

PREFIX = "langchain:"
INSTALL = (
    "pip install langchain langchain-PROVIDER (langchain-anthropic, langchain-google-genai and"
    " so on)"
)


class LangChainModel:
    """A ChatModel in front of a LangChain `BaseChatModel`; `fill` by prompt alone, `rate` without
    weights.

    Temperature and token limit are LangChain's standard constructor parameters, so there is one
    LangChain object for each pair of them. A model given as `chat` is used as it is set up. The
    seed is not sent: few providers take one.
    """

    def __init__(self, spec: str, *, chat: Any = None, timeouts: Timeouts = TIMEOUTS) -> None:
        """spec: 'langchain:anthropic:claude-sonnet-4-5', the first part may be missing.

        chat: a BaseChatModel to use in its place; then `spec` is only its name.
        timeouts: for one request in all, the retries inside LangChain included.
        Raises ModelError when a package or a key is missing or the provider is not known.
        """
        self._spec = spec.removeprefix(PREFIX)
        self.name = PREFIX + self._spec
        self.timeouts = timeouts
        self._given = chat
        self._made: dict[tuple[float, int], Any] = {}
        if chat is None:
            self._chat_for(0.7, 400)

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """Answer once; see ChatModel. Raises Failure."""
        sending = meter()
        await sending.sends(question.max_tokens)
        try:
            chat = self._chat_for(question.temperature, question.max_tokens)
            async with asyncio.timeout(self.timeouts.total_s):
                message = await chat.ainvoke(messages(question, complaint))
        except TimeoutError:
            sending.lost()
            raise Failure(
                f"no answer within {self.timeouts.total_s:g} s (--timeout)", transport=True
            ) from None
        except Exception as error:  # every provider has its own exceptions
            sending.lost() if _status(error) is None else sending.refused()
            raise _failure(error) from error
        except BaseException:
            sending.lost()
            raise
        usage = getattr(message, "usage_metadata", None)
        sending.billed(_tokens(usage, "input_tokens"), _tokens(usage, "output_tokens"))
        return _completion(message, question, self._sends(question))

    def _sends(self, question: Question[Any]) -> dict[str, object]:
        """The parameters that LangChain gets; none for an object that was given ready made."""
        if self._given is not None:
            return {}
        return {"temperature": question.temperature, "max_tokens": question.max_tokens}

    async def close(self) -> None:
        """Forget the LangChain objects; they close their connections themselves."""
        self._made.clear()

    def _chat_for(self, temperature: float, max_tokens: int) -> Any:
        if self._given is not None:
            return self._given
        key = (temperature, max_tokens)
        if key not in self._made:
            self._made[key] = _made(self._spec, temperature, max_tokens)
        return self._made[key]


def _made(spec: str, temperature: float, max_tokens: int) -> Any:
    try:
        init_chat_model = importlib.import_module("langchain.chat_models").init_chat_model
    except ImportError as error:
        raise ModelError(
            f"{PREFIX}{spec}: the package {error.name or 'langchain'!r} is missing; {INSTALL}"
        ) from None
    try:
        made = init_chat_model(spec, temperature=temperature, max_tokens=max_tokens)
        if "max_retries" not in getattr(type(made), "model_fields", ()):
            return made
        # whoever asks waits and asks again, and counts what is sent
        return init_chat_model(spec, temperature=temperature, max_tokens=max_tokens, max_retries=0)
    except ImportError as error:
        raise ModelError(f"{PREFIX}{spec}: {_words(error)}; {INSTALL}") from None
    except (
        Exception
    ) as error:  # a key is missing, an unknown provider: each package says it in its own way
        raise ModelError(f"{PREFIX}{spec}: LangChain cannot set it up: {_words(error)}") from error


def _completion(message: Any, question: Question[Any], parameters: dict[str, object]) -> Completion:
    text = _text(getattr(message, "content", None))
    if not text.strip():
        raise Failure("the answer is empty")
    usage = getattr(message, "usage_metadata", None)
    return Completion(
        text=clean(text, question),
        tokens_in=_tokens(usage, "input_tokens"),
        tokens_out=_tokens(usage, "output_tokens"),
        parameters=parameters,
    )


def _text(content: object) -> str:
    """The text of a message; thinking, images and tool calls are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        text = content.get("text") if content.get("type") == "text" else None
        return text if isinstance(text, str) else ""
    return "".join(_text(block) for block in content) if isinstance(content, list) else ""


def _tokens(usage: object, key: str) -> int | None:
    return token_count(usage.get(key)) if isinstance(usage, dict) else None


def _status(error: Exception) -> int | None:
    """The HTTP status that a provider answered with."""
    named = (getattr(error, name, None) for name in ("status_code", "code"))
    return next((status for status in named if isinstance(status, int)), None)


def _failure(error: Exception) -> Failure:
    status = _status(error)
    if status is not None:
        lasting = status in NOT_SERVED
        return Failure(
            f"HTTP {status}: {_words(error)}",
            transport=lasting or status in (408, 429) or status >= 500,
            lasting=lasting,
        )
    kinds = [kind.__name__ for kind in type(error).__mro__]
    unreached = isinstance(error, OSError) or any(
        "Connect" in kind or "Timeout" in kind for kind in kinds
    )
    return Failure(f"{kinds[0]}: {_words(error)}", transport=unreached)


def _words(error: Exception) -> str:
    return " ".join(whole_characters(str(error)).split())[:200] or type(error).__name__
