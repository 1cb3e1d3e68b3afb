"""What a resident remembers: two stores, ids, and when it is time to reflect."""

from typing import Any

import numpy as np
import pytest

from simcounsel.events import Hit, Memory, Recalled, Reflected
from simcounsel.specs.world_settings import MemorySettings
from tests.each import each
from tests.stage import EIGHT, Alone, changed, memory, tiny


def event(number: int, text: str = "", **more: Any) -> Memory:
    return memory(number, text, **({"type": "event", "origin": "own act"} | more))


def test_ids_count_over_both_stores() -> None:
    ines = Alone()
    of = ines.resident.memory
    assert (of.next_id(), of.next_id(2)) == ("Ines:0", "Ines:2")
    ines.remember(event(0), memory(1), event(2, type="slot", origin="plan"))
    assert of.next_id() == "Ines:3"
    assert (len(of), len(of.short), len(of.long)) == (3, 2, 1)
    assert [of.get(f"Ines:{n}").type for n in range(3)] == ["event", "thought", "slot"]
    with pytest.raises(KeyError):
        of.get("Ines:9")


def test_thoughts_alone_are_long_term() -> None:
    kinds = {
        kind: memory(0, type=kind).long_term
        for kind in ("event", "chat", "day_plan", "slot", "thought")
    }
    assert kinds == {
        "event": False,
        "chat": False,
        "day_plan": False,
        "slot": False,
        "thought": True,
    }


def test_recall_takes_the_best_of_each_store() -> None:
    ines = Alone()
    ines.remember(*(event(n) for n in range(7)), *(memory(n) for n in range(7, 14)))
    ids = [
        hit.id
        for hit in ines.resident.memory.recall(np.array([1, 0], dtype=np.float32), "neutral", EIGHT)
    ]
    assert ids == [f"Ines:{n}" for n in (0, 1, 2, 3, 4, 7, 8, 9, 10, 11)]


def test_short_term_fades_and_long_term_stays() -> None:
    ines = Alone()
    ines.remember(event(0), memory(1), minute=EIGHT)
    recall = ines.resident.memory.recall
    query = np.array([1, 0], dtype=np.float32)
    assert {h.id for h in recall(query, "neutral", EIGHT + 24 * 60)} == {"Ines:0", "Ines:1"}
    assert {h.id for h in recall(query, "neutral", EIGHT + 24 * 60 + 1)} == {"Ines:1"}


def test_what_was_recalled_is_fresh() -> None:
    ines = Alone()
    ines.remember(event(0), memory(1))
    query = np.array([1, 0], dtype=np.float32)
    hit = Hit(
        id="Ines:1",
        score=1,
        recency=1,
        poignancy=1,
        emotion_score=1,
        emotion_relevance=1,
        relevance=1,
    )
    ines.observe(
        Recalled(who="Ines", purpose="speak", query="q", emotion="neutral", hits=(hit,)),
        EIGHT + 600,
    )
    recency = {h.id: h.recency for h in ines.resident.memory.recall(query, "neutral", EIGHT + 600)}
    assert recency == {"Ines:0": pytest.approx(0.995**10, abs=1e-4), "Ines:1": 1.0}


def test_texts_best_first_each_once() -> None:
    ines = Alone()
    ines.remember(
        event(0, "dull", poignancy=1),
        event(1, "grave", poignancy=9),
        event(2, "grave", poignancy=8),
    )
    hits = ines.resident.memory.recall(np.array([1, 0], dtype=np.float32), "neutral", EIGHT)
    assert ines.resident.memory.texts(hits[::-1]) == ("grave", "dull")


def many(**settings: Any) -> Alone:
    return Alone(world=changed(tiny(), memory=MemorySettings(**settings)))


def test_reflection_by_count() -> None:
    ines = many(reflect_after_memories=3, reflect_after_poignancy=1000)
    of = ines.resident.memory
    ines.remember(event(0), event(1))
    assert of.reflection_due() is None
    ines.remember(event(2))
    assert of.reflection_due() == "3 new memories"
    ines.observe(Reflected(who="Ines", trigger="t", questions=(), insights=()))
    assert of.reflection_due() is None
    assert (of.new_memories, of.new_poignancy) == (0, 0)


def test_reflection_by_poignancy_comes_first() -> None:
    ines = many(reflect_after_memories=2, reflect_after_poignancy=15)
    ines.remember(event(0, poignancy=7))
    assert ines.resident.memory.reflection_due() is None
    ines.remember(event(1, poignancy=8))
    assert ines.resident.memory.reflection_due() == "poignancy of new memories reached 15"


@each(
    ("origin", "counts"),
    [
        ("initial", 0),
        ("plan", 0),
        ("insight", 0),
        ("own act", 1),
        ("sight", 1),
        ("talk", 1),
        ("summary", 1),
    ],
)
def test_what_counts_towards_a_reflection(origin: Any, counts: int) -> None:
    ines = Alone()
    ines.remember(memory(0, origin=origin, poignancy=6))
    assert (ines.resident.memory.new_memories, ines.resident.memory.new_poignancy) == (
        counts,
        6 * counts,
    )


def test_the_latest_thoughts_are_of_what_was_lived() -> None:
    ines = Alone()
    ines.remember(*(memory(n, origin="initial" if n < 3 else "summary") for n in range(6)))
    latest = ines.resident.memory.latest_thoughts
    assert [one.id for one in latest(2)] == ["Ines:4", "Ines:5"]
    assert [one.id for one in latest(5)] == ["Ines:3", "Ines:4", "Ines:5"]
