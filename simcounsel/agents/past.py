"""A resident at one moment of the past, with what it lived through until then."""

from collections.abc import Mapping
from dataclasses import dataclass

from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.runs.conversation import Conversation
from simcounsel.specs.vocabulary import ActivityKind


@dataclass(frozen=True, kw_only=True)
class Activity:
    """What somebody did for a while."""

    minute: int
    """When it began."""
    until: int
    """When it ended."""
    activity: str
    kind: ActivityKind
    place: str


@dataclass(frozen=True, kw_only=True)
class Past:
    """A resident at the end of a tick."""

    resident: Resident
    scene: Scene
    remembered_at: Mapping[str, tuple[int, int]]
    """When each memory was made, as (tick, minute), by its id."""
    activities: tuple[Activity, ...]
    """All that was done so far, oldest first."""
    conversations: tuple[Conversation, ...]
    """All that the resident took part in so far, oldest first."""
    others: Mapping[str, str]
    """The role of everybody else who lived there then, by name."""
