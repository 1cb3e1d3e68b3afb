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

from analysis.sample import clients_of, opened, roles_of
from simcounsel.clock import day_of
from simcounsel.runs import frames
from simcounsel.runs.history import History
from simcounsel.runs.log import Log

Fields = dict[str, Any]
Runs = Iterable[Log | Path | str]
ORIGIN = "run world condition seed parent pair"
COLUMNS = {
    name: tuple(f"{ORIGIN} {own}".split())
    for name, own in {
        "activities": ("client role tick minute day activity kind place emotion intensity reason"),
        "talk": (
            "tick minute day chat cause message speaker role other other_role text characters"
            " emotion intensity source move reason"
        ),
        "measurements": (
            "client tick minute instrument version score point value band items_used items"
            " items_not_applicable items_missing made respondent judge source trial damaged reason"
        ),
        "relations": "tick minute day who role other other_role before after why",
        "warnings": "tick minute who purpose cause",
        "costs": "model purpose calls tokens_in tokens_out cost_usd latency_s fallbacks reason",
        "personas": "who role version tick minute background characteristic recent_feeling",
    }.items()
}
"""Of each table, in order."""
WORDS = frozenset(
    f"{ORIGIN} client role kind place emotion who speaker other other_role chat cause source move"
    " instrument version score point band respondent judge model purpose".split()
)
"""Text that repeats; held as categories."""


def activities(runs: Runs) -> pd.DataFrame:
    """One row a client and tick: what was done, where, and the feeling in which the tick ended."""
    return _table(runs, COLUMNS["activities"], _activities)


def talk(runs: Runs) -> pd.DataFrame:
    """One row a line, with the move that its speaker's policy had decided. characters: of the text
    as it is.
    """
    return _table(runs, COLUMNS["talk"], _talk)


def measurements(runs: Runs) -> pd.DataFrame:
    """One row a score: those of the log, then those that `rate` made afterwards. items_used of
    items: answered of asked; the others are not applicable or missing. made: `complete`, `partial`,
    `incomplete` or `not applicable`.
    """
    return _table(runs, COLUMNS["measurements"], _measurements)


def relations(runs: Runs) -> pd.DataFrame:
    """One row a change of how close somebody feels to another, 0 to 10."""
    return _table(runs, COLUMNS["relations"], _relations)


def warnings(runs: Runs) -> pd.DataFrame:
    """One row a fallback that was taken."""
    return _table(runs, COLUMNS["warnings"], _warnings)


def personas(runs: Runs) -> pd.DataFrame:
    """One row a version of a persona; version 0 is the one at the start."""
    return _table(runs, COLUMNS["personas"], _personas)


def costs(runs: Runs) -> pd.DataFrame:
    """One row a model and purpose, summed over calls. cost_usd: None when a price is unknown;
    embedding calls are not priced.
    """
    return _table(runs, COLUMNS["costs"], _costs)


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
    for talk in History(log).conversations():
        for line in frames.lines_of(talk):
            yield line | {
                "day": day_of(line["minute"]),
                "speaker": line["who"],
                "role": roles.get(line["who"]),
                "other": line["to"],
                "other_role": roles.get(line["to"]),
                "characters": len(line["text"]),
                "reason": None if line["move"] else "no move was decided before this line",
            }


def _measurements(log: Log) -> Iterator[Fields]:
    for score in frames.measurements(History(log)):
        yield score | {
            "client": score["who"],
            "items_used": score["used"],
            "items": score["of"],
            "items_not_applicable": score["not_applicable"],
            "items_missing": score["missing"],
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
    for call in log.all_calls():
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
