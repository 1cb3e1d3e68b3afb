"""What a schema allows, the check takes: answers are drawn at random from each schema that is sent."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from random import Random
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from simcounsel.chance import chance
from simcounsel.clock import since, time_text
from simcounsel.llm.answers import Unfit, read_answer
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.llm.schemas import MOST_REPEATED, _plain_pattern, sent_schema
from simcounsel.llm.weights import path_of
from tests.each import each
from tests.prompts.asked import filled

Texts = Callable[[Question[Any]], tuple[str, ...]]
MOST = 0.02
"""The share of drawn answers that a check may refuse."""
DRAWN = 20
"""Answers for each question."""
HELD = "a step of the safety protocol holds a number, an address, a danger's name word for word"
REST = {r"^the line must ": HELD}
"""What is refused beyond that share, by the complaint, and why no schema says it."""
REPEATED = "one skill named again and again: no grammar knows `uniqueItems`; too rare to be drawn"
OF_WORDS = {
    **REST,
    r"(?:answer|line) was a refusal": "a model that refuses",
    r"^the line was not in|^the line has no words|^the line was empty": "another language, or none",
    r"^the line was a list|stage direction|speaker's name in front": "no speech",
    r"held more than": "lines of both",
    r"^the line (?:was far too long|had \d+ words)|^a strategy has": "words, not characters",
    r"was said before": "what was said is no closed list that leaves something out",
    r"holds for one day only": "a portrait that says 'today'",
    r"names somebody|repeats what was said": "a strategy that carries a person into other sessions",
    r"^name at least": REPEATED,
}
"""What a schema cannot say, by the complaint about it."""
FILLED = frozenset(
    "appraise bench_crisis bench_judge case_client case_facts case_plan case_talk course_after"
    " course_objective course_skills distil evaluate extract insights judge_audit judge_block"
    " judge_codes judge_pair line_client line_counselor line_layperson persona plan_day plan_slots"
    " questions risk seek self_report skipped_days sufficient summarize support".split()
)
"""Every purpose whose answer has a schema."""
PLAIN = {
    "en": (
        "the letter on the table and what it says",
        "she sleeps a little better than before",
        "it was a long walk home in the rain",
        "I wake at three and count the hours",
        "what would you like to be different",
        "sits at the window with a cup of tea",
        "there is not much that I can say to that",
        "we could look at it together, if you like",
    ),
    "zh": (
        "桌上的那封信和信里写的话",
        "她睡得比以前好了一点",
        "雨里走回家的路很长",
        "我三点就醒了，一直数着时间",
        "你希望有什么不一样呢",
        "坐在窗边，手里捧着一杯茶",
        "这个我也说不上什么来",
        "愿意的话，我们可以一起看看",
    ),
}
STRANGE = (
    "As an AI I cannot say that.",
    "我睡得不好，一直醒着",
    "I sleep badly and lie awake for hours",
    "1234 5678",
    "- first this\n- then that",
    "*sighs* I do not know what to say",
    "Client: I do not know",
    "today it rained, 今天下雨了",
    "so it goes on and on " * 30,
    "one may ask Peter for his car",
)
"""What a model may write into a field for text."""


def plain(question: Question[Any]) -> tuple[str, ...]:
    """Decent texts: a schema says how long a text is, not in which language, nor that it is
    speech."""
    return PLAIN[question.language]


def strange(question: Question[Any]) -> tuple[str, ...]:
    """Others, and what was said before."""
    lines = getattr(question.facts, "lines", ())
    said = tuple(one[1] if isinstance(one, tuple) else one.text for one in lines)
    both = f"I see what you mean. {getattr(question.facts, 'other', '')}: Good."
    return (*PLAIN[question.language], *STRANGE, both, *said[-2:])


WORDS = frozenset(
    "$defs $ref anyOf const default description enum items maxItems maxLength maximum minItems"
    " minLength minimum multipleOf pattern properties required type additionalProperties".split()
)
"""Words of a schema that any server takes; `uniqueItems`, `contains`, `prefixItems`, `allOf` are
none (vLLM refuses some, llama.cpp passes over others)."""


PATTERNED = (
    *(f"{hour:02d}:{minute:02d}" for hour in range(24) for minute in range(60)),
    *("7:05", "0:59", "Ada", "Ada Bell", "Jean-Luc O’Hara", "王芳", "Zoë", "A"),
)
"""What a pattern may match."""


def drawn(
    schema: Mapping[str, Any], root: Mapping[str, Any], texts: tuple[str, ...], draw: Random
) -> Any:
    """Anything that a schema allows, each as likely as another."""
    assert schema.keys() <= WORDS, f"{schema.keys() - WORDS}: some servers refuse it"

    def of(part: Mapping[str, Any]) -> Any:
        return drawn(part, root, texts, draw)

    assert not re.search(r"\\[a-zA-Z]", schema.get("pattern", "")), "grammars have no such escape"
    assert schema.get("maxLength", 0) <= MOST_REPEATED
    if "$ref" in schema:
        return of(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]])
    if "anyOf" in schema:
        return of(draw.choice(schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return draw.choice(schema.get("enum") or [schema["const"]])
    match schema["type"]:
        case "object":
            assert schema["additionalProperties"] is False
            asked = schema.get("required", ())
            return {
                name: of(part)
                for name, part in schema["properties"].items()
                if name in asked or draw.random() < 0.5
            }
        case "array":
            least = schema.get("minItems", 0)
            count = draw.randint(least, schema.get("maxItems", least + 4))
            return [of(schema["items"]) for _ in range(count)]
        case "string":
            least, most = schema.get("minLength", 0), schema.get("maxLength", 2000)
            pattern = schema.get("pattern")
            some = ("", *texts) if pattern is None else PATTERNED
            return draw.choice(fitting(some, least, most, pattern))
        case "integer":
            return draw.randint(schema.get("minimum", -9), schema.get("maximum", 99))
        case "number":
            low, step = schema.get("minimum", 0), schema.get("multipleOf", 0.25)
            return low + step * draw.randint(0, round((schema.get("maximum", 10) - low) / step))
    return {"boolean": draw.random() < 0.5, "null": None}[schema["type"]]


@cache
def fitting(texts: tuple[str, ...], least: int, most: int, pattern: str | None) -> list[str]:
    """The texts that a schema allows."""
    return [one for one in texts if least <= len(one) <= most and re.search(pattern or "", one)]


def refused(question: Question[Any], texts: Texts) -> Counter[str]:
    """Why answers are refused, of DRAWN that its schema allows."""
    schema, why = question.sent_schema, Counter[str]()
    for number in range(DRAWN):
        told = drawn(schema, schema, texts(question), chance(question.key, number))
        try:
            read_answer(question, Completion(text=json.dumps(told, ensure_ascii=False)))
        except Unfit as unfit:
            why[str(unfit)] += 1
    return why


@cache
def asked() -> tuple[Question[Any], ...]:
    """Those of every purpose."""
    return tuple(filled())


def refusals(texts: Texts) -> Iterator[tuple[str, int, Counter[str]]]:
    """By purpose how many answers were drawn, and why some are refused."""
    found: dict[str, list[Counter[str]]] = defaultdict(list)
    for question in asked():
        found[question.purpose].append(refused(question, texts))
    for purpose, counts in sorted(found.items()):
        yield purpose, DRAWN * len(counts), sum(counts, Counter[str]())


def test_every_purpose_that_has_a_schema_is_here() -> None:
    """A benchmark asks for a course's line under a purpose of its own, `bench_answer`."""
    assert {one.purpose for one in asked()} == {*FILLED, "bench_answer"}


def test_counts_and_closed_lists_are_those_of_the_question() -> None:
    by = {one.purpose: one for one in asked()}
    plan, parts = by["plan_slots"], by["plan_slots"].sent_schema
    slots, slot = parts["properties"]["slots"], parts["$defs"]["SlotAnswer"]["properties"]
    assert slots["minItems"] == slots["maxItems"] == len(plan.facts.minutes)
    assert slot["place"]["enum"] == [one.name for one in plan.facts.places]
    insight = by["insights"].sent_schema["$defs"]["InsightAnswer"]["properties"]
    shown = len(by["insights"].facts.evidence)
    assert insight["evidence"]["items"] == {"type": "integer", "minimum": 1, "maximum": shown}
    days = by["skipped_days"].sent_schema["properties"]["days"]
    assert days["minItems"] == days["maxItems"] == len(by["skipped_days"].facts.days)
    told = {tuple(one.facts.parts) for one in asked() if one.purpose == "line_client"}
    touched = [
        one.sent_schema["properties"]["touched"]["enum"]
        for one in asked()
        if one.purpose == "line_client"
    ]
    assert {tuple(one[1:]) for one in touched} == told


@pytest.mark.slow
def test_what_a_schema_allows_is_taken() -> None:
    above, met = {}, Counter[str]()
    for purpose, answers, why in refusals(plain):
        rest = {one for one in why for pattern in REST if re.search(pattern, one)}
        met.update(REST[pattern] for one in rest for pattern in REST if re.search(pattern, one))
        counted = sum(times for one, times in why.items() if one not in rest)
        told = "; ".join(one for one, _ in why.most_common(2))
        print(f"{purpose:18}{why.total() / answers:7.1%}  {told}")
        if counted > MOST * answers:
            above[purpose] = (counted / answers, why)
    assert not above
    assert set(met) == set(REST.values()), "what is never refused need not be named"


@pytest.mark.slow
def test_whatever_else_is_refused_is_a_matter_of_words() -> None:
    """With any texts: what no schema can say is named, and nothing but that is refused."""
    said = Counter[str]()
    for _, _, why in refusals(strange):
        for complaint in why:
            named = [
                reason for pattern, reason in OF_WORDS.items() if re.search(pattern, complaint)
            ]
            assert named, complaint
            said.update(named)
    assert set(said) | {REPEATED} == set(OF_WORDS.values()), "each of them is met"


@each(
    ("pattern", "sent"),
    [
        (r"^([01]?\d|2[0-3]):[0-5]\d$", "^([01]?[0-9]|2[0-3]):[0-5][0-9]$"),
        (r"^[\d.]+$", "^[0-9.]+$"),
        (r"^a\.b\[$", r"^a\.b\[$"),
        (r"^\S+$", None),
        (r"^(?!x)y$", None),
        (r"\d+", None),
    ],
)
def test_a_pattern_is_sent_as_grammars_take_it(pattern: str, sent: str | None) -> None:
    class PromptScope(BaseModel):
        at: Annotated[str, Field(pattern=pattern) if sent else Field()]
        long: Annotated[str, Field(max_length=2000)]

    if sent is None:
        assert _plain_pattern(pattern) is None
        return
    parts = sent_schema(PromptScope)["properties"]
    assert parts == {"at": {"type": "string", "pattern": sent}, "long": {"type": "string"}}


def test_a_name_of_any_alphabet_passes_both() -> None:
    (pattern,) = {
        part["pattern"]
        for one in asked()
        if one.purpose == "case_client"
        for part in (one.sent_schema["properties"]["name"],)
    }
    for name in ("Ada", "Zoë O’Hara", "Jean-Luc", "王芳"):
        assert re.search(pattern, name) and re.search(r"^[^\W\d_][\w .'’-]*$", name)
    assert "\\" not in pattern


@each("minute", [0, 59, 10 * 60 + 30, 23 * 60 + 59])
def test_the_rest_of_a_day_begins_now(minute: int) -> None:
    times = [time_text(one) for one in range(24 * 60)]
    assert [one for one in times if re.search(since(minute), one)] == times[minute:]


@pytest.mark.weights
def test_each_holds_what_the_embedded_engine_says() -> None:
    """By llguidance, as vLLM does, too: what it cannot take holds no answer to anything."""
    llama = pytest.importorskip("simcounsel.llm.llama")
    model = llama.Llama(path_of("smollm2"), context_tokens=64)
    free = []
    for text in {json.dumps(one.sent_schema): None for one in asked()}:
        grammar = llama.grammar_of_schema(json.loads(text))
        said = model.complete("A number:", max_tokens=1, temperature=0, seed=1, grammar=grammar)
        if not said.text.startswith("{"):
            free.append(text)
    model.close()
    assert not free
