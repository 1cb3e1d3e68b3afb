"""The data: what is read, and what is refused in which words."""

import json
from pathlib import Path
from typing import Any

import pytest

from simcounsel.bench.cases import draw_cases, read_cases
from simcounsel.errors import BenchError
from tests.each import each
from tests.stage import ROOT

CASES = ROOT / "simcounsel" / "bench" / "samples.json"
GOOD = {
    "topic": "work",
    "case": "1",
    "turns": [
        {"role": "client", "content": "I am tired."},
        {"role": "counselor", "content": "Since when?"},
    ],
}


def turns(*lines: tuple[str, str]) -> dict[str, Any]:
    return {
        "topic": "work",
        "case": "2",
        "turns": [{"role": role, "content": content} for role, content in lines],
    }


def test_every_line_of_a_client_is_an_exchange_in_the_data_s_own_context() -> None:
    cases, _ = read_cases(CASES)
    assert [case.id for case in cases] == ["work-1", "work-2", "family-1", "family-2", "sleep-1"]
    exchanges = list(cases[1].exchanges())
    assert [(one.turn, len(one.history)) for one in exchanges] == [(1, 1), (2, 3), (3, 5)]
    assert all(one.history[-1].role == "client" for one in exchanges)
    assert exchanges[1].history[1].content == "What happens inside you just before you say yes?"
    assert exchanges[1].reference == "Twelve, in front of whom?"


def test_a_case_may_end_with_the_client(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    file.write_text(
        json.dumps(
            [turns(("client", "Hello."), ("counselor", "Hello."), ("client", "I must go."))]
        ),
        encoding="utf-8",
    )
    (case,), _ = read_cases(file)
    assert [one.reference for one in case.exchanges()] == ["Hello.", None]


@each(
    ("data", "what"),
    [
        ("[", "d.json:1: not JSON"),
        ("{}", 'd.json: expected a list of cases, each {"topic"'),
        ("[]", "d.json: expected a list of cases"),
        ([GOOD, "two"], "d.json:1: case 2 (from 1): "),
        (
            [GOOD, {"topic": "work", "turns": GOOD["turns"]}],
            "d.json:1: case 2 (from 1): case: Field required",
        ),
        ([GOOD, turns()], "d.json:1: case 2 (from 1): turns: "),
        (
            [GOOD, turns(("client", "A"), ("assistant", "B"))],
            "d.json:1: case 2 (from 1): turns.1.role: 'assistant': Input should be 'client' or 'counselor'",
        ),
        (
            [GOOD, turns(("client", "A"), ("counselor", " "))],
            "d.json:1: case 2 (from 1): turns.1.content: ",
        ),
        (
            [GOOD, turns(("counselor", "A"))],
            "d.json:1: case 2 (from 1): turns.0: the counselor speaks where the client should",
        ),
        (
            [GOOD, turns(("client", "A"), ("client", "B"))],
            "d.json:1: case 2 (from 1): turns.1: the client speaks where the counselor should",
        ),
        ([GOOD, GOOD], "d.json: case 2: work-1 is already case 1"),
    ],
)
def test_a_wrong_shape_is_told_with_file_and_case(tmp_path: Path, data: object, what: str) -> None:
    file = tmp_path / "d.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    with pytest.raises(BenchError) as error:
        read_cases(file)
    assert what in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"none\.json: no such file"):
        read_cases(tmp_path / "none.json")


def test_a_sample_reaches_every_topic_and_a_larger_one_holds_it() -> None:
    cases, _ = read_cases(CASES)
    assert draw_cases(cases, None, 0) == draw_cases(cases, 99, 0) == cases
    for seed in range(5):
        three, four = ({case.id for case in draw_cases(cases, size, seed)} for size in (3, 4))
        assert {id.split("-")[0] for id in three} == {"work", "family", "sleep"}
        assert three < four
    assert len({tuple(case.id for case in draw_cases(cases, 3, seed)) for seed in range(9)}) > 1
