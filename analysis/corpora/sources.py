"""From what was named on the command line to the groups that are compared: a corpus each, or its
conditions where it has several.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import ReportError
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.judging import scale_for
from simcounsel.corpus.rated import (
    Rated,
    current_hashes,
    damaged_ratings,
    folder_of,
    label_of,
    read_rated,
    text_hash,
)
from simcounsel.corpus.reading import read_dialogues
from simcounsel.errors import CorpusError, SpecError
from simcounsel.record_kinds import WORLD, is_record, kind_of, records_in
from simcounsel.runs.record import Record, open_record
from simcounsel.specs.scale import Scale

WHOLE = "full"
"""The arm of an ablation from which nothing is taken away; others are compared with it."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Dialogues that are compared with others."""

    name: str
    """Of the corpus, of the condition, or of both."""
    source: str
    """The corpus's label."""
    condition: str | None
    dialogues: tuple[Dialogue, ...]
    rated: tuple[Rated, ...] = ()
    """Ratings of these very texts."""
    seconds: dict[str, float] = field(default_factory=dict)
    """What writing a dialogue took, by its id, where that is known."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """All groups, and in sentences what a reader must know of how they were read."""

    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()

    def texts(self) -> dict[str, list[tuple[Group, Dialogue]]]:
        """Where each text stands: by its hash."""
        found: dict[str, list[tuple[Group, Dialogue]]] = {}
        for group in self.groups:
            for dialogue in group.dialogues:
                found.setdefault(text_hash(dialogue), []).append((group, dialogue))
        return found


def read_sources(paths: Sequence[Path], rated: Sequence[Path] = ()) -> Sources:
    """Groups in the order in which they were named, conditions as they come, but `full` first.
    rated: further folders of ratings.

    CorpusError, ReportError say what cannot be read.
    """
    more = _kept_in(rated)
    labels = [label_of(path) for path in paths]
    twice = next((label for label, times in Counter(labels).items() if times > 1), None)
    if twice is not None:
        raise ReportError(
            f"two corpora are called {twice!r}; give one of the files another name, so that the"
            " report can tell them apart"
        )
    groups: list[Group] = []
    notes = _damaged([*rated, *(folder for path in paths for folder in _beside(path))])
    for path, label in zip(paths, labels, strict=True):
        found, said = _groups(path, label, more, alone=len(paths) == 1)
        groups += found
        notes += said
    return Sources(groups=tuple(groups), notes=tuple(notes))


def _groups(
    path: Path, label: str, more: Sequence[Rated], *, alone: bool
) -> tuple[list[Group], list[str]]:
    dialogues = [one for one in read_dialogues(path) if one.turns]
    if not dialogues:
        raise ReportError(f"{path}: no dialogue with a line in it")
    conditions = sorted(
        dict.fromkeys(one.condition for one in dialogues), key=lambda condition: condition != WHOLE
    )
    rated, seconds = _ratings(path), _seconds(path)
    by_text = {(one.id, text_hash(one)) for one in dialogues}
    stale = {one.dialogue for one in rated if (one.dialogue, one.text) not in by_text}
    groups = []
    for condition in conditions:
        mine = tuple(one for one in dialogues if one.condition == condition)
        ids = {(one.id, text_hash(one)) for one in mine}
        name = (
            label
            if len(conditions) == 1
            else (
                (condition or "no condition")
                if alone
                else f"{label}: {condition or 'no condition'}"
            )
        )
        groups.append(
            Group(
                name=name,
                source=label,
                condition=condition,
                dialogues=mine,
                rated=tuple(one for one in (*rated, *more) if (one.dialogue, one.text) in ids),
                seconds={one.id: seconds[one.id] for one in mine if one.id in seconds},
            )
        )
    notes = (
        [
            f"{label}: ratings of {len(stale)} dialogues that are not there, or were changed since,"
            " are left out."
        ]
        if stale
        else []
    )
    return groups, notes


def _kept_in(folders: Sequence[Path]) -> list[Rated]:
    """Ratings of the named folders; ReportError when one holds none."""
    found = {folder: read_rated(folder) for folder in folders}
    empty = next((folder for folder, ratings in found.items() if not ratings), None)
    if empty is not None:
        raise ReportError(
            f"{empty}: no ratings in it; name what `simcounsel corpus rate --out` wrote"
        )
    return [one for ratings in found.values() for one in ratings]


def _ratings(path: Path) -> list[Rated]:
    """Those beside the corpus, and those beside each run of a folder of runs."""
    return [one for folder in _beside(path) for one in read_rated(folder)]


def _damaged(folders: Sequence[Path]) -> list[str]:
    """A note for each place in folders of ratings that is not as it was written."""
    return [
        f"Ratings are damaged, and what is left of them is counted: {damage}."
        for folder in folders
        for damage in damaged_ratings(folder)
    ]


def _beside(path: Path) -> list[Path]:
    """Where the ratings of a corpus may lie, and those of each run in it."""
    inner = [] if is_record(path) else records_in(path)
    return [folder_of(place) for place in (path, *inner)]


def _seconds(path: Path) -> dict[str, float]:
    """What the questions of each session took, one after the other (Xue et al. 2026, Table V,
    "Spe."); only a record in which sessions ask tells that, no run of a world. Calls that a fork
    copied but may not have needed are left out.
    """
    folders = [path] if is_record(path) else records_in(path)
    written = (open_record(folder) for folder in folders if kind_of(folder) is not WORLD)
    return {id: spent for run in written for id, spent in _written_in(run).items()}


def _written_in(run: Record[Any]) -> dict[str, float]:
    spent: dict[str, float] = {}
    for call in run.calls():
        written = not (call.get("spare") or call.get("given_up"))
        if call.get("verb") != "embed" and written and call.get("latency_s"):
            id = f"{run.name}/{call.get('who')}"
            spent[id] = spent.get(id, 0.0) + float(call["latency_s"])
    return spent


def scales_of(groups: Iterable[Group], first: str = "dialogue_quality") -> list[Scale]:
    """The instruments with which any dialogue was rated, in their current version: `first` first,
    then by name. One that is neither shipped nor kept with its ratings is left out.
    """
    rated = [one for group in groups for one in group.rated]
    current = current_hashes(rated)
    kept = {(one.instrument, one.hash): one.scale for one in rated if one.scale}
    found = [
        scale
        for name in sorted(current, key=lambda name: (name != first, name))
        if (scale := kept.get((name, current[name])) or _shipped(name)) is not None
    ]
    return [scale for scale in found if scale.hash == current[scale.id]]


def _shipped(name: str) -> Scale | None:
    try:
        return scale_for(name)
    except (SpecError, CorpusError):
        return None


def judges_of(groups: Iterable[Group], instrument: str, hash: str) -> list[str]:
    """Who rated with this version of the instrument: real judges first, then who rated most."""
    count = Counter(
        one.judge
        for group in groups
        for one in group.rated
        if (one.instrument, one.hash) == (instrument, hash)
    )
    trial = {one.judge: one.trial for group in groups for one in group.rated}
    return sorted(count, key=lambda judge: (trial[judge], -count[judge], judge))
