"""A client who changes: not in a straight line, not for nothing, and what it has seen, it keeps."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from simcounsel.events import ClientShifted, Decided, Entry, Remembered
from simcounsel.llm.question import Reply
from simcounsel.policies.changing import Changing
from simcounsel.policies.changing.questions import AgreedAnswer
from simcounsel.policies.changing.state import TOUCHES_TO_SOFTEN, state_of
from simcounsel.runs.run import Run
from tests.course.held import TOUCHING, held, world
from tests.stage import happened, said, view

SEEDS = range(1, 5)


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Run, list[Any]]]:
    return {
        seed: held(tmp_path_factory.mktemp("changing"), world(10, seed=seed, lines=12))
        for seed in SEEDS
    }


def shifts(run: Run) -> list[ClientShifted]:
    return happened(run, ClientShifted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_mood_is_neither_a_line_nor_a_slope(
    ten: dict[int, tuple[Run, list[Any]]], seed: int
) -> None:
    first = {}
    for event in shifts(ten[seed][0]):
        first.setdefault(event.chat, event.mood)
    steps = [b - a for a, b in pairwise(first.values())]
    assert len(first) == 10
    assert min(steps) < 0 < max(steps)
    assert all(0 <= mood <= 10 for mood in first.values())


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_resistance_falls_only_where_a_defense_was_touched(
    ten: dict[int, tuple[Run, list[Any]]], seed: int
) -> None:
    events = shifts(ten[seed][0])
    fell = [now for before, now in pairwise(events) if now.resistance < before.resistance]
    assert fell
    assert all(event.defense == 0 for event in fell)
    rose = [now for before, now in pairwise(events) if now.resistance > before.resistance]
    assert rose
    assert events[-1].resistance < events[0].resistance


@pytest.mark.slow
def test_nobody_touched_is_nobody_softened(tmp_path: Path) -> None:
    run, _ = held(tmp_path, world(6), {"client_touched": lambda request, draw: "none"})
    events = shifts(run)
    assert all(now.resistance >= before.resistance for before, now in pairwise(events))
    assert set(events[-1].softened) == {0}
    assert not any(event.insight for event in events)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_defense_loosens_after_some_touches_and_what_was_seen_stays(
    ten: dict[int, tuple[Run, list[Any]]], seed: int
) -> None:
    run, requests = ten[seed]
    events = shifts(run)
    seen = [index for index, event in enumerate(events) if event.insight]
    assert len(seen) == 1
    assert events[seen[0]].softened[0] >= TOUCHES_TO_SOFTEN
    insight = events[seen[0]].insight
    assert insight
    later = [
        r
        for r in requests
        if r.purpose == "line_client"
        and int(r.facts.chat.split(":")[0]) > int(events[seen[0]].chat.split(":")[0])
    ]
    assert later
    assert all(insight in request.prompt for request in later)
    earlier = [
        r
        for r in requests
        if r.purpose == "line_client"
        and int(r.facts.chat.split(":")[0]) <= int(events[seen[0]].chat.split(":")[0])
    ]
    assert not any(insight in request.prompt for request in earlier)
    assert any(
        insight in event.memory.text and event.memory.origin == "insight"
        for event in happened(run, Remembered)
        if event.who == "Ines"
    )


@pytest.mark.slow
def test_homework_is_done_and_not_done(ten: dict[int, tuple[Run, list[Any]]]) -> None:
    outcomes = [
        event.homework for run, _ in ten.values() for event in shifts(run) if event.homework
    ]
    assert set(outcomes) == {"done", "partly", "not done"}
    for run, requests in ten.values():
        told = [
            request
            for request in requests
            if request.purpose == "line_client" and "What came of it:" in request.prompt
        ]
        moves = [event for event in happened(run, Decided) if event.move == "homework"]
        assert len(told) == len(moves) == 9
        assert all(
            "Agreed was: write down one moment without checking." in request.prompt
            for request in told
        )


def test_what_nobody_suggested_was_not_agreed(tmp_path: Path) -> None:
    run, _ = held(
        tmp_path,
        world(5),
        {
            "client_agreed": lambda request, draw: (
                '{"agreed": "sleep well", "quote": "I never said that"}'
            )
        },
    )
    assert not any(event.agreed or event.homework for event in shifts(run))


@pytest.mark.parametrize("quote", ["a", "", "How was", "as a wee", "a week"])
def test_a_word_or_two_show_no_agreement(quote: str) -> None:
    seen = view(said("Miriam", "How was a week?"), other="Miriam", defenses=("jokes",))
    asking = Changing().conclude(seen)
    asking.send(None)
    with pytest.raises(StopIteration) as ended:
        asking.send(Reply(value=AgreedAnswer(agreed="keep a diary", quote=quote)))
    assert ended.value.value[0].agreed is None


@pytest.mark.parametrize(("closeness", "fall"), [(0.0, 0.3), (5.0, 0.6), (10.0, 0.9)])
def test_a_touch_softens_more_where_they_are_close(closeness: float, fall: float) -> None:
    seen = view(said("Miriam", TOUCHING), defenses=("jokes",), closeness=closeness)
    before = state_of(seen).resistance
    asking = Changing().decide(seen)
    asking.send(None)
    with pytest.raises(StopIteration) as ended:
        asking.send(Reply(value="defense 1"))
    assert before - ended.value.value.events[0].resistance == pytest.approx(fall, abs=0.011)


def test_homework_is_done_more_often_where_they_are_close() -> None:
    def share(closeness: float) -> float:
        last = ClientShifted(
            who="Ines", chat="b", resistance=5, mood=5, softened=(0,), agreed="keep a diary"
        )
        done = 0
        for key in range(400):
            seen = view(
                defenses=("jokes",),
                closeness=closeness,
                key=(1, key, "c"),
                kept=(Entry(0, 0, 0, last),),
            )
            with pytest.raises(StopIteration) as ended:
                Changing().decide(seen).send(None)
            done += ended.value.value.events[0].homework == "done"
        return done / 400

    assert share(0.0) == pytest.approx(0.35, abs=0.07)
    assert share(8.0) == pytest.approx(0.83, abs=0.07)


@pytest.mark.slow
def test_moves_are_many_and_digressions_few(ten: dict[int, tuple[Run, list[Any]]]) -> None:
    moves = [
        event.move
        for run, _ in ten.values()
        for event in happened(run, Decided)
        if event.policy == "changing"
    ]
    assert {"defending", "digress", "homework", "insight", "telling", "doubting", "ending"} <= set(
        moves
    )
    assert 0.02 < moves.count("digress") / len(moves) < 0.2
    for run, _ in ten.values():
        own = [
            (event.chat, event.move)
            for event in happened(run, Decided)
            if event.policy == "changing"
        ]
        assert not any(one == two and one[1] == "digress" for one, two in pairwise(own))


def test_seeds_make_different_clients() -> None:
    starts = {
        state_of(view(defenses=("jokes",), key=(seed, 1, "c"))).resistance for seed in range(20)
    }
    assert len(starts) > 10
    assert all(6 <= one <= 8.5 for one in starts)


def test_with_a_friend_nothing_is_asked(tmp_path: Path) -> None:
    asking = Changing().decide(
        view(
            said("Omar", TOUCHING),
            other="Omar",
            other_role="layperson",
            appointment=False,
            defenses=("jokes",),
        )
    )
    with pytest.raises(StopIteration) as ended:
        asking.send(None)
    decision = ended.value.value
    assert decision.events[0].defense is None
    assert decision.leaves is None or decision.move == "ending"
