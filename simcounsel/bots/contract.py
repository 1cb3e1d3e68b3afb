"""Whether a bot keeps its contract: `simcounsel doctor --bot SPEC` holds two short harmless talks
with it, some six requests, and says what came.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from simcounsel.bots.file import PREFIX, bot_file, bot_of
from simcounsel.bots.opening import BotModel, open_bot
from simcounsel.bots.option import allow
from simcounsel.bots.wire import BotFacts, BotReply, Line
from simcounsel.cli.finding import Finding, Mark
from simcounsel.errors import SimcounselError, SpecError
from simcounsel.llm.models import Failure
from simcounsel.llm.question import Question

CLIENT = "doctor"
WORD = "heron"
"""What the bot is asked to remember; no reply has it by chance."""
FIRST = (
    f"Hello. Please remember the word {WORD} for a moment.",
    "Which word was it? Answer with that word alone.",
    f"Thank you. {'A long line. ' * 100}",
    "谢谢 🙂 ça va, naïve?",
)
AGAIN = "Hello again. Which word did I ask you to remember last time? If you do not know, say no."
SLOW_S = 30.0


@dataclass(kw_only=True)
class Talk:
    """A talk with the bot as it goes."""

    model: BotModel
    earlier: tuple[tuple[Line, ...], ...] = ()
    lines: tuple[Line, ...] = ()
    last: BotReply = field(default_factory=BotReply)
    seconds: list[float] = field(default_factory=list)

    async def say(self, text: str) -> str:
        """The bot's words to a line of the client. Raises Failure."""
        self.lines = (*self.lines, ("user", text))
        started = time.monotonic()
        self.last = await self._asked(over=False)
        self.seconds.append(time.monotonic() - started)
        words = "\n\n".join(self.last.messages)
        self.lines = (*self.lines, ("assistant", words)) if words else self.lines
        return words

    async def end(self) -> None:
        """The talk is over."""
        await self._asked(over=True)

    async def _asked(self, *, over: bool) -> BotReply:
        facts = BotFacts(
            client=CLIENT,
            seed=len(self.earlier),
            sessions=(*self.earlier, self.lines),
            conversation=self.last.conversation,
            user=self.last.user,
            over=over,
        )
        question = Question(
            verb="fill",
            purpose="bot",
            who=CLIENT,
            schema=BotReply,
            fallback=BotReply(),
            prompt=self.lines[-1][1],
            facts=facts,
        )
        got = await self.model.complete(question, None)
        return BotReply.model_validate(json.loads(got.text))


def examined(spec: str) -> Iterator[Finding]:
    """All there is to say of a bot that the user names, `[NAME=]SPEC`."""
    own = spec.partition("=")[2] if _has_seat(spec) else spec
    name = PREFIX + own.strip().removeprefix(PREFIX)
    try:
        allow(name)
        bot = bot_of(name)
        model = open_bot(name)
    except SpecError as error:
        yield from (_found("file", "problem", one) for one in error.problems)
        return
    except SimcounselError as error:
        yield _found("opens", "problem", str(error))
        return
    told = f"{bot.name or name}; memory: {bot.memory}"
    yield _found("file" if bot_file(name) else "name", "ok", told)
    yield from asyncio.run(_talked(model))


async def _talked(model: BotModel) -> list[Finding]:
    found: list[Finding] = []
    talk = Talk(model=model)
    try:
        try:
            for line in FIRST:
                words = await talk.say(line)
                if line in FIRST[:2] and not words:
                    found.append(_found("words", "problem", f"nothing came to {line!r}", _SEE))
                if line == FIRST[1]:
                    found.append(_remembers(words, talk))
            found.append(_found("long line, other scripts", "ok", "taken"))
            found += _speed(talk)
            await talk.end()
            found.append(await _next_talk(talk))
        except Failure as failure:
            found.append(_found("talk", "problem", failure.cause, failure.remedy or _SEE))
    finally:
        await model.close()
    return found


def _remembers(words: str, talk: Talk) -> Finding:
    knows = WORD in words.casefold()
    says = f"{words[:120]!r}" + ("" if knows else f"; the word was {WORD}")
    return _found(
        "within a talk",
        "ok" if knows else "none",
        f"{'knows' if knows else 'does not say'} what was said before: {says}",
        "" if knows else "see whether it is sent all messages, or keeps them",
    )


def _speed(talk: Talk) -> Iterator[Finding]:
    slowest = max(talk.seconds)
    says = f"{sum(talk.seconds) / len(talk.seconds):.1f} s on average, {slowest:.1f} s at most"
    slow = slowest > SLOW_S
    yield _found("speed", "none" if slow else "ok", says, "--timeout" if slow else "")
    if talk.last.tools:
        yield _found("tool calls", "ok", f"{len(talk.last.tools)} in the last reply; they are kept")


async def _next_talk(before: Talk) -> Finding:
    """Whether the next talk knows of this one, as its `memory` says."""
    model = before.model
    memory = model.bot.memory
    last = before.last if memory == "conversation" else _of_the_client(before.last)
    talk = Talk(model=model, earlier=(before.lines,), last=last)
    knows = WORD in (await talk.say(AGAIN)).casefold()
    await talk.end()
    wanted = memory != "session"
    says = f"{'knows' if knows else 'does not know'} the talk before, and memory is {memory!r}"
    return _found("the next talk", "ok" if knows == wanted else "none", says)


def _of_the_client(reply: BotReply) -> BotReply:
    """What stays of a talk for the next one: the name of the client."""
    return BotReply(user=reply.user)


_SEE = "see docs/bots.md: what a bot is sent and what it is to answer"


def _found(subject: str, mark: Mark, says: str, remedy: str = "") -> Finding:
    return Finding(part="bot", subject=subject, mark=mark, says=says, remedy=remedy)


def _has_seat(spec: str) -> bool:
    head, equals, _ = spec.partition("=")
    return bool(equals) and ":" not in head and "/" not in head
