"""The embedded model answers instruments without failing; what it says measures nothing."""

import pytest

from simcounsel.agents.person import Person
from simcounsel.embedded import Embedded
from simcounsel.instruments.facts import PairFacts
from simcounsel.instruments.measuring import self_report
from simcounsel.instruments.observing import observe
from simcounsel.instruments.preference import Preference
from simcounsel.llm.embeddings import MiniLM
from simcounsel.llm.question import Question, ask
from simcounsel.llm.switchboard import Switchboard
from tests.instruments.stage import scale, seen, shipped
from tests.stage import Alone, memory, scene

pytestmark = pytest.mark.weights


def test_every_kind_of_question() -> None:
    chat = Embedded()
    models = Switchboard({"reason": chat, "quick": chat, "judge": chat}, MiniLM())
    one = Alone()
    one.have_version(recent_feeling="Ines has slept badly and is tired.")
    one.remember(
        memory(0, "Ines lay awake until four and counted the hours."), vector=[1.0] + [0.0] * 383
    )
    halves = scale(range={"min": 0, "max": 2, "step": 0.5}, labels={})
    counts = scale(
        items=[
            {"id": "a", "text": "How often: asks.", "range": {"min": 0, "max": 100}},
            {"id": "b", "text": "Listens."},
        ],
        subscales=[],
    )
    pair = Question(
        verb="fill",
        purpose="judge_pair",
        who="x",
        tier="judge",
        prompt="Which is better?",
        schema=Preference,
        facts=PairFacts(),
        fallback=None,
    )
    found = models.ask(
        {
            "self": self_report(Person(one.resident), scene(), shipped("insomnia_severity")),
            "counts": observe(counts, "x", seen(), 1),
            "halves": observe(halves, "x", seen(), 1),
        }
    )
    chosen = models.ask({"pair": ask(pair)})["pair"].value.value
    models.close()
    assert not any(outcome.troubles for outcome in found.values())
    assert all(item.value is not None for outcome in found.values() for item in outcome.value.items)
    by_id = {item.id: item.value for item in found["self"].value.items}
    assert by_id["staying"] >= by_id["noticeable"]
    assert chosen.better in ("first", "second")
