"""What raters said: checked, and appended to answers.jsonl."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, StrictInt, ValidationError, field_validator

from simcounsel.errors import StudyError
from simcounsel.intake import whole_characters
from simcounsel.runs.call_chain import CHAIN, MISPLACED, CallCheck, ChainedFile, is_chained
from simcounsel.runs.jsonl import parsed_line
from simcounsel.studies.entry import ATTENTION, CHECK_POINTS, CONSENT, TRAINING, YOU, Fact
from simcounsel.studies.study import Rater, Study, open_study
from simcounsel.studies.study_parts import Part

COMMENT_LENGTH = 2000
LONGEST_SECONDS = 24 * 60 * 60
_APPENDING = threading.Lock()


class Given(Part):
    """What a page sends when a rater is done with an item."""

    item: Annotated[str, Field(max_length=20)]
    answers: Annotated[dict[str, StrictInt | None], Field(max_length=40)]
    """By question; `None` is "cannot say"."""
    comment: Annotated[str, Field(max_length=COMMENT_LENGTH)] = ""
    seconds: Annotated[float | None, Field(ge=0, le=LONGEST_SECONDS, allow_inf_nan=False)] = None
    """How long the item was on the screen; `None` where the page could not tell."""

    @field_validator("comment")
    @classmethod
    def _readable(cls, value: str) -> str:
        """Control characters but line ends and tabs are left out, and so is half a character."""
        kept = "".join(c for c in value if c in "\n\t" or (c >= " " and c != "\x7f"))
        return whole_characters(kept).strip()


class Answer(Given):
    """A line of answers.jsonl."""

    study: str
    rater: str
    position: int
    """From 1 in that rater's order."""
    time: str
    """In UTC."""

    @field_validator("time")
    @classmethod
    def _in_utc(cls, value: str) -> str:
        when = datetime.fromisoformat(value)
        if when.tzinfo is None:
            raise ValueError("a time without its zone; expected such as 2026-03-02T10:15:00.000Z")
        return _stamp(when)


def _stamp(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def answer_of(study: Study, rater: Rater, given: Given) -> Answer:
    """What was given, as a line with its rater, position and time. ValueError in words when it does
    not fit the study.
    """
    _check(study, rater, given)
    return Answer(
        **given.model_dump(),
        study=study.study,
        rater=rater.name,
        position=_position(rater, given.item),
        time=_stamp(datetime.now(UTC)),
    )


def _position(rater: Rater, item: str) -> int:
    """In the rater's order, from 1; 0 of what comes before the items."""
    return rater.order.index(item) + 1 if item in rater.order else 0


def _check(study: Study, rater: Rater, given: Given) -> None:
    if given.item == YOU:
        _check_you(study, given)
        return
    training = study.instrument.training
    if given.item not in rater.order and not (given.item == TRAINING and training):
        raise ValueError(f"no item {given.item!r} in this study")
    asked = {item.id: item.points for item in study.instrument.items}
    if given.item in rater.checks:
        asked[ATTENTION] = CHECK_POINTS
    for id, value in given.answers.items():
        if id not in asked:
            raise ValueError(f"no question {id!r} in this study")
        _check_value(id, value, asked[id])
        if value is None and not study.instrument.may_skip:
            raise ValueError(f"{id}: an answer is needed, from 1 to {asked[id]}")
    missing = [id for id in asked if id not in given.answers]
    if missing:
        raise ValueError(f"no answer to {', '.join(missing)}")


def _check_value(id: str, value: int | None, points: int) -> None:
    if value is not None and not 1 <= value <= points:
        raise ValueError(f"{id}: {value} is not on the scale from 1 to {points}")


def _check_you(study: Study, given: Given) -> None:
    """Consent (1) or not (0), and by their number the choices about oneself; with a refusal nothing
    else is kept.
    """
    facts = {fact.id: len(fact.choices) for fact in facts_of(study)}
    agreed = given.answers.get(CONSENT)
    if agreed not in (0, 1) or (agreed == 0 and (len(given.answers) > 1 or given.comment)):
        raise ValueError("consent is 1, or 0 and nothing else")
    for id, value in given.answers.items():
        if id != CONSENT and (id not in facts or not (value is None or 1 <= value <= facts[id])):
            raise ValueError(f"{id}: {value} is no choice in this study")


def facts_of(study: Study) -> tuple[Fact, ...]:
    """The questions about the rater."""
    facts = study.instrument.about_you
    return () if isinstance(facts, str) else facts


def append(folder: Path, answers: Sequence[Answer]) -> None:
    """Add lines to answers.jsonl, on disk before this returns. StudyError when they cannot be
    written.
    """
    file, start = folder / "answers.jsonl", open_study(folder).digest
    try:
        with _APPENDING:
            lines = (answer.model_dump(mode="json") for answer in answers)
            ChainedFile(file, start or "").append(*lines)
    except OSError as error:
        raise StudyError(f"{file}: cannot be written ({error.strerror}); free some space") from None


def read_answers(folder: Path) -> Iterator[Answer]:
    """All lines that are as they were written; `damaged_answers` names the others."""
    return (found for _, found in _examined(folder) if isinstance(found, Answer))


def damaged_answers(folder: Path) -> list[str]:
    """The lines of answers.jsonl that are left out, and why: they cannot be read, were changed or
    moved, or fit no rater or scale of the study. Lines that were taken out are noticed at the next
    one, which counts.
    """
    file = folder / "answers.jsonl"
    return [f"{file}:{at}: {found}" for at, found in _examined(folder) if isinstance(found, str)]


def _examined(folder: Path) -> Iterator[tuple[int, Answer | str]]:
    """Each line with its number: an answer, or what is wrong with it."""
    file = folder / "answers.jsonl"
    if not file.is_file():
        return
    study = open_study(folder)
    check = CallCheck(chained=is_chained(file), start=study.digest or "")
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            damage = check.damage(line)
            if damage == MISPLACED and number == 1:
                yield number, f"{damage}, or {folder / 'study.json'} is another than it was"
            elif damage == MISPLACED:
                yield number, damage
            elif damage:
                yield number, f"{damage}; it is left out"
            if not damage or damage == MISPLACED:
                yield number, _answer_in(study, line)


def _answer_in(study: Study, line: bytes) -> Answer | str:
    fields = parsed_line(line)
    if fields is None:
        return "it cannot be read; it is left out"
    told = {key: value for key, value in fields.items() if key not in CHAIN}
    try:
        answer = Answer.model_validate(told)
        _check_study(study, answer)
        for item in study.instrument.items:
            _check_value(item.id, answer.answers.get(item.id), item.points)
    except ValueError as error:
        return f"{_said(error)}; it is left out"
    return answer


def last_answers(answers: Iterable[Answer]) -> dict[tuple[str, str], Answer]:
    """By rater and item, what counts: the latest; of the same moment, the line further down."""
    found: dict[tuple[str, str], Answer] = {}
    for answer in answers:
        at = (answer.rater, answer.item)
        if at not in found or answer.time >= found[at].time:
            found[at] = answer
    return found


@dataclass(frozen=True, kw_only=True)
class Imported:
    """How many lines of returned files were new, and how many were there already."""

    ratings: int
    """New, of items of the study."""
    others: int
    """New: consent, questions about the rater, the example."""
    known: int

    @property
    def new(self) -> int:
        """All that were new."""
        return self.ratings + self.others


def import_answers(folder: Path, files: Sequence[Path]) -> Imported:
    """Merge files that raters sent back into answers.jsonl: all of them, or none when a line is
    wrong (StudyError).
    """
    study = open_study(folder)
    known = {answer.model_dump_json() for answer in read_answers(folder)}
    new: dict[str, Answer] = {}
    problems: list[str] = []
    count = 0
    for file in files:
        for number, line in _lines(file):
            count += 1
            try:
                answer = _returned(study, line)
            except ValueError as error:
                problems.append(f"{file}:{number}: {_said(error)}")
                continue
            new[answer.model_dump_json()] = answer
    if problems:
        raise StudyError(
            "\n".join(
                [*problems[:20], "nothing was imported; correct these lines or leave them out"]
            )
        )
    fresh = [answer for line, answer in new.items() if line not in known]
    if fresh:
        append(folder, fresh)
    ratings = sum(1 for answer in fresh if answer.position)
    return Imported(ratings=ratings, others=len(fresh) - ratings, known=count - len(fresh))


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise StudyError(
            f"{file}: cannot be read ({error.strerror}); name files that raters sent back"
        ) from None
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            yield number, line


def _check_study(study: Study, answer: Answer) -> Rater:
    """Whose answer it is. ValueError when it is of another study, or of nobody in this one."""
    if answer.study != study.study:
        raise ValueError(f"of another study ({answer.study}); this one is {study.study}")
    rater = study.called(answer.rater)
    if rater is None:
        names = ", ".join(one.name for one in study.raters)
        raise ValueError(f"no rater {answer.rater!r} in this study; there are {names}")
    return rater


def _returned(study: Study, line: bytes) -> Answer:
    answer = Answer.model_validate_json(line)
    rater = _check_study(study, answer)
    _check(study, rater, Given(**answer.model_dump(include=set(Given.model_fields))))
    if _position(rater, answer.item) != answer.position:
        raise ValueError(f"{answer.item} is not number {answer.position} of {answer.rater}")
    return answer


def _said(error: ValueError) -> str:
    """What is wrong, in one line."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        return f"{where}: {first['msg']}" if where else str(first["msg"])
    return str(error)
