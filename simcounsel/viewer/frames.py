"""The log as pictures need it: pure functions from a run's events, as dictionaries, to plain data.

Each takes the events of complete ticks in order and returns what can be written as JSON. A history
is a list in the order of ticks; what holds at a moment is its last item that is not later.
"""

from collections.abc import Iterable
from typing import Any

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.specs.world import RecallWeights

Fields = dict[str, Any]

OVERVIEW = (
    "joined",
    "left",
    "scheduled",
    "acted",
    "appraised",
    "said",
    "conversation_started",
    "conversation_ended",
    "reflected",
    "persona_changed",
    "planned",
    "warned",
    "forked",
)
PERSON = (
    "joined",
    "left",
    "planned",
    "scheduled",
    "appraised",
    "said",
    "relation_changed",
    "reflected",
    "persona_changed",
)


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


def overview(manifest: Fields, entries: Iterable[Fields], ticks: int) -> Fields:
    """The whole run at a glance: the world, and for each person what was done, planned and felt.

    `tracks[who]` holds changes only: `doing` and `planned` as [tick, text, kind, place], `feeling`
    as [tick, emotion, intensity], `here` as [tick, true or false], all texts as numbers into
    `texts`. Planned is what was first meant for a tick. `moments` are what one jumps to.
    """
    world = manifest.get("world", {})
    texts = Texts()
    people: dict[str, Fields] = {}
    tracks: dict[str, Fields] = {}
    meant: dict[str, dict[int, list[int]]] = {}
    talks: dict[str, Fields] = {}
    moments: list[Fields] = []
    minutes: dict[int, int] = {}
    for entry in entries:
        tick, kind = entry["tick"], entry["kind"]
        who: Any = entry.get("who")
        minutes.setdefault(tick, entry["minute"])
        if isinstance(who, str):
            track = tracks.setdefault(who, {"doing": [], "feeling": [], "planned": [], "here": []})
        match kind:
            case "joined":
                people[who] = {
                    "name": who,
                    "role": entry["role"],
                    "home": entry["home"],
                    "place": entry["place"],
                }
                track["here"].append([tick, True])
            case "left":
                track["here"].append([tick, False])
            case "acted":
                doing = [
                    texts.number(entry["activity"]),
                    texts.number(entry["activity_kind"]),
                    texts.number(entry["place"]),
                ]
                _changed(track["doing"], tick, doing)
            case "scheduled":
                for slot in entry["slots"]:
                    intended = [
                        texts.number(slot["activity"]),
                        texts.number(slot["activity_kind"]),
                        texts.number(slot["place"]),
                    ]
                    meant.setdefault(who, {}).setdefault(slot["minute"], intended)
            case "appraised" | "said":
                _changed(
                    track["feeling"], tick, [texts.number(entry["emotion"]), entry["intensity"]]
                )
                if kind == "said" and entry["chat"] in talks:
                    talks[entry["chat"]]["lines"] += 1
            case "conversation_started":
                talks[entry["chat"]] = {
                    "chat": entry["chat"],
                    "tick": tick,
                    "who": entry["who"],
                    "place": entry["place"],
                    "cause": entry["cause"],
                    "lines": 0,
                    "ended": None,
                    "by": None,
                }
                moments.append(
                    {
                        "tick": tick,
                        "kind": "conversation",
                        "who": entry["who"],
                        "what": entry["chat"],
                    }
                )
            case "conversation_ended":
                if entry["chat"] in talks:
                    talks[entry["chat"]] |= {"ended": entry["cause"], "by": entry["by"]}
            case "reflected":
                moments.append(
                    {"tick": tick, "kind": "reflection", "who": [who], "what": entry["trigger"]}
                )
            case "persona_changed":
                if entry["version"]:
                    moments.append(
                        {
                            "tick": tick,
                            "kind": "persona",
                            "who": [who],
                            "what": f"version {entry['version']}",
                        }
                    )
            case "planned":
                if entry["why"] != MORNING:
                    moments.append(
                        {"tick": tick, "kind": "replanned", "who": [who], "what": entry["why"]}
                    )
            case "warned":
                moments.append(
                    {
                        "tick": tick,
                        "kind": "warning",
                        "who": [who],
                        "what": f"{entry['purpose']}: {entry['cause']}",
                    }
                )
            case "forked":
                moments.append(
                    {
                        "tick": tick + 1,
                        "kind": "fork",
                        "who": [],
                        "what": _changes(entry["changes"]),
                    }
                )
    _without_beginning(people, tracks, texts, world)
    step, first = _clock(world, minutes)
    for who, slots in meant.items():
        for minute in sorted(slots):
            tick, rest = divmod(minute - first, step)
            if not rest and 0 <= tick < ticks:
                _changed(tracks[who]["planned"], tick, slots[minute])
    return {
        "run": manifest.get("run"),
        "created": manifest.get("created"),
        "world": world.get("name"),
        "condition": world.get("condition"),
        "seed": world.get("seed"),
        "model": (manifest.get("models") or {}).get("reason"),
        "parent": manifest.get("parent"),
        "start": world.get("start"),
        "tick_minutes": step,
        "first_minute": first,
        "ticks": ticks,
        "ticks_planned": world.get("ticks", ticks),
        "places": world.get("places") or _places_seen(tracks, texts),
        "people": sorted(people.values(), key=lambda p: p["name"]),
        "tracks": tracks,
        "texts": texts.all,
        "talks": list(talks.values()),
        "moments": moments,
        "feels": ADJECTIVE,
        "weights": _weights(world),
    }


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


def _without_beginning(
    people: dict[str, Fields], tracks: dict[str, Fields], texts: Texts, world: Fields
) -> None:
    """Those whose coming is not in the log any more: from the manifest, and there from when they
    are first seen.
    """
    known = {str(r.get("name")): r for r in world.get("residents", ()) if isinstance(r, dict)}
    for who, track in tracks.items():
        if who not in people:
            resident = known.get(who, {})
            persona = resident.get("persona")
            role = persona.get("role", "resident") if isinstance(persona, dict) else "resident"
            first = track["doing"][0] if track["doing"] else None
            place = texts.all[first[3]] if first else str(resident.get("starts_in", ""))
            people[who] = {
                "name": who,
                "role": role,
                "home": str(resident.get("home", "")),
                "place": place,
            }
            track["here"].insert(0, [first[0] if first else 0, True])


MORNING = "a new day"


def _changes(changes: Iterable[Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in changes) or "nothing changed"


def _changed(track: list[list[Any]], tick: int, state: list[Any]) -> None:
    """Note a state where it differs from the one before; the last of a tick counts."""
    if track and track[-1][0] == tick:
        track.pop()
    if not track or track[-1][1:] != state:
        track.append([tick, *state])


def _clock(world: Fields, minutes: dict[int, int]) -> tuple[int, int]:
    """Minutes of a tick, and the minute at which tick 0 begins, from the world or from what was
    seen.
    """
    seen = sorted(minutes)
    step = int(world.get("tick_minutes") or 15)
    if not world and len(seen) > 1:
        step = max(1, (minutes[seen[-1]] - minutes[seen[0]]) // (seen[-1] - seen[0]))
    return step, (minutes[seen[0]] - seen[0] * step) if seen else 0


def _places_seen(tracks: dict[str, Fields], texts: Texts) -> list[Fields]:
    """Without a manifest: every place somebody was at, side by side."""
    names = {texts.all[state[3]] for track in tracks.values() for state in track["doing"]}
    return [{"name": name, "kind": "place"} for name in sorted(names)]


def person(manifest: Fields, entries: Iterable[Fields], who: str) -> Fields:
    """Everything about one person but memories: sheet, versions of the persona, relations, plans,
    feelings, reflections.
    """
    found: Fields = {
        "name": who,
        "sheet": _sheet(manifest, who),
        "versions": [],
        "relations": [],
        "plans": [],
        "schedules": [],
        "feelings": [],
        "reflections": [],
    }
    for entry in entries:
        if entry.get("who") != who:
            continue
        at = {"seq": entry["seq"], "tick": entry["tick"], "minute": entry["minute"]}
        match entry["kind"]:
            case "persona_changed":
                found["versions"].append(
                    at
                    | pick(
                        entry,
                        "version",
                        "background",
                        "characteristic",
                        "recent_feeling",
                        "evidence",
                    )
                )
            case "relation_changed":
                found["relations"].append(at | pick(entry, "other", "before", "after", "why"))
            case "planned":
                found["plans"].append(at | pick(entry, "day", "strokes", "why"))
            case "scheduled":
                found["schedules"].append(at | {"slots": entry["slots"]})
            case "appraised":
                found["feelings"].append(
                    at | pick(entry, "emotion", "intensity", "poignancy", "about")
                )
            case "said":
                found["feelings"].append(
                    at
                    | pick(entry, "emotion", "intensity", "poignancy")
                    | {"about": f"said: {entry['text']}"}
                )
            case "reflected":
                found["reflections"].append(at | pick(entry, "trigger", "questions", "insights"))
    return found


def pick(entry: Fields, *keys: str) -> Fields:
    return {key: entry.get(key) for key in keys}


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


def memories(entries: Iterable[Fields], who: str) -> list[Fields]:
    """All that somebody remembers, as it was laid down. store: 'short' or 'long'."""
    return [
        {
            "tick": entry["tick"],
            "minute": entry["minute"],
            "store": "long" if entry["memory"]["type"] == "thought" else "short",
        }
        | entry["memory"]
        for entry in entries
        if entry["kind"] == "remembered" and entry.get("who") == who
    ]


def recalls(entries: Iterable[Fields], who: str) -> list[Fields]:
    """What came to somebody's mind, when, at what, and the terms of each memory's score."""
    return [
        pick(entry, "seq", "tick", "minute", "purpose", "query", "emotion", "hits")
        for entry in entries
        if entry["kind"] == "recalled" and entry.get("who") == who
    ]


def warnings(entries: Iterable[Fields]) -> list[Fields]:
    """Every fallback, with its cause."""
    return [
        pick(entry, "seq", "tick", "minute", "who", "purpose", "cause")
        for entry in entries
        if entry["kind"] == "warned"
    ]


def keys_behind(entry: Fields, calls: Iterable[Fields]) -> list[str]:
    """The keys of the requests of its tick from which an event came, likeliest first.

    A line came from the request of that speaker whose reply holds its words (a fallback: from one
    that failed); other events from the requests of their purpose.
    """
    mine = [
        call
        for call in calls
        if call.get("who") == entry.get("who") and call.get("tick") == entry.get("tick")
    ]
    about = [
        call
        for call in mine
        if any(
            call.get("purpose", "").startswith(purpose)
            for purpose in PURPOSES.get(entry["kind"], ())
        )
    ]
    words = next((str(entry[key]) for key in ("text", "about") if entry.get(key)), None)
    holding = [call for call in about if words and words[:60] in _unescaped(call.get("reply"))]
    failed = [call for call in about if words and call.get("source") == "fallback"]
    found = holding or failed or [call for call in about if not call.get("spare")] or about
    return list(dict.fromkeys(call["key"] for call in found))


PURPOSES: dict[str, tuple[str, ...]] = {
    "said": ("line_",),
    "decided": ("move",),
    "appraised": ("appraise", "summarize"),
    "planned": ("plan_day", "replan"),
    "scheduled": ("plan_slots",),
    "reflected": ("questions", "insights"),
    "persona_changed": ("portrait", "persona"),
    "relation_changed": ("summarize",),
    "recalled": ("speak", "reflect"),
}


def _unescaped(reply: object) -> str:
    return str(reply or "").replace('\\"', '"').replace("\\n", " ")


def compare(a: Fields, b: Fields) -> Fields:
    """Where two overviews part: for each person in both, the ticks at which what they do, or feel,
    differs.

    parted: the first tick at which anything differs; None when nothing does. forked: the tick from
    which one was lived anew, when one is a fork of the other.
    """
    ticks = min(a["ticks"], b["ticks"])
    people = sorted(set(a["tracks"]) & set(b["tracks"]))
    differ = {
        who: {
            "doing": _differing(a, b, who, "doing", ticks),
            "feeling": _differing(a, b, who, "feeling", ticks),
        }
        for who in people
    }
    first = [tick for person in differ.values() for found in person.values() for tick in found[:1]]
    only = {
        "a": sorted(set(a["tracks"]) - set(b["tracks"])),
        "b": sorted(set(b["tracks"]) - set(a["tracks"])),
    }
    joins = [
        track["here"][0][0]
        for run, names in ((a, only["a"]), (b, only["b"]))
        for name in names
        if (track := run["tracks"][name])["here"]
    ]
    return {
        "ticks": ticks,
        "differ": differ,
        "parted": min(first + joins, default=None),
        "forked": _forked(a, b),
        "only": only,
    }


def _forked(a: Fields, b: Fields) -> int | None:
    for child, other in ((a, b), (b, a)):
        parent = child.get("parent")
        if parent and parent["run"] == other.get("run"):
            return int(parent["at_tick"])
    one, two = a.get("parent"), b.get("parent")
    if one and two and one["run"] == two["run"]:
        return min(int(one["at_tick"]), int(two["at_tick"]))
    return None


def _differing(a: Fields, b: Fields, who: str, what: str, ticks: int) -> list[int]:
    one, two = (_at_each_tick(run, who, what, ticks) for run in (a, b))
    return [tick for tick in range(ticks) if one[tick] != two[tick]]


def _at_each_tick(run: Fields, who: str, what: str, ticks: int) -> list[Any]:
    """A track's state at every tick, texts instead of their numbers."""
    texts = run["texts"]
    states: list[Any] = []
    state: Any = None
    changes = {change[0]: change[1:] for change in run["tracks"][who][what]}
    for tick in range(ticks):
        if tick in changes:
            value = changes[tick]
            state = (
                tuple(texts[n] for n in value) if what != "feeling" else (texts[value[0]], value[1])
            )
        states.append(state)
    return states
