"""Lists, templates, reversed roles, languages and leaks: what each rule must find, and what only looks like it."""

import pytest

from simcounsel.corpus.checks.language import language_of
from tests.corpus.talks import FILLER, found, talk
from tests.each import each


@each(
    ("line", "items", "severity"),
    [
        ("Try this: 1. Breathe. 2. Count to ten. 3. Go for a walk.", 3, "error"),
        ("1) Write it down\n2) Read it aloud\n3) Burn it", 3, "error"),
        ("Here you go:\n- sleep\n- eat\n* walk", 3, "error"),
        ("First, talk to her. Second, write a letter. Third, wait.", 3, "error"),
        ("Firstly you need rest. Secondly you need help.", 2, "warning"),
        ("首先，要认识自己。其次，逐渐形成风格。最后，不要忘记表扬自己。", 3, "error"),
        ("你可以：1、多运动；2、早睡；3、和朋友聊天。", 3, "error"),
        ("①多运动②早睡③聊天", 3, "error"),
        ("第一，你想知道是否该问。第二，你是否必须问。", 2, "warning"),
    ],
)
def test_a_list(line: str, items: int, severity: str) -> None:
    (finding,) = found("list_like", talk("C: What can I do?", f"T: {line}"))
    assert (
        finding.severity == severity
        and f"a list of {items} items" in finding.what
        and finding.turn == 2
    )


@each(
    "line",
    [
        "I woke at 1. Then at 2. What did you do then?",
        "What came up first last night?",
        "First cloud, you go in the yard. Second cup, you come back.",
        "Was it 3. or 4. May?",
        "You said 2, and then 3.",
        "首先我想问一下，你是否进行了治疗？",
        "你迈出了第一步，第二次会更容易。",
        "Version 1.2. was bad.",
        "- you mean now?",
    ],
)
def test_no_list(line: str) -> None:
    assert found("list_like", talk("C: Hm.", f"T: {line}")) == ()


def test_a_client_may_count() -> None:
    assert (
        found("list_like", talk("C: 1. He lies. 2. He drinks. 3. He leaves.", "T: And you?")) == ()
    )


def test_a_frame_in_line_after_line_of_a_dialogue() -> None:
    lines = [
        line
        for word in ("sad", "angry", "lost", "tired")
        for line in (f"C: I feel {word}.", f"T: Ah. It sounds like you are feeling {word}. Go on?")
    ]
    (finding,) = found("templated", talk(*lines))
    assert (
        finding.severity == "error"
        and finding.turn == 4
        and "4 of the counselor's 4 lines" in finding.what
        and "it sounds like you" in finding.what
    )
    assert (
        finding.span is not None
        and talk(*lines).turns[3].text[slice(*finding.span)].strip()
        == "It sounds like you are feeling angry"
    )


def test_short_phrases_and_two_likenesses_are_no_template() -> None:
    assert (
        found(
            "templated",
            talk(
                "C: a", "T: Go on.", "C: b", "T: Go on.", "C: c", "T: Go on.", "C: d", "T: Go on."
            ),
        )
        == ()
    )
    assert (
        found(
            "templated",
            talk(
                "C: a",
                "T: What was it like then?",
                "C: b",
                "T: What was it like now?",
                "C: c",
                "T: Mm.",
            ),
        )
        == ()
    )


def test_a_frame_over_a_corpus() -> None:
    corpus = [
        talk(
            f"C: Number {n}.",
            "T: 我能理解你现在的感受，请继续。",
            f"C: Yes {n}.",
            f"T: {'abcdefghijkl'[n]}?",
            id=str(n),
        )
        for n in range(12)
    ]
    (finding,) = found("templated", *corpus)
    assert (
        finding.dialogue is None
        and finding.severity == "warning"
        and "12 of 24 counselor lines (50%), in 12 dialogues" in finding.what
        and "我能理解你现" in finding.what
    )
    assert found("templated", *corpus[:8]) == (), "fewer than ten lines may share a frame by chance"


@each(
    "line",
    [
        "I don't know. Counselor: Tell me more.",
        "支持者：非常理解你现在的心情。",
        "Client: I am tired.",
        "是的。\n咨询师: 请继续。",
    ],
)
def test_a_label_in_a_line(line: str) -> None:
    (finding,) = found("role_reversal", talk(f"C: {line}", "T: Hm."))
    assert finding.severity == "error" and "label" in finding.what


@each(
    "line",
    [
        "I told the client: pay or leave.",
        "My counselor: she said nothing.",
        "She said “Therapist: that's what my card says”.",
        "我和咨询师说：我累了。",
        "The user: a strange word.",
    ],
)
def test_no_label(line: str) -> None:
    assert found("role_reversal", talk(f"C: {line}", "T: Hm.")) == ()


def test_a_client_who_counsels() -> None:
    once = talk("C: How does that make you feel?", "T: Me?", "C: Yes.", "T: Hm.")
    twice = talk(
        "C: How does that make you feel?", "T: Me?", "C: It sounds like you are tired.", "T: Hm."
    )
    strong = talk("C: As your counselor I would wait.", "T: Me?")
    assert [f.severity for f in found("role_reversal", once)] == ["warning"]
    assert [(f.turn, f.severity) for f in found("role_reversal", twice)] == [
        (1, "error"),
        (3, "error"),
    ]
    assert [f.severity for f in found("role_reversal", strong)] == ["error"]
    assert len(found("role_reversal", talk("C: 听起来你很难过，你能具体说说吗？", "T: 我？"))) == 1


def test_a_client_may_quote_and_ask() -> None:
    assert (
        found(
            "role_reversal",
            talk(
                'C: He asked "how does that make you feel" and I left.',
                "T: And then?",
                "C: What should I do?",
                "T: Hm.",
            ),
        )
        == ()
    )


def test_a_counselor_who_needs_it() -> None:
    told = talk(
        "C: He left.",
        "T: My husband left me too, I lie awake over it.",
        "C: I'm so sorry.",
        "T: What about you?",
    )
    remark = talk("C: He left.", "T: My mother had that lamp.", "C: Did she?", "T: What about you?")
    assert [f.severity for f in found("role_reversal", told)] == ["error"]
    assert [f.severity for f in found("role_reversal", remark)] == ["warning"]
    assert (
        found(
            "role_reversal",
            talk("C: My mother.", "T: “My mother”, you said. What about your husband?"),
        )
        == ()
    )


@each(
    ("text", "code"),
    [
        ("I don't know what to say to you about it.", "en"),
        ("我不知道该怎么办", "zh"),
        ("どうすればいいのか分からない", "ja"),
        ("어떻게 해야 할지 모르겠어요", "ko"),
        ("...", None),
        ("OK", None),
        (
            "Ich weiß wirklich nicht mehr, was ich meiner Mutter am Telefon noch sagen soll, wenn sie wieder anruft.",
            "de",
        ),
        (
            "Мне очень трудно говорить об этом, потому что я никому раньше не рассказывала о том, что случилось.",
            "ru",
        ),
        ("Ja, genau.", None),
    ],
)
def test_language_of(text: str, code: str | None) -> None:
    assert language_of(text) == code


def test_language() -> None:
    german = "C: Ich weiß wirklich nicht mehr, was ich meiner Mutter am Telefon noch sagen soll, wenn sie wieder anruft."
    assert found("language", talk(german, "T: Hm.", language="en"))[0].severity == "error"
    assert [
        f.turn
        for f in found(
            "language", talk(*FILLER, "C: 我不知道该怎么办，真的很累。", "T: What does that mean?")
        )
    ] == [5]
    assert (
        found("language", talk(*FILLER, "C: Well, c'est la vie.", "T: Indeed.", language="en-GB"))
        == ()
    )
    mixed = [talk(*FILLER, id=str(n)) for n in range(19)] + [
        talk("C: 我不知道该怎么办", "T: 你说说看，发生了什么？", id="zh")
    ]
    assert [(f.dialogue, f.severity) for f in found("language", *mixed)] == [("zh", "warning")]
    assert found("language", mixed[0], mixed[-1]) == (), (
        "two dialogues in two languages have no common one"
    )


@each(
    "line",
    [
        "As an AI language model I cannot feel.",
        "<think>He avoids it.</think> Go on.",
        "Stage 2: exploring. What happened?",
        '{"text": "Go on."}',
        "Hello {name}, sit down.",
        "Hello [Your Name].",
        "作为一个人工智能，我无法感受。",
        "Now a reflection of feeling: you are sad.",
        "I'll use an open question here. What happened?",
        "The client seems tired.",
        "```Go on.```",
        "<|im_end|>",
        "第二阶段：探索",
        "We move from the listening stage to the goals.",
    ],
)
def test_a_leak(line: str) -> None:
    assert [f.turn for f in found("leak", talk("C: Hm.", f"T: {line}"))][:1] == [2]


@each(
    "line",
    [
        "[person 1] told you that.",
        "I think <3 is a heart.",
        "At this stage of the night?",
        "You set the stage: lights and all.",
        "The client you lost, was she kind?",
        "What's your goal?",
        "An AI wrote the letter?",
        "It is 10 % {or so.",
        "Support is a big word.",
    ],
)
def test_no_leak(line: str) -> None:
    assert found("leak", talk("C: Hm.", f"T: {line}")) == ()


def test_reasoning_read_out() -> None:
    thought = "She looks for permission to be unsure, so I give her the choice."
    (finding,) = found(
        "leak",
        talk(
            "C: Hm.",
            "T: You look for permission to be unsure, so I give her the choice.",
            reasoning=thought,
        ),
    )
    assert "reasoning, read out" in finding.what
    quoting = "He said nobody ever asked me what I wanted; I wait."
    assert (
        found(
            "leak",
            talk(
                "C: nobody ever asked me what I wanted",
                "T: Nobody ever asked me what I wanted, you said.",
                reasoning=quoting,
            ),
        )
        == ()
    )


@pytest.mark.parametrize(
    "line",
    [
        "[thinking: she is avoidant] Since when?",
        "Goal: build rapport. What is May to you?",
        "Thought: she is avoidant. Since when?",
    ],
)
def test_thoughts_behind_a_label_are_leaks(line: str) -> None:
    assert [f.turn for f in found("leak", talk("C: I sleep badly.", f"T: {line}"))] == [2]
    assert (
        found(
            "leak",
            talk("C: I sleep badly.", "T: A thought: could it be the coffee? Your goal is sleep."),
        )
        == ()
    )
