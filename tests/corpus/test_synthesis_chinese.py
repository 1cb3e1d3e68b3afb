"""A Chinese synthesis is asked for in Chinese: prompts, schemas, what was wrong, what danger asks for."""

import json
import re
from collections.abc import Iterator
from random import Random

import pytest

from simcounsel.corpus.disclosure import DISCLOSURES
from simcounsel.corpus.synthesis.context import SessionContext
from simcounsel.corpus.synthesis.events import QUALITIES
from simcounsel.corpus.synthesis.role_answers import (
    Distilled,
    Evaluation,
    Extraction,
    FactDraft,
    SeekerLine,
    corrected_problem,
    distilled_problem,
    evaluation_problem,
    extraction_problem,
    seeker_problem,
)
from simcounsel.corpus.synthesis.situations import Situation
from simcounsel.llm.question import Question
from simcounsel.prompts.twins import complained
from simcounsel.specs.vocabulary import THEMES
from tests.corpus.bench import PARTS, file_of, judges, roles, settings, teaches, written
from tests.each import each
from tests.stage import Listening

TEXT = "我五十岁，是个摆渡人。从五月起我就睡不着。心里空空的。小时候我被一个人留在岛上。我想歇一歇。我能试试什么？"
FACTS = [
    "我五十岁，是个摆渡人。",
    "从五月起我就睡不着。",
    "我心里空空的。",
    "小时候我被一个人留在岛上，我不想活了。",
    "我想歇一歇。",
    "我能试试什么？",
]
DRAFT = "你是怎么熬过那些晚上的？"
ADVICE = "在感受里再停留一会儿。"


def tells(request: Question, draw: Random) -> str:
    offered = request.facts.offered
    said = offered[0].text if offered else f"我先不说，第{draw.randrange(10**6)}次。"
    return json.dumps({"line": said, "facts": [offered[0].id] if offered else []})


def asks(request: Question, draw: Random) -> str:
    answer = {"reasoning": "慢慢来。", "stage": "listening", "skill": "open question"}
    line = f"{DRAFT[:-1]}，第{draw.randrange(10**6)}个？"
    return json.dumps({**answer, "strategies": [], "line": line})


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[Question]:
    situation = Situation(id="one", text=TEXT, theme=None)
    listening = Listening(
        roles(
            extract=lambda request, draw: file_of(*FACTS),
            seek=tells,
            support=asks,
            evaluate=judges(revise=True, advice=ADVICE),
            correct=lambda request, draw: (
                f"那种空的感觉，是什么样子？第{draw.randrange(10**6)}次。"
            ),
            distil=teaches("先说出感受，再提问。"),
        )
    )
    chosen = settings(
        1, language="Chinese", situations=(situation,), strategies=("一次只问一件事。",)
    )
    written(tmp_path_factory.mktemp("chinese"), chosen, listening)
    return listening.requests


def english(question: Question) -> set[str]:
    """Latin words of a prompt that are no key or value of an answer, and no id."""
    schema = json.dumps(question.schema.model_json_schema()) if question.schema else ""
    known = {*re.findall(r'"(\w+)"', schema), *THEMES, "other", *QUALITIES, "true", "false"}
    text = "\n".join(message["content"] for message in question.messages)
    return set(re.findall(r"[A-Za-z_]{2,}", text)) - known


@each("role", ["extract", "seek", "support", "evaluate", "correct", "distil"])
def test_a_role_is_asked_in_chinese(asked: list[Question], role: str) -> None:
    ours = [one for one in asked if one.purpose == role]
    assert ours and {one.language for one in ours} == {"zh"}
    assert [english(one) for one in ours if english(one)] == []


def test_what_was_said_and_danger_are_told_in_chinese(asked: list[Question]) -> None:
    told = "\n".join(one.prompt for one in asked if one.purpose == "correct")
    assert f"来访者：{FACTS[0]}" in told and "咨询师：" in told
    assert "安全规则：来访者说到了自杀" in told and ADVICE in told
    taught = [one.prompt for one in asked if one.purpose == "distil"]
    assert "- 一次只问一件事。" in taught[0]


def test_a_language_without_prompts_is_asked_for_in_english() -> None:
    context = SessionContext(settings=settings(1, language="German"), session="S0001", key=(1,))
    assert (context.prompts, context.language) == ("en", "German")
    assert context.talk([("Person", "Guten Tag.")]) == "Person: Guten Tag."


def problems() -> Iterator[str | None]:
    """What may be wrong with an answer of a role."""
    facts = [FactDraft(of="plight", stage="feels", text="心里空空的。", invented=False)] * 6
    yield extraction_problem(Extraction(theme="sleep", facts=facts))
    parts = [one.model_copy(update={"of": of}) for one, of in zip(facts, PARTS, strict=True)]
    yield extraction_problem(Extraction(theme="sleep", facts=parts))
    told = seeker_problem(("F1",), ["嗯，好的。"], False)
    yield told(SeekerLine(line="好。", facts=["F7"]))
    yield seeker_problem((), [], False)(SeekerLine(line="好。", facts=["F7"]))
    yield told(SeekerLine(line="嗯，好的。"))
    yield told(SeekerLine(line="Client: 好"))
    yield told(SeekerLine(line="来访者：好"))
    yield told(SeekerLine(line="我" * 300))
    yield seeker_problem(("F1", "F2", "F3"), [], False)(
        SeekerLine(line="好。", facts=["F1", "F2", "F3"])
    )
    marks = dict.fromkeys(QUALITIES, 7)
    yield evaluation_problem(Evaluation(**marks, revise=True, go_on=True))
    yield corrected_problem("好。", [], False)("好。")
    teach = distilled_problem(["我昨天晚上又睡不着了"], False)
    yield teach(Distilled(strategies=["我昨天晚上又睡不着了"]))
    yield teach(Distilled(strategies=["问" * 200]))


def test_what_was_wrong_is_told_in_chinese() -> None:
    found = list(problems())
    assert None not in found
    ids = r"\b(of|stage|facts|revise|true|advice|invented|F\d)\b"
    words = {*DISCLOSURES, "character", "plight", "demand"}
    for one in found:
        told = re.sub(ids, "", complained(str(one), "zh"))
        assert set(re.findall(r"[A-Za-z_]{2,}", told)) <= words, one
