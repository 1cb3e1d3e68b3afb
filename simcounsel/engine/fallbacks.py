"""How many answers of a run are fallbacks, and when they are too many to go on."""

from collections import Counter
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from simcounsel.errors import TooManyFallbacks
from simcounsel.events import Entry, Said, Warned
from simcounsel.runs.run import Run
from simcounsel.specs.world_settings import FallbackLimits

FEWEST_LINES = 2
"""A single line of a conversation that is a fallback is a slip, however short it was."""


@runtime_checkable
class SpeaksFor(Protocol):
    """A model in which a human speaks for a resident: who says nothing in time is no broken
    model.
    """

    speaks_for: str


class FallbackCount:
    """Questions and fallbacks of the ticks that were written."""

    def __init__(self, run: Run, limits: FallbackLimits, done: int) -> None:
        """done: how many ticks are complete; what was asked in them counts."""
        self._run = run
        self._limits = limits
        self._asked = len(
            {
                call["key"]
                for call in run.calls()
                if call.get("verb") != "embed" and (call.get("tick") or 0) < done
            }
        )
        self._fallbacks = 0
        self._first: int | None = None

    def observe(self, entry: Entry) -> None:
        """Count a fallback of a tick that was written."""
        if isinstance(entry.event, Warned):
            self._fallbacks += 1
            self._first = entry.tick if self._first is None else self._first

    def check(self, entries: Iterable[Entry], asked: int, humans: Iterable[str]) -> None:
        """Whether a tick may be written: its entries, and how many questions were asked in it.
        TooManyFallbacks says why not and how to go on.
        """
        entries = tuple(entries)
        if self._limits.most >= 1:
            return
        fallbacks = sum(isinstance(entry.event, Warned) for entry in entries)
        every, of = self._fallbacks + fallbacks, self._asked + asked
        if of > self._limits.over and every > self._limits.most * of:
            raise TooManyFallbacks(
                f"{every} of {of} answers in this run were fallbacks, more than"
                f" `fallbacks.most: {self._limits.most:g}` allows{self._remedy(of)}"
            )
        if half := _half_canned(entries, frozenset(humans)):
            raise TooManyFallbacks(
                f"in the conversation {half[0]} {half[1]} of {half[2]} lines would be"
                f" fallbacks{self._remedy(of)}"
            )

    def written(self, entries: Iterable[Entry], asked: int) -> None:
        """The tick was written."""
        self._asked += asked
        for entry in entries:
            self.observe(entry)

    def _remedy(self, of: int) -> str:
        """Where to go on: at this tick, or, where too much was written already, at the first with a
        fallback.
        """
        command = f"simcounsel resume {self._run.folder}"
        if self._first is not None and self._fallbacks > self._limits.most * of:
            command += f" --from {self._first}"
        return (
            "; the tick is not written. See what the model answers in"
            f" {self._run.folder / 'calls.jsonl'}; `{command}` asks anew"
        )


def _half_canned(entries: Iterable[Entry], humans: frozenset[str]) -> tuple[str, int, int] | None:
    """The first conversation of which half the lines or more are fallbacks: its id, how many, of
    how many.
    """
    lines: Counter[str] = Counter()
    canned: Counter[str] = Counter()
    for said in (entry.event for entry in entries if isinstance(entry.event, Said)):
        lines[said.chat] += 1
        canned[said.chat] += said.source == "fallback" and said.who not in humans
    return next(
        (
            (chat, canned[chat], count)
            for chat, count in lines.items()
            if canned[chat] >= FEWEST_LINES and canned[chat] * 2 >= count
        ),
        None,
    )
