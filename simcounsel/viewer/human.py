"""A human who speaks for one resident: that resident's lines, and answers to questionnaires, are
asked for at a board, all else of the model.

    the run's thread                      the site's thread
    Human.complete -> Board.line  ....>   Board.pending   (whose turn, what was said, time left)
                    <-------------------  Board.say       (the line, a feeling, a goodbye)
    Human.complete -> Board.fill  ....>   Board.form      (the items of a questionnaire)
                    <-------------------  Board.answer    (a number for each, or none)

Nothing is ever said or answered in the human's stead. Without a limit the run waits; with one, when
the time is up, the answer is noted as silent: the conversation ends there, the items are missing.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from simcounsel.agents.facts import LineFacts, SelfReportFacts
from simcounsel.agents.tasks import LineAnswer
from simcounsel.llm.models import ChatModel, Completion, Failure
from simcounsel.llm.question import SILENT, Question
from simcounsel.specs.vocabulary import EMOTIONS
from simcounsel.viewer.forms import Form, FormLine, Forms, Given

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
    seconds: float | None
    """The time for it at first; None: there is no limit."""
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
    """Where a turn waits for its line, and a questionnaire for its answers. Used from the run's
    thread and the site's at once.
    """

    who: str
    """For whom the human speaks."""
    seconds: float | None = None
    """The time for one line, and for one item of a questionnaire; None: as long as it takes."""
    hints: bool = False
    """Whether the page shows what the resident's policy would do."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _asked: Turn | Form | None = None
    _answer: "Future[Any]" = field(default_factory=Future)
    _count: int = 0

    @property
    def pending(self) -> Turn | None:
        """The turn that waits now; None while others speak."""
        with self._lock:
            return self._asked if isinstance(self._asked, Turn) else None

    @property
    def form(self) -> Form | None:
        """The questionnaire that waits now."""
        with self._lock:
            return self._asked if isinstance(self._asked, Form) else None

    async def line(self, facts: LineFacts) -> LineAnswer | None:
        """Put a turn up and wait for the line; None when the time is up."""
        found: LineAnswer | None = await self._put_up(
            lambda number, until: _turn_of(facts, number, self.seconds, until), self.seconds
        )
        return found

    async def fill(
        self, instrument: str, instruction: str, lines: tuple[FormLine, ...]
    ) -> Given | None:
        """Put a questionnaire up and wait for the answers; None when the time is up."""
        seconds = None if self.seconds is None else self.seconds * len(lines)
        found: Given | None = await self._put_up(
            lambda number, until: Form(
                number=number,
                who=self.who,
                instrument=instrument,
                instruction=instruction,
                lines=lines,
                seconds=seconds,
                deadline=until,
            ),
            seconds,
        )
        return found

    async def _put_up(
        self, make: Callable[[int, float | None], Turn | Form], seconds: float | None
    ) -> Any:
        """make: what is asked, by its number and deadline."""
        answer: Future[Any] = Future()
        with self._lock:
            self._count += 1
            asked = self._asked = make(
                self._count, None if seconds is None else time.monotonic() + seconds
            )
            self._answer = answer
        waiting = asyncio.wrap_future(answer)
        try:
            while not waiting.done():
                with self._lock:
                    asked = self._asked or asked
                    if asked.seconds_left == 0 and not answer.done():
                        self._asked = None
                        return None
                await asyncio.wait({waiting}, timeout=asked.seconds_left)
            return waiting.result()
        finally:
            with self._lock:
                self._asked = None
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
            turn = self._in_time(number)
            if not isinstance(turn, Turn):
                raise _over()
            self._answer.set_result(
                LineAnswer(
                    say=said,
                    emotion=felt,
                    intensity=intensity,
                    poignancy=intensity,
                    wish="say goodbye" if goodbye and turn.may_leave else "go on",
                )
            )
            self._asked = None

    def answer(self, number: int, given: Mapping[str, object]) -> Form:
        """Give the answers to that questionnaire: a number for each item, or None. Refused says
        what is wrong with them.
        """
        with self._lock:
            form = self._in_time(number)
            if not isinstance(form, Form):
                raise _over()
            if wrong := form.wrong(given):
                raise Refused(wrong)
            self._answer.set_result({line.id: given[line.id] for line in form.lines})
            self._asked = None
            return form

    def prolong(self, number: int) -> Turn | Form:
        """More time for that turn, or that questionnaire."""
        with self._lock:
            asked = self._in_time(number)
            if asked.seconds is None or asked.deadline is None:
                raise Refused("there is no limit: take the time you need")
            if asked.prolonged >= MORE_TIME:
                raise Refused(f"the time of this turn was prolonged {MORE_TIME} times already")
            self._asked = replace(
                asked, deadline=asked.deadline + asked.seconds, prolonged=asked.prolonged + 1
            )
            return self._asked

    def _in_time(self, number: int) -> Turn | Form:
        """What waits. Refused when it is not what has that number."""
        if self._asked is None or self._asked.number != number:
            raise _over()
        return self._asked


class Human:
    """A ChatModel: lines of `board.who`, and their answers to questionnaires, come from the board,
    all other answers from the model within.
    """

    def __init__(self, inner: ChatModel, board: Board, forms: Forms) -> None:
        self.name = inner.name
        self._inner = inner
        self._board = board
        self._forms = forms

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """Answer once. A human is not asked a second time: what they say is not judged."""
        facts, mine = question.facts, question.who == self._board.who
        if isinstance(facts, SelfReportFacts) and mine:
            given = await self._forms.answers(question.key, facts, self._board.fill)
            return self._silent("{}", "answer") if given is None else _said(json.dumps(given))
        if not isinstance(facts, LineFacts) or facts.me != self._board.who:
            return await self._inner.complete(question, complaint)
        if complaint:
            raise Failure(complaint)
        line = await self._board.line(facts)
        if line is None:
            return self._silent(question.fallback.model_dump_json(), "line")
        # what else a line's answer holds, such as a thought before it, a human is not asked for
        return _said(question.fallback.model_copy(update=line.model_dump()).model_dump_json())

    def _silent(self, unsaid: str, what: str) -> Completion:
        seconds = self._board.seconds or 0
        item = " for each item" if what == "answer" else ""
        return _said(unsaid, {SILENT: f"no {what} came within {seconds:g} s{item}"})

    async def close(self) -> None:
        """Let go of the model within."""
        await self._inner.close()


def _over() -> Refused:
    return Refused(
        "this turn is over: the time was up, or it was answered already; wait for the next one",
        late=True,
    )


def _said(text: str, notes: Mapping[str, str] | None = None) -> Completion:
    return Completion(text=text, tokens_in=0, tokens_out=0, source="human", notes=notes or {})


def _turn_of(facts: LineFacts, number: int, seconds: float | None, deadline: float | None) -> Turn:
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
        seconds=seconds,
        deadline=deadline,
    )


def _plain(text: str) -> str:
    """One line of text that any file can hold: no control characters, no halves of characters."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
