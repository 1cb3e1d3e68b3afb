"""Counselors of several studies beside each other: one table a therapy, from their folders."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.courses.battery import Column, battery
from analysis.courses.tables import Played, of_clients
from analysis.errors import ReportError
from analysis.replication.tables import PaperRow, PaperTable, TableCell
from analysis.statistics import spread

CARD = "card.json"
SAME = {
    "sessions": "sessions of a course",
    "lines": "lines in a session",
    "lived": "days between lived",
    "judge": "judge",
    "model": "model",
}
"""Settings that must be the same before scores can be compared, in words."""
USUAL = {"model": "embedded", "judge": "the model itself"}
"""What None means."""


@dataclass(frozen=True, kw_only=True)
class Entered:
    """A study on the board."""

    name: str
    """Of its folder."""
    card: Mapping[str, Any]
    played: tuple[Played, ...]


def card_of(folder: Path) -> Mapping[str, Any]:
    """The card of a study. ReportError where there is none."""
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReportError(
            f"{folder / CARD}: cannot be read ({error}); name the --out of another `study courses`"
        ) from None
    if not isinstance(card, dict) or not {"settings", "parts"} <= card.keys():
        raise ReportError(f"{folder / CARD}: no card of a study of courses")
    return card


def names_of(folders: Sequence[Path]) -> tuple[str, ...]:
    """What studies are called: after their folders; by the whole path where two have one name."""
    names = [folder.resolve().name for folder in folders]
    return tuple(
        name if names.count(name) == 1 else str(folder.resolve())
        for folder, name in zip(folders, names, strict=True)
    )


def apart(entered: Sequence[Entered]) -> Iterator[str]:
    """What differs between the studies and forbids a plain comparison, in sentences."""
    for key, word in SAME.items():
        said = {one.name: one.card["settings"].get(key) or USUAL.get(key) for one in entered}
        if len(set(map(str, said.values()))) > 1:
            each = ", ".join(f"{name} {value}" for name, value in said.items())
            yield f"{word}: {each}."
    versions = {one.name: one.card.get("simcounsel") for one in entered}
    if len(set(versions.values())) > 1:
        each = ", ".join(f"{name} {value}" for name, value in versions.items())
        yield f"version of simcounsel: {each}."


def boards(entered: Sequence[Entered]) -> Iterator[PaperTable]:
    """One table for each therapy that any study has."""
    for therapy in dict.fromkeys(one.therapy for study in entered for one in study.played):
        levels = {
            f"{study.name}: {arm}" if len(entered) > 1 else arm: _levels(one, arm)
            for study in entered
            for one in study.played
            if one.therapy == therapy
            for arm in one.arms
        }
        if levels:
            yield _board(therapy, levels)


Levels = tuple[Mapping[str, float], Mapping[str, float]]
"""The counselor's level and the client's, by client."""


def _levels(played: Played, arm: str) -> Levels:
    return (_mean(played, arm, battery().counselor), _mean(played, arm, battery().client))


def _mean(played: Played, arm: str, columns: Sequence[Column]) -> Mapping[str, float]:
    """By client, the mean over the battery's columns on 0 to 10, more being better: symptoms count
    from the other end. Of clients who have every column.
    """
    own = [column for column in columns if column.fits(played.therapy)]
    found = []
    for column in own:
        level = of_clients(played.measurements, column, arm, lambda values: float(values.mean()))
        found.append({who: 10 - one if column.lower else one for who, one in level})
    whole = set.intersection(*(set(one) for one in found)) if found else set()
    return {who: sum(one[who] for one in found) / len(found) for who in sorted(whole)}


def _board(therapy: str, levels: Mapping[str, Levels]) -> PaperTable:
    def rank(name: str) -> float:
        values = levels[name][0].values()
        return -sum(values) / len(values) if values else 1.0

    order = sorted(levels, key=rank)
    best = levels[order[0]]
    rows = []
    for name in order:
        cells = []
        for level, of_best in zip(levels[name], best, strict=True):
            both = sorted(level.keys() & of_best.keys())
            for values in (
                list(level.values()),
                [level[who] - of_best[who] for who in both] if name != order[0] else [],
            ):
                whole = spread(name, values)
                cells.append(TableCell(ours=whole.mean, low=whole.low, high=whole.high, n=whole.n))
        rows.append(PaperRow(label=name, cells=tuple(cells)))
    return PaperTable(
        id=f"board_{therapy}",
        title=f"Leaderboard, {therapy.replace('_', ' ')}",
        columns=("counselor's level", "beside the first", "client's level", "beside the first"),
        rows=tuple(rows),
        source="means of the therapy's battery on 0 to 10, more being better; by the counselor's"
        " level. Differences to the first row are of the same clients, paired; 95 % over clients."
        " An overlap of intervals is no test, and ranks of few clients change from study to study",
        single=True,
    )
