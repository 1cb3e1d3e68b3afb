"""The kinds of records. A run of a world is one; packages may keep others, in folders of the same
form, and name them in the group of entry points simcounsel.records:

    [project.entry-points."simcounsel.records"]
    diary = "mydiaries:DIARY"

Whoever is given a folder asks `kind_of` it. What is done with a record of another kind lies in the
package that keeps it, and is looked up by name in its `parts`.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Protocol, Self

from simcounsel.errors import PluginError
from simcounsel.registry import Registry

log = logging.getLogger(__name__)
MANIFEST, EVENTS = "manifest.json", "events.jsonl"


class About(Protocol):
    """What a record is about, such as a world."""

    @property
    def name(self) -> str:
        """As its file calls it."""

    @property
    def condition(self) -> str:
        """In a word."""

    @property
    def seed(self) -> int:
        """Of all draws; 0 and more."""

    def model_names(self) -> dict[str, str]:
        """The model of each role."""

    def with_models(self, name: Callable[[str], str], /) -> Self:
        """With other names for all its models."""

    def amount(self, ticks: int, /) -> int:
        """How much is done in its first ticks."""

    def pace(self) -> tuple[object, ...]:
        """What decides how much is asked in a tick: equal for two that ask alike."""

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        """As JSON has it, with mode `json`."""


@dataclass(frozen=True, kw_only=True)
class RecordKind:
    """How a kind of record lies in its folder, how it is spoken of, and who does what with it."""

    noun: str
    """`run`."""
    about: str
    """The manifest's field with all that decides what happens; models apart."""
    file: str
    """The manifest's."""
    older: tuple[str, ...] = ()
    """What earlier versions called it."""
    marks: tuple[str, ...] = ()
    """Kinds of events by which a log without a manifest is known."""
    nouns: str
    unit: str
    """What its length is counted in."""
    done: str
    """What was done with its units."""
    again: str
    """What `resume` does with one."""
    otherwise: str
    """How it was done, where the file says something else by now."""
    lost: tuple[str, str]
    """What follows for what is shown where the manifest is damaged, and where it is gone."""
    says: str
    """What it is, and what can be done with it: for whoever wants a record of another kind."""
    key: str | None = None
    """By which the file of its settings is known, as `places` makes a world."""
    report: str = "report"
    """The command that reads what came of a sweep."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """`package.module:name` by what it is asked for: its class (`record`), a command (`resume`,
    `fork`, `show`), `page`, `check`; of sweeps `experiment`, `going`, `by_rule` and `plan_lines`;
    of readers `dialogues` and `talks`. What is not there is not done with such a record.
    """

    def part(self, name: str) -> Any:
        """One of its parts, imported now; None where it has none of that name."""
        value = self.parts.get(name)
        return value and EntryPoint(name, value, "simcounsel.records").load()

    def manifest_in(self, folder: Path) -> Path:
        """Where the manifest lies, or would."""
        named = (folder / name for name in (self.file, *self.older))
        return next((file for file in named if file.is_file()), folder / self.file)

    def keeps(self, folder: Path) -> bool:
        """Whether a folder's record is of this kind: by its manifest or, where that is gone, by
        what happened.
        """
        manifest = self.manifest_in(folder)
        if manifest.is_file():
            return manifest.name != MANIFEST or _holds(manifest, rb'"%s":\s*\{', self.about)
        return not (folder / MANIFEST).exists() and any(
            _holds(folder / EVENTS, rb'"kind":"%s"', mark) for mark in self.marks
        )


def _holds(file: Path, pattern: bytes, word: str) -> bool:
    try:
        return re.search(pattern % re.escape(word).encode(), file.read_bytes()) is not None
    except OSError:
        return False


WORLD = RecordKind(
    noun="run",
    nouns="runs",
    about="world",
    file=MANIFEST,
    unit="tick",
    done="run",
    again="runs",
    otherwise="in another world",
    lost=(
        "places and people are taken from what happened",
        "the world, its places and its people are taken from what happened",
    ),
    says="a run of a world; look at it with `simcounsel view {folder}`",
    parts={
        "record": "simcounsel.runs.run:Run",
        "going": "simcounsel.lab.processes:simulation",
        "by_rule": "simcounsel.lab.rules:by_rule",
        "plan_lines": "simcounsel.lab.plan:world_lines",
    },
)
KINDS = Registry("simcounsel.records", "a kind of record", RecordKind, {})
"""The others, by name."""


def other_kinds() -> Iterator[RecordKind]:
    """All but that of worlds. One that cannot be imported is left out, with a warning."""
    for plugin in KINDS.plugins():
        try:
            yield KINDS.load(plugin)
        except PluginError as error:
            log.warning("%s", error)


def kind_of(folder: Path) -> RecordKind:
    """The kind of a folder's record; that of worlds, where nobody else keeps it."""
    if WORLD.keeps(folder):
        return WORLD
    return next((kind for kind in other_kinds() if kind.keeps(folder)), WORLD)


def is_record(folder: Path) -> bool:
    """Whether a record of any kind lies in a folder."""
    return (folder / EVENTS).is_file() or kind_of(folder).keeps(folder)


def records_in(folder: Path) -> list[Path]:
    """The folders with a record within one, in name order."""
    if not folder.is_dir():
        return []
    return sorted(one for one in folder.iterdir() if one.is_dir() and is_record(one))
