"""A bot that is a program, asked by JSON lines, or a Python function.

The program gets a line for each turn, `{"user", "conversation", "messages"}`, the messages with
`role` and `content`, and writes one back: `{"messages": ["..."], "tools": [...]}`, or `{"text":
"..."}`. A function gets the messages, and `user` and `conversation` by name if it takes them; it
gives a text, a list of texts, or such an object.
"""

import asyncio
import inspect
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from simcounsel.bots.wire import BotFacts, BotReply, Line, reply_of
from simcounsel.chance import seed_of
from simcounsel.errors import PluginError
from simcounsel.intake import json_data
from simcounsel.llm.models import Failure
from simcounsel.specs.timeouts import TIMEOUTS, Timeouts

LINE_BYTES = 2**22
"""Of a program's answer."""
UNASKED_S = 0.01
"""So long it is looked, before a turn, whether a program wrote another line to the one before."""


@dataclass(kw_only=True)
class Program:
    """See `Way`. The program is started with the first turn, and asked one turn after another."""

    words: tuple[str, ...]
    keeps_users: bool = False
    """Whether it keeps something under the client's id, which then is new in each run."""
    timeouts: Timeouts = TIMEOUTS
    _process: asyncio.subprocess.Process | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def reply(
        self, facts: BotFacts, talk: Sequence[Line]
    ) -> tuple[BotReply, int | None, int | None]:
        """See `Way`."""
        if facts.over:
            return BotReply(), None, None
        facts = _named(facts, self.keeps_users)
        async with self._turn:
            try:
                async with asyncio.timeout(self.timeouts.read_s):
                    given = await self._answer(json.dumps(_told(facts, talk)))
            except TimeoutError:
                await self._end()
                raise Failure(
                    f"{self.words[0]} gave no line within {self.timeouts.read_s:g} s (--timeout)",
                    transport=True,
                ) from None
            except BaseException:  # what it may still write belongs to no other turn
                await self._end()
                raise
        return _taken(given, facts), None, None

    async def close(self) -> None:
        """End the program."""
        await self._end()

    async def _answer(self, line: str) -> object:
        process = await self._started()
        assert process.stdin is not None and process.stdout is not None
        if await _wrote_more(process.stdout):
            raise Failure(f"{self.words[0]} wrote more than a line for a turn; logs go to stderr")
        try:
            process.stdin.write(f"{line}\n".encode())
            await process.stdin.drain()
            raw = await process.stdout.readline()
        except (ConnectionError, ValueError) as error:
            raise Failure(f"{self.words[0]}: {error}", transport=True) from None
        if not raw:
            code = await process.wait()
            self._process = None
            raise Failure(f"{self.words[0]} ended with exit code {code}", transport=True)
        text = raw.decode("utf-8", "replace").strip()
        try:
            return json_data(text)
        except ValueError:
            raise Failure(f"{self.words[0]} wrote no JSON line: {text[:80]!r}") from None

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self.words,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    limit=LINE_BYTES,
                )
            except OSError as error:
                raise Failure(
                    f"{self.words[0]} cannot be started: {error.strerror}",
                    transport=True,
                    lasting=True,
                ) from None
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(2):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@dataclass(kw_only=True)
class Function:
    """See `Way`. It is called in a thread, or awaited where it is asynchronous."""

    call: Callable[..., Any]
    takes: frozenset[str]
    """Which of `user` and `conversation` it takes."""
    keeps_users: bool = False
    """As of a `Program`."""

    @classmethod
    def named(cls, name: str, *, keeps_users: bool = False) -> "Function":
        """The function of `module:NAME`. PluginError where there is none."""
        module, _, attribute = name.partition(":")
        try:
            call = getattr(import_module(module), attribute)
            parameters = inspect.signature(call).parameters
        except Exception as error:  # whatever a user's module may raise as it is imported
            raise PluginError(
                f"bot:python:{name} cannot be had ({type(error).__name__}: {error}); name a"
                " function that takes a list of messages"
            ) from error
        takes = frozenset(("user", "conversation")) & parameters.keys()
        return cls(call=call, takes=takes, keeps_users=keeps_users)

    async def reply(
        self, facts: BotFacts, talk: Sequence[Line]
    ) -> tuple[BotReply, int | None, int | None]:
        """See `Way`."""
        if facts.over:
            return BotReply(), None, None
        facts = _named(facts, self.keeps_users)
        told = _told(facts, talk)
        more = {key: told[key] for key in self.takes}
        try:
            if inspect.iscoroutinefunction(self.call):
                given = await self.call(told["messages"], **more)
            else:
                given = await asyncio.to_thread(self.call, told["messages"], **more)
        except Exception as error:  # the bot's own fault, whatever it is
            raise Failure(f"{self.call.__name__}: {type(error).__name__}: {error}") from error
        return _taken(given, facts), None, None

    async def close(self) -> None:
        """Nothing to let go of."""


async def _wrote_more(stdout: asyncio.StreamReader) -> bool:
    """Whether there is something that nobody asked for."""
    try:
        async with asyncio.timeout(UNASKED_S):
            return bool(await stdout.read(1))
    except TimeoutError:
        return False


def _named(facts: BotFacts, keeps_users: bool) -> BotFacts:
    """With names for talk and user that say nothing of the client and are those of no other run."""
    talk = facts.conversation or f"{seed_of('conversation', facts.seed, facts.client):x}"
    user = facts.user or (secrets.token_hex(8) if keeps_users else None)
    return replace(facts, conversation=talk, user=user)


def _told(facts: BotFacts, talk: Sequence[Line]) -> dict[str, Any]:
    return {
        "user": facts.user or facts.conversation,
        "conversation": facts.conversation,
        "messages": [{"role": who, "content": text} for who, text in talk],
    }


def _taken(given: object, facts: BotFacts) -> BotReply:
    """What a program or a function gave. Failure where it is no reply."""
    if isinstance(given, str) or given is None:
        given = {"text": given}
    elif isinstance(given, list | tuple):
        given = {"messages": list(given)}
    if not isinstance(given, Mapping) or not {"text", "messages", "tools"} & given.keys():
        raise Failure(f"a reply has `text` or `messages`; it gave {str(given)[:80]!r}")
    some = given.get("messages") or ()
    if not isinstance(some, list | tuple):
        raise Failure(f"`messages` is a list of texts, and not {type(some).__name__}")
    texts = [*some, *([given["text"]] if given.get("text") else ())]
    if wrong := next((one for one in texts if not isinstance(one, str)), None):
        raise Failure(f"a message is a text, and not {type(wrong).__name__}")
    tools = given.get("tools")
    return reply_of(texts, tools, conversation=facts.conversation, user=facts.user)
