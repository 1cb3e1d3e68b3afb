"""Recall: the paper's score, exactly."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.agents.emotion import emotion_relevance
from simcounsel.agents.recall import Store
from simcounsel.agents.resident import Resident
from simcounsel.agents.speech import cue
from simcounsel.events import Memory, Recalled
from simcounsel.specs.vocabulary import EMOTIONS
from simcounsel.specs.world_settings import MemorySettings, RecallWeights
from tests.each import each
from tests.stage import Listening, happened, live, memory, said, switchboard, tiny, view

PAPER = MemorySettings()
PARK = MemorySettings(recall="generative_agents")


def unit(*numbers: float) -> np.ndarray:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def store(*memories: tuple[Memory, np.ndarray, int]) -> Store:
    made = Store()
    for item, vector, minute in memories:
        made.add(item, vector, minute)
    return made


def test_by_hand() -> None:
    # 2 hours ago, poignancy 8, intensity 6, fear beside trust (45 degrees), cosine 0.6
    one = store((memory(0, emotion="fear", poignancy=8, intensity=6), unit(0.6, 0.8), 0))
    (hit,) = one.recall(unit(1, 0), "trust", 120, PAPER)
    assert hit.id == "Ines:0"
    assert hit.recency == pytest.approx(0.995**2, abs=1e-4)
    assert (hit.poignancy, hit.emotion_score, hit.relevance) == pytest.approx(
        (0.8, 0.6, 0.6), abs=1e-4
    )
    assert hit.emotion_relevance == pytest.approx(0.8536, abs=1e-4)
    by_hand = 0.10 * 0.990025 + 0.40 * 0.8 + 0.15 * 0.6 + 0.10 * 0.853553 + 0.25 * 0.6
    assert by_hand == pytest.approx(0.7443578)
    assert hit.score == pytest.approx(by_hand, abs=1e-4)


def test_generative_agents_by_hand() -> None:
    """Park et al. 2023, section 4.1: each of recency, importance and relevance is scaled by its least and most over the candidates.

    Three memories: 0, 60 and 120 minutes old; importance 2, 8, 5; cosine 1, 0.6, 0.
    """
    three = store(
        (memory(0, emotion="joy", poignancy=2), unit(1, 0), 120),
        (memory(1, emotion="fear", poignancy=8), unit(0.6, 0.8), 60),
        (memory(2, emotion="anger", poignancy=5), unit(0, 1), 0),
    )
    hits = {hit.id: hit for hit in three.recall(unit(1, 0), "joy", 120, PARK)}
    middle = (0.995 - 0.995**2) / (1 - 0.995**2)
    assert hits["Ines:0"].score == pytest.approx((1 + 0 + 1) / 3, abs=1e-4)
    assert hits["Ines:1"].score == pytest.approx((middle + 1 + 0.6) / 3, abs=1e-4)
    assert hits["Ines:2"].score == pytest.approx((0 + 0.5 + 0) / 3, abs=1e-4)
    assert hits["Ines:1"].relevance == pytest.approx(0.6, abs=1e-4), "the terms stay as they are"
    for emotion in ("sadness", "neutral"):
        other = three.recall(unit(1, 0), emotion, 120, PARK)  # type: ignore[arg-type]
        assert {h.id: h.score for h in other} == {k: h.score for k, h in hits.items()}


def test_generative_agents_scale_over_candidates_alone() -> None:
    """What cannot be reached (here an older short-term memory) does not stretch the scale."""
    both = [(memory(1, poignancy=8), unit(0.6, 0.8), 60), (memory(2, poignancy=5), unit(0, 1), 90)]
    alone = store(*both).recall(unit(1, 0), "joy", 120, PARK, oldest=30)
    wide = store((memory(0, poignancy=1), unit(1, 0), 0), *both)
    assert wide.recall(unit(1, 0), "joy", 120, PARK, oldest=30) == alone
    (only,) = store(both[0]).recall(unit(1, 0), "joy", 120, PARK)
    assert only.score == pytest.approx(0.5), "where all are alike"


def test_plans_carry_no_emotion() -> None:
    plan = store(
        (
            memory(0, type="slot", origin="plan", emotion=None, intensity=None, poignancy=None),
            unit(1, 0),
            0,
        )
    )
    (hit,) = plan.recall(unit(0, 1), "joy", 0, PAPER)
    assert (hit.poignancy, hit.emotion_score, hit.emotion_relevance, hit.relevance) == (
        0,
        0,
        0.5,
        0,
    )
    assert hit.score == pytest.approx(0.10 + 0.10 * 0.5, abs=1e-4)


def test_opposite_text_counts_as_unrelated() -> None:
    (hit,) = store((memory(0), unit(-1, 0), 0)).recall(unit(1, 0), "neutral", 0, PAPER)
    assert hit.relevance == 0


@each("hours", [0, 1, 24, 200])
@each("decay", [0.5, 0.995, 1.0])
def test_decay_is_per_hour(hours: int, decay: float) -> None:
    settings = MemorySettings(decay_per_hour=decay)
    (hit,) = store((memory(0), unit(1, 0), 60)).recall(
        unit(1, 0), "neutral", 60 + hours * 60, settings
    )
    assert hit.recency == pytest.approx(decay**hours, abs=1e-4)


def test_touch_makes_it_fresh() -> None:
    one = store((memory(0), unit(1, 0), 0))
    assert one.recall(unit(1, 0), "neutral", 6000, PAPER)[0].recency == pytest.approx(
        0.995**100, abs=1e-4
    )
    one.touch("Ines:0", 6000)
    assert one.recall(unit(1, 0), "neutral", 6000, PAPER)[0].recency == 1


def test_of_equals_the_older_first() -> None:
    twelve = store(*((memory(n), unit(1, 0), 0) for n in range(12)))
    assert [hit.id for hit in twelve.recall(unit(1, 0), "neutral", 0, PAPER)] == [
        f"Ines:{n}" for n in range(5)
    ]
    better = store(
        *((memory(n, poignancy=9 if n in (4, 7, 9) else 5), unit(1, 0), 0) for n in range(12))
    )
    assert [hit.id for hit in better.recall(unit(1, 0), "neutral", 0, PAPER)] == [
        "Ines:4",
        "Ines:7",
        "Ines:9",
        "Ines:0",
        "Ines:1",
    ]


def test_horizon_counts_from_when_it_was_laid_down() -> None:
    three = store(*((memory(n), unit(1, 0), n * 60) for n in range(3)))
    three.touch("Ines:0", 500)
    found = three.recall(unit(1, 0), "neutral", 500, PAPER, oldest=60)
    assert {hit.id for hit in found} == {"Ines:1", "Ines:2"}
    assert three.recall(unit(1, 0), "neutral", 500, PAPER, oldest=121) == ()


def test_top_k_and_nothing_at_all() -> None:
    assert Store().recall(unit(1, 0), "neutral", 0, PAPER) == ()
    ten = store(*((memory(n), unit(1, 0), 0) for n in range(10)))
    assert [
        len(ten.recall(unit(1, 0), "neutral", 0, MemorySettings(top_k=k))) for k in (1, 5, 50)
    ] == [1, 5, 10]


@st.composite
def remembered(draw: st.DrawFn) -> list[tuple[Memory, np.ndarray, int, int]]:
    """Memories with vectors, when each was made, and when it was last recalled."""
    count = draw(st.integers(1, 150))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = sorted(int(m) for m in numbers.integers(0, 3000, count))
    rows = []
    for n in range(count):
        planned = numbers.random() < 0.2
        fields: dict[str, Any] = (
            {"emotion": None, "intensity": None, "poignancy": None}
            if planned
            else {
                "emotion": EMOTIONS[numbers.integers(9)],
                "intensity": int(numbers.integers(1, 11)),
                "poignancy": int(numbers.integers(1, 11)),
            }
        )
        rows.append(
            (
                memory(n, **fields),
                unit(*numbers.normal(size=8)),
                made[n],
                int(numbers.integers(made[n], 3001)),
            )
        )
    return rows


WEIGHTS = (
    st.tuples(*[st.integers(0, 10)] * 5)
    .filter(any)
    .map(
        lambda parts: RecallWeights(
            **dict(zip(RecallWeights.model_fields, (p / sum(parts) for p in parts), strict=True))
        )
    )
)


@given(
    remembered(),
    WEIGHTS,
    st.sampled_from(EMOTIONS),
    st.integers(1, 12),
    st.sampled_from(["emotion_aware", "generative_agents"]),
)
def test_as_a_plain_loop_would(
    rows: list[tuple[Memory, np.ndarray, int, int]],
    weights: RecallWeights,
    emotion: Any,
    k: int,
    recall: Any,
) -> None:
    settings = MemorySettings(weights=weights, top_k=k, recall=recall)
    query, now = unit(*range(1, 9)), 3000
    made = store(*((m, v, at) for m, v, at, _ in rows))
    for item, _, _, touched in rows:
        made.touch(item.id, touched)
    hits = made.recall(query, emotion, now, settings)
    w = settings.weights
    slow: dict[str, float] = {}
    published: dict[str, list[float]] = {}
    for item, vector, _, touched in rows:
        cosine = sum(float(a) * float(b) for a, b in zip(vector, query, strict=True))
        recency = settings.decay_per_hour ** ((now - touched) / 60)
        published[item.id] = [recency, (item.poignancy or 0) / 10, cosine]
        slow[item.id] = (
            w.recency * recency
            + w.poignancy * (item.poignancy or 0) / 10
            + w.emotion_score * (item.intensity or 0) / 10
            + w.emotion_relevance * emotion_relevance(emotion, item.emotion or "neutral")
            + w.relevance * max(0.0, cosine)
        )
    if recall == "generative_agents" and rows:
        slow = dict.fromkeys(published, 0.0)
        for term in range(3):
            values = [terms[term] for terms in published.values()]
            low, high = min(values), max(values)
            if 0 < high - low < 1e-4:
                return  # a difference that float32 may not see
            for name, terms in published.items():
                slow[name] += ((terms[term] - low) / (high - low) if high > low else 0.5) / 3
    assert len(hits) == len({hit.id for hit in hits}) == min(k, len(rows))
    for hit in hits:
        assert hit.score == pytest.approx(slow[hit.id], abs=1.5e-4)
        assert all(0 <= getattr(hit, term) <= 1 for term in type(hit).model_fields if term != "id")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    chosen = {hit.id for hit in hits}
    assert all(
        score <= hits[-1].score + 1.5e-4 for name, score in slow.items() if name not in chosen
    )
    for first, second in pairwise(hits):
        assert first.score > second.score or int(first.id[5:]) < int(second.id[5:])


def test_many_memories_are_all_searched() -> None:
    many = store(
        *((memory(n, poignancy=10 if n == 777 else 1), unit(1, n / 100), n) for n in range(1000))
    )
    assert len(many) == 1000
    assert many.recall(unit(0, 1), "neutral", 1000, PAPER)[0].id == "Ines:777"
    assert "Ines:777" in many
    assert "Ines:1000" not in many
    assert math.isclose(float(np.linalg.norm(many.vector("Ines:999"))), 1, rel_tol=1e-5)
    with pytest.raises(KeyError):
        many.get("Ines:1000")


def test_the_cue_is_the_mood_or_what_was_heard() -> None:
    """As a setting: the paper's query has an emotion of its own."""
    heard = view(said("Miriam", "What a fine day!", emotion="joy"))
    for settings, wanted in (({}, "neutral"), ({"memory__emotion_of": "query"}, "joy")):
        world = tiny(**settings)
        ines = Resident(next(one for one in world.residents if one.name == "Ines"), world, {})
        assert cue(ines, heard) == wanted
        assert cue(ines, view()) == ines.emotion == "neutral", "nothing was heard yet"


@pytest.mark.slow
def test_slots_are_planned_from_recall_where_the_world_says_so(tmp_path: Path) -> None:
    """As in the paper: what comes to mind at the day's next stroke is in the prompt, and in the
    log.
    """
    found = {}
    for name in ("thoughts", "recall"):
        chat = Listening()
        run = live(tmp_path / name, tiny(memory__slots_from=name), 2, models=switchboard(chat))
        planned = next(r for r in chat.requests if (r.who, r.purpose) == ("Ines", "plan_slots"))
        recalled = [e for e in happened(run, Recalled) if e.purpose == "plan_slots"]
        found[name] = (planned.prompt, recalled)
    assert not found["thoughts"][1] and "comes to Ines's mind" not in found["thoughts"][0]
    prompt, recalled = found["recall"]
    assert recalled and "comes to Ines's mind" in prompt
    first = next(e for e in recalled if e.who == "Ines")
    assert len(first.hits) >= 1
