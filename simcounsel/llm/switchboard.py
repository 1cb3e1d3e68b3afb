"""Routes each request to the model of its tier; checks, asks again once, falls back, records,
counts.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from simcounsel.errors import ModelError, ModelUnreachable
from simcounsel.llm.answers import Unfit, read_answer
from simcounsel.llm.models import ChatModel, Completion, EmbedModel, Failure
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import Ask, Halted, Outcome, Reply, Request, Tier, drive, halting

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")
QUIET_S = 0.005


class Recorder(Protocol):
    """Where calls go: a Run's calls.jsonl."""

    def append_call(self, call: dict[str, Any]) -> None:
        """Write one call."""
        ...


class Sideline(Protocol):
    """What can be done while replies are awaited, a little at a time: an Archive."""

    @property
    def ready(self) -> bool:
        """Whether there is something to do."""
        ...

    def work(self) -> None:
        """Do a little of it."""
        ...


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What has been asked so far. cost_usd is None when a price is unknown; `free`: nothing
    costs.
    """

    calls: int = 0
    replayed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    fallbacks: int = 0
    second_tries: int = 0
    retries: int = 0
    chosen: int = 0
    generated: int = 0
    peak_in_flight: int = 0
    prompt_characters: int = 0


class LoopThread:
    """An event loop of its own, so that runs work the same in a script, a server and a notebook."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self.loop.run_forever, name="simcounsel-models", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work and return its result; Ctrl-C cancels it."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """End the loop."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self.loop.close()


class Switchboard:
    """The models of a run by tier, with one limit on requests in flight.

    stretch: what `begin_tick` begins, in words; patience: after so many requests that reached
    nobody, while none was answered, the stretch is given up at once (None: only at its end).
    recorded: replies of an earlier run (or of this one before a crash) by key; they are used
    instead of asking. only_recorded: a request that is not among them is an error.
    """

    def __init__(
        self,
        chat: Mapping[Tier, ChatModel],
        embed: EmbedModel,
        *,
        in_flight: int = 64,
        prices: Prices | None = None,
        recorder: Recorder | None = None,
        recorded: Mapping[str, dict[str, Any]] | None = None,
        only_recorded: bool = False,
    ) -> None:
        self.chat = dict(chat)
        self.embed = embed
        self.usage = Usage()
        self.recorder = recorder
        self.vectors: dict[str, np.ndarray] = {}
        self.on_call: Callable[[], None] | None = None
        self.sideline: Sideline | None = None
        self.stretch = "tick"
        self.patience: int | None = None
        self._prices = prices or Prices.load()
        self._recorded = dict(recorded or {})
        self._only_recorded = only_recorded
        self._limit = asyncio.Semaphore(in_flight)
        self._flying = self._moves = 0
        self._answered = self._unreached = 0
        self._last_cause = ""
        self._tick: int | None = None
        self._thread = LoopThread()

    # driving

    def ask(self, asks: Mapping[str, Ask[T]]) -> dict[str, Outcome[T]]:
        """Carry all Asks to their ends; outcomes in the order of the sorted names.

        ModelUnreachable when requests were made in this tick and nobody answered a single one.
        """
        if not asks:
            return {}
        try:
            return self._thread.run(self._drive(asks))
        except BaseExceptionGroup as group:
            first = group.exceptions[0]
            raise (first.stop if isinstance(first, Halted) else first) from None

    async def _drive(self, asks: Mapping[str, Ask[T]]) -> dict[str, Outcome[T]]:
        aside = (
            asyncio.create_task(self._aside(self.sideline))
            if self.sideline and self.sideline.ready
            else None
        )
        try:
            return await drive(asks, self.answer)
        finally:
            if aside:
                aside.cancel()

    async def _aside(self, sideline: Sideline) -> None:
        """Do what can be done meanwhile, whenever nothing was sent or answered for a moment."""
        while sideline.ready:
            moves = self._moves
            await asyncio.sleep(QUIET_S)
            if moves == self._moves:
                sideline.work()

    def begin_tick(self, tick: int) -> None:
        """Start to count who answers; calls are recorded as of this tick."""
        self._tick = tick
        self._answered = self._unreached = 0

    def check_reached(self) -> None:
        """ModelUnreachable when in this tick no request at all was answered."""
        if self._unreached and not self._answered:
            names = ", ".join(sorted({model.name for model in self.chat.values()}))
            raise ModelUnreachable(
                f"no model answered during this {self.stretch} ({self._last_cause}); see that"
                f" {names} is running, reachable and spelled right"
            )

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

    async def answer(self, request: Request) -> Reply:
        """One request to its reply; never raises for a bad answer."""
        if request.verb == "embed":
            return await self._answer_embed(request)
        known = self._known(request)
        if known is not None:
            reply = self._replay(request, known)
            if reply is not None:
                return reply
        if self._only_recorded:
            raise ModelError(
                f"the recording holds no reply to {request.who}'s {request.purpose!r}; "
                "it replays only the same world, seed and version of simcounsel"
            )
        async with self._limit:
            return await self._answer_chat(request)

    def _known(self, request: Request) -> dict[str, Any] | None:
        """The recorded call of a request; not one of another model than the one that would be asked
        now, as in a fork that changes models. What a human said stays said, and a recording is
        replayed whatever wrote it.
        """
        known = self._recorded.get(request.key) if self._recorded else None
        if known is None or self._only_recorded or known.get("source") == "human":
            return known
        return known if known.get("model") == self.chat[request.tier].name else None

    def _replay(self, request: Request, known: dict[str, Any]) -> Reply | None:
        """The reply of a recorded call. None when it does not parse any more."""
        self._count(replayed=1)
        if known.get("problem"):
            return Reply(
                value=request.fallback,
                source="fallback",
                model=known["model"],
                problem=known["problem"],
            )
        completion = Completion(
            text=known["reply"],
            weights=known.get("weights"),
            source=known.get("source", "generated"),
        )
        try:
            value = read_answer(request, completion)
        except Unfit:
            return None
        return Reply(
            value=value,
            source=completion.source,
            model=known["model"],
            weights=completion.weights,
            extra=known.get("extra") or {},
        )

    async def _answer_chat(self, request: Request) -> Reply:
        model = self.chat[request.tier]
        started = time.perf_counter()
        self._flying += 1
        self._moves += 1
        if self._flying > self.usage.peak_in_flight:
            self.usage = replace(self.usage, peak_in_flight=self._flying)
        spent = Spent(model.name, self._prices)
        problem: str | None = None
        reply: Reply | None = None
        completion: Completion | None = None
        complaint: str | None = None
        unreached = False
        try:
            for _ in range(2):
                spent.asked += 1
                try:
                    completion = await model.complete(request, complaint)
                    spent.add(completion)
                    self._answered += 1
                    value = read_answer(request, completion)
                    reply = Reply(
                        value=value,
                        source=completion.source,
                        model=model.name,
                        weights=completion.weights,
                        extra=completion.extra,
                    )
                    break
                except Unfit as unfit:
                    complaint = problem = str(unfit)
                except Failure as failure:
                    problem = failure.cause
                    spent.tries += failure.tries
                    if failure.transport:
                        self._unreached += 1
                        self._last_cause = failure.cause
                        unreached = True
                        break
                    complaint = failure.cause
                    self._answered += 1
        finally:
            self._flying -= 1
            self._moves += 1
        if reply is None:
            reply = Reply(
                value=request.fallback, source="fallback", model=model.name, problem=problem
            )
        self._record_chat(
            request, reply, completion, complaint, spent, time.perf_counter() - started, unreached
        )
        if self.patience is not None and self._unreached >= self.patience:
            self.check_reached()
        return reply

    def _record_chat(
        self,
        request: Request,
        reply: Reply,
        completion: Completion | None,
        complaint: str | None,
        spent: "Spent",
        latency_s: float,
        unreached: bool,
    ) -> None:
        cost, so_far = spent.cost_usd, self.usage.cost_usd
        self._count(
            calls=1,
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            fallbacks=int(reply.source == "fallback"),
            second_tries=int(complaint is not None),
            retries=max(0, spent.tries - spent.asked),
            chosen=int(reply.source == "chosen"),
            generated=int(reply.source == "generated"),
            prompt_characters=len(request.system) + len(request.prompt),
            cost_usd=None if None in (so_far, cost) else cost,
        )
        if self.recorder:
            call: dict[str, Any] = {
                "key": request.key,
                "tick": self._tick,
                "who": request.who,
                "purpose": request.purpose,
                "verb": request.verb,
                "model": spent.model,
                "system": request.system,
                "prompt": request.prompt,
                "seed": request.seed,
                "reply": completion.text if completion else None,
                "source": reply.source,
                "complaint": complaint,
                "problem": reply.problem,
                "tokens_in": spent.tokens_in,
                "tokens_out": spent.tokens_out,
                "cost_usd": cost,
                "latency_s": round(latency_s, 4),
                "tries": spent.tries,
            }
            if request.talk:
                call["talk"] = [list(line) for line in request.talk]
            if unreached:
                call["unreached"] = True
            if completion and completion.weights:
                call["weights"] = dict(completion.weights)
            if completion and completion.extra:
                call["extra"] = dict(completion.extra)
            self.recorder.append_call(call)
        if self.on_call:
            with halting():
                self.on_call()

    async def _answer_embed(self, request: Request) -> Reply:
        """Vectors, rounded to float16 as they are recorded, so that a replay computes the same."""
        from simcounsel.runs.vectors import decode_vectors, encode_vectors

        known = self._recorded.get(request.key) if self._recorded else None
        if known is None and self._only_recorded:
            raise ModelError(
                f"the recording holds no vectors for {request.who}'s {request.purpose!r}"
            )
        if known is None:
            started = time.perf_counter()
            try:
                made = await self.embed.embed(request.texts)
            except Failure as failure:
                raise ModelUnreachable(
                    f"the model {self.embed.name!r} gave no embeddings ({failure.cause})"
                ) from None
            text = encode_vectors(made)
            if self.recorder:
                self.recorder.append_call(
                    {
                        "key": request.key,
                        "tick": self._tick,
                        "who": request.who,
                        "purpose": request.purpose,
                        "verb": "embed",
                        "model": self.embed.name,
                        "texts": list(request.texts),
                        "vectors": text,
                        "latency_s": round(time.perf_counter() - started, 4),
                    }
                )
        else:
            text = known["vectors"]
        return Reply(
            value=decode_vectors(text, len(request.texts)),
            source="generated",
            model=self.embed.name,
        )

    def _count(self, **more: float | None) -> None:
        """Add to the usage; None makes unknown."""
        before = self.usage
        sums: dict[str, Any] = {
            name: None if n is None or getattr(before, name) is None else getattr(before, name) + n
            for name, n in more.items()
        }
        self.usage = replace(before, **sums)


class Spent:
    """Tokens, tries and cost of one request: `asked` once or twice, each time with the tries of its
    transport.
    """

    def __init__(self, model: str, prices: Prices) -> None:
        self.model = model
        self._prices = prices
        self.tokens_in = self.tokens_out = 0
        self.tries = self.asked = 0
        self._untold = False

    def add(self, completion: Completion) -> None:
        """Count an answer."""
        self._untold |= completion.tokens_in is None or completion.tokens_out is None
        self.tokens_in += completion.tokens_in or 0
        self.tokens_out += completion.tokens_out or 0
        self.tries += completion.tries

    @property
    def cost_usd(self) -> float | None:
        """None when the model's price is unknown, or it costs and did not tell its tokens."""
        return self._prices.cost_usd(
            self.model, None if self._untold else self.tokens_in, self.tokens_out
        )
