"""Ask, do not call: minds yield a Request and are sent a Reply; `drive` answers many at once.

A Request is one of five verbs: **write** (text), **fill** (a pydantic model), **choose** (one of a
closed list), **rate** (a number on a scale) and **embed** (vectors). Its answer has been parsed
and checked before it reaches the asker, or is the asker's own declared fallback.
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

Verb = Literal["write", "fill", "choose", "rate", "embed"]
Tier = Literal[
    "reason",
    "quick",
    "judge",
    "embed",
    "extractor",
    "seeker",
    "supporter",
    "evaluator",
    "corrector",
    "manager",
]
Source = Literal["generated", "chosen", "fallback", "human"]
T = TypeVar("T")


OWN = "own"
"""The tag of an example that a policy brings for its move, before all that a persona has."""
LISTENS = "listens"
"""The tag of such an example before which a word on what was heard is fitting."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A line written by hand: an example of style for a capable model, and for a small one
    possibly the answer itself. `tags`: theme, stage, emotion, cues and the like."""

    text: str
    stressed: str | None = None
    tags: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question to a model.

    purpose: which question of the resident's cycle this is; it names a file in `prompts/`. tier:
    which of the model roles answers: four in a world, six and `embed` in a synthesis. model: for
    `fill`, the pydantic model of the answer. options: for `choose`. scale: for `rate`, inclusive.
    texts: for `embed`. talk: what was said before the prompt, each line a message of its own, for
    models that learned to talk by turns. examples: best first; a chat model is shown the first few.
    hints: the facts of the prompt once more as data, for a model too small to read them out of it.
    check: what is wrong with a parsed answer, in words for the model; None when nothing is.
    fallback: the answer to take when the second try fails too. seed: drawn by key, so that the same
    world asks the same question with the same seed.
    """

    verb: Verb
    purpose: str
    who: str
    tier: Tier = "reason"
    system: str = ""
    prompt: str = ""
    model: type[BaseModel] | None = None
    options: tuple[str, ...] = ()
    scale: tuple[int, int] | None = None
    texts: tuple[str, ...] = ()
    talk: tuple[tuple[Literal["user", "assistant"], str], ...] = ()
    examples: tuple[Example, ...] = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    check: Callable[[Any], str | None] | None = None
    fallback: Any = None
    temperature: float = 0.7
    max_tokens: int = 400
    seed: int = 0

    @cached_property
    def key(self) -> str:
        """SHA-256 (32 hex digits) of all that is sent; the name under which a reply is recorded."""
        sent = [
            self.verb,
            self.purpose,
            self.system,
            self.prompt,
            self.options,
            self.scale,
            self.texts,
            self.model.__name__ if self.model else None,
            self.temperature,
            self.max_tokens,
            self.seed if self.verb != "embed" else 0,
            *([self.talk] if self.talk else []),
        ]
        return hashlib.sha256(
            json.dumps(sent, ensure_ascii=False).encode("utf-8", "surrogatepass")
        ).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A checked answer. `problem` says why the fallback was taken, and is None otherwise.
    weights: for `rate`, the probabilities that made the value; None when the server gave none."""

    value: Any
    source: Source = "generated"
    model: str = ""
    problem: str | None = None
    weights: Mapping[str, float] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


Ask = Generator[Request | tuple[Request, ...], Any, T]
Answer = Callable[[Request], Awaitable[Reply]]


def ask(request: Request) -> Ask[Reply]:
    """One request, one reply; for `reply = yield from ask(request)`."""
    reply: Reply = yield request
    return reply


def ask_all(requests: tuple[Request, ...]) -> Ask[tuple[Reply, ...]]:
    """Several requests that need not wait for each other."""
    replies: tuple[Reply, ...] = yield requests
    return replies


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """A request whose fallback was taken, and why."""

    who: str
    purpose: str
    cause: str


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[T]):
    """What an Ask came to, and the fallbacks on its way, in the order of its requests."""

    value: T
    troubles: tuple[Trouble, ...] = ()


class Halted(Exception):
    """Somebody who watches wants to stop everything: `stop` is the SystemExit or KeyboardInterrupt.
    Such a one must not be raised in the loop's own thread, which it would end, and whoever waits
    for the loop would wait for ever.
    """

    def __init__(self, stop: BaseException) -> None:
        super().__init__(str(stop))
        self.stop = stop


@contextmanager
def halting() -> Iterator[None]:
    """Within a loop: stops everything by an ordinary exception."""
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as stop:
        raise Halted(stop) from None


async def pursue(asking: Ask[T], answer: Answer) -> Outcome[T]:
    """Carry one Ask to its end."""
    troubles: list[Trouble] = []
    reply: Any = None
    while True:
        try:
            with halting():
                wanted = asking.send(reply)
        except StopIteration as end:
            return Outcome(value=end.value, troubles=tuple(troubles))
        if isinstance(wanted, Request):
            reply = await answer(wanted)
            pairs: tuple[tuple[Request, Reply], ...] = ((wanted, reply),)
        else:
            reply = tuple(await asyncio.gather(*(answer(request) for request in wanted)))
            pairs = tuple(zip(wanted, reply, strict=True))
        troubles += [
            Trouble(who=r.who, purpose=r.purpose, cause=got.problem)
            for r, got in pairs
            if got.problem
        ]


async def drive(asks: Mapping[str, Ask[T]], answer: Answer) -> dict[str, Outcome[T]]:
    """Carry many Asks to their ends at once; each goes on as soon as its own reply is there.

    The outcomes come in the order of the sorted names, whatever the timing. The first exception
    ends all of them.
    """
    names = sorted(asks)
    tasks = []
    async with asyncio.TaskGroup() as group:
        for name in names:
            tasks.append(group.create_task(pursue(asks[name], answer)))
            await asyncio.sleep(
                0
            )  # lets the first requests leave while the last are still being thought of
    return {name: task.result() for name, task in zip(names, tasks, strict=True)}


def play(asking: Ask[T], *replies: Any) -> T:
    """Carry one Ask to its end with given values, for tests: each request gets the next value."""
    values = iter(replies)
    reply: Any = None
    try:
        while True:
            wanted = asking.send(reply)
            many = () if isinstance(wanted, Request) else wanted
            reply = (
                tuple(Reply(value=next(values)) for _ in many)
                if many
                else Reply(value=next(values))
            )
    except StopIteration as end:
        value: T = end.value
        return value
