"""Tidy pandas tables from run folders: one row an observation, never a whole log
as objects: what happened is read from `History`, plain columns from the lines of the log.

A value is missing (NaN or None) only where the log says None; the column `reason` says why. `runs`
are folders, or Logs that are read up to what is wanted. Text columns that repeat are categories.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.columns import (
    ACTIVITIES,
    COSTS,
    MEASUREMENTS,
    PERSONAS,
    RELATIONS,
    TALK,
    WARNINGS,
    WORDS,
)
from analysis.sample import clients_of, opened, roles_of
from simcounsel.clock import day_of
from simcounsel.events import ConversationStarted, Said
from simcounsel.intake import json_data
from simcounsel.runs.history import History
from simcounsel.runs.log import Log

Fields = dict[str, Any]
Runs = Iterable[Log | Path | str]
OF_LINES = {"chat", "message", "text", "emotion", "intensity", "source"}
"""What a row of `talk` takes over from the event of its line."""


def activities(runs: Runs) -> pd.DataFrame:
    """One row a client and tick: what was done, where, and the feeling in which the tick ended."""
    return _table(runs, ACTIVITIES, _activities)


def talk(runs: Runs) -> pd.DataFrame:
    """One row a line, with the move that its speaker's policy had decided. characters: of the text
    as it is.
    """
    return _table(runs, TALK, _talk)


def measurements(runs: Runs) -> pd.DataFrame:
    """One row a score: those of the log, then those that `rate` made afterwards. items_used of
    items: answered of asked; the others are not applicable or missing. made: `complete`, `partial`,
    `incomplete` or `not applicable`.
    """
    return _table(runs, MEASUREMENTS, _measurements)


def relations(runs: Runs) -> pd.DataFrame:
    """One row a change of how close somebody feels to another, 0 to 10."""
    return _table(runs, RELATIONS, _relations)


def warnings(runs: Runs) -> pd.DataFrame:
    """One row a fallback that was taken."""
    return _table(runs, WARNINGS, _warnings)


def personas(runs: Runs) -> pd.DataFrame:
    """One row a version of a persona; version 0 is the one at the start."""
    return _table(runs, PERSONAS, _personas)


def costs(runs: Runs) -> pd.DataFrame:
    """One row a model and purpose, summed over calls. cost_usd: None when a price is unknown;
    embedding calls are not priced.
    """
    return _table(runs, COSTS, _costs)


def _table(
    runs: Runs, columns: tuple[str, ...], rows: Callable[[Log], Iterator[Fields]]
) -> pd.DataFrame:
    """Columns are filled row by row, so that nothing but the columns is held."""
    held: dict[str, list[Any]] = {column: [] for column in columns}
    for log in opened(runs):
        origin = _origin(log)
        for row in rows(log):
            for column in columns:
                held[column].append(origin[column] if column in origin else row.get(column))
    table = pd.DataFrame(held, columns=list(columns))
    for column in columns:
        if column in WORDS:
            table[column] = table[column].astype("category")
    return table


def _origin(log: Log) -> Fields:
    """Where a row comes from. parent: the run it was forked from; pair: that run and the tick."""
    manifest = log.manifest
    world, parent = manifest.get("world", {}), manifest.get("parent")
    return {
        "run": log.name,
        "world": world.get("name"),
        "condition": world.get("condition"),
        "seed": world.get("seed"),
        "parent": parent["run"] if parent else None,
        "pair": f"{parent['run']}@{parent['at_tick']}" if parent else None,
    }


def _at(entry: Fields) -> Fields:
    return {"tick": entry["tick"], "minute": entry["minute"], "day": day_of(entry["minute"])}


def _activities(log: Log) -> Iterator[Fields]:
    clients = set(clients_of(log.manifest))
    for one in History(log).activities():
        if one.who in clients:
            felt = one.feeling
            yield {
                "client": one.who,
                "role": "client",
                "tick": one.tick,
                "minute": one.minute,
                "day": day_of(one.minute),
                "activity": one.activity,
                "kind": one.kind,
                "place": one.place,
                "emotion": felt.emotion if felt else None,
                "intensity": felt.intensity if felt else None,
                "reason": None if felt else "nothing was felt yet",
            }


def _talk(log: Log) -> Iterator[Fields]:
    roles = roles_of(log.manifest)
    for one in History(log).conversations():
        cause = one.started.cause if isinstance(one.started, ConversationStarted) else None
        for line in one.lines:
            said, move = line.event, line.decided.move if line.decided else None
            if isinstance(said, Said):
                yield {
                    "tick": one.tick,
                    "minute": one.minute,
                    "day": day_of(one.minute),
                    **said.model_dump(include=OF_LINES),
                    "cause": cause,
                    "speaker": said.who,
                    "role": roles.get(said.who),
                    "other": said.to,
                    "other_role": roles.get(said.to),
                    "characters": len(said.text),
                    "move": move,
                    "reason": None if move else "no move was decided before this line",
                }


def _measurements(log: Log) -> Iterator[Fields]:
    for one in History(log).measurements():
        for score in one.measured.scores:
            yield {
                "tick": one.tick,
                "minute": one.minute,
                "client": one.measured.who,
                "instrument": one.measured.instrument,
                "version": one.measured.version,
                "score": score.name,
                "point": one.measured.point,
                "value": score.value,
                "band": score.band,
                "items_used": score.used,
                "items": score.of,
                "items_not_applicable": score.not_applicable,
                "items_missing": score.missing,
                "made": score.made,
                "respondent": one.measured.answered_by,
                "judge": one.judge,
                "source": one.source,
                "trial": one.trial,
                "damaged": one.damaged,
                "reason": score.reason,
            }


def _relations(log: Log) -> Iterator[Fields]:
    roles = roles_of(log.manifest)
    for entry in log.fields(("relation_changed",)):
        who, other = entry["who"], entry["other"]
        picked = {key: entry[key] for key in ("who", "other", "before", "after", "why")}
        yield _at(entry) | picked | {"role": roles.get(who), "other_role": roles.get(other)}


def _warnings(log: Log) -> Iterator[Fields]:
    for entry in log.fields(("warned",)):
        yield _at(entry) | {key: entry[key] for key in ("who", "purpose", "cause")}


def _personas(log: Log) -> Iterator[Fields]:
    roles = roles_of(log.manifest)
    for entry in log.fields(("persona_changed",)):
        picked = {
            key: entry[key]
            for key in ("who", "version", "background", "characteristic", "recent_feeling")
        }
        yield _at(entry) | picked | {"role": roles.get(entry["who"])}


def _costs(log: Log) -> Iterator[Fields]:
    sums: dict[tuple[str, str], Fields] = defaultdict(
        lambda: {
            "calls": 0,
            "tokens_in": 0,
            "tokens_out": 0,
            "cost_usd": 0.0,
            "latency_s": 0.0,
            "fallbacks": 0,
            "reason": None,
        }
    )
    for call in _calls(log.folder / "calls.jsonl"):
        if call.get("verb") == "embed" and not call.get("cost_usd"):
            continue  # made in the process, or by a version that did not count them
        row = sums[str(call.get("model")), str(call.get("purpose"))]
        row["calls"] += not call.get("given_up")
        row["fallbacks"] += int(call.get("source") == "fallback")
        for key in ("tokens_in", "tokens_out", "latency_s"):
            row[key] += call.get(key) or 0
        if call.get("cost_usd") is None or row["cost_usd"] is None:
            row |= {"cost_usd": None, "reason": "the price of this model is not known"}
        else:
            row["cost_usd"] += call["cost_usd"]
    for (model, purpose), row in sorted(sums.items()):
        yield {"model": model, "purpose": purpose} | row


def _calls(file: Path) -> Iterator[Fields]:
    """Calls one at a time; lines that are cut short or hold vectors are left out."""
    if not file.is_file():
        return
    with file.open("rb") as lines:
        for line in lines:
            if b'"verb": "embed"' in line[:400]:
                continue
            try:
                call = json_data(line)
            except ValueError:
                continue
            if isinstance(call, dict) and "key" in call:
                yield call
