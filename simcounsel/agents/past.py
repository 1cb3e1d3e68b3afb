"""A resident at one moment of the past, with what it lived through until then."""

from collections.abc import Mapping
from dataclasses import dataclass

from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.specs.vocabulary import ActivityKind, Emotion


@dataclass(frozen=True, kw_only=True)
class Deed:
    """What somebody did from `minute` to `until`."""

    minute: int
    until: int
    activity: str
    kind: ActivityKind
    place: str


@dataclass(frozen=True, kw_only=True)
class Met:
    """A conversation one had: when, with whom, where, the lines as (who, text), and what oneself
    felt at one's own.
    """

    minute: int
    other: str
    place: str
    lines: tuple[tuple[str, str], ...] = ()
    felt: tuple[Emotion, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Past:
    """A resident at the end of a tick.

    laid: when each memory was laid down, as (tick, minute), by its id. deeds: all that was done so
    far, oldest first; mets: all conversations so far. others: the role of everybody else who lived
    there then, by name.
    """

    resident: Resident
    scene: Scene
    laid: Mapping[str, tuple[int, int]]
    deeds: tuple[Deed, ...]
    mets: tuple[Met, ...]
    others: Mapping[str, str]
