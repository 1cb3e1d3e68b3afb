"""Cases into answers and ratings.

All of it is asked again each time, and what was answered before is taken from the folder: so a
benchmark that was cut comes to the same result as one that was not.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from simcounsel.bench.averages import Rated
from simcounsel.bench.cases import Case, Exchange
from simcounsel.bench.counselor import Counselor, model_alone
from simcounsel.bench.folder import Folder
from simcounsel.bench.judge import Judgment, judged
from simcounsel.errors import GivenUp, TooManyFallbacks
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.question import Ask, Reply
from simcounsel.llm.switchboard import Switchboard
from simcounsel.specs.world_settings import FallbackLimits

BUDGET_CASES = 4
OnDone = Callable[[int], None]
"""Called with how many replies or judgments came."""
T = TypeVar("T")


class Bench:
    """One sitting over a folder. counselor: who replies; the manifest's model alone if None."""

    def __init__(
        self, folder: Folder, cases: Sequence[Case], counselor: Counselor | None = None
    ) -> None:
        self.folder = folder
        self.cases = tuple(cases)
        manifest = folder.manifest
        self._counselor = counselor or model_alone(manifest.language, manifest.seed)
        self._phases = 0

    @property
    def steps(self) -> int:
        """Replies and judgments in all."""
        return 2 * sum(1 for case in self.cases for _ in case.exchanges())

    def measure(
        self,
        models: Switchboard,
        on_done: OnDone | None = None,
        *,
        wave: int | None = None,
        fallbacks: FallbackLimits | None = None,
    ) -> tuple[Rated, ...]:
        """All replies, judged, in the data's order.

        wave: how many cases at a time, each time first answered and then judged; None: all at once,
        or 4 with a budget, so that what it reaches for is judged too. on_done: called after each
        reply and each judgment. GivenUp when a model does not answer, the budget does not reach, or
        more answers are unusable than `fallbacks` allows.
        """
        models.recorder = self.folder
        models.fallbacks = FallbackShare(fallbacks or FallbackLimits())
        size = wave or (len(self.cases) if not models.budget.limited else BUDGET_CASES)
        found: list[Rated] = []
        for start in range(0, len(self.cases), size):
            by_case = [tuple(case.exchanges()) for case in self.cases[start : start + size]]
            exchanges = [one for some in by_case for one in some]
            together = by_case if self._counselor.whole else [(one,) for one in exchanges]
            answers = self._ask(
                models,
                [_counted(self._counselor.answer(some), len(some), on_done) for some in together],
            )
            replies = [reply for some in answers for reply in some]
            judgments = self._ask(
                models,
                [
                    _counted(self._judge(*pair), 1, on_done)
                    for pair in zip(exchanges, replies, strict=True)
                ],
            )
            found += map(_rated, exchanges, replies, judgments)
        return tuple(found)

    def _ask(self, models: Switchboard, asks: list[Ask[T]]) -> list[T]:
        """In the order of the asks. Calls are recorded by the phase that they belong to."""
        models.begin_tick(self._phases)
        self._phases += 1
        try:
            outcomes = models.ask({f"{number:06d}": one for number, one in enumerate(asks)})
        except GivenUp as error:
            if isinstance(error, TooManyFallbacks):
                self.folder.mark_stop(str(error))
            raise error.telling(
                f"what was answered is kept in {self.folder.path}; the same command goes on"
            ) from None
        return [outcome.value for outcome in outcomes.values()]

    def _judge(self, exchange: Exchange, reply: Reply[Any]) -> Ask[Reply[Any]]:
        if reply.value is None:
            yield from ()
            return Reply(value=None, problem=f"no reply to judge: {reply.problem}")
        return (
            yield from judged(
                exchange, reply.value, self.folder.manifest.language, self.folder.manifest.seed
            )
        )


def _counted(asking: Ask[T], steps: int, on_done: OnDone | None) -> Ask[T]:
    found = yield from asking
    if on_done:
        on_done(steps)
    return found


def _rated(exchange: Exchange, reply: Reply[Any], judgment: Reply[Any]) -> Rated:
    found: Judgment | None = judgment.value
    return Rated(
        case=exchange.case,
        topic=exchange.topic,
        turn=exchange.turn,
        reply=reply.value,
        scores=found.scores() if found else {},
        because=found.because if found else "",
        cut=reply.value is not None and reply.notes.get("finish") == "length",
        reason=judgment.problem,
    )
