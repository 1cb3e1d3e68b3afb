"""JSON to a server and back over aiohttp.

aiohttp itself, not the OpenAI SDK, because the SDK takes three to six milliseconds of CPU a call.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

import aiohttp
from yarl import URL

from simcounsel.errors import ModelError
from simcounsel.llm import metering
from simcounsel.llm.body import ZIPPED, bounded, object_in, unzipped
from simcounsel.llm.models import NOT_SERVED, Failure
from simcounsel.runs.jsonl import json_bytes
from simcounsel.secret import HIDDEN, credentials_in, scrub
from simcounsel.specs.timeouts import TIMEOUTS, Timeouts

PERHAPS_BILLED = (None, 408, 502, 504)
"""Statuses of a request whose answer was lost on its way, or never came."""


class Refused(Failure):
    """An attempt that failed. status: None when no whole answer came. said: the server's words in
    full. sent: whether there was a connection."""

    def __init__(
        self,
        cause: str,
        *,
        transport: bool,
        lasting: bool = False,
        status: int | None = None,
        said: str = "",
        wait_s: float = 0.0,
        sent: bool = True,
    ) -> None:
        super().__init__(cause, transport=transport, lasting=lasting, wait_s=wait_s)
        self.status = status
        self.sent = sent
        self.said = said


class Server:
    """One OpenAI-compatible server: JSON there and back.

    It sends once; whoever asks waits and sends again (see `llm.outage`). How many requests are in
    flight is the caller's to limit too. Belongs to the event loop of its first request until it is
    closed.
    """

    def __init__(
        self, *, base_url: str, api_key: str | None, timeouts: Timeouts = TIMEOUTS
    ) -> None:
        """Raises ModelError when base_url is no http address or the key cannot be a header."""
        self.timeouts = timeouts
        self._base = _checked_url(base_url)
        self._key = _checked_key(api_key)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that the server answers.

        Raises Failure: transport=True when nobody answered, or only with 3xx, 5xx, 408, 429 or one
        of NOT_SERVED; False for other statuses and for an answer that is no JSON object.
        """
        tokens_out = int(body.get("max_completion_tokens") or body.get("max_tokens") or 0)
        meter = metering.meter()
        await meter.sends(tokens_out)
        try:
            answer = object_in(await self._attempt(self._base + path, json_bytes(body)))
        except Refused as refused:
            if not refused.sent:
                meter.unsent()
            elif refused.status in PERHAPS_BILLED:
                meter.lost()
            else:
                meter.refused()
            raise
        except BaseException:
            meter.lost()
            raise
        told_out = tokens_told(answer, "completion_tokens") if tokens_out else 0
        meter.billed(tokens_told(answer, "prompt_tokens"), told_out)
        return answer

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _attempt(self, url: str, payload: bytes) -> bytes:
        """The body of an answer with status 200; else raises Refused."""
        try:
            async with self._opened().post(url, data=payload, allow_redirects=False) as response:
                raw = unzipped(await bounded(response), response.headers)
        except aiohttp.ConnectionTimeoutError:
            raise Refused(
                f"no connection within {self.timeouts.connect_s:g} s", transport=True, sent=False
            ) from None
        except TimeoutError:
            raise Refused(
                f"no answer within {self.timeouts.read_s:g} s (--timeout)", transport=True
            ) from None
        except aiohttp.ClientError as error:
            raise _unreached(error) from None
        if response.status != 200:
            self._refuse(response, raw)
        return raw

    def _refuse(self, response: aiohttp.ClientResponse, raw: bytes) -> NoReturn:
        status = response.status
        said = _said(raw)
        if 300 <= status < 400:
            said = (
                f"moved to {response.headers.get('Location', 'nowhere')}; put that address into the"
                " model's name"
            )
        said = scrub(said.replace(self._key or HIDDEN, HIDDEN))
        busy = status in (408, 429) or status >= 500
        lasting = status in NOT_SERVED or 300 <= status < 400
        raise Refused(
            f"HTTP {status}: {shown(said)}",
            transport=busy or lasting,
            lasting=lasting,
            status=status,
            said=said,
            wait_s=_retry_after_s(response.headers.get("Retry-After")),
        )

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {
                "Content-Type": "application/json",
                "Accept": "application/json",
                "Accept-Encoding": ZIPPED,
            }
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                headers=headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,  # which knows no bound
                timeout=aiohttp.ClientTimeout(
                    total=self.timeouts.total_s, connect=self.timeouts.connect_s
                ),
            )
        return self._session


def _checked_url(base_url: str) -> str:
    problem = credentials_in(base_url)
    if problem:
        raise ModelError(problem)
    try:
        url = URL(base_url)
        fit = url.scheme in ("http", "https") and bool(url.host)
    except ValueError:
        fit = False
    if not fit:
        raise ModelError(
            f"{scrub(base_url)!r} is no address of a model server; write one like"
            " http://localhost:11434/v1"
        )
    return base_url.rstrip("/")


def _checked_key(api_key: str | None) -> str | None:
    key = api_key.strip() if api_key else None
    if key and not (key.isascii() and key.isprintable()):
        raise ModelError(
            "the API key has characters that no key has; copy it once more, without line breaks"
        )
    return key


def tokens_told(answer: Mapping[str, Any], key: str) -> int | None:
    """A count out of an answer's `usage`; None when the server does not tell."""
    usage = answer.get("usage")
    count = usage.get(key) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


def _unreached(error: aiohttp.ClientError) -> Refused:
    """What an aiohttp error means, in a few words that are the same every time."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            cause = f"no such host: {error.host}"
        case aiohttp.ClientSSLError() | aiohttp.ServerFingerprintMismatch():
            return Refused(
                "no secure connection: the certificate was not accepted",
                transport=True,
                lasting=True,
                sent=False,
            )
        case aiohttp.ClientConnectorError():
            refused = isinstance(error.os_error, ConnectionRefusedError) or "refused" in str(
                error.os_error
            )
            cause = (
                "connection refused"
                if refused
                else f"no connection: {error.os_error.strerror or error.os_error}"
            )
        case (
            aiohttp.ClientPayloadError()
            | aiohttp.ServerDisconnectedError()
            | aiohttp.ClientOSError()
        ):
            cause = "cut off"
        case aiohttp.ClientResponseError():
            cause = "what answers there does not speak HTTP"
        case _:
            cause = f"no connection: {type(error).__name__}"
    return Refused(cause, transport=True, sent=not isinstance(error, aiohttp.ClientConnectorError))


def _said(raw: bytes) -> str:
    """A server's words about an error: `error.message`, `message` or `detail` of its JSON, else all
    of it.
    """
    text = raw.decode("utf-8", "replace")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return text
    inner = answer.get("error", answer) if isinstance(answer, dict) else answer
    found = (
        [inner.get(key) for key in ("message", "detail")] if isinstance(inner, dict) else [inner]
    )
    words = next((word for word in found if isinstance(word, str) and word), text)
    return words.encode("utf-8", "replace").decode()


def shown(said: str) -> str:
    """A server's words on one line, the first 200 characters."""
    return " ".join(said.encode("utf-8", "replace").decode().split())[:200] or "no reason given"


def _retry_after_s(header: str | None) -> float:
    """Seconds that a Retry-After header asks for, a number or a date (RFC 9110, 10.2.3); else 0."""
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
