"""How many answers of a run are fallbacks, and when they are too many to go on."""

from collections.abc import Callable, Iterable
from typing import Any

from simcounsel.errors import TooManyFallbacks
from simcounsel.events import Entry, Event, Said, Warned
from simcounsel.runs.record import Record
from simcounsel.specs.world_settings import FallbackLimits

FEWEST_LINES = 2
"""A single line of a conversation that is a fallback is a slip, however short it was."""
LineOf = Callable[[Event], tuple[str, int, str] | None]


def said(event: Event) -> tuple[str, int, str] | None:
    """The conversation of a line, its number in it and its source; None: it is no line."""
    return (event.chat, event.message, event.source) if isinstance(event, Said) else None


class FallbackCount:
    """Questions and fallbacks of the ticks that were written."""

    def __init__(
        self, run: Record[Any], limits: FallbackLimits, done: int, line_of: LineOf = said
    ) -> None:
        """done: how many ticks are complete; what was asked in them counts. line_of: as `said`."""
        self._run = run
        self._line_of = line_of
        self._limits = limits
        self._asked = len(
            {
                call["key"]
                for call in run.calls()
                if call.get("verb") != "embed"
                and (call.get("tick") or 0) < done
                and not call.get("given_up")
            }
        )
        self._fallbacks = 0
        self._first: int | None = None

    def observe(self, entry: Entry) -> None:
        """Count a fallback of a tick that was written."""
        if isinstance(entry.event, Warned):
            self._fallbacks += 1
            self._first = entry.tick if self._first is None else self._first

    def check(self, tick: int, entries: Iterable[Entry], asked: int) -> None:
        """Whether a tick may be written: its entries, and how many questions were asked in it.
        TooManyFallbacks, of which the manifest is told, says why not and how to go on.
        """
        try:
            self._check(tuple(entries), asked)
        except TooManyFallbacks as error:
            self._run.mark_stop(tick, str(error))
            raise

    def _check(self, entries: tuple[Entry, ...], asked: int) -> None:
        if self._limits.most >= 1:
            return
        fallbacks = sum(isinstance(entry.event, Warned) for entry in entries)
        every, of = self._fallbacks + fallbacks, self._asked + asked
        if of > self._limits.over and every > self._limits.most * of:
            raise TooManyFallbacks(
                f"{every} of {of} answers in this run were fallbacks, more than"
                f" `fallbacks.most: {self._limits.most:g}` allows{self._remedy(of)}"
            )
        if half := self._half_canned(entries):
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
            f"; the {self._run.kind.unit} is not written. See what the model answers in"
            f" {self._run.folder / 'calls.jsonl'}; `{command}` asks again;"
            " with the same model it may come to the same. To allow more: `fallbacks: {most: 0.5}`"
            " in the world's file, or `simcounsel fork RUN --at TICK --set fallbacks.most=0.5`"
        )

    def _half_canned(self, entries: Iterable[Entry]) -> tuple[str, int, int] | None:
        """The first conversation of which half the lines or more are fallbacks: its id, how many,
        of how many.
        """
        canned: dict[str, dict[int, bool]] = {}
        for line in filter(None, (self._line_of(entry.event) for entry in entries)):
            canned.setdefault(line[0], {})[line[1]] = line[2] == "fallback"
        for chat, lines in canned.items():
            count = sum(lines.values())
            if count >= FEWEST_LINES and count * 2 >= len(lines):
                return chat, count, len(lines)
        return None
