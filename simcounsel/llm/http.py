"""JSON to a server of models and back: what is counted, and what a refusal means. How it travels is
the matter of `llm.lean` (servers of one's own) and `llm.official` (OpenAI, Azure).
"""

import asyncio
import json
import re
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from yarl import URL

from simcounsel.errors import ModelError
from simcounsel.intake import json_data, whole_characters
from simcounsel.llm.body import object_in
from simcounsel.llm.models import NOT_SERVED, Failure, noted, token_count
from simcounsel.llm.usage import meter
from simcounsel.secret import HIDDEN, credentials_in, scrub
from simcounsel.specs.timeouts import TIMEOUTS, Timeouts

UNKNOWN = 404
"""The status by which a server says that it has no such model, or no such address."""
LOOK_S = 2.0
"""The time to say which models there are."""
LIST_BYTES = 2**20
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
        self.base = _checked_url(base_url)
        self.key = _checked_key(api_key)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that the server answers.

        Raises Failure: transport=True when nobody answered, or only with 3xx, 5xx, 408, 429 or one
        of NOT_SERVED; False for other statuses and for an answer that is no JSON object.
        """
        tokens_out = int(body.get("max_completion_tokens") or body.get("max_tokens") or 0)
        sending = meter()
        await sending.sends(tokens_out)
        try:
            answer = object_in(await self.attempt(path, body))
        except Refused as refused:
            if refused.status == UNKNOWN and (there := await asyncio.to_thread(served, self.base)):
                names = noted(", ".join(there))
                refused.remedy = f"this server has {names}: begin again with one of these"
            if not refused.sent:
                sending.unsent()
            elif refused.status in PERHAPS_BILLED:
                sending.lost()
            else:
                sending.refused()
            raise
        except BaseException:
            sending.lost()
            raise
        told_out = tokens_told(answer, "completion_tokens") if tokens_out else 0
        sending.billed(tokens_told(answer, "prompt_tokens"), told_out)
        return answer

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        raise NotImplementedError

    async def attempt(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Send once: the body of an answer with status 200; else raises Refused."""
        raise NotImplementedError

    def refused(self, status: int, headers: Mapping[str, str], raw: bytes) -> Refused:
        """What an answer with another status than 200 means, without the key if it repeats it."""
        said = _said(raw)
        if 300 <= status < 400:
            said = (
                f"moved to {headers.get('Location', 'nowhere')}; put that address into the"
                " model's name"
            )
        said = scrub(said.replace(self.key or HIDDEN, HIDDEN))
        busy = status in (408, 429) or status >= 500
        lasting = status in NOT_SERVED or 300 <= status < 400
        return Refused(
            f"HTTP {status}: {shown(said)}",
            transport=busy or lasting,
            lasting=lasting,
            status=status,
            said=said,
            wait_s=_retry_after_s(headers.get("Retry-After")),
        )

    def unanswered(self) -> Refused:
        """Nobody answered in time, though there was a connection."""
        return Refused(f"no answer within {self.timeouts.read_s:g} s (--timeout)", transport=True)

    def unconnected(self) -> Refused:
        """No connection came about in time."""
        return Refused(
            f"no connection within {self.timeouts.connect_s:g} s", transport=True, sent=False
        )


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
    return token_count(usage.get(key)) if isinstance(usage, dict) else None


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
    return whole_characters(words)


def shown(said: str) -> str:
    """A server's words on one line, the first 200 characters."""
    return " ".join(whole_characters(said).split())[:200] or "no reason given"


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


def served(base: str) -> list[str] | None:
    """The names of the models that a server says it has; None when it does not say. base: its
    address, such as http://localhost:11434/v1. No key is sent.
    """
    try:
        with urllib.request.urlopen(f"{base}/models", timeout=LOOK_S) as answer:
            told = json_data(answer.read(LIST_BYTES))
    except (OSError, ValueError):
        return None
    entries = told.get("data") if isinstance(told, dict) else None
    if not isinstance(entries, list):
        return None
    return [scrub(str(one.get("id"))) for one in entries if isinstance(one, dict)]
