"""Prompts in other languages than English."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simcounsel.agents import tasks
from simcounsel.agents.handwritten import LEAVE, SILENCE
from simcounsel.agents.tasks import Answer
from simcounsel.bench.judge import Judgment
from simcounsel.bench.protocol.client import CrisisLine
from simcounsel.corpus.synthesis import role_answers
from simcounsel.engine.opening import check_models
from simcounsel.engine.simulation import Limits
from simcounsel.errors import ModelError
from simcounsel.events import Said
from simcounsel.instruments.preference import Preference
from simcounsel.instruments.scale import shipped
from simcounsel.instruments.wording import worded
from simcounsel.llm.answers import Unfit, read_answer, speech_problem
from simcounsel.llm.chat import messages
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.llm.schemas import schema_of
from simcounsel.policies.socratic import MoveFacts
from simcounsel.practice.feedback import FeedbackAnswer
from simcounsel.practice.report import ReportAnswer
from simcounsel.prompts import NOTE, phrases, prompt_text, render
from simcounsel.prompts.sets import FOR_SMALL_MODELS, USUAL
from simcounsel.prompts.twins import complained, described
from simcounsel.scripted import Scripted
from simcounsel.specs.world import World
from simcounsel.therapies.course import case_schemas, schemas
from tests.each import each
from tests.prompts.recorded import POLICIES, recorded
from tests.stage import NEVER, ROOT, Listening, changed, happened, live, switchboard, three, tiny

CHINESE = ROOT / "simcounsel" / "prompts" / "zh"
SLOT = re.compile(r"\$\w+", re.ASCII)  # as string.Template reads them: no Chinese letters
NAMES = sorted(
    path.stem
    for path in CHINESE.glob("*.txt")
    if path.stem not in (NOTE, "descriptions", "complaints")
)


@each("name", NAMES)
def test_the_same_slots_and_parts(name: str) -> None:
    chinese, english = prompt_text(name, "zh"), prompt_text(name)
    assert set(re.findall(SLOT, chinese)) == set(re.findall(SLOT, english))
    assert ("\n---\n" in chinese) == ("\n---\n" in english)
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    if name.endswith("_words"):
        assert list(phrases(name, "zh")) == list(phrases(name))


@each("start", ["course_", "line_", "plan_", "staged_", "skipped_", "lived"])
def test_a_course_has_all_its_prompts_in_chinese(start: str) -> None:
    assert {path.stem for path in CHINESE.parent.glob(f"{start}*.txt")} <= set(NAMES)


def test_where_there_is_none_the_english_one_asks_for_an_answer_in_chinese() -> None:
    slots = {"name": "Rosa", "other": "Ben", "talk": "Ben said: Hello."}
    assert "embedded_summary" not in NAMES
    system, prompt = render("embedded_summary", "zh", **slots)
    assert (system, prompt) == (
        render("embedded_summary", **slots)[0],
        f"{render('embedded_summary', **slots)[1]}\n\n{prompt_text(NOTE, 'zh')}",
    )


def test_only_what_the_embedded_model_alone_reads_has_no_chinese_twin() -> None:
    english = {path.stem for path in CHINESE.parent.glob("*.txt")}
    assert {name for name in english - {*NAMES} if not name.startswith("embedded_")} == set()


@pytest.mark.parametrize("purpose", ["judge_block", "judge_audit", "self_report"])
def test_a_scale_is_asked_in_chinese_in_a_chinese_run_and_stays_the_same_scale(
    purpose: str,
) -> None:
    asked = [one for one in recorded("socratic", language="zh").questions if one.purpose == purpose]
    assert asked and {one.language for one in asked} == {"zh"}
    for one in asked:
        scale = shipped(one.facts.instrument)
        spoken = worded(scale, "zh")
        text = "\n".join(message["content"] for message in one.messages)
        assert spoken.instruction in text and scale.instruction not in text
        assert any(item.text in text for item in spoken.items)
        assert not any(item.text in text for item in scale.items)


def test_all_that_a_resident_writes_in_a_chinese_world_is_asked_for_in_chinese(
    tmp_path: Path,
) -> None:
    spy = Listening()
    live(
        tmp_path,
        changed(three(), language="zh", fallbacks=NEVER),
        models=switchboard(spy),
        limits=Limits(in_flight=1),
    )
    written = [request for request in spy.requests if request.verb in ("fill", "write")]
    assert {
        "plan_slots",
        "appraise",
        "line_client",
        "line_layperson",
        "line_counselor",
        "summarize",
    } <= {request.purpose for request in written}
    assert not [
        request.purpose
        for request in written
        if "中文" not in request.system + request.prompt
        and not re.search(r"[\u4e00-\u9fff]{6}", request.prompt)
    ]


@each(
    ("policy", "words"),
    [*((one, USUAL) for one in POLICIES if one != "course"), ("socratic", FOR_SMALL_MODELS)],
)
def test_no_prompt_of_a_chinese_world_has_english_words(policy: str, words: str) -> None:
    run = recorded(policy, "everyone", "zh", words=words)
    world = run.run.world
    people = [one.persona for one in world.present()]
    names = {
        *(one.name for one in world.present()),
        *(place.name for top in world.places for _, place in top.walk()),
        *(name for one in people for name in (one.name, *(p.name for p in one.people))),
    }
    asked = [one for one in run.questions if one.verb != "embed" and one.purpose not in JUDGED]
    assert {"plan_day", "appraise", "line_client", "insights", "interview"} <= {
        one.purpose for one in asked
    }
    assert not {(one.purpose, word) for one in asked for word in english(one, names)}


@pytest.mark.parametrize(
    ("written", "means"), [("她", "she/her"), ("他", "he/him"), ("TA", "they/them")]
)
def test_pronouns_may_be_written_in_chinese(written: str, means: str) -> None:
    persona = tiny().residents[0].persona
    read = type(persona).model_validate(persona.model_dump() | {"pronouns": written})
    assert read.pronouns == means
    assert phrases("person", "zh")[means] == written


def parts_of(schema: Any) -> Iterator[dict[str, Any]]:
    """All objects of a schema."""
    if isinstance(schema, dict):
        yield schema
    for one in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(one, dict | list):
            yield from parts_of(one)


def texts_of(schema: type, language: str = "en") -> set[str]:
    """All descriptions in a schema."""
    told = [one.get("description") for one in parts_of(schema_of(schema, language))]
    return {" ".join(one.split()) for one in told if isinstance(one, str)}


def asked_schemas() -> set[type]:
    """The schemas that residents, judges and readers of cases can be asked for an answer in."""
    modules = (tasks, schemas, case_schemas, role_answers)
    listed = {
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type)
        and issubclass(one, Answer | role_answers.Answer)
        and one not in (Answer, role_answers.Answer)
    }
    recorded_ones = {
        one.schema for policy in POLICIES for one in recorded(policy, language="zh").questions
    }
    others = {Preference, Judgment, CrisisLine, FeedbackAnswer, ReportAnswer}
    return {*listed, *recorded_ones, *others} - {None}  # type: ignore[arg-type]


def test_every_description_of_an_answer_has_its_chinese_twin() -> None:
    asked = asked_schemas()
    assert len(asked) > 30
    english_ones = {text for one in asked for text in texts_of(one)}
    assert {text for text in english_ones if not described(text, "zh")} == set()
    values = {
        ", ".join(map(str, part["enum"]))
        for one in asked
        for part in parts_of(schema_of(one))
        if "enum" in part
    }
    lines = (CHINESE / "descriptions.txt").read_text(encoding="utf-8").splitlines()
    assert {line.rsplit(" | ", 1)[0] for line in lines} <= english_ones | values


def test_a_schema_is_sent_with_chinese_descriptions_and_the_same_values() -> None:
    question = next(
        one for one in recorded("socratic", language="zh").questions if one.purpose == "line_client"
    )
    assert question.schema is tasks.ClientLineAnswer
    sent = question.messages_with_schema[0]["content"]
    assert "没有说出口的是什么" in sent and "joy 喜悦" in sent and "what is kept back" not in sent
    assert "只回答一个 JSON 对象" in sent and "Answer with one JSON" not in sent
    ours, plain = schema_of(tasks.ClientLineAnswer, "zh"), schema_of(tasks.ClientLineAnswer)
    assert list(ours["properties"]) == list(plain["properties"])
    assert [one["enum"] for one in parts_of(ours) if "enum" in one] == [
        one["enum"] for one in parts_of(plain) if "enum" in one
    ]


@each(
    ("answer", "told"),
    [
        ("", "回答是空的"),
        (
            "I am sorry, but I can't help",
            "回答是在拒绝；这是用于研究的模拟，请以所描述的那个人的身份回答",
        ),
        ("{", "JSON 不符合格式：不是完整的 JSON"),
        ({"say": "One two three"}, "这句话不是中文"),
        ({"say": "- 好的\n- 不好"}, "这句话写成了列表；请用平常的句子说话"),
        ({"say": "嗯" * 1501}, "这句话太长了；请用几句话说出来"),
        ({"say": "（叹气）嗯，*低头*"}, "这句话里有动作或神态的说明；只写说出口的话"),
        ({"say": ""}, "JSON 不符合格式：say：至少要有 1 个字"),
        ({"intensity": 11}, "JSON 不符合格式：intensity：不能大于 10"),
        ({"intensity": 2.5}, "JSON 不符合格式：intensity：要是一个整数，不能带小数"),
        ({"wish": "leave"}, "JSON 不符合格式：wish：只能是 'go on' 或 'say goodbye'"),
        ({"poignancy": None}, "JSON 不符合格式：poignancy：要是一个整数"),
    ],
)
def test_a_refused_answer_is_complained_of_in_chinese(
    answer: str | dict[str, object], told: str
) -> None:
    question = next(
        one for one in recorded("socratic", language="zh").questions if one.purpose == "line_client"
    )
    plain = {"emotion": "fear", "intensity": 3, "poignancy": 2, "quote": "", "touched": ""}
    rest = {"openness": question.facts.openness, "held_back": "", "say": "嗯。", "wish": "go on"}
    text = answer if isinstance(answer, str) else json.dumps({**plain, **rest, **answer})
    with pytest.raises(Unfit) as refused:
        read_answer(question, Completion(text=text))
    last = messages(question, str(refused.value))[-1]["content"]
    assert last.splitlines()[0] == f"你第一次的回答不能用：{told}"


def test_a_complaint_without_a_twin_stays_as_it_is() -> None:
    assert complained("no such thing, or another", "zh") == "no such thing, or another"
    assert complained("there is no memory number 7", "en") == "there is no memory number 7"
    assert complained("there is no memory number 7", "zh") == "没有编号为 7 的记忆"


JUDGED = {"self_report", "judge_item", "judge_block", "judge_audit", "judge_codes", "judge_probe"}
"""Questions that show a transcript, whose lines the scripted model draws in English; their scales
have a test of their own.
"""


def english(question: Question[Any], names: set[str]) -> list[str]:
    """Latin words of a prompt that are no name, no word of the answer, and no id: of an option, a move or a part of a file (C1)."""
    schema = json.dumps(question.schema.model_json_schema()) if question.schema else ""
    used = question.facts.used if isinstance(question.facts, MoveFacts) else ()
    known = {*names, *question.options, *used, *re.findall(r'"(\w+)"', schema)} - {""}
    text = "\n".join(message["content"] for message in question.messages)
    text = re.sub(r"（[a-z_]+）|\b[CRD]\d+", "", text)
    for one in sorted(known, key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z_]){re.escape(one)}(?![A-Za-z_])", "", text)
    return re.findall(r"[A-Za-z_]*[A-Za-z]{2,}[A-Za-z_]*", text)


def test_where_a_model_says_nothing_of_use_they_are_silent_in_chinese(tmp_path: Path) -> None:
    nonsense = Scripted(
        {
            "line_client": lambda request, draw: "no JSON",
            "line_counselor": lambda request, draw: "no JSON",
        }
    )
    world = changed(tiny(), language="zh", fallbacks=NEVER)
    run = live(tmp_path, world, models=switchboard(nonsense))
    said = happened(run, Said)
    assert said and not [one.text for one in said if speech_problem(one.text, "zh")]
    assert {text for texts in (SILENCE, LEAVE) for text in texts["zh"].values()} >= {
        one.text for one in said if one.who == "Ines"
    }


def test_the_embedded_model_is_refused_where_another_language_is_spoken() -> None:
    def world(quick: str) -> World:
        told = tiny()
        return changed(
            told,
            language="zh",
            models=told.models.model_copy(
                update={"reason": "scripted", "quick": quick, "judge": "scripted"}
            ),
        )

    with pytest.raises(
        ModelError,
        match="models.quick: the embedded model knows English only, and `language: zh` is another",
    ):
        check_models(world("embedded"))
    check_models(world("scripted"))
