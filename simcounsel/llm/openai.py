"""Any OpenAI-compatible server over aiohttp: OpenAI, Ollama, vLLM, llama.cpp and others.

aiohttp itself, not the OpenAI SDK, because the SDK takes three to six milliseconds of CPU a call.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

import aiohttp
import numpy as np
import tenacity
from yarl import URL

from simcounsel.errors import ModelError
from simcounsel.llm.ask import Request
from simcounsel.llm.chat import clean, messages, number_weights, schema_of
from simcounsel.llm.models import Completion, Failure

RATE_TOKENS = 16
"""Enough for a number and a word or two around it."""
TOP_LOGPROBS = 20
"""The most that OpenAI gives."""
THINKING_TOKENS = 2000
"""Added for models that count their thinking into the limit: the ones that want `max_completion_tokens`."""
TEXTS_PER_CALL = 512
"""OpenAI takes at most 2048 texts a call, and many servers fewer."""
NOT_SERVED = (401, 402, 403, 404)
"""Statuses that no wording of the question changes: a wrong key, an empty account, an unknown model."""
_SPARABLE = ("response_format", "top_logprobs", "logprobs", "temperature", "seed")
"""Parameters that a request can go without, in the order in which a refusal is looked through."""


class OpenAIModel:
    """A ChatModel behind `/chat/completions`.

    A parameter that the server refuses (HTTP 400 or 422) and whose absence it accepts is not sent
    again by this object. An answer that is not what the API promises is a Failure with
    transport=False.
    """

    def __init__(
        self, *, name: str, base_url: str, model: str, api_key: str | None = None, deadline_s: float = 60.0,
        attempts: int = 5, timeout_s: float = 30.0, backoff_s: float = 0.5,
    ) -> None:
        """name: as in calls.jsonl. model: as the server calls it. The rest as for `Server`."""
        self.name = name
        self._model = model
        self._spared: frozenset[str] = frozenset()
        self._server = Server(
            base_url=base_url, api_key=api_key, deadline_s=deadline_s, attempts=attempts,
            timeout_s=timeout_s, backoff_s=backoff_s,
        )

    async def complete(self, request: Request, complaint: str | None) -> Completion:
        """Answer once; see ChatModel. Raises Failure, within `deadline_s` in all."""
        until = asyncio.get_running_loop().time() + self._server.deadline_s
        spared, tries = self._spared, 0
        while True:
            body = self._body(request, complaint, spared)
            try:
                answer, sent = await self._server.post("/chat/completions", body, until)
            except Failure as failure:
                tries += failure.tries
                blamed = _blamed(body, failure)
                if blamed is None:
                    failure.tries = tries
                    raise
                spared |= {blamed}
            else:
                self._spared |= spared
                return _completion(answer, request, tries + sent)

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    def _body(self, request: Request, complaint: str | None, spared: frozenset[str]) -> dict[str, Any]:
        limit = min(request.max_tokens, RATE_TOKENS) if request.verb == "rate" else request.max_tokens
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages(request, complaint),
            "temperature": request.temperature,
            "seed": request.seed,
        }
        if "max_tokens" in spared:
            body["max_completion_tokens"] = limit + THINKING_TOKENS
        else:
            body["max_tokens"] = limit
        if request.verb == "fill" and request.model is not None:
            body["response_format"] = _response_format(request)
        if request.verb == "rate" and "logprobs" not in spared:
            body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return {key: value for key, value in body.items() if key not in spared}


def _response_format(request: Request) -> dict[str, Any]:
    assert request.model is not None
    name = re.sub(r"\W", "_", request.model.__name__, flags=re.ASCII)[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": False, "schema": schema_of(request.model)},
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


def _completion(answer: Mapping[str, Any], request: Request, tries: int) -> Completion:
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if choice is None or not isinstance(message, dict):
        raise Failure(f"the answer has no choices{_why(answer)}", tries=tries)
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        raise Failure(_no_text(message, choice), tries=tries)
    scale = request.scale if request.verb == "rate" else None
    finish = choice.get("finish_reason")
    return Completion(
        text=clean(content, request), tokens_in=_tokens(answer, "prompt_tokens"),
        tokens_out=_tokens(answer, "completion_tokens"), tries=tries,
        weights=number_weights(choice.get("logprobs"), scale) if scale else None,
        extra={"finish": finish} if isinstance(finish, str) and finish != "stop" else {},
    )


def _no_text(message: Mapping[str, Any], choice: Mapping[str, Any]) -> str:
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return f"the model refused: {_shown(refusal)}"
    if choice.get("finish_reason") == "length":
        return "the answer is empty: the model reached max_tokens before it said anything"
    return "the answer is empty"


def _why(answer: Mapping[str, Any]) -> str:
    error = answer.get("error")
    said = error.get("message") if isinstance(error, dict) else error
    return f": {_shown(said)}" if isinstance(said, str) and said else ""


def _tokens(answer: Mapping[str, Any], key: str) -> int | None:
    usage = answer.get("usage")
    count = usage.get(key) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


class Refused(Failure):
    """An attempt that failed. status: None when no whole answer came. said: the server's words in
    full. again: another attempt may help. wait_s: what Retry-After asks for, 0 without one."""

    def __init__(
        self, cause: str, *, transport: bool, again: bool, status: int | None = None, said: str = "",
        wait_s: float = 0.0,
    ) -> None:
        super().__init__(cause, transport=transport)
        self.status = status
        self.said = said
        self.again = again
        self.wait_s = wait_s


class Server:
    """One OpenAI-compatible server: JSON there and back, with retries that end at a deadline.

    deadline_s: for a request in all, retries and waits included. timeout_s: for one attempt.
    attempts: at most. backoff_s: the first wait, and the most that chance adds to each; doubled
    with every attempt. How many requests are in flight is the caller's to limit.
    Belongs to the event loop of its first request until it is closed.
    """

    def __init__(
        self, *, base_url: str, api_key: str | None, deadline_s: float, attempts: int, timeout_s: float,
        backoff_s: float,
    ) -> None:
        """Raises ModelError when base_url is no http address or the key cannot be a header."""
        self.deadline_s = deadline_s
        self._base = _checked_url(base_url)
        self._key = _checked_key(api_key)
        self._attempts = attempts
        self._timeout_s = timeout_s
        self._backoff_s = backoff_s
        self._session: aiohttp.ClientSession | None = None

    async def post(self, path: str, body: Mapping[str, Any], until: float) -> tuple[dict[str, Any], int]:
        """The JSON object that the server answers, and the number of attempts.

        until: the deadline in the loop's time. Raises Failure: transport=True when nobody answered, or
        only with 5xx, 408, 429 or one of NOT_SERVED; False for other statuses and for an answer that
        is no JSON object.
        """
        url, payload = self._base + path, json.dumps(body).encode()
        retrying = self._retrying(until)
        tries = 0

        async def attempt() -> bytes:
            nonlocal tries
            tries += 1
            return await self._attempt(url, payload)

        try:
            async with asyncio.timeout_at(until):
                return _object(await retrying(attempt)), tries
        except TimeoutError:
            raise Failure(f"no answer within {self.deadline_s:g} s", transport=True, tries=max(tries, 1)) from None
        except Failure as failure:
            failure.tries = tries
            raise

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _retrying(self, until: float) -> tenacity.AsyncRetrying:
        left_s = until - asyncio.get_running_loop().time()
        return tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, Refused) and error.again),
            stop=tenacity.stop_after_attempt(self._attempts) | tenacity.stop_before_delay(left_s),
            wait=self._wait_s, reraise=True,
        )

    def _wait_s(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked_s = error.wait_s if isinstance(error, Refused) else 0.0
        grown = tenacity.wait_exponential(multiplier=self._backoff_s, max=self.deadline_s)(state)
        return max(asked_s, grown) + tenacity.wait_random(0, self._backoff_s)(state)

    async def _attempt(self, url: str, payload: bytes) -> bytes:
        """The body of an answer with status 200; else raises Refused."""
        try:
            async with self._opened().post(url, data=payload, allow_redirects=False) as response:
                raw = await response.read()
        except TimeoutError:
            raise Refused(f"no answer within {self._timeout_s:g} s", transport=True, again=True) from None
        except aiohttp.ClientError as error:
            raise _unreached(error) from None
        if response.status != 200:
            self._refuse(response, raw)
        return raw

    def _refuse(self, response: aiohttp.ClientResponse, raw: bytes) -> NoReturn:
        status = response.status
        said = _said(raw)
        if self._key:
            said = said.replace(self._key, "***")
        if 300 <= status < 400:
            said = f"moved to {response.headers.get('Location', 'nowhere')}; put that address into the model's name"
        busy = status in (408, 429) or status >= 500
        raise Refused(
            f"HTTP {status}: {_shown(said)}", transport=busy or status in NOT_SERVED, again=busy, status=status, said=said,
            wait_s=_retry_after_s(response.headers.get("Retry-After")),
        )

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0), headers=headers, cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=self._timeout_s),
            )
        return self._session


class OpenAIEmbeddings:
    """An EmbedModel behind `/embeddings`."""

    def __init__(
        self, *, name: str, base_url: str, model: str, api_key: str | None = None, deadline_s: float = 60.0,
        attempts: int = 5, timeout_s: float = 30.0, backoff_s: float = 0.5,
    ) -> None:
        """name: as in calls.jsonl. model: as the server calls it. The rest as for `Server`."""
        self.name = name
        self._model = model
        self._dimensions: int | None = None
        self._server = Server(
            base_url=base_url, api_key=api_key, deadline_s=deadline_s, attempts=attempts,
            timeout_s=timeout_s, backoff_s=backoff_s,
        )

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32, shape (len(texts), dimensions); (0, 0) before the first text.

        Raises Failure, also when the vectors are of another length than those before.
        """
        until = asyncio.get_running_loop().time() + self._server.deadline_s
        found = [
            await self._embed_some(texts[at:at + TEXTS_PER_CALL], until) for at in range(0, len(texts), TEXTS_PER_CALL)
        ]
        return np.concatenate(found) if found else np.zeros((0, self._dimensions or 0), dtype=np.float32)

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _embed_some(self, texts: Sequence[str], until: float) -> np.ndarray:
        answer, tries = await self._server.post("/embeddings", {"model": self._model, "input": list(texts)}, until)
        vectors = _vectors(answer, len(texts), tries)
        dimensions = vectors.shape[1]
        if self._dimensions not in (None, dimensions):
            raise Failure(f"vectors of {dimensions} numbers, where there were {self._dimensions} before", tries=tries)
        self._dimensions = dimensions
        return vectors


def _vectors(answer: Mapping[str, Any], count: int, tries: int) -> np.ndarray:
    data = answer.get("data")
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    if len(entries) != count:
        raise Failure(f"{len(entries)} vectors for {count} texts{_why(answer)}", tries=tries)
    if all(isinstance(entry.get("index"), int) for entry in entries):
        entries.sort(key=lambda entry: int(entry["index"]))
    try:
        with np.errstate(over="ignore"):
            vectors = np.asarray([entry.get("embedding") for entry in entries], dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        raise Failure("the vectors are not lists of numbers of one length", tries=tries) from None
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise Failure("the vectors are not lists of finite numbers", tries=tries)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if vectors.shape[1] == 0 or not (np.isfinite(lengths) & (lengths > 0)).all():
        raise Failure("a vector of length zero or without end", tries=tries)
    vectors /= lengths
    return vectors


def _checked_url(base_url: str) -> str:
    try:
        url = URL(base_url)
        fit = url.scheme in ("http", "https") and bool(url.host)
    except ValueError:
        fit = False
    if not fit:
        raise ModelError(f"{base_url!r} is no address of a model server; write one like http://localhost:11434/v1")
    return base_url.rstrip("/")


def _checked_key(api_key: str | None) -> str | None:
    key = api_key.strip() if api_key else None
    if key and not (key.isascii() and key.isprintable()):
        raise ModelError("the API key has characters that no key has; copy it once more, without line breaks")
    return key


def _object(raw: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError):
        raise Failure("the answer is not JSON" if raw.strip() else "the answer is empty") from None
    if not isinstance(answer, dict):
        raise Failure(f"the answer is no JSON object but {type(answer).__name__}")
    return answer


def _unreached(error: aiohttp.ClientError) -> Refused:
    """What an aiohttp error means, in a few words that are the same every time."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            cause = f"no such host: {error.host}"
        case aiohttp.ClientSSLError() | aiohttp.ServerFingerprintMismatch():
            return Refused("no secure connection: the certificate was not accepted", transport=True, again=False)
        case aiohttp.ClientConnectorError():
            refused = isinstance(error.os_error, ConnectionRefusedError) or "refused" in str(error.os_error)
            cause = "connection refused" if refused else f"no connection: {error.os_error.strerror or error.os_error}"
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
            cause = "cut off"
        case aiohttp.ClientResponseError():
            cause = "what answers there does not speak HTTP"
        case _:
            cause = f"no connection: {type(error).__name__}"
    return Refused(cause, transport=True, again=True)


def _said(raw: bytes) -> str:
    """A server's words about an error: `error.message`, `message` or `detail` of its JSON, else all of it."""
    text = raw.decode("utf-8", "replace")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return text
    inner = answer.get("error", answer) if isinstance(answer, dict) else answer
    found = [inner.get(key) for key in ("message", "detail")] if isinstance(inner, dict) else [inner]
    words = next((word for word in found if isinstance(word, str) and word), text)
    return words.encode("utf-8", "replace").decode()


def _shown(said: str) -> str:
    return " ".join(said.encode("utf-8", "replace").decode().split())[:200] or "no reason given"


def _retry_after_s(header: str | None) -> float:
    """Seconds that a Retry-After header asks for, as a number or a date (RFC 9110, 10.2.3); 0 for none."""
    if not header:
        return 0.0
    if re.fullmatch(r"\d{1,9}(\.\d+)?", header.strip(), flags=re.ASCII):
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
