"""Questions whose answer is the same whoever asks them: a model is asked once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from simcounsel.llm.question import Question, Reply

T = TypeVar("T")


class Once:
    """The answers so far."""

    def __init__(self) -> None:
        self._answers: dict[str, Reply[Any]] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def answer(
        self, question: Question[T], ask: Callable[[Question[T]], Awaitable[Reply[T]]]
    ) -> Reply[T]:
        """What was answered before, or `ask`'s answer now. Whoever asks while the first still waits
        waits too, and asks if that one was broken off.
        """
        async with self._turns.setdefault(question.key, asyncio.Lock()):
            if question.key not in self._answers:
                self._answers[question.key] = await ask(question)
            return self._answers[question.key]
