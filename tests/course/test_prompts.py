"""Every prompt of a course as it is sent, byte for byte."""

import json

import pytest

from simcounsel.llm.question import Question
from simcounsel.prompts import render
from simcounsel.specs.therapy import shipped_therapy
from tests.course.held import held, world
from tests.prompts.test_golden import HELD, compare, shown

PARTS = {"course_brief", "course_reason_again"}


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> list[Question]:
    """Of a short integrative course in which the first reasoning quotes the agenda; skills and goals are the shipped ones, and many."""

    def quotes(request: Question, draw: object) -> str:
        skill = next(iter(request.facts.skills))
        thought = (
            "The client is tired."
            if "repeated a point" in request.prompt
            else request.prompt.split("only):\n")[1].split("\n")[0]
        )
        return json.dumps(
            {"assessment": thought, "client_state": "tired", "strategy": "slowly", "skill": skill}
        )

    out = tmp_path_factory.mktemp("prompts")
    return held(
        out, world(5, therapy=shipped_therapy("integrative"), lines=20), {"course_reason": quotes}
    )[1]


@pytest.mark.parametrize(
    "kind", sorted(kind for kind in set(HELD) - PARTS if not kind.startswith("case_"))
)
def test_prompt(requests: list[Question], kind: str) -> None:
    found = [request for request in requests if request.purpose == kind]
    first = found[min(len(found) - 1, 1)]
    compare(kind, shown(first.system, first.prompt))
    assert "$" not in first.prompt
    assert "None" not in first.prompt


def test_a_brief_stands_in_the_line(requests: list[Question]) -> None:
    prompt = [request for request in requests if request.purpose == "line_counselor"][9].prompt
    start = prompt.index("The skill for this line:")
    compare(
        "course_brief", shown("", prompt[start : prompt.index("Write Miriam's next line")].strip())
    )


def test_a_reasoning_is_asked_for_again(requests: list[Question]) -> None:
    again = next(
        request
        for request in requests
        if request.purpose == "course_reason" and "repeated a point" in request.prompt
    )
    assert again.prompt.endswith(
        render("course_reason_again", quoted=again.prompt.split("“")[-1].split("”")[0])[1]
    )
    compare(
        "course_reason_again",
        shown("", render("course_reason_again", quoted="what she is afraid of at night")[1]),
    )
