"""Routes each question to the model of its tier; checks, asks again once, falls back, records,
counts.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from simcounsel.errors import ModelError, ModelUnreachable
from simcounsel.llm.answers import Unfit, fallback_of, reply_of
from simcounsel.llm.budget import Budget, spent_in
from simcounsel.llm.driving import Halted, Outcome, drive, halting
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.models import ChatModel, Completion, EmbedModel, Failure, taken_in
from simcounsel.llm.outage import Outage, Patience, Waiting, asked_again
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import Ask, Question, Reply, with_temperature
from simcounsel.llm.recording import Recorder, broken_off_line, call_line, embedding_line
from simcounsel.llm.usage import Spent, Usage
from simcounsel.runs.calls import decode_vectors, encode_vectors

if TYPE_CHECKING:
    import numpy as np


T = TypeVar("T")
ENDS_S = 5.0
"""How long cancelled work may take to end."""


class LoopThread:
    """An event loop of its own, so that runs work the same in a script, a server and a notebook."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self.loop.run_forever, name="simcounsel-models", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work and return its result. Ctrl-C cancels it, and waits a little until what was
        under way is written down.
        """
        over = threading.Event()

        async def working() -> T:
            try:
                return await work
            finally:
                over.set()

        future: Future[T] = asyncio.run_coroutine_threadsafe(working(), self.loop)
        try:
            return future.result()
        except BaseException:
            if future.cancel():
                over.wait(ENDS_S)
            raise

    def close(self) -> None:
        """End the loop, and what is still under way in it: a Ctrl-C may fall between the start of
        some work and the wait for it.
        """
        if self._thread.is_alive():
            ending = asyncio.run_coroutine_threadsafe(_end_all(), self.loop)
            with suppress(TimeoutError):
                ending.result(ENDS_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self.loop.close()


async def _end_all() -> None:
    """Cancel every other task of this loop, and wait until they have ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Switchboard:
    """The models of a run by tier, with one limit on requests in flight.

    chat: by tier; as `reason:Ines` the model of a resident who has one of their own.

    patience: how long a model that does not answer is waited for; then ModelUnreachable ends all
    that was asked together. recorded: replies of an earlier run (or of this one before a crash) by
    key; they are used instead of asking. only_recorded: a request that is not among them is an
    error. fallbacks: counts those of all that is asked; None: whoever asks counts them.
    """

    def __init__(
        self,
        chat: Mapping[str, ChatModel],
        embed: EmbedModel,
        *,
        in_flight: int = 64,
        prices: Prices | None = None,
        recorder: Recorder | None = None,
        recorded: Mapping[str, dict[str, Any]] | None = None,
        only_recorded: bool = False,
        patience: Patience | None = None,
    ) -> None:
        self.chat = dict(chat)
        self.embed = embed
        self.usage = Usage()
        self.recorder = recorder
        self.on_call: Callable[[], None] | None = None
        self._outage = Outage(patience or Patience())
        self._prices = prices or Prices.load()
        self.budget = Budget()
        self.fallbacks: FallbackShare | None = None
        self.temperature: float | None = None
        """For what people think and speak (`with_temperature`)."""
        self._recorded = dict(recorded or {})
        self.only_recorded = only_recorded
        self._limit = asyncio.Semaphore(in_flight)
        self._flying = 0
        self._tick: int | None = None
        self._thread = LoopThread()
        self._once = Once()

    def ask(self, asks: Mapping[str, Ask[T]]) -> dict[str, Outcome[T]]:
        """Carry all Asks to their ends; outcomes in the order of the sorted names.

        ModelUnreachable when a model was waited for in vain: no fallback stands for its answer.
        """
        if not asks:
            return {}
        try:
            return self._thread.run(drive(asks, self.answer))
        except BaseExceptionGroup as group:
            first = group.exceptions[0]
            raise (first.stop if isinstance(first, Halted) else first) from None

    def begin_tick(self, tick: int) -> None:
        """Calls are recorded as of this tick."""
        self._tick = tick

    @property
    def waiting(self) -> Waiting | None:
        """Which model is waited for at this moment, and for how long yet; None: none is."""
        return self._outage.waiting

    def recall(self, recorded: Mapping[str, dict[str, Any]]) -> None:
        """Use these replies, by key, instead of asking."""
        self._recorded |= recorded

    def limit(self, budget: Budget, calls: Iterable[Mapping[str, Any]] | None) -> None:
        """Send nothing that does not fit into a budget. calls: those recorded before count, and
        nobody else is at work with it; None: others are. ModelError when a price is unknown.
        """
        names = [model.name for model in self.chat.values()]
        budget.check_prices([*names, self.embed.name], self._prices)
        if calls is not None and budget.limited:
            budget.begin(spent_in(calls, self._prices))
        self.budget.end()
        self.budget = budget

    def close(self) -> None:
        """Let go of all models."""
        models: list[ChatModel | EmbedModel] = [*self.chat.values(), self.embed]
        for model in {id(m): m for m in models}.values():
            self._thread.run(model.close())
        self._thread.close()
        self.budget.end()

    async def answer(self, question: Question[T]) -> Reply[T]:
        """One question to its reply. No bad answer raises, but too many of them do, where
        `fallbacks` counts them: TooManyFallbacks.
        """
        if question.verb == "embed":
            return await self._embedded(question)
        question = with_temperature(question, self.temperature)
        if question.once:
            return await self._once.answer(question, self._counted)
        return await self._counted(question)

    async def _counted(self, question: Question[T]) -> Reply[T]:
        reply = await self._answered(question)
        if self.fallbacks is not None:
            self.fallbacks.count(reply)
        return reply

    async def _answered(self, question: Question[T]) -> Reply[T]:
        known = self._known(question)
        if known is not None:
            reply = self._replayed(question, known)
            if reply is not None:
                return reply
        if self.only_recorded:
            raise ModelError(
                f"the recording holds no reply to {question.who}'s {question.purpose!r}; "
                "it replays only the same world, seed and version of simcounsel"
            )
        async with self._limit:
            return await self._ask_model(question)

    def _known(self, question: Question[T]) -> Mapping[str, Any] | None:
        """The recorded call of a question; not one of another model than the one that would be
        asked now, as in a fork that changes models. What a human said stays said, and a recording
        is replayed whatever wrote it.
        """
        known = self._recorded.get(question.key) if self._recorded else None
        if known is None or self.only_recorded or known.get("source") == "human":
            return known
        return known if known.get("model") == self._model(question).name else None

    def _model(self, question: Question[T]) -> ChatModel:
        """Whom to ask: the model of whoever asks, if there is one, else that of the tier."""
        own = None if question.of_world else self.chat.get(f"{question.tier}:{question.who}")
        return own or self.chat[question.tier]

    def _replayed(self, question: Question[T], known: Mapping[str, Any]) -> Reply[T] | None:
        """The reply of a recorded call. None when it does not parse any more."""
        self.usage = replace(self.usage, replayed=self.usage.replayed + 1)
        left_out = tuple(known.get("left_out") or ())
        if known.get("problem"):
            return fallback_of(question, known["model"], known["problem"], left_out)
        completion = Completion(
            text=known["reply"],
            weights=known.get("weights"),
            source=known.get("source", "generated"),
            notes=known.get("notes") or {},
            left_out=left_out,
        )
        try:
            return reply_of(question, completion, known["model"])
        except Unfit:
            return None

    async def _ask_model(self, question: Question[T]) -> Reply[T]:
        """Ask the model, at most twice; record and count."""
        model = self._model(question)
        started = time.perf_counter()
        self._flying += 1
        if self._flying > self.usage.peak_in_flight:
            self.usage = replace(self.usage, peak_in_flight=self._flying)
        spent = Spent(question, model.name, self._prices, self.budget)
        reply: Reply[T] | None = None
        try:
            with self._recorded_if_broken_off(question, spent):
                while reply is None and spent.asked < 2:
                    reply = await self._try(question, model, spent)
        finally:
            self._flying -= 1
        if reply is None:
            reply = fallback_of(question, model.name, spent.problem, spent.left_out)
        characters = len(question.system) + len(question.prompt)
        self.usage = self.usage.plus(spent, reply.source, characters)
        self._record(question, call_line(question, reply, spent), started)
        spent.done()
        self._tell()
        return reply

    async def _try(self, question: Question[T], model: ChatModel, spent: Spent) -> Reply[T] | None:
        """Ask once. None when the answer is unusable; `spent` then says why."""
        spent.asked += 1

        async def send() -> Completion:
            async with spent.attempt(self._tick):
                completion = taken_in(await model.complete(question, spent.complaint))
                spent.answered(completion)
                return completion

        try:
            completion = await self._outage.reach(model.name, send)
            reply = reply_of(question, completion, model.name)
        except Unfit as unfit:
            spent.unfit(str(unfit), completion.text)
        except Failure as failure:
            spent.unfit(failure.cause)
            spent.sent(failure)
        else:
            spent.problem = None
            return reply
        return None

    @contextmanager
    def _recorded_if_broken_off(self, question: Question[Any], spent: Spent) -> Iterator[None]:
        """What was sent for a question that is given up is counted and recorded like the rest."""
        started = time.perf_counter()
        try:
            yield
        except BaseException:
            if spent.tries:
                self.usage = self.usage.plus_requests(spent)
                self._record(question, broken_off_line(question, spent), started)
            spent.done()
            raise

    def _record(self, question: Question[Any], line: dict[str, Any], started: float) -> None:
        if self.recorder:
            latency = {"latency_s": round(time.perf_counter() - started, 4)}
            self.recorder.append_call(self._place(question) | line | latency)

    def _tell(self) -> None:
        if self.on_call:
            with halting():
                self.on_call()

    def _place(self, question: Question[Any]) -> dict[str, Any]:
        """How each line of calls.jsonl begins, so that readers can index it unread."""
        return {"key": question.key, "tick": self._tick}

    async def _embedded(self, question: Question[T]) -> Reply[T]:
        """Vectors, rounded to float16 as they are recorded, so that a replay computes the same."""
        known = self._recorded.get(question.key) if self._recorded else None
        if known is None and self.only_recorded:
            raise ModelError(
                f"the recording holds no vectors for {question.who}'s {question.purpose!r}"
            )
        text = known["vectors"] if known else await self._vectors(question)
        vectors: Any = decode_vectors(text, len(question.texts))
        return Reply(value=vectors, model=self.embed.name, call=question.key)

    async def _vectors(self, question: Question[Any]) -> str:
        """Vectors from the model, as they are recorded. Those that are made in this process take
        nothing.
        """
        started = time.perf_counter()
        name = self.embed.name
        spent = Spent(question, name, self._prices, self.budget)
        here = self._prices.in_process(name)

        async def send() -> "np.ndarray":
            if here:
                return await self.embed.embed(question.texts)
            async with spent.attempt(self._tick):
                found = await self.embed.embed(question.texts)
                spent.embedded()
                return found

        try:
            with self._recorded_if_broken_off(question, spent):
                sent = send if here else lambda: asked_again(send)
                text = encode_vectors(await self._outage.reach(name, sent))
        except Failure as failure:
            raise ModelUnreachable(
                f"the model {name!r} gave no embeddings ({failure.cause})"
            ) from None
        if not here:
            self.usage = self.usage.plus_requests(spent)
        self._record(
            question, embedding_line(question, name, text, None if here else spent), started
        )
        spent.done()
        return text


class Once:
    """Answers to questions that are the same whoever asks them: a model is asked once."""

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
