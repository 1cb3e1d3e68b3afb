"""Routes each question to the model of its tier; checks, asks again once, falls back, records,
counts.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from simcounsel.errors import ModelError, ModelUnreachable
from simcounsel.llm.answers import Unfit, read_answer
from simcounsel.llm.driving import Halted, Outcome, drive, halting
from simcounsel.llm.loop import LoopThread
from simcounsel.llm.models import ChatModel, Completion, EmbedModel, Failure, scrubbed
from simcounsel.llm.outage import Outage, Patience, Waiting
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import Ask, Question, Reply
from simcounsel.llm.recording import Recorder, call_line, embedding_line
from simcounsel.llm.usage import Spent, Usage
from simcounsel.runs.vectors import decode_vectors, encode_vectors

T = TypeVar("T")


class Switchboard:
    """The models of a run by tier, with one limit on requests in flight.

    chat: by tier; as `reason:Ines` the model of a resident who has one of their own.

    patience: how long a model that does not answer is waited for; then ModelUnreachable ends all
    that was asked together. recorded: replies of an earlier run (or of this one before a crash) by
    key; they are used instead of asking. only_recorded: a request that is not among them is an
    error.
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
        self._recorded = dict(recorded or {})
        self._only_recorded = only_recorded
        self._limit = asyncio.Semaphore(in_flight)
        self._flying = 0
        self._tick: int | None = None
        self._thread = LoopThread()

    # driving

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

    def over_budget(self, usd: float | None, calls: int | None) -> str | None:
        """Why to stop, if a budget of money or of calls is used up; None when it is not, or there
        is none.
        """
        usage = self.usage
        if usd is not None and usage.cost_usd is None:
            return (
                f"a budget of {usd:g} USD was set, but the model's price is unknown; give it with"
                " --prices, or use --budget-calls"
            )
        if usd is not None and usage.cost_usd is not None and usage.cost_usd >= usd:
            return f"the budget of {usd:g} USD is used up ({usage.cost_usd:.4f} spent)"
        if calls is not None and usage.calls >= calls:
            return f"the budget of {calls} calls is used up ({usage.calls} made)"
        return None

    def close(self) -> None:
        """Let go of all models."""
        models: list[ChatModel | EmbedModel] = [*self.chat.values(), self.embed]
        for model in {id(m): m for m in models}.values():
            self._thread.run(model.close())
        self._thread.close()

    # answering

    async def answer(self, question: Question[T]) -> Reply[T]:
        """One question to its reply; never raises for a bad answer."""
        if question.verb == "embed":
            return await self._embedded(question)
        known = self._known(question)
        if known is not None:
            reply = self._replayed(question, known)
            if reply is not None:
                return reply
        if self._only_recorded:
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
        if known is None or self._only_recorded or known.get("source") == "human":
            return known
        return known if known.get("model") == self._model(question).name else None

    def _model(self, question: Question[T]) -> ChatModel:
        """Whom to ask: the model of whoever asks, if there is one, else that of the tier."""
        own = None if question.of_world else self.chat.get(f"{question.tier}:{question.who}")
        return own or self.chat[question.tier]

    def _replayed(self, question: Question[T], known: Mapping[str, Any]) -> Reply[T] | None:
        """The reply of a recorded call. None when it does not parse any more."""
        self.usage = replace(self.usage, replayed=self.usage.replayed + 1)
        if known.get("problem"):
            return _fallback(question, known["model"], known["problem"])
        completion = Completion(
            text=known["reply"],
            weights=known.get("weights"),
            source=known.get("source", "generated"),
            notes=known.get("notes") or {},
            left_out=tuple(known.get("left_out") or ()),
        )
        try:
            return _reply(question, completion, known["model"])
        except Unfit:
            return None

    async def _ask_model(self, question: Question[T]) -> Reply[T]:
        """Ask the model, at most twice; record and count."""
        model = self._model(question)
        started = time.perf_counter()
        self._flying += 1
        if self._flying > self.usage.peak_in_flight:
            self.usage = replace(self.usage, peak_in_flight=self._flying)
        spent = Spent(model.name, self._prices)
        reply: Reply[T] | None = None
        try:
            while reply is None and spent.asked < 2:
                reply = await self._try(question, model, spent)
        finally:
            self._flying -= 1
        if reply is None:
            reply = _fallback(question, model.name, spent.problem)
        characters = len(question.system) + len(question.prompt)
        self.usage = self.usage.plus(spent, reply.source, characters)
        self._record(question, reply, spent, time.perf_counter() - started)
        return reply

    async def _try(self, question: Question[T], model: ChatModel, spent: Spent) -> Reply[T] | None:
        """Ask once. None when the answer is of no use; `spent` then says why."""
        spent.asked += 1

        async def send() -> Completion:
            try:
                return await model.complete(question, spent.complaint)
            except Failure as failure:
                spent.tries += failure.tries
                raise

        try:
            completion = scrubbed(await self._outage.reach(model.name, send))
            spent.add(completion)
            reply = _reply(question, completion, model.name)
        except Unfit as unfit:
            spent.complaint = spent.problem = str(unfit)
        except Failure as failure:
            spent.complaint = spent.problem = failure.cause
            spent.sent(failure)
        else:
            spent.problem = None
            return reply
        return None

    def _record(
        self, question: Question[T], reply: Reply[T], spent: Spent, latency_s: float
    ) -> None:
        if self.recorder:
            self.recorder.append_call(
                self._place(question)
                | call_line(question, reply, spent)
                | {"latency_s": round(latency_s, 4)}
            )
        if self.on_call:
            with halting():
                self.on_call()

    def _place(self, question: Question[Any]) -> dict[str, Any]:
        """How each line of calls.jsonl begins, so that readers can index it unread."""
        return {"key": question.key, "tick": self._tick}

    async def _embedded(self, question: Question[T]) -> Reply[T]:
        """Vectors, rounded to float16 as they are recorded, so that a replay computes the same."""
        known = self._recorded.get(question.key) if self._recorded else None
        if known is None and self._only_recorded:
            raise ModelError(
                f"the recording holds no vectors for {question.who}'s {question.purpose!r}"
            )
        if known is None:
            started = time.perf_counter()
            try:
                made = await self._outage.reach(
                    self.embed.name, lambda: self.embed.embed(question.texts)
                )
            except Failure as failure:
                raise ModelUnreachable(
                    f"the model {self.embed.name!r} gave no embeddings ({failure.cause})"
                ) from None
            text = encode_vectors(made)
            if self.recorder:
                self.recorder.append_call(
                    self._place(question)
                    | embedding_line(question, self.embed.name, text)
                    | {"latency_s": round(time.perf_counter() - started, 4)}
                )
        else:
            text = known["vectors"]
        vectors: Any = decode_vectors(text, len(question.texts))
        return Reply(value=vectors, model=self.embed.name, call=question.key)


def _reply(question: Question[T], completion: Completion, model: str) -> Reply[T]:
    """The checked answer. Unfit when it cannot be used."""
    return Reply(
        value=read_answer(question, completion),
        source=completion.source,
        model=model,
        call=question.key,
        weights=completion.weights,
        notes=completion.notes,
        left_out=completion.left_out,
    )


def _fallback(question: Question[T], model: str, problem: str | None) -> Reply[T]:
    """The asker's own answer. A question without one is answered None: its type says so."""
    value: Any = question.fallback
    return Reply(value=value, source="fallback", model=model, call=question.key, problem=problem)
