"""Any OpenAI-compatible server: OpenAI, Ollama, vLLM, llama.cpp and others.

Which parameters a model takes beside the messages, as its name or its server's refusals say.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simcounsel.llm.chat import clean, messages, number_weights
from simcounsel.llm.http import Refused, Server, shown, tokens_told
from simcounsel.llm.lean import LeanServer
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question
from simcounsel.llm.schemas import response_format
from simcounsel.specs.timeouts import TIMEOUTS, Timeouts

REFUSALS = 2
"""How often a server must refuse a parameter in one request before it is left out: one refusal may
be a stray one."""
THINKING_TOKENS = 2000
"""Added for models that count their reasoning into the limit of their answer's length, where
SIMCOUNSEL_THINKING_TOKENS does not say how many."""
_SPARABLE = ("response_format", "top_logprobs", "logprobs", "temperature", "seed")
"""Parameters that a request can go without, in the order in which a refusal is looked through."""
_REASONING = re.compile(r"(?:.*/)?(?:o[1-9]\d*(?![\w.])|gpt-5(?!.*chat)).*", re.IGNORECASE)
"""OpenAI's models that reason, and the same under a router's name, such as `openai/o3-mini`."""
_REFUSED_BY_REASONING = frozenset(("max_tokens", "temperature", "logprobs", "top_logprobs"))

log = logging.getLogger(__name__)


class Taken:
    """What one model takes. It is learned from refusals (HTTP 400 or 422) that name a parameter: a
    parameter is left out for good when it was refused twice in one request, and the request was
    accepted without it.
    """

    def __init__(self, *, name: str, model: str, thinking_tokens: int = THINKING_TOKENS) -> None:
        """name: as in calls.jsonl. model: as the server calls it. thinking_tokens: room for
        reasoning, where it is counted into the limit."""
        self.reasons = _REASONING.fullmatch(model) is not None
        """Whether its reasoning counts into the limit of its answer."""
        self.thinking_tokens = thinking_tokens
        self._name = name
        self._refused = _REFUSED_BY_REASONING if self.reasons else frozenset[str]()

    def request(self, wanted: Mapping[str, Any]) -> "Request":
        """A request with what is known. wanted: all parameters, the limit as `max_tokens`."""
        return Request(self, wanted, self._refused)

    def learn(self, refused: frozenset[str]) -> None:
        """A request without these was accepted."""
        for parameter in sorted(refused - self._refused):
            log.warning("%s refuses %r: it is left out from now on", self._name, parameter)
        self._refused |= refused
        self.reasons |= "max_tokens" in refused


class Request:
    """One request's parameters, and what the server refuses of them on the way to an answer."""

    def __init__(self, taken: Taken, wanted: Mapping[str, Any], refused: frozenset[str]) -> None:
        self._taken = taken
        self._wanted = wanted
        self._refused = refused
        self._refusals: Counter[str] = Counter()
        self._reasons = taken.reasons

    @property
    def parameters(self) -> dict[str, Any]:
        """What is sent now."""
        without = self._refused | {"max_tokens"}
        if "logprobs" in without:
            without |= {"top_logprobs"}
        sent = {key: value for key, value in self._wanted.items() if key not in without}
        room = self._taken.thinking_tokens if self._reasons else 0
        return sent | {self.limit_name: self._wanted["max_tokens"] + room}

    @property
    def limit_name(self) -> str:
        """What the limit of the answer's length is called there."""
        newer = "max_tokens" in self._refused and "max_completion_tokens" not in self._refused
        return "max_completion_tokens" if newer else "max_tokens"

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was wanted and is not sent. A limit of another name is not left out."""
        if not self._refused:
            return ()
        sent = self.parameters
        return tuple(sorted(key for key in self._wanted if key not in (*sent, "max_tokens")))

    def give_room(self) -> int:
        """Later requests get room for reasoning; how many tokens."""
        self._taken.reasons = True
        return self._taken.thinking_tokens

    def refused(self, failure: Failure) -> bool:
        """Take in a refusal; whether the request is to be sent again, as `parameters` now says."""
        blamed = _blamed(self.parameters, failure)
        if blamed is None or blamed in self._refused:
            return False
        self._refusals[blamed] += 1
        if self._refusals[blamed] >= REFUSALS:
            self._refused |= {blamed}
            self._reasons |= blamed == "max_tokens"
        return True

    def accepted(self) -> None:
        """The server took it."""
        self._taken.learn(self._refused)


def _blamed(sent: Mapping[str, Any], failure: Failure) -> str | None:
    """The parameter that was refused; None when the refusal is about something else. One that names
    nothing is put down to `response_format`, which few servers refuse in words.
    """
    if not isinstance(failure, Refused) or failure.status not in (400, 422):
        return None
    named = set(re.findall(r"\w+", failure.said))
    if "max_tokens" in sent and "max_completion_tokens" in named:
        return "max_tokens"
    for key in (*_SPARABLE, "max_completion_tokens"):
        if key in sent and key in named:
            return key
    return "response_format" if "response_format" in sent else None


Connected = Callable[..., Server]
"""Makes a server of `base_url`, `api_key` and `timeouts`."""
TOP_LOGPROBS = 20
"""The most that OpenAI gives."""
TEXTS_PER_CALL = 64
"""OpenAI takes at most 2048 texts a call, many servers fewer; so many vectors of 4096 numbers stay
within what one answer may hold."""


class OpenAIModel:
    """A ChatModel behind `/chat/completions`.

    What it takes of the parameters is known by its name or learned from refusals, see `Taken`. An
    answer that is not what the API promises is a Failure with transport=False.
    """

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        model: str,
        api_key: str | None = None,
        timeouts: Timeouts = TIMEOUTS,
        thinking_tokens: int = THINKING_TOKENS,
        connected: Connected = LeanServer,
    ) -> None:
        """name: as in calls.jsonl. model: as the server calls it. thinking_tokens: as for `Taken`.
        connected: makes the server of the address. The rest as for `Server`."""
        self.name = name
        self._model = model
        self._taken = Taken(name=name, model=model, thinking_tokens=thinking_tokens)
        self._server = connected(base_url=base_url, api_key=api_key, timeouts=timeouts)

    @property
    def timeouts(self) -> Timeouts:
        """Of one attempt."""
        return self._server.timeouts

    @timeouts.setter
    def timeouts(self, timeouts: Timeouts) -> None:
        self._server.timeouts = timeouts

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """Answer once; see ChatModel. Raises Failure."""
        request = self._taken.request(_wanted(question))
        try:
            answer, tries = await self._post(request, question, complaint)
            got = _completion(answer, question, request, tries)
        except Failure as failure:
            failure.parameters, failure.left_out = request.parameters, request.left_out
            raise
        return replace(got, parameters=request.parameters, left_out=request.left_out)

    async def _post(
        self, request: Request, question: Question[Any], complaint: str | None
    ) -> tuple[dict[str, Any], int]:
        """The server's answer, and how often it was asked until it took the parameters."""
        tries = 0
        while True:
            tries += 1
            beside = "response_format" in request.parameters
            told = messages(question, complaint, schema_beside=beside)
            body = {"model": self._model, "messages": told, **request.parameters}
            try:
                answer = await self._server.post("/chat/completions", body)
            except Failure as failure:
                if not request.refused(failure):
                    failure.tries = tries
                    raise
            else:
                request.accepted()
                return answer, tries

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()


def _wanted(question: Question[Any]) -> dict[str, Any]:
    """The parameters of a request to a model that takes them all."""
    rates = question.verb == "rate"
    wanted: dict[str, Any] = {
        "temperature": question.temperature,
        "seed": question.seed,
        "max_tokens": question.max_tokens,
    }
    if question.schema is not None and question.sent_schema:
        wanted["response_format"] = response_format(question.schema.__name__, question.sent_schema)
    if rates:
        wanted |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    return wanted


def _completion(
    answer: Mapping[str, Any], question: Question[Any], request: Request, tries: int
) -> Completion:
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if choice is None or not isinstance(message, dict):
        raise Failure(f"the answer has no choices{_why(answer)}", tries=tries)
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        raise Failure(_no_text(answer, message, choice, request), tries=tries)
    scale = question.scale if question.verb == "rate" else None
    finish = choice.get("finish_reason")
    return Completion(
        text=clean(content, question),
        tokens_in=tokens_told(answer, "prompt_tokens"),
        tokens_out=tokens_told(answer, "completion_tokens"),
        tries=tries,
        weights=number_weights(choice.get("logprobs"), scale) if scale else None,
        notes={"finish": finish} if isinstance(finish, str) and finish != "stop" else {},
    )


def _no_text(
    answer: Mapping[str, Any], message: Mapping[str, Any], choice: Mapping[str, Any], sent: Request
) -> str:
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return f"the model refused: {shown(refusal)}"
    if choice.get("finish_reason") != "length":
        return "the answer is empty"
    limit = f"{sent.limit_name}={sent.parameters[sent.limit_name]}"
    if not _reasoned(answer, message):
        return f"the answer is empty: the model reached {limit} before it said anything"
    room = sent.give_room()
    return (
        f"the answer is empty: reasoning used up {limit} before the answer began; from now on"
        f" {room} tokens are added for reasoning: set SIMCOUNSEL_THINKING_TOKENS to allow more, or"
        " take a model that reasons less"
    )


def _reasoned(answer: Mapping[str, Any], message: Mapping[str, Any]) -> bool:
    """Whether an answer tells of reasoning: as tokens (OpenAI) or as text (vLLM, DeepSeek,
    OpenRouter).
    """
    usage = answer.get("usage")
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    tokens = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return bool(tokens or message.get("reasoning_content") or message.get("reasoning"))


def _why(answer: Mapping[str, Any]) -> str:
    error = answer.get("error")
    said = error.get("message") if isinstance(error, dict) else error
    return f": {shown(said)}" if isinstance(said, str) and said else ""


class OpenAIEmbeddings:
    """An EmbedModel behind `/embeddings`."""

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        model: str,
        api_key: str | None = None,
        timeouts: Timeouts = TIMEOUTS,
        connected: Connected = LeanServer,
    ) -> None:
        """name: as in calls.jsonl. model: as the server calls it. connected: makes the server of
        the address. The rest as for `Server`."""
        self.name = name
        self._model = model
        self._dimensions: int | None = None
        self._server = connected(base_url=base_url, api_key=api_key, timeouts=timeouts)

    @property
    def timeouts(self) -> Timeouts:
        """Of one attempt."""
        return self._server.timeouts

    @timeouts.setter
    def timeouts(self, timeouts: Timeouts) -> None:
        self._server.timeouts = timeouts

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32, shape (len(texts), dimensions); (0, 0) before the first text.

        Raises Failure, also when the vectors are of another length than those before.
        """
        found = [
            await self._embed_some(texts[at : at + TEXTS_PER_CALL])
            for at in range(0, len(texts), TEXTS_PER_CALL)
        ]
        return (
            np.concatenate(found)
            if found
            else np.zeros((0, self._dimensions or 0), dtype=np.float32)
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _embed_some(self, texts: Sequence[str]) -> np.ndarray:
        answer = await self._server.post(
            "/embeddings", {"model": self._model, "input": list(texts)}
        )
        vectors = _vectors(answer, len(texts))
        dimensions = vectors.shape[1]
        if self._dimensions not in (None, dimensions):
            raise Failure(
                f"vectors of {dimensions} numbers, where there were {self._dimensions} before"
            )
        self._dimensions = dimensions
        return vectors


def _in_order(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """By the numbers of the texts. Failure unless they are 0, 1, 2 and so on, each once: a vector
    must not be given to another text.
    """
    by_number = {entry.get("index"): entry for entry in entries if type(entry.get("index")) is int}
    if by_number.keys() != set(range(len(entries))):
        raise Failure(f"the vectors are not numbered from 0 to {len(entries) - 1}, each once")
    return [by_number[number] for number in range(len(entries))]


def _vectors(answer: Mapping[str, Any], count: int) -> np.ndarray:
    data = answer.get("data")
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    if len(entries) != count:
        raise Failure(f"{len(entries)} vectors for {count} texts{_why(answer)}")
    if any("index" in entry for entry in entries):
        entries = _in_order(entries)
    try:
        with np.errstate(over="ignore"):
            vectors = np.asarray([entry.get("embedding") for entry in entries], dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        raise Failure("the vectors are not lists of numbers of one length") from None
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise Failure("the vectors are not lists of finite numbers")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if vectors.shape[1] == 0 or not (np.isfinite(lengths) & (lengths > 0)).all():
        raise Failure("a vector of length zero or without end")
    vectors /= lengths
    return vectors
