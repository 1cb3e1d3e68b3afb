"""The provider `bot`: from a bot's name to whoever answers for it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from simcounsel.bots.command import Function, Program
from simcounsel.bots.endpoint import server_for
from simcounsel.bots.file import PREFIX, Bot, bot_file, bot_of, pinned
from simcounsel.bots.wire import BotFacts, BotReply, Line, Way
from simcounsel.chance import seed_of
from simcounsel.errors import BudgetSpent, ModelError, PluginError, SpecError
from simcounsel.llm.catalog import open_chat
from simcounsel.llm.models import ChatModel, Completion, Failure, Provider
from simcounsel.llm.question import PromptOnly, Question
from simcounsel.named_code import ALL, check_code, folders_allowed, named
from simcounsel.specs.timeouts import TIMEOUTS, Timeouts

MOST_TOKENS = 1000
"""Of a reply of a model that runs here."""


@dataclass(kw_only=True)
class Chat:
    """See `Way`: any other chat model, which is sent the messages and the system prompt."""

    model: ChatModel
    system: str

    async def reply(
        self, facts: BotFacts, talk: Sequence[Line]
    ) -> tuple[BotReply, int | None, int | None]:
        """See `Way`."""
        if facts.over:
            return BotReply(), None, None
        *before, last = talk
        question = Question[str](
            verb="write",
            purpose="bot",
            who=facts.client,
            system=self.system,
            talk=tuple(before),
            prompt=last[1],
            fallback="",
            max_tokens=MOST_TOKENS,
            facts=PromptOnly(),
            seed=seed_of("bot", facts.seed, *chain.from_iterable(talk)),
        )
        got = await self.model.complete(question, None)
        return (
            BotReply(messages=(got.text,) if got.text.strip() else ()),
            got.tokens_in,
            got.tokens_out,
        )

    async def close(self) -> None:
        """Let go of the model."""
        await self.model.close()


class BotModel:
    """A ChatModel that answers turns of a bot, and nothing else. It is asked once: no bot is told
    what was wrong with its answer.
    """

    def __init__(self, name: str, bot: Bot, way: Way) -> None:
        self.name = name
        self.bot = bot
        self._way = way
        self._asked = 0
        self._free_at = 0.0
        self._limit: asyncio.Semaphore | None = None

    @property
    def timeouts(self) -> Timeouts:
        """Of one request."""
        return getattr(self._way, "timeouts", TIMEOUTS)

    @timeouts.setter
    def timeouts(self, timeouts: Timeouts) -> None:
        if hasattr(self._way, "timeouts"):
            self._way.timeouts = timeouts

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """A reply as JSON (`BotReply`); see ChatModel."""
        if complaint:
            raise Failure(complaint)
        facts = question.facts
        if not isinstance(facts, BotFacts):
            raise ModelError(
                f"{self.name} answers as a bot, and {question.who}'s {question.purpose!r} is no"
                f" turn of a talk; write `mind: {self.name}` for a resident, or --bot"
            )
        async with self._in_turn():
            reply, tokens_in, tokens_out = await self._way.reply(facts, self._known(facts))
        return Completion(text=reply.model_dump_json(), tokens_in=tokens_in, tokens_out=tokens_out)

    async def close(self) -> None:
        """Let go of it."""
        await self._way.close()

    def _known(self, facts: BotFacts) -> tuple[Line, ...]:
        """What it is to know of what was said, by its memory."""
        if self.bot.memory == "conversation":
            return tuple(chain.from_iterable(facts.sessions))
        return facts.talk[-1:] if self.bot.memory == "message" else facts.talk

    @asynccontextmanager
    async def _in_turn(self) -> AsyncIterator[None]:
        """Once its rates allow it. BudgetSpent."""
        rates = self.bot.rates
        if rates.calls is not None and self._asked >= rates.calls:
            raise BudgetSpent(f"{self.name}: rates.calls allows {rates.calls} requests in a run")
        self._asked += 1
        self._limit = self._limit or asyncio.Semaphore(rates.at_once or 10_000)
        async with self._limit:
            if rates.per_minute is not None:
                now = asyncio.get_running_loop().time()
                self._free_at = max(now, self._free_at) + 60 / rates.per_minute
                await asyncio.sleep(self._free_at - 60 / rates.per_minute - now)
            yield


def open_bot(name: str) -> BotModel:
    """The bot of `bot:SPEC`. It asks nothing yet. ModelError with what is missing, PluginError for
    code that the user did not allow.
    """
    try:
        bot = bot_of(name)
        pinned(name)
    except SpecError as error:
        raise ModelError("\n".join(error.problems)) from None
    return BotModel(name, bot, _way(name, bot))


def _way(name: str, bot: Bot) -> Way:
    if bot.runs_code and not name.removeprefix(PREFIX).startswith("sample:"):
        _check_allowed(name, bot)
    keeps_users = bot.memory == "user"
    if bot.command:
        return Program(words=bot.command, keeps_users=keeps_users)
    if bot.python:
        return Function.named(bot.python, keeps_users=keeps_users)
    model = str(bot.model)
    if bot.endpoint or model.startswith(("http://", "https://", "openai:")):
        return server_for(name, bot)
    if model.startswith(PREFIX):
        raise ModelError(f"{name}: a bot within a bot; name the inner one")
    return Chat(model=open_chat(model), system=bot.system or "")


def _check_allowed(name: str, bot: Bot) -> None:
    """PluginError where a program or function was neither named nor allowed by the user."""
    told = named().splitlines()
    file = bot_file(name)
    if ALL in told or name.partition("#")[0] in told:
        return
    if file and any(
        file.resolve().is_relative_to(Path(one).resolve()) for one in folders_allowed()
    ):
        return
    if bot.python:
        check_code(bot.python)
        return
    raise PluginError(
        f"{name} runs the program {' '.join(bot.command or ())!r} with all your rights, and only a"
        " file names it; name it with --bot, or add --allow-code, if you trust it"
    )


BOT = Provider(
    chat=open_bot,
    pinned=pinned,
    forms={
        "bot:SPEC": "a bot in a resident's seat (--bot): FILE.yaml, http(s)://, command:PROGRAM,"
        " python:module:NAME, byhand:FOLDER or a model"
    },
)
