"""Code that calls a model in the middle of its own, as an Ask: its calls become questions.

Such code waits for its model. So it runs in a thread of its own. Each call is handed to whoever
drives the Ask: it is recorded, counted, paid from the budget, and answered from the record.

Its random numbers follow from the world's seed, as long as it draws them in that one thread. While
it computes, or waits for something else than its model, the run waits for it.
"""

import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, create_model

from simcounsel.errors import PluginError
from simcounsel.llm.question import Ask, Question, Reply, ask_all

T = TypeVar("T")
Send = Callable[[Question[Any]], Reply[Any]]
"""Asks a question, and waits for its reply."""
_ONE_AT_A_TIME = threading.Lock()
"""Python's random numbers are everybody's: one piece of such code has them at a time."""


class Abandoned(BaseException):
    """Nobody waits for this code any more. No error that code may catch and try again."""


class Unanswered(Exception):
    """The model gave no usable answer; whoever called it may have something to do then."""


Outbox = SimpleQueue[Reply[Any] | Abandoned]
Asked = tuple[Question[Any] | None, Outbox]
"""A question and where its reply goes; None: the code has ended."""
Inbox = SimpleQueue[Asked]


def bridged(work: Callable[[Send], T], seed: int) -> Ask[T]:
    """What `work` returns. seed: of the random numbers that it draws (Python's and NumPy's).
    Exceptions of `work` go on to the caller.
    """
    inbox: Inbox = SimpleQueue()
    ended: list[Callable[[], T]] = []
    closed = threading.Event()

    def send(question: Question[Any]) -> Reply[Any]:
        if closed.is_set():
            raise Abandoned
        outbox: Outbox = SimpleQueue()
        inbox.put((question, outbox))
        reply = outbox.get()
        if isinstance(reply, Abandoned):
            raise reply
        return reply

    def run() -> None:
        try:
            found = work(send)
            ended.append(lambda: found)
        except BaseException as error:
            problem = error
            if isinstance(error, SystemExit | KeyboardInterrupt | StopIteration):
                problem = PluginError(f"its code ended by {type(error).__name__}")
            ended.append(lambda: _raised(problem))
        inbox.put((None, SimpleQueue()))

    thread = threading.Thread(target=run, daemon=True, name="borrowed")
    dice = _Dice(seed)
    waiting = dice.during(lambda: _started(thread, inbox))
    try:
        while not ended:
            questions = tuple(question for question, _ in waiting if question is not None)
            replies = yield from ask_all(questions)
            boxes = [box for question, box in waiting if question is not None]
            waiting = dice.during(partial(_answered, boxes, replies, inbox))
    finally:
        closed.set()
        for _, box in waiting:
            box.put(Abandoned())
    return ended[0]()


def _raised(error: BaseException) -> Any:
    raise error


def _started(thread: threading.Thread, inbox: Inbox) -> list[Asked]:
    thread.start()
    return _next(inbox)


def _answered(boxes: Sequence[Outbox], replies: Sequence[Reply[Any]], inbox: Inbox) -> list[Asked]:
    for box, reply in zip(boxes, replies, strict=True):
        box.put(reply)
    return _next(inbox)


def _next(inbox: Inbox) -> list[Asked]:
    """What is asked next, one at least; more where the code asks from several threads."""
    found = [inbox.get()]
    try:
        while True:
            found.append(inbox.get_nowait())
    except Empty:
        return found


class _Dice:
    """Random numbers of its own for code that draws from the modules `random` and `numpy`."""

    def __init__(self, seed: int) -> None:
        self._own: tuple[Any, Any] | None = None
        self._seed = seed

    def during(self, do: Callable[[], T]) -> T:
        """Do it with its own numbers, and put back everybody's."""
        with _ONE_AT_A_TIME:
            before = self._kept()
            if self._own is None:
                random.seed(self._seed)
                if numpy := sys.modules.get("numpy"):
                    numpy.random.seed(self._seed % 2**32)
            else:
                self._put(self._own)
            try:
                return do()
            finally:
                self._own = self._kept()
                self._put(before)

    @staticmethod
    def _kept() -> tuple[Any, Any]:
        numpy = sys.modules.get("numpy")
        return random.getstate(), numpy.random.get_state() if numpy else None

    @staticmethod
    def _put(state: tuple[Any, Any]) -> None:
        random.setstate(state[0])
        if state[1] is not None:
            sys.modules["numpy"].random.set_state(state[1])


class Seeds:
    """Keys of the calls of one piece of work, the same whatever thread is first."""

    def __init__(self) -> None:
        self._met: Counter[str] = Counter()

    def key(self, text: str) -> tuple[str, int]:
        """What tells this call from the others."""
        self._met[text] += 1
        return text, self._met[text]


def schema_of(form: Any) -> tuple[type[BaseModel], Callable[[Any], Any]]:
    """A form that other code asks for as a pydantic model, and how its answer is handed back."""
    if get_origin(form) is None and isinstance(form, type) and issubclass(form, BaseModel):
        return form, lambda answer: answer
    wrapped = create_model("Answer", answer=(form, ...))
    return wrapped, lambda answer: answer.answer
