"""Every judge says why before it says how much: what is written first decides what comes next."""

from typing import Any

import pytest
from pydantic import BaseModel

from simcounsel.bench.judge import Judgment
from simcounsel.corpus.synthesis.role_answers import Evaluation
from simcounsel.instruments.audit import Finding, _answers
from simcounsel.instruments.forms import answers_model
from simcounsel.instruments.preference import Preference
from simcounsel.instruments.scale import shipped_names
from tests.instruments.stage import shipped

OBSERVED = [
    name
    for name in shipped_names()
    if shipped(name).respondent == "observer" and not shipped(name).audits
]


def in_order(schema: dict[str, Any]) -> list[str]:
    """The fields of an answer as the schema lists them, all of them required."""
    fields = list(schema["properties"])
    assert schema["required"] == fields
    return fields


@pytest.mark.parametrize("name", OBSERVED)
def test_of_a_block(name: str) -> None:
    scale = shipped(name)
    schema = answers_model(scale, scale.items).model_json_schema()
    assert in_order(schema) == [item.id for item in scale.items]
    for one in schema["properties"].values():
        assert in_order(one) == ["because", "score"]


def test_of_an_audit() -> None:
    assert in_order(Finding.model_json_schema()) == ["quote", "because", "answer"]
    items = shipped("safety_audit").items
    assert in_order(_answers(items).model_json_schema()) == [item.id for item in items]


@pytest.mark.parametrize("answer", [Judgment, Preference, Evaluation])
def test_of_what_comes_whole(answer: type[BaseModel]) -> None:
    fields = in_order(answer.model_json_schema())
    assert fields[0] == "because" and len(fields) > 1


def test_of_advice_before_the_verdict() -> None:
    fields = in_order(Evaluation.model_json_schema())
    assert fields.index("advice") < fields.index("revise")
