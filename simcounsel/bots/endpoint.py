"""A bot behind a server: one that is sent all messages each time, or one that keeps the talk."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

import aiohttp
import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import JsonValue

from simcounsel.bots.file import Bot, Call, Endpoint, filled
from simcounsel.bots.wire import BotFacts, BotReply, Line, reply_of
from simcounsel.llm.body import ZIPPED, bounded, object_in, unzipped
from simcounsel.llm.http import PERHAPS_BILLED, Refused, tokens_told
from simcounsel.llm.lean import LeanServer, unreached
from simcounsel.llm.models import Failure
from simcounsel.llm.servers import server_of
from simcounsel.llm.usage import meter
from simcounsel.runs.jsonl import json_bytes
from simcounsel.specs.timeouts import TIMEOUTS, Timeouts

GONE = (404, 410)
"""HTTP statuses that say that there is no such talk."""


@dataclass(kw_only=True)
class Server:
    """See `Way`. Belongs to the event loop of its first request until it is closed."""

    name: str
    bot: Bot
    endpoint: Endpoint
    headers: Mapping[str, str]
    timeouts: Timeouts = TIMEOUTS
    _session: aiohttp.ClientSession | None = None
    _told: dict[str, int] = field(default_factory=dict)
    """How many of the client's lines this process has sent, by the talk or the user."""
    _there: dict[tuple[str, str, int], tuple[str | None, str | None]] = field(default_factory=dict)
    """The server's names for talk and user, by seat, client and number of the talk."""

    async def reply(
        self, facts: BotFacts, talk: Sequence[Line]
    ) -> tuple[BotReply, int | None, int | None]:
        """See `Way`."""
        if facts.over:
            if self.endpoint.end and facts.conversation:
                await self._end(self.endpoint.end, facts)
            return BotReply(), None, None
        if not self.endpoint.keeps_state:
            return await self._turn(facts, talk)
        if not facts.talk:
            return await self._begun(facts)
        facts, replayed = await self._where_it_was(facts, talk)
        self._there[_talk_of(facts)] = facts.conversation, facts.user
        try:
            reply, tokens_in, tokens_out = await self._turn(facts, talk)
        except Refused as refused:
            if refused.status not in PERHAPS_BILLED:  # it said no, and still is where it was
                self._told[_held(facts)] = _lines(facts, talk) - 1
            raise
        self._told[_held(facts)] = _lines(facts, talk)
        return reply.model_copy(update={"replayed": replayed}), tokens_in, tokens_out

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _where_it_was(self, facts: BotFacts, talk: Sequence[Line]) -> tuple[BotFacts, int]:
        """The talk as the server is to know it before this line; a new one where it does not, with
        the client's earlier lines sent again. How many those were.
        """
        conversation, user = self._there.get(_talk_of(facts), (facts.conversation, facts.user))
        facts = replace(facts, conversation=conversation, user=user)
        there = self._told.pop(_held(facts), None)  # put back once the line is answered
        trusted = there is None and self.bot.after_a_break == "continue"
        if trusted or there == _lines(facts, talk) - 1:
            if facts.conversation or (facts.user and self.endpoint.start is None):
                return facts, 0
            if facts.user:
                return await self._start(facts), 0
        return await self._sent_again(facts, talk)

    async def _sent_again(self, facts: BotFacts, talk: Sequence[Line]) -> tuple[BotFacts, int]:
        """A new talk, of a new user where the vendor keeps those, up to this line."""
        again: list[Sequence[Line]] = [talk[:-1]]
        user = None
        if self.bot.memory == "user":
            user = f"{facts.client}-{secrets.token_hex(4)}"
            again = [*facts.sessions[:-1], facts.talk[:-1]]
        sent = 0
        for at, lines in enumerate(again):
            facts = await self._start(replace(facts, user=user, conversation=None))
            for number, (who, _) in enumerate(lines, 1):
                if who == "user":
                    sent += 1
                    await self._turn(facts, lines[:number])
            if at < len(again) - 1 and self.endpoint.end:
                await self._end(self.endpoint.end, facts)
        return facts, sent

    async def _end(self, end: Call, facts: BotFacts) -> None:
        """Say that the talk is over; that there is no such talk any more is no problem."""
        try:
            await self._send(end, _slots(facts))
        except Refused as refused:
            if refused.status not in GONE:
                raise

    async def _start(self, facts: BotFacts) -> BotFacts:
        """A new talk at the server."""
        facts, _ = await self._started(facts)
        return facts

    async def _begun(self, facts: BotFacts) -> tuple[BotReply, None, None]:
        """What the server says before the client has said anything."""
        user = facts.user or (
            f"{facts.client}-{secrets.token_hex(4)}" if self.bot.memory == "user" else None
        )
        facts, answer = await self._started(replace(facts, conversation=None, user=user))
        assert self.endpoint.start is not None
        self._told[_held(facts)] = _lines(facts, ())
        return _reply(self.endpoint.start, answer, facts), None, None

    async def _started(self, facts: BotFacts) -> tuple[BotFacts, dict[str, Any]]:
        if (start := self.endpoint.start) is None:
            return replace(facts, conversation=facts.conversation or secrets.token_hex(8)), {}
        answer = await self._send(start, _slots(facts))
        named = _found(start.conversation, answer) if start.conversation else None
        if start.conversation and not isinstance(named, str | int):
            raise Failure(f"start.conversation: {start.conversation} is not in the answer")
        return replace(facts, conversation=str(named or secrets.token_hex(8))), answer

    async def _turn(
        self, facts: BotFacts, talk: Sequence[Line]
    ) -> tuple[BotReply, int | None, int | None]:
        messages = [{"role": who, "content": text} for who, text in talk]
        if self.bot.system:
            messages.insert(0, {"role": "system", "content": self.bot.system})
        slots = _slots(facts) | {"text": talk[-1][1] if talk else "", "messages": messages}
        answer = await self._send(self.endpoint.turn, slots)
        reply = _reply(self.endpoint.turn, answer, facts)
        return reply, tokens_told(answer, "prompt_tokens"), tokens_told(answer, "completion_tokens")

    async def _send(self, call: Call, slots: Mapping[str, Any]) -> dict[str, Any]:
        """Send once: the JSON object that the server answers; {} for an empty answer. Failure."""
        url = _worded(call.url, {key: quote(str(one), safe="") for key, one in slots.items()})
        at = LeanServer(base_url=url, api_key=None, timeouts=self.timeouts)
        sending = meter()
        await sending.sends(0)
        try:
            raw = await self._attempt(call, at, _filled_in(call.body, slots))
            answer = object_in(raw) if raw.strip() else {}
        except Refused as refused:
            (
                sending.refused
                if refused.status
                else sending.lost
                if refused.sent
                else sending.unsent
            )()
            raise
        except BaseException:
            sending.lost()
            raise
        told = (tokens_told(answer, key) for key in ("prompt_tokens", "completion_tokens"))
        sending.billed(*told)
        return answer

    async def _attempt(self, call: Call, at: LeanServer, body: JsonValue) -> bytes:
        data = json_bytes(body) if body and call.method != "GET" else None
        try:
            async with self._opened().request(
                call.method, at.base, data=data, allow_redirects=False
            ) as response:
                raw = unzipped(await bounded(response.content.iter_any()), response.headers)
        except aiohttp.ConnectionTimeoutError:
            raise at.unconnected() from None
        except TimeoutError:
            raise at.unanswered() from None
        except aiohttp.ClientError as error:
            raise unreached(error) from None
        if not 200 <= response.status < 300:
            raise at.refused(response.status, response.headers, raw)
        return raw

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            basic = {"Content-Type": "application/json", "Accept-Encoding": ZIPPED}
            self._session = aiohttp.ClientSession(
                headers=basic | dict(self.headers),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(
                    total=self.timeouts.total_s, connect=self.timeouts.connect_s
                ),
            )
        return self._session


def server_for(name: str, bot: Bot) -> Server:
    """The server of a bot that has an endpoint, or a model behind http or openai. ModelError."""
    if bot.endpoint is not None:
        calls = (bot.endpoint.turn, bot.endpoint.start, bot.endpoint.end)
        headers: dict[str, str] = {}
        for call in calls:
            headers |= filled(bot.endpoint.headers, call.url, name) if call else {}
        return Server(name=name, bot=bot, endpoint=bot.endpoint, headers=headers)
    base, model, key = server_of(str(bot.model))
    turn = Call(
        url=f"{base.rstrip('/')}/chat/completions",
        body={"model": model, "messages": "{messages}", **bot.parameters},
        replies="choices[0].message.content",
        tools="choices[0].message.tool_calls[]",
    )
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Server(name=name, bot=bot, endpoint=Endpoint(turn=turn), headers=headers)


def _reply(call: Call, answer: Mapping[str, Any], facts: BotFacts) -> BotReply:
    """What an answer holds, by the call's map. Failure where the bot's words are no text."""
    found = _found(call.replies, answer) if call.replies else None
    texts = found if isinstance(found, list) else [found]
    if wrong := next((one for one in texts if not isinstance(one, str | None)), None):
        raise Failure(f"replies: {call.replies} gives {type(wrong).__name__}, and a text is needed")
    tools = _found(call.tools, answer) if call.tools else None
    return reply_of(texts, tools, conversation=facts.conversation, user=facts.user)


def _found(path: str, answer: Mapping[str, Any]) -> Any:
    """What is there in an answer. Failure where a function of JMESPath cannot take it."""
    try:
        return jmespath.search(path, answer)
    except JMESPathError as error:
        raise Failure(f"{path}: {' '.join(str(error).split())}") from None


def _talk_of(facts: BotFacts) -> tuple[str, str, int]:
    return facts.seat, facts.client, len(facts.sessions)


def _held(facts: BotFacts) -> str:
    """Under which name the server holds what was said."""
    return f"user {facts.user}" if facts.user else f"talk {facts.conversation}"


def _lines(facts: BotFacts, talk: Sequence[Line]) -> int:
    """How many lines of the client there are, the last one included."""
    some = [line for one in facts.sessions for line in one] if facts.user else talk
    return sum(who == "user" for who, _ in some)


def _slots(facts: BotFacts) -> dict[str, Any]:
    return {"conversation": facts.conversation or "", "user": facts.user or facts.client}


def _worded(text: str, slots: Mapping[str, Any]) -> str:
    """A text with its slots filled, each once: what is filled in has none. Braces that are no slot
    stay.
    """
    names = "|".join(map(re.escape, slots))
    return re.sub(rf"\{{({names})\}}", lambda found: str(slots[found[1]]), text)


def _filled_in(value: JsonValue, slots: Mapping[str, Any]) -> JsonValue:
    if isinstance(value, dict):
        return {key: _filled_in(one, slots) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled_in(one, slots) for one in value]
    if value == "{messages}":
        return list(slots["messages"])
    return _worded(value, slots) if isinstance(value, str) else value
