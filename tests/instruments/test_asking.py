"""How items become answers: weights, samples, second tries, orders."""

import json
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from simcounsel.agents.person import Person
from simcounsel.instruments.forms import answers_model
from simcounsel.instruments.material import Material, later_first
from simcounsel.instruments.measuring import measure_seen, self_report
from simcounsel.instruments.observing import observe
from simcounsel.llm.answers import Unfit, read_answer
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.scripted import Scripted
from tests.each import each
from tests.instruments.stage import items_of, scale, seen, shipped
from tests.stage import Alone, Listening, scene, switchboard


class Telling:
    """A judge that tells probabilities: of 1 to 5 as given for each item; the last item gets none."""

    name = "telling"

    def __init__(self, weights: dict[str, dict[str, float]]) -> None:
        self.weights = weights
        self.requests: list[Question] = []
        self.probes = 0

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        if request.purpose == "judge_probe":
            self.probes += 1
            return Completion(text="3", weights={"3": 1.0})
        self.requests.append(request)
        weights = self.weights[items_of(request)[0].id]
        return Completion(text=max(weights, key=lambda number: weights[number]), weights=weights)

    async def close(self) -> None: ...


def asked(models: Switchboard, ask: Any) -> dict[str, tuple[float | None, str | None]]:
    try:
        return {
            item.id: (item.value, item.reason)
            for item in models.ask({"one": ask})["one"].value.items
        }
    finally:
        models.close()


def test_weighted_by_probabilities() -> None:
    weights = {
        "a": {"3": 0.5, "4": 0.5},
        "b": {"0": 0.2, "1": 0.3, "2": 0.5},
        "c": {"4": 1.0},
        "d": {"0": 0.25, "4": 0.75},
    }
    judge = Telling(weights)
    found = asked(switchboard(judge), observe(scale(), "Ines", seen(), 1))
    # 0.2*0 + 0.3*1 + 0.5*2 = 1.3; a plain answer would be 2
    assert found == {"a": (3.5, None), "b": (1.3, None), "c": (4.0, None), "d": (3.0, None)}
    assert [request.verb for request in judge.requests] == ["rate"] * 4
    assert {request.tier for request in judge.requests} == {"judge"}
    assert {request.scale for request in judge.requests} == {(0, 4)}


def test_what_does_not_apply_can_be_said_of_an_item_asked_alone() -> None:
    class Null(Telling):
        async def complete(self, request: Question, complaint: str | None) -> Completion:
            if request.purpose != "judge_probe" and request.may_be_null:
                return Completion(text="because: nothing of it\nscore: null", weights=None)
            return await super().complete(request, complaint)

    one = shipped("helping_skills")
    judge = Null({item.id: {"4": 1.0} for item in one.items})
    models = switchboard(judge)
    found = models.ask({"one": measure_seen(one, "Ines", seen(), "end", 1)})["one"].value
    models.close()
    unfit = {item.id for item in found.items if item.absent == "not applicable"}
    assert unfit == {"a7", "i6", "i9", "i10"}
    total = found.scores[0]
    assert (total.value, total.used, total.not_applicable) == (4, 14, 4)
    assert not found.fallback


@pytest.mark.parametrize("text", ["null", "because: none\nscore: null"])
def test_null_is_an_answer_only_where_it_may_be_one(text: str) -> None:
    given: dict[str, Any] = {"verb": "rate", "purpose": "x", "who": "x", "scale": (1, 5)}
    free: Question[Any] = Question(**given, fallback=None, may_be_null=True)
    assert read_answer(free, Completion(text=text)) is None
    assert read_answer(free, Completion(text="because: not null\nscore: 3")) == 3
    with pytest.raises(Unfit, match="ends in no number"):
        read_answer(Question(**given, fallback=None), Completion(text=text))
    assert free.key != Question(**given, fallback=None).key


@pytest.mark.parametrize("tells", [True, False])
def test_a_judge_is_probed_once_however_much_it_rates(tells: bool) -> None:
    class Counting(Listening):
        async def complete(self, request: Question, complaint: str | None) -> Completion:
            found = await super().complete(request, complaint)
            return replace(found, weights={"3": 1.0} if tells and request.verb == "rate" else None)

    judge = Counting()
    models = switchboard(judge, in_flight=8)
    asks = {f"{n:02}": observe(scale(), "Ines", seen(), n) for n in range(18)}
    models.ask(asks)
    models.ask({"later": observe(scale(), "Ines", seen(), 99)})
    models.close()
    purposes = Counter(one.purpose for one in judge.requests)
    rest = {"judge_item": 19 * 4} if tells else {"judge_block": 19}
    assert purposes == {"judge_probe": 1, **rest}


def test_mean_of_samples_without_probabilities() -> None:
    answers = iter([json.dumps({"a": n, "b": n, "c": 0, "d": 4}) for n in (1, 2, 3)])
    spy = Listening({"judge_block": lambda request, draw: next(answers)})
    found = asked(switchboard(spy), observe(scale(), "Ines", seen(), 1, samples=3))
    assert found == {"a": (2.0, None), "b": (2.0, None), "c": (0.0, None), "d": (4.0, None)}
    blocks = [request for request in spy.requests if request.verb == "fill"]
    assert len({request.seed for request in blocks}) == 3
    assert {request.temperature for request in blocks} == {0.7}


def test_second_try_for_what_is_wrong_only_then_none_with_the_reason() -> None:
    answers = iter([{"a": 9, "b": 2, "c": 1.5}, {"a": 3, "c": "many"}])
    spy = Listening({"judge_block": lambda request, draw: json.dumps(next(answers))})
    found = asked(switchboard(spy), observe(scale(), "Ines", seen(), 1))
    assert found["a"] == (3.0, None)
    assert found["b"] == (2.0, None)
    assert found["c"] == (None, "'many' is not a whole number from 0 to 4")
    assert found["d"] == (None, "no answer")
    again = spy.requests[-1]
    assert [question.id for question in items_of(again)] == ["a", "c", "d"]
    assert "a ('9' is not a whole number from 0 to 4); c ('1.5' is not" in again.prompt


def test_left_open() -> None:
    spy = Listening(
        {"judge_block": lambda request, draw: json.dumps({"a": None, "b": 2, "c": 1, "d": 0})}
    )
    found = asked(switchboard(spy), observe(scale(), "Ines", seen(), 1))
    assert found["a"] == (None, "null, and the item always applies")
    assert len(spy.requests) == 3, "it is asked once more"


def test_nonsense_and_silence() -> None:
    class Dead(Scripted):
        async def complete(self, request: Question, complaint: str | None) -> Completion:
            raise Failure("the server is away")

    models = switchboard(Dead())
    outcome = models.ask({"one": observe(scale(), "Ines", seen(), 1)})["one"]
    models.close()
    assert {item.value for item in outcome.value.items} == {None}
    assert {item.reason for item in outcome.value.items} == {"no usable answer: the server is away"}
    assert {trouble.purpose for trouble in outcome.troubles} == {"judge_probe", "judge_block"}
    babble = switchboard(
        Scripted({"judge_block": lambda request, draw: "I would say it was rather good."})
    )
    assert all(
        "no usable answer: the JSON did not fit" in str(reason)
        for _, reason in asked(babble, observe(scale(), "Ines", seen(), 1)).values()
    )


def test_nothing_to_judge_asks_nothing() -> None:
    spy = Listening()
    found = asked(
        switchboard(spy), observe(scale(), "Ines", Material(absent="no conversation yet"), 1)
    )
    assert set(found.values()) == {(None, "no conversation yet")}
    assert spy.requests == []


def test_steps_of_a_half_are_asked_in_blocks() -> None:
    spy = Listening()
    found = asked(
        switchboard(spy),
        observe(scale(range={"min": 0, "max": 2, "step": 0.5}, labels={}), "Ines", seen(), 1),
    )
    assert {request.verb for request in spy.requests} == {"fill"}
    assert all(value is not None and value * 2 == int(value * 2) for value, _ in found.values())


def test_blocks() -> None:
    spy = Listening()
    found = asked(switchboard(spy), observe(scale(block=3), "Ines", seen(), 1))
    assert [
        [question.id for question in items_of(request)]
        for request in spy.requests
        if request.verb == "fill"
    ] == [["a", "b", "c"], ["d"]]
    assert None not in {value for value, _ in found.values()}


def test_schema_is_strict_though_parsing_is_lenient() -> None:
    one = scale()
    schema = answers_model(one, one.items).model_json_schema()
    assert schema["required"] == ["a", "b", "c", "d"]
    number = {"type": "integer", "minimum": 0, "maximum": 4}
    assert schema["properties"] == {name: {"$ref": "#/$defs/answer1"} for name in "abcd"}
    assert schema["$defs"]["answer1"]["properties"]["score"] == number
    ethics = shipped("ethics_and_safety")
    judged = answers_model(ethics, ethics.items).model_json_schema()
    shapes = {f"#/$defs/{name}": shape for name, shape in judged["$defs"].items()}
    assert len(shapes) == 2, "what items have in common is said once"
    scores = {
        name: shapes[one["$ref"]]["properties"]["score"]
        for name, one in judged["properties"].items()
    }
    assert scores["s1"] == {"anyOf": [scores["s4"], {"type": "null"}]}
    own = answers_model(shipped("phq9"), shipped("phq9").items).model_json_schema()
    assert own["properties"]["p9"] == {"type": "integer", "minimum": 0, "maximum": 3}


# two texts

PAIR = Material(before="Worse.", after="Better.")


def prefers(text: str) -> Any:
    """Says that the person is clearly better in the text named."""

    def say(request: Question, draw: Random) -> str:
        first = request.prompt.index(text) < request.prompt.index(
            {"Better.": "Worse.", "Worse.": "Better."}[text]
        )
        return json.dumps({"change": 1 if first else 5})

    return say


@each("key", range(6))
@each(("text", "value"), [("Better.", 5), ("Worse.", 1)])
def test_order_is_drawn_and_turned_back(key: int, text: str, value: float) -> None:
    found = asked(
        switchboard(Scripted({"judge_block": prefers(text)})),
        observe(shipped("persona_change"), "Ines", PAIR, key),
    )
    assert found == {"change": (value, None)}


def test_both_orders_come_up_and_alternate() -> None:
    assert {later_first(0, key) for key in range(20)} == {True, False}
    assert all(
        later_first(0, key) != later_first(1, key) == (not later_first(2, key)) for key in range(20)
    )


def test_a_judge_that_likes_the_first_text_sees_no_change_over_two_samples() -> None:
    always_first = Scripted({"judge_block": lambda request, draw: '{"change": 1}'})
    assert asked(
        switchboard(always_first), observe(shipped("persona_change"), "Ines", PAIR, 1, samples=2)
    ) == {"change": (3.0, None)}
    weighted = Telling({"change": {"1": 0.75, "2": 0.25}})
    assert asked(
        switchboard(weighted), observe(shipped("persona_change"), "Ines", PAIR, 1, samples=2)
    ) == {"change": (3.0, None)}
    assert len(weighted.requests) == 2


# self-reports


def test_self_report_leaves_no_trace() -> None:
    one = Alone()
    one.have_version()
    resident = one.resident
    before = (
        len(resident.memory),
        resident.emotion,
        resident.memory.new_memories,
        resident.version,
    )
    found = asked(switchboard(Scripted()), self_report(Person(resident), scene(), shipped("gad7")))
    assert all(value in (0, 1, 2, 3) for value, _ in found.values())
    assert (
        len(resident.memory),
        resident.emotion,
        resident.memory.new_memories,
        resident.version,
    ) == before


def test_self_report_in_samples() -> None:
    answers = iter([{f"g{n}": value for n in range(1, 8)} for value in (0, 3)])
    models = switchboard(Scripted({"self_report": lambda request, draw: json.dumps(next(answers))}))
    one = Alone()
    one.have_version()
    assert {
        value
        for value, _ in asked(
            models, self_report(Person(one.resident), scene(), shipped("gad7"), 2)
        ).values()
    } == {1.5}


def test_the_calls_of_a_measurement_are_named() -> None:
    answers = iter([{"a": 9, "b": 2, "c": 1, "d": 3}, {"a": 3}])
    spy = Listening({"judge_block": lambda request, draw: json.dumps(next(answers))})
    models = switchboard(spy)
    outcome = models.ask({"one": measure_seen(scale(), "Ines", seen(), "end", 1)})["one"]
    models.close()
    blocks = [question.key for question in spy.requests if question.verb == "fill"]
    assert outcome.value.calls == tuple(blocks), "both tries, and not the first item asked alone"
    assert not outcome.value.fallback


def test_a_measurement_says_that_nobody_answered() -> None:
    models = switchboard(Listening({"judge_block": lambda request, draw: "no idea"}))
    outcome = models.ask({"one": measure_seen(scale(), "Ines", seen(), "end", 1)})["one"]
    models.close()
    assert outcome.value.fallback
    assert all(item.value is None for item in outcome.value.items)
