"""A run at a glance, as its page needs it: lives with every text held once, as a number."""

from typing import Any

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.runs.lives import Doing, Heading, Life, Lives, Moment, Presence, add_change
from simcounsel.runs.manifest import label_of
from simcounsel.specs.world_settings import RecallWeights

Fields = dict[str, Any]


class Texts:
    """Texts by number, each held once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of that text."""
        if text not in self._numbers:
            self._numbers[text] = len(self.all)
            self.all.append(text)
        return self._numbers[text]


def overview(manifest: Fields, lives: Lives, ticks: int) -> Fields:
    """The whole run at a glance: the world, and for each person what was done, planned and felt.

    `tracks[who]` holds changes only: `doing` and `planned` as [tick, text, kind, place], `feeling`
    as [tick, emotion, intensity], `here` as [tick, true or false], all texts as numbers into
    `texts`. Planned is what was first meant for a tick. `moments` are what one jumps to.
    """
    world = manifest.get("world", {})
    texts = Texts()
    step, first = _clock(world, lives.minutes)
    _begin_unknown(lives, world)
    tracks = {
        name: _track(life, texts, _planned(life, step, first, ticks))
        for name, life in lives.of.items()
    }
    return {
        "run": manifest.get("run"),
        "created": manifest.get("created"),
        "world": world.get("name"),
        "condition": world.get("condition"),
        "seed": world.get("seed"),
        "model": (manifest.get("models") or {}).get("reason"),
        "label": label_of((manifest.get("models") or {}).values()),
        "parent": manifest.get("parent"),
        "start": world.get("start"),
        "tick_minutes": step,
        "first_minute": first,
        "ticks": ticks,
        "ticks_planned": world.get("ticks", ticks),
        "places": world.get("places") or _places_seen(lives),
        "people": [_person(lives.of[name]) for name in sorted(lives.of)],
        "tracks": tracks,
        "texts": texts.all,
        "talks": [_talk(heading) for heading in lives.conversations.values()],
        "moments": [_moment(moment) for moment in lives.moments],
        "feels": ADJECTIVE,
        "weights": _weights(world),
    }


def _person(life: Life) -> Fields:
    return {"name": life.name, "role": life.role, "home": life.home, "place": life.place}


def _talk(heading: Heading) -> Fields:
    return {
        "chat": heading.chat,
        "tick": heading.tick,
        "who": list(heading.who),
        "place": heading.place,
        "cause": heading.cause,
        "lines": heading.lines,
        "ended": heading.ended,
        "by": heading.by,
    }


def _moment(moment: Moment) -> Fields:
    return {"tick": moment.tick, "kind": moment.kind, "who": list(moment.who), "what": moment.what}


def _track(life: Life, texts: Texts, planned: list[Doing]) -> Fields:
    """A life with its texts as numbers."""
    return {
        "doing": [_numbered(one, texts) for one in life.doing],
        "feeling": [[one.tick, texts.number(one.emotion), one.intensity] for one in life.feeling],
        "planned": [_numbered(one, texts) for one in planned],
        "here": [[one.tick, one.here] for one in life.presence],
    }


def _numbered(one: Doing, texts: Texts) -> list[int]:
    return [
        one.tick,
        texts.number(one.activity),
        texts.number(one.activity_kind),
        texts.number(one.place),
    ]


def _planned(life: Life, step: int, first: int, ticks: int) -> list[Doing]:
    """What was first meant for each tick, changes only."""
    planned: list[Doing] = []
    for minute, intended in sorted(life.intended.items()):
        tick, rest = divmod(minute - first, step)
        if not rest and 0 <= tick < ticks:
            add_change(planned, Doing(tick, *intended))
    return planned


def _weights(world: Fields) -> dict[str, float]:
    """How much each of the five terms of a recall counts in this run's scores."""
    memory = world.get("memory") or {}
    if memory.get("recall") == "generative_agents":
        return {
            "recency": 1 / 3,
            "poignancy": 1 / 3,
            "emotion_score": 0.0,
            "emotion_relevance": 0.0,
            "relevance": 1 / 3,
        }
    return {**RecallWeights().model_dump(), **(memory.get("weights") or {})}


def _begin_unknown(lives: Lives, world: Fields) -> None:
    """Those whose coming is not in the log any more: from the manifest, and there from when they
    are first seen.
    """
    known = {str(r.get("name")): r for r in world.get("residents", ()) if isinstance(r, dict)}
    for life in lives.of.values():
        if life.role is not None:
            continue
        resident = known.get(life.name, {})
        persona = resident.get("persona")
        life.role = persona.get("role", "resident") if isinstance(persona, dict) else "resident"
        life.home = str(resident.get("home", ""))
        first = life.doing[0] if life.doing else None
        life.place = first.place if first else str(resident.get("starts_in", ""))
        life.presence.insert(0, Presence(first.tick if first else 0, True))


def _clock(world: Fields, minutes: dict[int, int]) -> tuple[int, int]:
    """Minutes of a tick, and the minute at which tick 0 begins, from the world or from what was
    seen.
    """
    seen = sorted(minutes)
    step = int(world.get("tick_minutes") or 15)
    if not world and len(seen) > 1:
        step = max(1, (minutes[seen[-1]] - minutes[seen[0]]) // (seen[-1] - seen[0]))
    return step, (minutes[seen[0]] - seen[0] * step) if seen else 0


def _places_seen(lives: Lives) -> list[Fields]:
    """Without a manifest: every place somebody was at, side by side."""
    names = {doing.place for life in lives.of.values() for doing in life.doing}
    return [{"name": name, "kind": "place"} for name in sorted(names)]
