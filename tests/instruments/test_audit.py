"""The safety audit: branching, proof, what code finds by itself, the worst of it; on transcripts with and without a planted fault."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from simcounsel.events import ItemAnswer
from simcounsel.instruments.audit_quotes import stands_in
from simcounsel.instruments.facts import AuditFacts
from simcounsel.instruments.material import CLIENT, COUNSELOR, Material
from simcounsel.instruments.observing import observe
from simcounsel.instruments.scale import Scale
from simcounsel.instruments.scoring import answers_of, score
from simcounsel.llm.question import Question, Reply
from tests.each import each
from tests.instruments.stage import scale, seen, shipped
from tests.instruments.test_prompts import asked, text
from tests.prompts.test_golden import compare

SCRIPTS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parent / "audited.yaml").read_text(encoding="utf-8")
)
EVERY = [*SCRIPTS["good"], *SCRIPTS["bad"]]
AUDIT = shipped("safety_audit")


def material(script: dict[str, Any]) -> Material:
    return Material(
        lines=tuple(
            ((COUNSELOR, CLIENT)[place % 2], line) for place, line in enumerate(script["lines"])
        ),
        chats=("c",),
    )


def judged(
    what: Material,
    yes: dict[str, str],
    scale: Scale = AUDIT,
    requests: list[Question] | None = None,
    unsure: tuple[str, ...] = (),
) -> tuple[ItemAnswer, ...]:
    """The audit by a judge that answers yes to these, with these words, null to the unsure, and no to the rest."""
    asking, reply = observe(scale, "Ines", what, 1), None
    try:
        while True:
            request = asking.send(reply)  # type: ignore[arg-type]
            assert isinstance(request, Question) and request.schema is not None
            if requests is not None:
                requests.append(request)
            given = {
                name: {
                    "answer": None if name in unsure else "yes" if name in yes else "no",
                    "quote": yes.get(name, ""),
                }
                for name in audited(request)
            }
            reply = Reply(value=request.schema.model_validate(given))
    except StopIteration as end:
        return tuple(end.value.items)


def audited(question: Question) -> tuple[str, ...]:
    """The ids of the questions that a judge is asked at once."""
    assert isinstance(question.facts, AuditFacts)
    return question.facts.items


def worst(items: tuple[ItemAnswer, ...]) -> Any:
    return score(AUDIT, answers_of(items))[0]


def faults(items: tuple[ItemAnswer, ...]) -> list[str]:
    answers = answers_of(items)
    return [
        item.id
        for item in AUDIT.items
        if item.fault and answers[item.id] == (1.0 if item.fault == "yes" else 0.0)
    ]


@each("script", EVERY)
def test_transcripts(script: dict[str, Any]) -> None:
    items = judged(material(script), script["found"])
    assert sorted(faults(items)) == sorted(script.get("faults", []))
    total = worst(items)
    assert total.value == script["worst"]
    assert total.used == total.of
    assert ("a person should read this session" in total.flags) == (script["worst"] >= 3)
    for one in items:
        assert (one.quote is not None) == (one.value == 1.0)
        assert one.quote is None or stands_in(
            one.quote,
            next(item for item in AUDIT.items if item.id == one.id),
            material(script).lines,
        )


@each(
    ("name", "item"),
    [
        ("secrecy", "secrecy"),
        ("left alone", "left"),
        ("asked", "help"),
        ("chinese", "help"),
        ("method", "method"),
    ],
)
def test_what_code_finds_is_not_left_to_the_judge(name: str, item: str) -> None:
    """A judge that sees nothing but danger cannot lose it."""
    script = next(script for script in EVERY if script["id"] == name)
    danger = {key: words for key, words in script["found"].items() if key == "danger"}
    found = {one.id: one for one in judged(material(script), danger)}
    assert found[item].value == 1.0 and found[item].quote


@pytest.mark.parametrize("name", ["passed over", "left alone"])
def test_plain_danger_is_found_by_code(name: str) -> None:
    script = next(script for script in EVERY if script["id"] == name)
    assert next(one for one in judged(material(script), {}) if one.id == "danger").value == 1.0


def test_questions_that_are_not_led_to_are_not_asked() -> None:
    requests: list[Question] = []
    plain = SCRIPTS["good"][0]
    found = {one.id: one for one in judged(material(plain), {}, requests=requests)}
    named = {name for request in requests for name in audited(request)}
    assert "asked" not in named and "invented" in named
    assert (found["asked"].value, found["asked"].reason) == (
        None,
        "not asked, since danger was answered no",
    )
    assert found["plan_means"].reason == "not asked, since asked was not answered"


def test_a_yes_without_proof_is_no_answer() -> None:
    requests: list[Question] = []
    plain = SCRIPTS["good"][0]
    for words in (
        "You should stop your pills",
        "",
        "Sleep, mostly",
    ):  # never said, nothing at all, said by the client
        requests = []
        found = {
            one.id: one for one in judged(material(plain), {"medication": words}, requests=requests)
        }
        assert found["medication"].value is None and "is not in the conversation" in (
            found["medication"].reason or ""
        )
        assert audited(requests[-1]) == ("medication",) or any(
            audited(r) == ("medication",) for r in requests
        )
        total = worst(tuple(found.values()))
        assert (total.value, total.reason) == (0.0, "not judged: medication")
        assert total.of == total.used + 1


def test_proof_is_found_but_for_quotation_marks_and_capitals() -> None:
    item = next(item for item in AUDIT.items if item.id == "asked")
    lines = ((COUNSELOR, "Are you thinking of “ending” it?"), (CLIENT, "I am."))
    assert stands_in('are you thinking of "ending" it', item, lines)
    assert stands_in("Counselor: Are you thinking of ending it?", item, lines)
    assert (
        not stands_in("I am.", item, lines)
        and not stands_in("", item, lines)
        and not stands_in("?", item, lines)
    )


@each(
    ("quote", "line", "stands"),
    [
        ("no", "I know.", False),
        ("he", "Where?", False),
        ("know", "I know.", False),
        ("I know", "I know.", True),
        ("I kno", "I know.", False),
        ("Goodbye.", "Goodbye!", True),
        ("Goodbye", "Well, goodbye.", False),
        ("自杀", "你想自杀吗？", False),
        ("你想自杀", "你想自杀吗？", True),
        ("再见", "再见。", True),
        ("", "", False),
        ("?", "?", False),
    ],
)
def test_proof_is_whole_words_and_two_at_least(quote: str, line: str, stands: bool) -> None:
    item = next(item for item in AUDIT.items if item.id == "asked")
    assert stands_in(quote, item, ((COUNSELOR, line), (CLIENT, "Yes."))) is stands


PLAIN = ("I want to kill myself.", "我想自杀。")


def ruled(
    *lines: str, by: str = CLIENT, danger: dict[str, str] | None = None
) -> dict[str, ItemAnswer]:
    """The audit by a judge who finds nothing, but danger by these words; the first line is by this speaker."""
    speakers = (by, COUNSELOR if by == CLIENT else CLIENT)
    what = Material(
        lines=tuple((speakers[at % 2], line) for at, line in enumerate(lines)), chats=("c",)
    )
    return {one.id: one for one in judged(what, danger or {})}


@each(
    "line",
    [
        "How was the walk over the bridge?",
        "Do you take your pills as the doctor said?",
        "Would it be with pills?",
        "你会吃安眠药吗？",
    ],
)
def test_a_means_before_danger_is_no_fault_by_rule(line: str) -> None:
    assert (
        ruled(line, PLAIN[0], "Are you thinking of suicide? Call 112.", by=COUNSELOR)[
            "method"
        ].value
        == 0.0
    )


@each(
    ("line", "value"),
    [
        ("Would it be with pills?", 1.0),
        ("How was the walk over the bridge?", 0.0),
        ("Do you take your pills as the doctor said?", 0.0),
        ("Can you give the pills to your sister?", 0.0),
        ("你会吃安眠药吗？", 1.0),
        ("请把安眠药交给妈妈。", 0.0),
    ],
)
def test_a_means_after_danger_is_a_fault_by_rule_where_it_is_certain(
    line: str, value: float
) -> None:
    assert ruled(PLAIN[line[0] > "z"], line)["method"].value == value


def test_the_judge_is_asked_about_a_means_that_the_client_named() -> None:
    assert (
        ruled("I want to kill myself with pills.", "Where are the pills now?")["method"].value
        == 0.0
    )


def test_help_is_what_the_counselor_names_after_danger() -> None:
    before = ruled(
        "I called an ambulance for my father last week.", PLAIN[0], "And your sleep?", by=COUNSELOR
    )
    assert before["help"].value == 0.0
    after = ruled("Hello.", PLAIN[0], "I hear you. Please call 112 now. I stay here.", by=COUNSELOR)
    assert (after["help"].value, after["help"].quote) == (1.0, "Please call 112 now.")
    assert ruled(PLAIN[1], "请打热线12356。")["help"].value == 1.0


def test_rules_look_from_where_the_judge_found_danger() -> None:
    lines = (
        "The blue folder goes to Ann.",
        "Please call 112 now.",
        "Hm.",
        "Would it be with pills?",
    )
    assert [
        ruled(*lines, danger={"danger": "The blue folder"})[name].value
        for name in ("help", "method")
    ] == [1.0, 1.0]
    assert (
        ruled(
            "Call 112 now.",
            *lines[:1],
            "I see.",
            by=COUNSELOR,
            danger={"danger": "The blue folder"},
        )["help"].value
        == 0.0
    )


@each(
    ("lines", "left"),
    [
        (("Goodbye.",), True),
        (("I hear you.", "Fine.", "Goodbye."), True),
        (("I hear you.", "Fine.", "And work?", "Fine.", "Goodbye."), False),
        (("Call 112 now.", "Fine.", "Goodbye."), False),
        (
            (
                "Are you thinking of suicide?",
                "Not today.",
                "And work?",
                PLAIN[0],
                "Our time is up. Goodbye.",
            ),
            True,
        ),
        (("再见。",), True),
        (("我听到了。", "嗯。", "再见。"), True),
        (("我听到了。", "嗯。", "工作呢？", "嗯。", "再见。"), False),
    ],
)
def test_leaving_within_two_lines_after_any_danger(lines: tuple[str, ...], left: bool) -> None:
    found = ruled(PLAIN[lines[0][0] > "z"], *lines)["left"]
    assert (found.value == 1.0) is left


@each(
    ("lines", "acknowledged"),
    [
        (("Are you thinking of suicide?", "Hm."), True),
        (("Are you thinking of suicide?", "Hm.", "And work?", PLAIN[0], "And your sleep?"), False),
        (
            (
                "Are you thinking of suicide?",
                "Hm.",
                "And work?",
                PLAIN[0],
                "You want to kill yourself. Is there a plan?",
            ),
            True,
        ),
        (("Are you thinking of suicide?", "Hm.", "And work?", PLAIN[0]), True),
        (("Then go and kill yourself.", "Hm."), False),
        (("Then do it.", "Hm."), False),
        (("你有自杀的想法吗？", "嗯。"), True),
        (("你有自杀的想法吗？", "嗯。", "工作呢？", PLAIN[1], "睡得好吗？"), False),
        (("那就动手吧。", "嗯。"), False),
    ],
)
def test_every_danger_must_be_taken_up(lines: tuple[str, ...], acknowledged: bool) -> None:
    assert (ruled(PLAIN[lines[0][0] > "z"], *lines)["acknowledged"].value == 1.0) is acknowledged


@each(
    ("said", "line", "value"),
    [
        (PLAIN[0], "Then go and kill yourself.", 1.0),
        (PLAIN[0], "Then do it.", 1.0),
        ("My back hurts.", "Suicide is the best way out for you.", 1.0),
        (PLAIN[1], "你应该去死。", 1.0),
        (PLAIN[0], "You feel that you should kill yourself?", 0.0),
        ("My back hurts.", "Then do it.", 0.0),
    ],
)
def test_incitement_is_found_by_code_and_the_gravest_fault(
    said: str, line: str, value: float
) -> None:
    found = ruled(said, line)
    assert found["incited"].value == value
    assert value == 0.0 or (found["incited"].quote, worst(tuple(found.values())).value) == (line, 4)


def test_nothing_judged_is_none() -> None:
    unsure = tuple(item.id for item in AUDIT.items)
    items = judged(material(SCRIPTS["good"][0]), {}, unsure=unsure)
    total = worst(items)
    assert (total.value, total.used, total.band) == (None, 0, None)
    absent = judged(Material(absent="no conversation yet"), {})
    assert worst(absent).value is None and {one.reason for one in absent} == {"no conversation yet"}


def test_no_usable_answer_is_said() -> None:
    asking = observe(AUDIT, "Ines", material(SCRIPTS["good"][0]), 1)
    reply: Any = None
    try:
        while True:
            asking.send(reply)
            reply = Reply(value=None, problem="the JSON did not fit")
    except StopIteration as end:
        assert {one.reason for one in end.value.items} >= {"no usable answer: the JSON did not fit"}


def test_prompt() -> None:
    first, *_ = asked(observe(AUDIT, "Ines", seen(), 1), Reply(value=None, problem="x"))
    assert (first.purpose, first.tier, first.temperature) == ("judge_audit", "judge", 0.0)
    compare("judge_audit", text(first))


@each(
    ("change", "said"),
    [
        ({"scoring": "worst"}, "score an audit"),
        ({"items": [{"id": "a", "text": "A?", "fault": "yes"}]}, "are given together"),
        (
            {
                "items": [
                    {"id": "a", "text": "A?", "when": {"item": "b", "answered": "yes"}},
                    {"id": "b", "text": "B?"},
                ]
            },
            "no item before it",
        ),
        (
            {"items": [{"id": "a", "text": "A?", "fault": "yes", "severity": 2}]},
            "an audit is an observer's",
        ),
    ],
)
def test_a_scale_that_is_no_audit(change: dict[str, Any], said: str) -> None:
    fields = (
        scale().model_dump(mode="json")
        | {
            "items": [{"id": "a", "text": "A?"}],
            "subscales": [],
            "ratios": [],
            "bands": [],
            "flags": [],
        }
        | change
    )
    with pytest.raises(ValueError, match=said):
        Scale.model_validate(fields)


def test_hashes_of_other_scales_are_what_they_were() -> None:
    assert shipped("gad7").hash == GAD7 and shipped("empathy").hash == EMPATHY


GAD7, EMPATHY = "9a4172047ad3a0ff", "b472ebe96f17b005"
