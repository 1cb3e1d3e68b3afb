"""`byhand:FOLDER`: each request is a file, and whoever writes the answer file is the model.

So a person, a class or another program answers (a Wizard of Oz), and prompts can be reviewed.
"""

import asyncio
import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

from simcounsel.disk import write_whole
from simcounsel.errors import ModelError
from simcounsel.llm.answers import Unfit, read_answer
from simcounsel.llm.chat import clean, messages
from simcounsel.llm.models import ChatModel, Completion, Provider
from simcounsel.llm.question import Message, Question
from simcounsel.llm.schemas import response_format
from simcounsel.runs.spending import BY_HAND, is_by_hand

log = logging.getLogger(__name__)
LOOK_EVERY_S = 0.2
SAY_AFTER_S = 2.0
SAY_EVERY_S = 60.0
"""How often it is said what is waited for."""
SETTLED_S = 0.3
"""An answer is taken when its file has not been written to for so long."""
ANSWER_BYTES = 1_000_000
"""A longer answer is refused unread."""
HOW = {
    "write": "Write the text alone.",
    "fill": "Write one JSON object that fits the schema below.",
    "choose": "Write the number, or the words, of one option.",
    "rate": "Write what is asked for; the last line is one number from {low} to {high}.",
}


class ByHand:
    """Writes each request into FOLDER/waiting and takes its answer from there.

    NAME.md is the request to read, NAME.json the same for a program; NAME is who asks, what for
    and the beginning of the request's key. The answer goes into NAME.answer.txt beside them,
    without limit of time. It is checked at once: what is wrong is in NAME.problem.txt, and
    the answer in NAME.refused-1.txt. Answered requests lie in FOLDER/answered, where the same
    request finds its answer again.
    """

    def __init__(self, folder: Path, *, name: str) -> None:
        """The folder is made with the first request. ModelError when it could not be."""
        self.name = name
        self.folder = folder
        self._waiting, self._answered = folder / "waiting", folder / "answered"
        self._open: set[str] = set()
        self._said_at = -inf
        there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            raise self._no_folder("not a folder, or not to be written to")

    @property
    def waiting(self) -> int:
        """How many requests wait for an answer."""
        return len(self._open)

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """The answer, once there is one that fits; see ChatModel."""
        sent = messages(question, complaint, schema_beside=True)
        stem = _stem(question, sent)
        text = self._answered_before(stem, question)
        if text is None:
            self._write(stem, question, sent)
            self._open.add(stem)
            try:
                text = await self._fitting(stem, question)
            finally:
                self._open.discard(stem)
        return Completion(
            text=clean(text, question), parameters=_beside(question), notes={"by": "hand"}
        )

    async def close(self) -> None:
        """Nothing to let go of: what waits goes on waiting."""

    def _no_folder(self, why: str) -> ModelError:
        return ModelError(
            f"{self.name}: no folder can be made there ({why}); name one that can be written to"
        )

    def _write(self, stem: str, question: Question[Any], sent: list[Message]) -> None:
        try:
            for one in (self._waiting, self._answered):
                one.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._no_folder(str(error.strerror)) from None
        _written(self._waiting / f"{stem}.json", json.dumps(_fields(question, sent), indent=2))
        _written(self._waiting / f"{stem}.md", _readable(stem, question, sent))

    def _answered_before(self, stem: str, question: Question[Any]) -> str | None:
        """The answer that the same request got, if it still can be used."""
        text = _text(self._answered / f"{stem}.answer.txt")
        return None if text is None or _problem(question, text) else text

    async def _fitting(self, stem: str, question: Question[Any]) -> str:
        """Wait for an answer that can be used; say of each other one what is wrong with it."""
        file, since = self._waiting / f"{stem}.answer.txt", time.monotonic()
        while (text := self._answered_before(stem, question)) is None:
            text = _settled(file)
            if text is None:
                self._say(file, since)
                await asyncio.sleep(LOOK_EVERY_S)
            elif problem := _problem(question, text):
                self._refuse(stem, problem)
            else:
                self._file_away(stem)
                break
        return text

    def _say(self, file: Path, since: float) -> None:
        """A line now and then: nobody is to wait without knowing for what."""
        now = time.monotonic()
        if now - since >= SAY_AFTER_S and now - self._said_at >= SAY_EVERY_S:
            self._said_at = now
            more = f" ({self.waiting} requests wait there)" if self.waiting > 1 else ""
            log.warning("%s waits for an answer in %s%s", self.name, file, more)

    def _refuse(self, stem: str, problem: str) -> None:
        """Say what is wrong with an answer, and keep it."""
        number = next(
            n for n in count(1) if not (self._waiting / f"{stem}.refused-{n}.txt").exists()
        )
        kept = f"{stem}.refused-{number}.txt"
        told = f"{problem}\n\nThe answer is kept in {kept}; write another into {stem}.answer.txt.\n"
        _written(self._waiting / f"{stem}.problem.txt", told)
        os.replace(self._waiting / f"{stem}.answer.txt", self._waiting / kept)

    def _file_away(self, stem: str) -> None:
        """An answered request waits no more."""
        (self._waiting / f"{stem}.problem.txt").unlink(missing_ok=True)
        for suffix in ("md", "json", "answer.txt"):
            os.replace(self._waiting / f"{stem}.{suffix}", self._answered / f"{stem}.{suffix}")


def check_inherited(models: Iterable[str]) -> None:
    """Before something goes on with the models of a run that was begun before. ModelError where one
    of them is answered by hand in a folder that is not here: it would be waited for without end.
    """
    for name in filter(is_by_hand, models):
        folder = name.removeprefix(BY_HAND)
        if not Path(folder).is_dir():
            raise ModelError(
                f"{name}: this run was answered by hand, and {Path.cwd()} has no folder"
                f" {folder!r}; go there where it is, or fork the run with --set"
                " models.reason=MODEL (where there is no such role: models.default=MODEL)"
            )


def _stem(question: Question[Any], sent: list[Message]) -> str:
    """The name of a request's files: the same request has the same name in every run."""
    asked = hashlib.sha256(question.key.encode() + json.dumps(sent).encode()).hexdigest()[:10]
    who = re.sub(r"[^\w.-]+", "_", f"{question.who}-{question.purpose}")[:60]
    return f"{who}-{asked}"


def _beside(question: Question[Any]) -> dict[str, Any]:
    """What is shown beside the messages."""
    if question.schema is None or not question.sent_schema:
        return {}
    return {"response_format": response_format(question.schema.__name__, question.sent_schema)}


def _fields(question: Question[Any], sent: list[Message]) -> dict[str, Any]:
    """A request for a program."""
    fields: dict[str, Any] = {
        "who": question.who,
        "purpose": question.purpose,
        "role": question.tier,
        "answer": question.verb,
        "messages": sent,
    }
    if question.sent_schema:
        fields["schema"] = question.sent_schema
    if question.options:
        fields["options"] = question.options
    if question.scale:
        fields["scale"] = question.scale
    return fields


def _readable(stem: str, question: Question[Any], sent: list[Message]) -> str:
    """A request for a person."""
    low, high = question.scale or (0, 0)
    parts = [
        f"# {question.who}: {question.purpose}",
        f"Answer in `{stem}.answer.txt` beside this file. "
        + HOW[question.verb].format(low=low, high=high)
        + (" Or null, where it says when." if question.may_be_null else ""),
        *(f"## {one['role']}\n\n{one['content']}" for one in sent),
    ]
    if question.sent_schema:
        shown = json.dumps(question.sent_schema, indent=2, ensure_ascii=False)
        parts.append(f"## schema\n\n```json\n{shown}\n```")
    return "\n\n".join(parts) + "\n"


def _problem(question: Question[Any], text: str) -> str | None:
    """What is wrong with an answer; None when it can be used."""
    try:
        read_answer(question, Completion(text=clean(text, question)))
    except Unfit as unfit:
        return str(unfit)
    return None


def _settled(file: Path) -> str | None:
    """The text of a file that nobody writes to any more; None where there is none yet."""
    try:
        stat = file.stat()
    except OSError:
        return None
    if time.time() - stat.st_mtime < SETTLED_S:
        return None
    return "" if stat.st_size > ANSWER_BYTES else _text(file)


def _text(file: Path) -> str | None:
    """The text of a file without what an editor puts around it; None where there is no file."""
    with suppress(OSError):
        return file.read_text(encoding="utf-8-sig", errors="replace").strip()
    return None


def _written(file: Path, text: str) -> None:
    """Write a file in one move, so that nobody reads half of it."""
    write_whole(file, text)


def _by_hand(name: str) -> ChatModel:
    folder = name.partition(":")[2]
    if not folder:
        raise ModelError(f"{name!r} names no folder; write one like byhand:questions")
    return ByHand(Path(folder), name=name)


BYHAND = Provider(
    chat=_by_hand, forms={"byhand:FOLDER": "no model: each request is a file that somebody answers"}
)
