"""A run as tables: rows that a notebook or pandas can take."""

import html
import importlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from simcounsel.clock import day_of
from simcounsel.errors import RunError
from simcounsel.runs.conversation import Conversation
from simcounsel.runs.history import History, Kept
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


def frame_of(run: Kept, name: str) -> "DataFrame":
    """A table of a run, by its name in `TABLES`. `attrs["damaged"]` says where the run is not as it
    was written, if it is not.
    """
    history = History.of(run)
    rows, columns = TABLES[name]
    made = frame(rows(history), columns)
    if damages := history.log.all_damages():
        made.attrs["damaged"] = damages
    return made


LINES = (
    "tick minute chat message who to text emotion intensity poignancy source policy move".split()
)


def lines(history: History) -> Iterator[Row]:
    """Each line that was said, with the move that its speaker's policy had decided."""
    for _, talks in groupby(history.conversations(), key=lambda one: one.tick):
        yield from sorted((row for talk in talks for row in lines_of(talk)), key=itemgetter("seq"))


def lines_of(talk: Conversation) -> Iterator[dict[str, Any]]:
    """The lines that people said in a conversation. Beside the columns `seq`, and `cause`: why the
    talk began.
    """
    for line in talk.lines:
        yield {
            "seq": line.seq,
            "tick": talk.tick,
            "minute": talk.minute,
            **{name: getattr(line.event, name) for name in LINES[2:11]},
            "policy": line.decided.policy if line.decided else None,
            "move": line.decided.move if line.decided else None,
            "cause": talk.started.cause,
        }


DAYS = "who day plan activities lines memories".split()


@dataclass
class _Day:
    """A resident's day; its fields are columns."""

    plan: str | None = None
    activities: int = 0
    lines: int = 0
    memories: int = 0


def days(history: History) -> Iterator[Row]:
    """Each resident's days: the last plan of the day, how many activities were begun, lines said
    and memories laid down in it.
    """
    found: dict[tuple[str, int], _Day] = defaultdict(_Day)
    for plan in history.plans():
        strokes = (f"{stroke.at} {stroke.do}" for stroke in plan.event.strokes)
        found[plan.event.who, plan.event.day].plan = "; ".join(strokes)
    doing: dict[str, str] = {}
    for one in history.activities():
        day = found[one.who, day_of(one.minute)]
        day.activities += doing.get(one.who) != one.activity
        doing[one.who] = one.activity
    for talk in history.conversations():
        for line in lines_of(talk):
            found[line["who"], day_of(line["minute"])].lines += 1
    for memory in history.memories():
        found[memory.event.who, day_of(memory.minute)].memories += 1
    for (who, number), day in sorted(found.items(), key=lambda one: one[0]):
        yield {"who": who, "day": number, **asdict(day)}


MEASUREMENTS = (
    *"tick minute who instrument version point respondent score value used of reason".split(),
    *"band source damaged".split(),
)


def measurements(history: History) -> Iterator[dict[str, Any]]:
    """Each score of each measurement: those of the log, whose source is `log`, then those that were
    made afterwards, by the file in RUN/measurements/ that holds them. Beside the columns which of
    the items have no answer, and who judged.
    """
    for one in history.measurements():
        for score in one.measured.scores:
            yield {
                "tick": one.tick,
                "minute": one.minute,
                **{name: getattr(one.measured, name) for name in MEASUREMENTS[2:6]},
                "respondent": one.measured.answered_by,
                "score": score.name,
                **{name: getattr(score, name) for name in MEASUREMENTS[8:13]},
                **{name: getattr(score, name) for name in ("not_applicable", "missing", "made")},
                **{name: getattr(one, name) for name in ("source", "judge", "trial", "damaged")},
            }


TERMS = "score recency poignancy emotion_score emotion_relevance relevance".split()
RECALLS = ["tick", "minute", "who", "purpose", "query", "memory", "type", "text", *TERMS]


def recalls(history: History) -> Iterator[Row]:
    """Each memory that came to mind, with its score and the five terms of it."""
    laid_down = {one.event.memory.id: one.event.memory for one in history.memories()}
    for recall in history.recalls():
        for hit in recall.event.hits:
            memory = laid_down.get(hit.id)
            yield {
                "tick": recall.tick,
                "minute": recall.minute,
                "who": recall.event.who,
                "purpose": recall.event.purpose,
                "query": recall.event.query,
                "memory": hit.id,
                "type": memory.type if memory else None,
                "text": memory.text if memory else None,
                **{name: getattr(hit, name) for name in TERMS},
            }


SHIFTS = (
    "tick minute chat message who before openness claimed quote touched about held_back".split()
)


def shifts(history: History) -> Iterator[Row]:
    """Where a client stood with each of its lines."""
    for one in history.shifts():
        fields = one.event.model_dump(include=set(SHIFTS))
        yield {"tick": one.tick, "minute": one.minute, **fields}


BELIEFS = "tick minute who belief text before after why evidence".split()


def beliefs(history: History) -> Iterator[Row]:
    """Each step in how strongly a client holds a belief; evidence: ids of memories, by spaces."""
    for one in history.beliefs():
        fields = one.event.model_dump(include=set(BELIEFS) - {"evidence"})
        evidence = " ".join(one.event.evidence)
        yield {"tick": one.tick, "minute": one.minute, **fields, "evidence": evidence}


TABLES: Mapping[str, tuple[Callable[[History], Iterable[Row]], Iterable[str]]] = {
    "lines": (lines, LINES),
    "days": (days, DAYS),
    "measurements": (measurements, MEASUREMENTS),
    "recalls": (recalls, RECALLS),
    "shifts": (shifts, SHIFTS),
    "beliefs": (beliefs, BELIEFS),
}
"""The rows and columns of each table."""


def html_table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Names and values as a table for a notebook."""
    body = "".join(
        f"<tr><th style='text-align:left'>{html.escape(visible(name))}</th>"
        f"<td style='text-align:left'>{html.escape(visible(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{html.escape(visible(title))}</caption>{body}</table>"
