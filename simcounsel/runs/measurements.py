"""What was measured in a run: in its log, and afterwards in files beside it.

RUN/events.jsonl                               `measured` events, made while the world was run
RUN/measurements/INSTRUMENT-TIMESTAMP.jsonl    what `rate` measured (see `rating_lines`)
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.errors import RunError
from simcounsel.events import Entry, Measured, parse_entry
from simcounsel.runs.conversation import Dated
from simcounsel.runs.jsonl import json_lines
from simcounsel.runs.log import Log
from simcounsel.runs.rating_lines import MEASUREMENTS, RatingCheck, rating_files, ways_on

FOLDER = MEASUREMENTS
LOG = "log"


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One person measured once with one instrument."""

    run: str
    """The run's id."""
    tick: int
    """Of what was measured; for a conversation judged afterwards, of its beginning."""
    minute: int
    """Of the same."""
    measured: Measured
    """Who, instrument, version, point, respondent, items, scores, chats (see `events.Measured`)."""
    judge: str
    """The model that answered, as in the manifest ('openai:gpt-4o'); '' where none did: for `talk`,
    and where a person in a seat was asked.
    """
    source: str
    """`log`, or the name of the file in `RUN/measurements/`; two files of one instrument and judge
    are a test and a retest.
    """
    samples: int
    """How many answers were averaged where the server gave no probabilities."""
    hash: str | None
    """Of the scale (16 hex digits); None where it was not noted (the log)."""
    damaged: bool
    """Whether the run was damaged: it counts what could be read of it."""
    trial: bool
    """Made by the embedded or the scripted model: for trying the software, no measurement."""


def rating_calls(folder: Path) -> Iterator[dict[str, Any]]:
    """What was asked of models in all ratings beside a run, those that were moved aside too."""
    aside = sorted((folder / "aside").glob(f"*/{FOLDER}/*.jsonl"))
    for file in (*measurement_files(folder), *aside):
        yield from (line for line in json_lines(file) if line.get("kind") == "call")


def measurements_of(log: Log, measured: Iterable[Dated[Measured]]) -> Iterator[Measurement]:
    """All measurements of a run: those of its log in their order, then those of each file beside
    it, oldest file first, by tick, person and conversation. Lines that are not as they were written
    are left out: where the log is read strictly, RunError names the first.
    """
    damaged = bool(log.damages())
    if log.strict and (found := log.damaged_measurements()):
        raise RunError(
            f"{log.folder}/{found[0]}; {ways_on(log.folder / FOLDER)}, or count what is left with"
            " --damaged (export, report)"
        )
    for one in measured:
        yield _logged(log, one, damaged)
    for file in measurement_files(log.folder):
        yield from measurements_in(file)


def measurement_files(folder: Path) -> list[Path]:
    """Those beside a run, oldest first."""
    return rating_files(folder / FOLDER)


def measurements_in(file: Path) -> Iterator[Measurement]:
    """Those of one file beside a run that are as they were written, by tick, person and
    conversation; none when the file has no head. Of one that was made again, since its answers had
    been unusable, the last.
    """
    last = {(one.tick, one.measured.who, one.measured.point): one for one in _in_file(file)}
    return iter(
        sorted(last.values(), key=lambda one: (one.tick, one.measured.who, one.measured.chats))
    )


def _in_file(file: Path) -> Iterator[Measurement]:
    check = RatingCheck(file)
    for fields in check.lines():
        if fields.get("kind") == "measured" and check.head is not None:
            try:
                entry = parse_entry({"seq": 0} | fields)
            except (KeyError, TypeError, ValidationError):
                continue
            if isinstance(entry.event, Measured):
                yield _afterwards(check.head, file, entry, entry.event)


def is_trial(model: str) -> bool:
    """Whether a model is there for trying the software only: the embedded, the scripted."""
    return re.split(r"[+:]", model)[0] in ("embedded", "scripted")


def _logged(log: Log, dated: Dated[Measured], damaged: bool) -> Measurement:
    models, measured = log.manifest.get("models", {}), dated.event
    reason = str(models.get("reason", ""))
    own = str(models.get(f"reason:{measured.who}", reason))
    judge = {"self": own, "observer": str(models.get("judge", reason))}.get(
        measured.answered_by, ""
    )
    return Measurement(
        run=log.name,
        tick=dated.tick,
        minute=dated.minute,
        measured=measured,
        judge=judge,
        source=LOG,
        samples=1,
        hash=None,
        damaged=damaged,
        trial=is_trial(judge),
    )


def _afterwards(head: dict[str, Any], file: Path, entry: Entry, measured: Measured) -> Measurement:
    judge = str((head.get("own") or {}).get(measured.who, head.get("judge", "")))
    return Measurement(
        run=str(head.get("run", "")),
        tick=entry.tick,
        minute=entry.minute,
        measured=measured,
        judge=judge,
        source=file.name,
        samples=int(head.get("samples", 1)),
        hash=head.get("hash"),
        damaged=bool(head.get("damaged")),
        trial=is_trial(judge),
    )
