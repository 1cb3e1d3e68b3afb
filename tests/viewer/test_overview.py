"""A run as pages need it, against a log written by hand and against the residents' own fold."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simcounsel.agents.resident import Resident
from simcounsel.events import SCHEMA_VERSION, ConversationStarted, Recalled, Said, parse_entry
from simcounsel.runs.calls import decode_vectors
from simcounsel.runs.conversation import Conversation
from simcounsel.runs.folds import conversations_in
from simcounsel.runs.history import History
from simcounsel.runs.lives import Lives
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.viewer import conversations, people, requests
from simcounsel.viewer.comparison import compare, other_clock
from simcounsel.viewer.overview import overview
from tests.corpus.written import stored
from tests.stage import happened

Fields = dict[str, Any]
WORLD: Fields = {
    "name": "Two rooms",
    "start": "2026-03-02T08:00:00",
    "tick_minutes": 30,
    "ticks": 9,
    "condition": "everyone",
    "seed": 7,
    "places": [
        {"name": "Hall", "kind": "other", "places": [{"name": "Kitchen", "kind": "kitchen"}]},
        {"name": "Park", "kind": "park"},
    ],
    "residents": [
        {
            "name": "Ada",
            "persona": {
                "name": "Ada Long",
                "role": "client",
                "history": "Born by the sea.",
                "habits": [],
            },
        }
    ],
}
MANIFEST: Fields = {
    "run": "r1",
    "created": "2026-11-21",
    "world": WORLD,
    "models": {"reason": "scripted"},
    "parent": None,
}


def log(*events: tuple[int, Fields]) -> list[Fields]:
    """Events with their stamps; each is (tick, fields)."""
    return [
        {"seq": seq, "tick": tick, "minute": 480 + 30 * tick, **fields}
        for seq, (tick, fields) in enumerate(events)
    ]


def acted(who: str, activity: str, place: str, kind: str = "work") -> Fields:
    return {
        "kind": "acted",
        "who": who,
        "activity": activity,
        "activity_kind": kind,
        "place": place,
    }


def felt(who: str, emotion: str, intensity: int, about: str = "it") -> Fields:
    return {
        "kind": "appraised",
        "who": who,
        "about": about,
        "emotion": emotion,
        "intensity": intensity,
        "poignancy": 2,
    }


def joined(who: str, role: str = "client") -> Fields:
    return {"kind": "joined", "who": who, "role": role, "home": "Hall", "place": "Kitchen"}


def slots(who: str, *given: tuple[int, str]) -> Fields:
    return {
        "kind": "scheduled",
        "who": who,
        "slots": [
            {"minute": m, "activity": a, "activity_kind": "work", "place": "Kitchen"}
            for m, a in given
        ],
    }


def said(who: str, to: str, text: str, message: int) -> Fields:
    return {
        "kind": "said",
        "chat": "1:Ada+Ben",
        "message": message,
        "who": who,
        "to": to,
        "text": text,
        "emphasis": None,
        "emotion": "joy",
        "intensity": 6,
        "poignancy": 3,
        "source": "chosen",
    }


def decided(who: str, move: str) -> Fields:
    return {
        "kind": "decided",
        "who": who,
        "chat": "1:Ada+Ben",
        "policy": "p",
        "move": move,
        "options": [move, "x"],
        "reason": "why",
    }


HIT: Fields = {
    "id": "Ada:0",
    "score": 0.5,
    "recency": 1,
    "poignancy": 0.3,
    "emotion_score": 0.2,
    "emotion_relevance": 0.5,
    "relevance": 0.1,
}


def recalled(who: str, query: str) -> Fields:
    return {
        "kind": "recalled",
        "who": who,
        "purpose": "speak",
        "query": query,
        "emotion": "fear",
        "hits": [HIT],
    }


def moved_closer(who: str, other: str) -> Fields:
    return {
        "kind": "relation_changed",
        "who": who,
        "other": other,
        "before": 2,
        "after": 3,
        "why": "closer",
    }


TALK = [
    (
        1,
        {
            "kind": "conversation_started",
            "chat": "1:Ada+Ben",
            "who": ["Ben", "Ada"],
            "place": "Park",
            "cause": "draw",
            "closeness": 2.0,
            "probability": 0.1,
        },
    ),
    (1, decided("Ben", "greet")),
    (1, recalled("Ben", "Ada at Park")),
    (1, said("Ben", "Ada", "Hello.", 1)),
    (1, decided("Ada", "early")),
    (1, recalled("Ada", "Hello.")),
    (1, said("Ada", "Ben", "Hm <b>.", 2)),
    (
        1,
        {
            "kind": "conversation_ended",
            "chat": "1:Ada+Ben",
            "cause": "goodbye",
            "by": "Ben",
            "messages": 2,
        },
    ),
    (1, felt("Ben", "trust", 4, "Ben met Ada.")),
    (1, moved_closer("Ben", "Ada")),
    (1, felt("Ada", "sadness", 5, "Ada met Ben.")),
    (1, moved_closer("Ada", "Ben")),
    (1, felt("Ada", "anger", 9, "something else, after the talk")),
]
DAY = log(
    (0, joined("Ada")),
    (0, joined("Ben", "layperson")),
    (0, slots("Ada", (480, "reads"), (510, "reads"), (540, "cooks"))),
    (0, acted("Ada", "reads", "Kitchen")),
    (0, felt("Ada", "fear", 3)),
    (0, felt("Ada", "joy", 4)),
    (0, acted("Ben", "waits", "Park")),
    *((1, e) for e in [acted("Ada", "reads", "Park")]),
    *TALK,
    (2, slots("Ada", (540, "sleeps"))),
    (
        2,
        {
            "kind": "planned",
            "who": "Ada",
            "day": 0,
            "strokes": [],
            "why": "a conversation that mattered",
        },
    ),
    (2, acted("Ada", "sleeps", "Kitchen", "sleep")),
    (2, {"kind": "warned", "who": "Ada", "purpose": "move", "cause": "HTTP 500"}),
    (
        2,
        {
            "kind": "persona_changed",
            "who": "Ada",
            "version": 1,
            "background": "b",
            "characteristic": "c",
            "recent_feeling": "f",
            "evidence": ["Ada:0"],
        },
    ),
    (2, {"kind": "left", "who": "Ben"}),
)


def held(entries: list[Fields], chat: str = "1:Ada+Ben") -> Conversation | None:
    """That conversation among some events."""
    found = conversations_in(parse_entry(fields) for fields in entries)
    return next((one for one in found if one.id == chat), None)


def shown(entries: list[Fields]) -> Fields:
    """The conversation as the page gets it."""
    one = held(entries)
    assert one is not None
    return conversations.conversation(one, dict.fromkeys((1, 2), "by hand"))


def told(found: Fields, who: str, what: str) -> list[Any]:
    """A track with its numbers as texts."""
    texts = found["texts"]
    return [
        [
            tick,
            *(texts[v] if i < (1 if what == "feeling" else 3) else v for i, v in enumerate(state)),
        ]
        for tick, *state in found["tracks"][who][what]
    ]


def test_overview_by_hand() -> None:
    found = overview(MANIFEST, Lives.read(DAY), 3)
    assert (
        found["run"],
        found["world"],
        found["seed"],
        found["tick_minutes"],
        found["first_minute"],
        found["ticks"],
    ) == ("r1", "Two rooms", 7, 30, 480, 3)
    assert [p["name"] for p in found["people"]] == ["Ada", "Ben"]
    assert told(found, "Ada", "doing") == [
        [0, "reads", "work", "Kitchen"],
        [1, "reads", "work", "Park"],
        [2, "sleeps", "sleep", "Kitchen"],
    ]
    assert told(found, "Ada", "feeling") == [[0, "joy", 4], [1, "anger", 9]], (
        "the last feeling of a tick counts"
    )
    assert told(found, "Ada", "planned") == [
        [0, "reads", "work", "Kitchen"],
        [2, "cooks", "work", "Kitchen"],
    ], "what was meant at first"
    assert found["tracks"]["Ben"]["here"] == [[0, True], [2, False]]
    assert found["talks"] == [
        {
            "chat": "1:Ada+Ben",
            "tick": 1,
            "who": ["Ben", "Ada"],
            "place": "Park",
            "cause": "draw",
            "lines": 2,
            "ended": "goodbye",
            "by": "Ben",
        }
    ]
    assert [(m["tick"], m["kind"]) for m in found["moments"]] == [
        (1, "conversation"),
        (2, "replanned"),
        (2, "warning"),
        (2, "persona"),
    ]
    assert found["places"] == WORLD["places"]
    assert json.loads(json.dumps(found)) == found


def test_overview_without_a_manifest() -> None:
    found = overview({}, Lives.read(DAY), 3)
    assert (found["world"], found["tick_minutes"], found["first_minute"]) == (None, 30, 480)
    assert [place["name"] for place in found["places"]] == ["Kitchen", "Park"]


def test_overview_of_nothing() -> None:
    assert overview({}, Lives.read([]), 0)["people"] == []


def test_conversation_by_hand() -> None:
    talk = shown(DAY)
    assert [
        (line["who"], line["text"], line["decided"]["move"], line["recalled"]["query"])
        for line in talk["lines"]
    ] == [("Ben", "Hello.", "greet", "Ada at Park"), ("Ada", "Hm <b>.", "early", "Hello.")]
    assert {line["came_about"] for line in talk["lines"]} == {
        "written by hand, as answers to the prompts"
    }
    assert (talk["ended"], talk["by"], talk["probability"]) == ("goodbye", "Ben", 0.1)
    assert {
        name: (left["summary"], left["emotion"], left["relation"]["after"])
        for name, left in talk["after"].items()
    } == {"Ben": ("Ben met Ada.", "trust", 3), "Ada": ("Ada met Ben.", "sadness", 3)}
    assert held(DAY, "9:Ada+Ben") is None


def test_what_a_policy_wrote_stands_with_its_line() -> None:
    chat, at = "1:Ada+Ben", {"seq": 0, "tick": 1, "minute": 30}
    moved = {
        "kind": "transitioned",
        "who": "Ben",
        "chat": chat,
        "protocol": "p",
        "origin": None,
        "state": "hello",
        "reason": "it begins",
        "forced": False,
        "resumed": False,
    }
    other = {
        "kind": "transitioned",
        "who": "Zoe",
        "chat": "1:Yan+Zoe",
        "protocol": "p",
        "origin": None,
        "state": "bye",
        "reason": "r",
    }
    said = next(number for number, entry in enumerate(DAY) if entry["kind"] == "said")
    talk = shown([*DAY[:said], {**at, **moved}, {**at, **other}, *DAY[said:]])
    assert [line.get("practice") for line in talk["lines"]] == [
        [{key: value for key, value in moved.items() if key != "chat"}],
        None,
    ]


def test_what_is_kept_of_a_session_stands_after_it() -> None:
    """What a policy writes once the talk is over is nobody's line; a course's plan and review stand apart."""
    at = {"seq": 0, "tick": 1, "minute": 30, "chat": "1:Ada+Ben"}
    named = {"calls": ["k"], "fallback": False}
    of_course = {"about": "Ada", "session": 1, "stage": "first"} | named
    planned = of_course | {
        "kind": "session_planned",
        "who": "Ben",
        "theme": "sleep",
        "objective": ["to listen"],
        "goals": [],
        "reason": "it begins",
    }
    thought = {
        "kind": "reasoned",
        "who": "Ben",
        "assessment": "a",
        "client_state": "c",
        "skills": ["mirror", "stay"],
        "strategy": "wait",
    } | named
    noted = {"kind": "noted", "who": "Ada", "about": "Ben", "text": "n", "first": 1, "last": 2}
    noted |= named
    reviewed = of_course | {
        "kind": "session_reviewed",
        "who": "Ben",
        "summary": "it went",
        "goals": [],
        "client_state": "c",
        "alliance": 3,
        "unresolved": [],
        "homework": None,
        "dropped": [],
    }
    said = next(number for number, entry in enumerate(DAY) if entry["kind"] == "said")
    moved = max(number for number, entry in enumerate(DAY) if entry["kind"] == "relation_changed")
    talk = shown(
        [
            *DAY[:said],
            at | planned,
            at | thought,
            *DAY[said : moved + 1],
            at | noted,
            at | reviewed,
            *DAY[moved + 1 :],
        ]
    )
    assert [line.get("practice") for line in talk["lines"]] == [[thought], None]
    assert {name: left["practice"] for name, left in talk["after"].items()} == {
        "Ada": [noted],
        "Ben": [],
    }
    assert talk["course"] == [planned, reviewed]


def test_transcript_is_text_in_markdown() -> None:
    talk = held(DAY)
    assert talk is not None
    assert conversations.transcript(talk, "Monday") == (
        "Ben and Ada, Monday, Park\n\nBen: Hello.\nAda: Hm <b>.\n",
        "## Ben and Ada, Monday, Park\n\n**Ben:** Hello.\n\n**Ada:** Hm \\<b\\>.\n",
    )


def read(folder: Path, entries: list[Fields], manifest: Fields = MANIFEST) -> History:
    """The history of a log made by hand."""
    written = manifest | {"schema_version": SCHEMA_VERSION}
    log = Log(stored(folder / "by hand", entries, written))
    log.refresh()
    return History(log)


def test_person_by_hand(tmp_path: Path) -> None:
    ada = people.person(read(tmp_path, DAY), "Ada")
    assert ada["sheet"] == {"role": "client", "history": "Born by the sea."}
    assert [v["version"] for v in ada["versions"]] == [1]
    assert [(r["tick"], r["other"], r["after"]) for r in ada["relations"]] == [(1, "Ben", 3)]
    assert [(f["emotion"], f["intensity"]) for f in ada["feelings"]] == [
        ("fear", 3),
        ("joy", 4),
        ("joy", 6),
        ("sadness", 5),
        ("anger", 9),
    ]
    assert [p["why"] for p in ada["plans"]] == ["a conversation that mattered"]


def test_weights_of_the_baseline() -> None:
    world = WORLD | {"memory": {"recall": "generative_agents"}}
    assert overview(MANIFEST | {"world": world}, Lives.read(DAY), 3)["weights"] == {
        "recency": 1 / 3,
        "poignancy": 1 / 3,
        "emotion_score": 0,
        "emotion_relevance": 0,
        "relevance": 1 / 3,
    }


def test_compare_by_hand() -> None:
    """DAY by hand: three ticks of 15 minutes. Ada does something else, but of the same kind, at tick 2."""
    a = overview(MANIFEST, Lives.read(DAY), 3)
    other = [
        e | {"activity": "runs"} if e["kind"] == "acted" and e["tick"] == 2 else e for e in DAY
    ]
    forked = {"run": "r2", "parent": {"run": "r1", "at_tick": 2, "changes": []}}
    b = overview(MANIFEST | forked, Lives.read(other), 3)
    found = compare(a, b)
    assert {key: found[key] for key in ("ticks", "parted", "forked", "only")} == {
        "ticks": 3,
        "parted": 2,
        "forked": 2,
        "only": {"a": [], "b": []},
    }
    ada, ben = found["people"]
    assert (ada["name"], ada["parted"], ada["kind_differs"], ada["words_differ"]) == (
        "Ada",
        2,
        0.0,
        0.333,
    )
    assert (ben["parted"], ben["words_differ"]) == (None, 0.0)
    assert (
        sum(hours for hours, _ in ada["hours"].values()) == ada["together"] * a["tick_minutes"] / 60
    )
    assert compare(a, a)["parted"] is None


def at_each(states: list[tuple[str, str, int] | None]) -> dict[str, Any]:
    """An overview of one who does, tick by tick, (kind, emotion, intensity); None: is not there."""
    texts = sorted({text for state in states if state for text in state[:2]})
    number = texts.index
    there = [(tick, state) for tick, state in enumerate(states) if state]
    return {
        "run": "r",
        "ticks": len(states),
        "tick_minutes": 15,
        "first_minute": 0,
        "texts": texts,
        "talks": [{"who": ["Ada", "Ben"], "tick": 0, "lines": 4}],
        "tracks": {
            "Ada": {
                "here": [[tick, state is not None] for tick, state in enumerate(states)],
                "doing": [[tick, number(s[0]), number(s[0]), number(s[0])] for tick, s in there],
                "feeling": [[tick, number(s[1]), s[2]] for tick, s in there],
            }
        },
    }


def test_how_much_differs_by_hand() -> None:
    """Over the ticks at which she is there in both: the last is not one of them."""
    a = at_each(
        [("sleep", "neutral", 2), ("work", "fear", 6), ("work", "joy", 4), ("work", "joy", 4)]
    )
    b = at_each([("sleep", "surprise", 9), ("worry", "fear", 2), ("work", "anger", 1), None])
    (ada,) = compare(a, b)["people"]
    assert ada["together"] == 3
    assert ada["parted"] == 0  # surprise beside neutral
    assert ada["kind_differs"] == 0.333
    assert ada["hours"] == {"sleep": [0.25, 0.25], "work": [0.5, 0.25], "worry": [0, 0.25]}
    # signed: A 0, -6, 4; B 0 (surprise has no sign), -2, -1
    assert ada["feeling"] == {"a": -0.667, "b": -1.0, "apart": 3.0}
    assert ada["talks"] == [{"talks": 1, "lines": 4, "met": ["Ben"]}] * 2
    gone = compare(a, at_each([None, None]))
    assert gone["people"][0]["together"] == 0 and gone["people"][0]["kind_differs"] is None


def test_other_clocks_are_refused_in_words() -> None:
    a = at_each([("sleep", "neutral", 2)])
    assert other_clock(a, a) is None
    assert "30 as minutes to a tick" in str(other_clock(a, a | {"tick_minutes": 30}))


def test_the_requests_behind_a_line(tmp_path: Path) -> None:
    """An event names its calls."""
    own = {"calls": ["a", "b"], "fallback": False}
    entries = [e | own if e["kind"] == "said" else e for e in DAY]
    line = next(e for e in read(tmp_path, entries).log.entries(("said",)))
    found = requests.behind(line)
    assert found["keys"] == ["a", "b"]
    assert found["event"]["text"] == "Hello."


# against the residents' own fold, over a whole run


@pytest.fixture(scope="module")
def entries(lived: Run) -> list[Fields]:
    return [
        json.loads(line)
        for line in (lived.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def test_tracks_are_what_residents_lived(lived: Run, entries: list[Fields]) -> None:
    manifest = json.loads((lived.folder / "manifest.json").read_text(encoding="utf-8"))
    found = overview(manifest, Lives.read(entries), 12)
    vectors: dict[str, np.ndarray] = {}
    for call in lived.calls():
        if call.get("verb") == "embed" and call["purpose"] == "remember":
            vectors.update(
                zip(call["texts"], decode_vectors(call["vectors"], len(call["texts"])), strict=True)
            )
    history = History.of(lived)
    residents = {spec.name: Resident(spec, lived.world, vectors) for spec in lived.world.residents}
    for tick in range(12):
        for entry in lived.entries(until_tick=tick + 1):
            if entry.tick == tick:
                who = getattr(entry.event, "who", None)
                for name in (who,) if isinstance(who, str) else who or ():
                    if not isinstance(entry.event, ConversationStarted):
                        residents[name].observe(entry)
        for name, resident in residents.items():
            track = {
                what: [state for state in found["tracks"][name][what] if state[0] <= tick][-1]
                for what in ("doing", "feeling")
            }
            texts = found["texts"]
            assert (
                texts[track["doing"][1]],
                texts[track["doing"][2]],
                texts[track["doing"][3]],
            ) == (resident.activity, resident.activity_kind, resident.place)
            assert (texts[track["feeling"][1]], track["feeling"][2]) == (
                resident.emotion,
                resident.intensity,
            )
    for name, resident in residents.items():
        kept = people.memories(history, name)
        assert [m["id"] for m in kept if m["store"] == "short"] == [
            m.id for m in resident.memory.short.memories
        ]
        assert [m["id"] for m in kept if m["store"] == "long"] == [
            m.id for m in resident.memory.long.memories
        ]
        assert people.person(history, name)["versions"][-1]["version"] == (
            resident.version.version if resident.version else 0
        )


def test_every_line_and_recall_of_a_run_is_there(lived: Run, entries: list[Fields]) -> None:
    history = History.of(lived)
    held = list(history.conversations())
    talks = overview({}, Lives.read(entries), 12)["talks"]
    assert [(one.id, len(one.lines)) for one in held] == [(t["chat"], t["lines"]) for t in talks]
    lines = [line for one in held for line in one.lines]
    assert [line.text for line in lines] == [event.text for event in happened(lived, Said)]
    assert all(line.decided and line.recalled for line in lines)
    assert [history.conversation(one.id) for one in held] == held
    names = [spec.name for spec in lived.world.residents]
    assert sum(len(history.recalls(name)) for name in names) == len(happened(lived, Recalled))


def test_people_whose_coming_is_gone() -> None:
    """The first events are lost: Ada is known from the manifest, Ben only from what he did."""
    rest = [entry for entry in DAY if entry["kind"] != "joined"]
    found = overview(MANIFEST, Lives.read(rest), 3)
    assert [(p["name"], p["role"], p["place"]) for p in found["people"]] == [
        ("Ada", "client", "Kitchen"),
        ("Ben", "resident", "Park"),
    ]
    assert found["tracks"]["Ada"]["here"] == [[0, True]]
    assert found["tracks"]["Ben"]["here"] == [[0, True], [2, False]]
