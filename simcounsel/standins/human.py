"""A human who speaks for one resident: that resident's lines are asked for at a board, all else of
the model.

    the run's thread                      the site's thread
    Human.complete -> Board.line  ....>   Board.pending   (whose turn, what was said, time left)
                    <-------------------  Board.say       (the line, a feeling, a goodbye)

Nothing is ever said in the human's stead. Without a limit the run waits; with one, when the time is
up, the answer is noted as silent, and the conversation ends there.
"""

import asyncio
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from simcounsel.agents.facts import LineFacts
from simcounsel.agents.tasks import LineAnswer
from simcounsel.llm.models import ChatModel, Completion, Failure
from simcounsel.llm.question import SILENT, Question
from simcounsel.specs.vocabulary import EMOTIONS

LINE_CHARACTERS = 2000
MORE_TIME = 10
"""How often the time of one turn can be prolonged, each time by as much as it was at first."""


class Refused(ValueError):
    """A line that cannot be taken; the text says why and what to do. `late`: its turn is over."""

    def __init__(self, why: str, *, late: bool = False) -> None:
        super().__init__(why)
        self.late = late


@dataclass(frozen=True, kw_only=True)
class Turn:
    """The human's turn to speak."""

    number: int
    """Counts the turns of this run."""
    who: str
    other: str
    other_role: str
    place: str
    lines: tuple[tuple[str, str], ...]
    """What was said so far, as (who, text)."""
    move: str
    """What the resident's policy suggests."""
    aim: str
    """The same in words."""
    memories: tuple[str, ...]
    """What comes to the resident's mind."""
    may_leave: bool
    """Whether a goodbye ends the talk yet."""
    deadline: float | None
    """By time.monotonic(); None: there is no limit."""
    prolonged: int = 0
    """How often time was added."""

    @property
    def seconds_left(self) -> float | None:
        """Until the conversation ends without a line; never below 0. None: it waits."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


@dataclass(kw_only=True)
class Board:
    """Where a turn waits for its line. Used from the run's thread and the site's at once."""

    who: str
    """For whom the human speaks."""
    seconds: float | None = None
    """The time for one line; None: as long as it takes."""
    hints: bool = False
    """Whether the page shows what the resident's policy would do."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _turn: Turn | None = None
    _line: "Future[LineAnswer]" = field(default_factory=Future)
    _count: int = 0

    @property
    def pending(self) -> Turn | None:
        """The turn that waits now; None while others speak."""
        with self._lock:
            return self._turn

    async def line(self, facts: LineFacts) -> LineAnswer | None:
        """Put a turn up and wait for the line; None when the time is up."""
        line: Future[LineAnswer] = Future()
        with self._lock:
            self._count += 1
            deadline = None if self.seconds is None else time.monotonic() + self.seconds
            turn = self._turn = _turn_of(facts, self._count, deadline)
            self._line = line
        waiting = asyncio.wrap_future(line)
        try:
            while not waiting.done():
                with self._lock:
                    turn = self._turn or turn
                    if turn.seconds_left == 0 and not line.done():
                        self._turn = None
                        return None
                await asyncio.wait({waiting}, timeout=turn.seconds_left)
            return waiting.result()
        finally:
            with self._lock:
                self._turn = None
            waiting.cancel()

    def say(
        self,
        number: int,
        text: str,
        *,
        emotion: str = "neutral",
        intensity: int = 1,
        goodbye: bool = False,
    ) -> None:
        """Give the line of that turn. Refused says what is wrong with it."""
        said = _plain(text)
        if not any(character.isalnum() for character in said):
            raise Refused("nothing was written; write what you want to say")
        if len(said) > LINE_CHARACTERS:
            raise Refused(f"{len(said)} characters; a line may have {LINE_CHARACTERS}")
        felt = next((one for one in EMOTIONS if one == emotion), None)
        if felt is None:
            raise Refused(f"no emotion {emotion!r}; there are {', '.join(EMOTIONS)}")
        if not 1 <= intensity <= 10:
            raise Refused(f"intensity {intensity}; it goes from 1 to 10")
        with self._lock:
            turn = self._its_turn(number)
            self._line.set_result(
                LineAnswer(
                    say=said,
                    emotion=felt,
                    intensity=intensity,
                    poignancy=intensity,
                    wish="say goodbye" if goodbye and turn.may_leave else "go on",
                )
            )
            self._turn = None

    def prolong(self, number: int) -> Turn:
        """More time for that turn."""
        with self._lock:
            turn = self._its_turn(number)
            if self.seconds is None or turn.deadline is None:
                raise Refused("there is no limit: take the time you need")
            if turn.prolonged >= MORE_TIME:
                raise Refused(f"the time of this turn was prolonged {MORE_TIME} times already")
            self._turn = replace(
                turn, deadline=turn.deadline + self.seconds, prolonged=turn.prolonged + 1
            )
            return self._turn

    def _its_turn(self, number: int) -> Turn:
        if self._turn is None or self._turn.number != number:
            raise Refused(
                "this turn is over: the time was up, or a line was given already; wait for the"
                " next one",
                late=True,
            )
        return self._turn


class Human:
    """A ChatModel: lines of `board.who` come from the board, all other answers from the model
    within.
    """

    def __init__(self, inner: ChatModel, board: Board) -> None:
        self.name = inner.name
        self._inner = inner
        self._board = board

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """Answer once. A human is not asked a second time: what they say is not judged."""
        facts = question.facts
        if not isinstance(facts, LineFacts) or facts.me != self._board.who:
            return await self._inner.complete(question, complaint)
        if complaint:
            raise Failure(complaint)
        line = await self._board.line(facts)
        if line is None:
            unsaid = question.fallback.model_dump_json()
            return Completion(
                text=unsaid,
                tokens_in=0,
                tokens_out=0,
                source="human",
                notes={SILENT: f"no line came within {self._board.seconds:g} s"},
            )
        # what else a line's answer holds, such as a thought before it, a human is not asked for
        text = question.fallback.model_copy(update=line.model_dump()).model_dump_json()
        return Completion(text=text, tokens_in=0, tokens_out=0, source="human")

    async def close(self) -> None:
        """Let go of the model within."""
        await self._inner.close()


def _turn_of(facts: LineFacts, number: int, deadline: float | None) -> Turn:
    return Turn(
        number=number,
        who=facts.me,
        other=facts.other,
        other_role=facts.other_role,
        place=facts.place,
        lines=tuple((line.who, line.text) for line in facts.lines),
        move=facts.move,
        aim=facts.aim,
        memories=facts.memories,
        may_leave=len(facts.lines) > 1,
        deadline=deadline,
    )


def _plain(text: str) -> str:
    """One line of text that any file can hold: no control characters, no halves of characters."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
