"""Every prompt of a course as it is sent, byte for byte."""

import pytest

from simcounsel.llm.question import Question
from simcounsel.therapies.specs.therapy import shipped_therapy
from tests.each import each
from tests.prompts.test_golden import HELD, compare, shown
from tests.therapies.held import held, world

PARTS = {"course_brief"}


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> list[Question]:
    """Of a short integrative course; skills and goals are the shipped ones, and many."""
    out = tmp_path_factory.mktemp("prompts")
    return held(out, world(5, therapy=shipped_therapy("integrative"), lines=20))[1]


@each("kind", sorted(kind for kind in set(HELD) - PARTS if not kind.startswith("case_")))
def test_prompt(requests: list[Question], kind: str) -> None:
    found = [request for request in requests if request.purpose == kind]
    first = found[min(len(found) - 1, 1)]
    compare(kind, shown(first.system, first.prompt))
    assert "$" not in first.prompt
    assert "None" not in first.prompt


def test_what_a_course_adds_to_a_line(requests: list[Question]) -> None:
    """Before what was said all that stands for the session, how a line is thought out as well."""
    prompt = [request for request in requests if request.purpose == "line_counselor"][14].prompt
    aims, think = prompt.index("What Miriam has in mind for today"), prompt.index("Before the line")
    said = prompt.index("Said so far") if "Said so far" in prompt else prompt.index("Miriam: ")
    assert aims < think < said
    assert "What Miriam knows of Ines from earlier sessions" in prompt[aims:said]
    assert "Skills of this session" in prompt[aims:said]
    compare("course_brief", shown("", prompt[think:said].split("\n\n")[0].strip()))
