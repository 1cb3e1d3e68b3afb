"""Any OpenAI-compatible server: OpenAI, Ollama, vLLM, llama.cpp and others."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simcounsel.llm.chat import clean, messages, number_weights
from simcounsel.llm.http import Refused, Server, shown, tokens_told
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question, schema_of
from simcounsel.llm.timeouts import TIMEOUTS, Timeouts

RATE_TOKENS = 16
"""Enough for a number and a word or two around it."""
TOP_LOGPROBS = 20
"""The most that OpenAI gives."""
THINKING_TOKENS = 2000
"""Added for models that count their thinking into the limit: the ones that want
`max_completion_tokens`.
"""
TEXTS_PER_CALL = 512
"""OpenAI takes at most 2048 texts a call, and many servers fewer."""
_SPARABLE = ("response_format", "top_logprobs", "logprobs", "temperature", "seed")
"""Parameters that a request can go without, in the order in which a refusal is looked through."""


class OpenAIModel:
    """A ChatModel behind `/chat/completions`.

    A parameter that the server refuses (HTTP 400 or 422) and whose absence it accepts is not sent
    again by this object. An answer that is not what the API promises is a Failure with
    transport=False.
    """

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        model: str,
        api_key: str | None = None,
        timeouts: Timeouts = TIMEOUTS,
    ) -> None:
        """name: as in calls.jsonl. model: as the server calls it. The rest as for `Server`."""
        self.name = name
        self._model = model
        self._spared: frozenset[str] = frozenset()
        self._server = Server(base_url=base_url, api_key=api_key, timeouts=timeouts)

    @property
    def timeouts(self) -> Timeouts:
        """Of one attempt."""
        return self._server.timeouts

    @timeouts.setter
    def timeouts(self, timeouts: Timeouts) -> None:
        self._server.timeouts = timeouts

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """Answer once; see ChatModel. Raises Failure."""
        spared, tries = self._spared, 0
        while True:
            body = self._body(question, complaint, spared)
            tries += 1
            try:
                answer = await self._server.post("/chat/completions", body)
            except Failure as failure:
                blamed = _blamed(body, failure)
                if blamed is None:
                    failure.tries = tries
                    raise
                spared |= {blamed}
            else:
                self._spared |= spared
                got = _completion(answer, question, tries)
                return replace(got, parameters=_parameters(body), left_out=tuple(sorted(spared)))

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    def _body(
        self, question: Question[Any], complaint: str | None, spared: frozenset[str]
    ) -> dict[str, Any]:
        limit = (
            min(question.max_tokens, RATE_TOKENS)
            if question.verb == "rate"
            else question.max_tokens
        )
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages(question, complaint),
            "temperature": question.temperature,
            "seed": question.seed,
        }
        if "max_tokens" in spared:
            body["max_completion_tokens"] = limit + THINKING_TOKENS
        else:
            body["max_tokens"] = limit
        if question.verb == "fill" and question.schema is not None:
            body["response_format"] = _response_format(question)
        if question.verb == "rate" and "logprobs" not in spared:
            body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return {key: value for key, value in body.items() if key not in spared}


def _parameters(body: Mapping[str, Any]) -> dict[str, object]:
    """What was sent beside the messages and the model's name."""
    return {key: value for key, value in body.items() if key not in ("messages", "model")}


def _response_format(question: Question[Any]) -> dict[str, Any]:
    assert question.schema is not None
    name = re.sub(r"\W", "_", question.schema.__name__, flags=re.ASCII)[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": False, "schema": schema_of(question.schema)},
    }


def _blamed(body: Mapping[str, Any], failure: Failure) -> str | None:
    """The parameter to leave out after a refusal; None when the refusal is about something else."""
    if not isinstance(failure, Refused) or failure.status not in (400, 422):
        return None
    if "max_tokens" in body and "max_completion_tokens" in failure.said:
        return "max_tokens"
    named = [key for key in _SPARABLE if key in body and key in failure.said]
    if named:
        return named[0]
    return "response_format" if "response_format" in body else None


def _completion(answer: Mapping[str, Any], question: Question[Any], tries: int) -> Completion:
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if choice is None or not isinstance(message, dict):
        raise Failure(f"the answer has no choices{_why(answer)}", tries=tries)
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        raise Failure(_no_text(message, choice), tries=tries)
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


def _no_text(message: Mapping[str, Any], choice: Mapping[str, Any]) -> str:
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return f"the model refused: {shown(refusal)}"
    if choice.get("finish_reason") == "length":
        return "the answer is empty: the model reached max_tokens before it said anything"
    return "the answer is empty"


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
    ) -> None:
        """name: as in calls.jsonl. model: as the server calls it. The rest as for `Server`."""
        self.name = name
        self._model = model
        self._dimensions: int | None = None
        self._server = Server(base_url=base_url, api_key=api_key, timeouts=timeouts)

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


def _vectors(answer: Mapping[str, Any], count: int) -> np.ndarray:
    data = answer.get("data")
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    if len(entries) != count:
        raise Failure(f"{len(entries)} vectors for {count} texts{_why(answer)}")
    if all(isinstance(entry.get("index"), int) for entry in entries):
        entries.sort(key=lambda entry: int(entry["index"]))
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
