"""Carrying Asks to their ends, many at once; each goes on as soon as its own reply is there."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from simcounsel.llm.question import Ask, Question, Reply

T = TypeVar("T")
Answer = Callable[[Question[Any]], Awaitable[Reply[Any]]]
AT_ONCE = 8
"""So many Asks are begun before the questions of the first leave."""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """A question whose fallback was taken, and why."""

    who: str
    purpose: str
    cause: str


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A parameter that a model does not take, so that it was asked without it."""

    model: str
    parameter: str


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[T]):
    """What an Ask came to, and what was not as it should be on its way, in the order of its
    questions.
    """

    value: T
    asked: int = 0
    """How many questions there were, vectors not counted."""
    troubles: tuple[Trouble, ...] = ()
    """The fallbacks."""
    left_out: tuple[LeftOut, ...] = ()
    """Each once."""


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
    questions = 0
    troubles: list[Trouble] = []
    left_out: dict[LeftOut, None] = {}
    reply: object = None
    pairs: tuple[tuple[Question[Any], Reply[Any]], ...]
    while True:
        try:
            wanted = asking.send(reply)
        except StopIteration as end:
            return Outcome(
                value=end.value, asked=questions, troubles=tuple(troubles), left_out=tuple(left_out)
            )
        except (SystemExit, KeyboardInterrupt) as stop:  # as `halting`, in every step
            raise Halted(stop) from None
        if isinstance(wanted, Question):
            got = await answer(wanted)
            reply, pairs = got, ((wanted, got),)
        else:
            many = tuple(await asyncio.gather(*(answer(question) for question in wanted)))
            reply, pairs = many, tuple(zip(wanted, many, strict=True))
        questions += sum(asked.verb != "embed" for asked, _ in pairs)
        troubles += [
            Trouble(who=asked.who, purpose=asked.purpose, cause=got.problem)
            for asked, got in pairs
            if got.problem
        ]
        left_out |= {
            LeftOut(model=got.model, parameter=parameter): None
            for _, got in pairs
            for parameter in got.left_out
        }


async def drive(asks: Mapping[str, Ask[T]], answer: Answer) -> dict[str, Outcome[T]]:
    """Carry many Asks to their ends at once.

    The outcomes come in the order of the sorted names, whatever the timing. The first exception
    ends all of them.
    """
    names = sorted(asks)
    tasks = []
    async with asyncio.TaskGroup() as group:
        for at, name in enumerate(names, 1):
            tasks.append(group.create_task(pursue(asks[name], answer)))
            # lets the first questions leave while the last are still being thought of; not after
            # each one, since a round of the loop costs as much as a tenth of a question
            if at % AT_ONCE == 0:
                await asyncio.sleep(0)
    return {name: task.result() for name, task in zip(names, tasks, strict=True)}


def play(asking: Ask[T], *replies: object) -> T:
    """Carry one Ask to its end with given values, for tests: each question gets the next value."""
    values = iter(replies)
    reply: object = None
    try:
        while True:
            wanted = asking.send(reply)
            if isinstance(wanted, Question):
                reply = Reply(value=next(values), call=wanted.key)
            else:
                reply = tuple(Reply(value=next(values), call=one.key) for one in wanted)
    except StopIteration as end:
        value: T = end.value
        return value
