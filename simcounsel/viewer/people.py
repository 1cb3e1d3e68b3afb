"""One person as the page shows them: histories, memories, recalls."""

from typing import Any

from pydantic import BaseModel

from simcounsel.events import Said
from simcounsel.runs.conversation import Dated
from simcounsel.runs.history import History

Fields = dict[str, Any]


def person(history: History, who: str) -> Fields:
    """Everything about one person but memories: sheet, versions of the persona, relations, plans,
    feelings, reflections.
    """
    found = history.person(who)
    return {
        "name": who,
        "sheet": _sheet(history.log.manifest, who),
        "versions": [
            shown(one, "version", "background", "characteristic", "recent_feeling", "evidence")
            for one in found.versions
        ],
        "relations": [shown(one, "other", "before", "after", "why") for one in found.relations],
        "plans": [shown(one, "day", "strokes", "why") for one in found.plans],
        "schedules": [shown(one, "slots") for one in found.schedules],
        "feelings": [_feeling(one) for one in found.feelings],
        "reflections": [
            shown(one, "trigger", "questions", "insights") for one in found.reflections
        ],
        "beliefs": [
            shown(one, "belief", "text", "before", "after", "evidence", "why")
            for one in found.beliefs
        ],
    }


def _feeling(one: Dated[Any]) -> Fields:
    event = one.event
    about = f"said: {event.text}" if isinstance(event, Said) else event.about
    return shown(one, "emotion", "intensity", "poignancy") | {"about": about}


def memories(history: History, who: str) -> list[Fields]:
    """All that somebody remembers, as it was laid down. store: 'short' or 'long'."""
    return [
        {
            "tick": one.tick,
            "minute": one.minute,
            "store": "long" if one.event.memory.long_term else "short",
        }
        | one.event.memory.model_dump(mode="json")
        for one in history.memories(who)
    ]


def recalls(history: History, who: str) -> list[Fields]:
    """What came to somebody's mind, when, at what, the terms of each memory's score, and what stood
    back.
    """
    keys = ("purpose", "query", "emotion", "hits", "stood_back")
    return [shown(one, *keys) for one in history.recalls(who)]


def warnings(history: History) -> list[Fields]:
    """Every fallback, with its cause."""
    return [shown(one, "who", "purpose", "cause") for one in history.warnings()]


def shown(one: Dated[Any], *keys: str) -> Fields:
    """An event's fields of these names, with its place in the log."""
    return {"seq": one.seq, "tick": one.tick, "minute": one.minute} | picked(one.event, *keys)


def picked(event: BaseModel, *keys: str) -> Fields:
    """An event's fields of these names."""
    return event.model_dump(mode="json", include=set(keys))


SHEET = (
    "age",
    "gender",
    "occupation",
    "theme",
    "background",
    "history",
    "style",
    "habits",
    "people",
)


def _sheet(manifest: Fields, who: str) -> Fields:
    """What the persona file says, as far as it is text to read."""
    for resident in manifest.get("world", {}).get("residents", ()):
        persona = resident.get("persona")
        if isinstance(persona, dict) and (resident.get("name") or persona.get("name")) == who:
            return {"role": persona.get("role")} | {
                key: persona[key] for key in SHEET if persona.get(key)
            }
    return {}
