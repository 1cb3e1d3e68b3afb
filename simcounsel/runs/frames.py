"""A run as tables: rows that a notebook or pandas can take."""

import html
import importlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from simcounsel.clock import day_of
from simcounsel.errors import RunError
from simcounsel.events import (
    Acted,
    Decided,
    Entry,
    Measured,
    Memory,
    Planned,
    Recalled,
    Remembered,
    Said,
)
from simcounsel.runs.measurements import measurement_files, measurements_in
from simcounsel.terminal import visible

if TYPE_CHECKING:  # pandas is of the extra `analysis`, and slow to import
    from pandas import DataFrame

Row: TypeAlias = Mapping[str, str | int | float | bool | None]


def frame(rows: Iterable[Row], columns: Iterable[str]) -> "DataFrame":
    """Rows as a pandas frame with these columns, also where there are no rows. RunError where
    pandas is missing.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ModuleNotFoundError:
        raise RunError(
            "frames need pandas, which is not installed; pip install 'simcounsel[analysis]'"
        ) from None
    made: DataFrame = pandas.DataFrame(list(rows), columns=list(columns))
    return made


LINES = (
    "tick minute chat message who to text emotion intensity poignancy source policy move".split()
)


def lines(entries: Iterable[Entry]) -> Iterator[Row]:
    """Each line that was said, with the move that its speaker's policy had decided."""
    decided: dict[tuple[str, str], Decided] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, Decided):
            decided[event.chat, event.who] = event
        elif isinstance(event, Said):
            move = decided.pop((event.chat, event.who), None)
            yield {
                "tick": entry.tick,
                "minute": entry.minute,
                **{name: getattr(event, name) for name in LINES[2:11]},
                "policy": move.policy if move else None,
                "move": move.move if move else None,
            }


DAYS = "who day plan activities lines memories".split()


def days(entries: Iterable[Entry]) -> Iterator[Row]:
    """Each resident's days: the last plan of the day, how many activities were begun, lines said
    and memories laid down in it.
    """
    found: dict[tuple[str, int], dict[str, str | int | None]] = {}
    doing: dict[str, str] = {}
    for entry in entries:
        event = entry.event
        if not isinstance(event, Planned | Acted | Said | Remembered):
            continue
        day = event.day if isinstance(event, Planned) else day_of(entry.minute)
        row = found.setdefault(
            (event.who, day), {"plan": None, "activities": 0, "lines": 0, "memories": 0}
        )
        if isinstance(event, Planned):
            row["plan"] = "; ".join(f"{stroke.at} {stroke.do}" for stroke in event.strokes)
        elif isinstance(event, Acted):
            _add(row, "activities", int(doing.get(event.who) != event.activity))
            doing[event.who] = event.activity
        else:
            _add(row, "lines" if isinstance(event, Said) else "memories", 1)
    for (who, day), row in sorted(found.items()):
        yield {"who": who, "day": day, **row}


def _add(row: dict[str, str | int | None], name: str, more: int) -> None:
    row[name] = int(row[name] or 0) + more


MEASUREMENTS = (
    "tick minute who instrument version point respondent score value used of reason band source"
).split()


def measurements(entries: Iterable[Entry], folder: Path) -> Iterator[Row]:
    """Each score of each measurement: those of the log, whose source is `log`, then those that were
    made afterwards, by the file in RUN/measurements/ that holds them.
    """
    for entry in entries:
        if isinstance(entry.event, Measured):
            yield from _scores(entry.tick, entry.minute, entry.event, "log")
    for file in measurement_files(folder):
        for one in measurements_in(file):
            yield from _scores(one.tick, one.minute, one.measured, one.source)


def _scores(tick: int, minute: int, measured: Measured, source: str) -> Iterator[Row]:
    for score in measured.scores:
        yield {
            "tick": tick,
            "minute": minute,
            **{name: getattr(measured, name) for name in MEASUREMENTS[2:7]},
            "score": score.name,
            **{name: getattr(score, name) for name in MEASUREMENTS[8:13]},
            "source": source,
        }


TERMS = "score recency poignancy emotion_score emotion_relevance relevance".split()
RECALLS = ["tick", "minute", "who", "purpose", "query", "memory", "type", "text", *TERMS]


def recalls(entries: Iterable[Entry]) -> Iterator[Row]:
    """Each memory that came to mind, with its score and the five terms of it."""
    laid_down: dict[str, Memory] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, Remembered):
            laid_down[event.memory.id] = event.memory
        elif isinstance(event, Recalled):
            for hit in event.hits:
                memory = laid_down.get(hit.id)
                yield {
                    "tick": entry.tick,
                    "minute": entry.minute,
                    "who": event.who,
                    "purpose": event.purpose,
                    "query": event.query,
                    "memory": hit.id,
                    "type": memory.type if memory else None,
                    "text": memory.text if memory else None,
                    **{name: getattr(hit, name) for name in TERMS},
                }


def html_table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Names and values as a table for a notebook."""
    body = "".join(
        f"<tr><th style='text-align:left'>{html.escape(visible(name))}</th>"
        f"<td style='text-align:left'>{html.escape(visible(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{html.escape(visible(title))}</caption>{body}</table>"
