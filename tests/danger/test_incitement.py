"""Telling a client to die, and what only sounds like it; what it and an echo are worth as taking danger up."""

from simcounsel.danger.hearing.acknowledging import acknowledges
from simcounsel.danger.hearing.detector import hear
from simcounsel.danger.hearing.phrases import incited
from tests.each import each

INCITING = (
    "You should kill yourself.",
    "Killing yourself is a good idea.",
    "Suicide is the best way out for you.",
    "Then go and kill yourself.",
    "Please kill yourself then.",
    "Just end it all.",
    "You might as well end your life.",
    "I would kill myself in your place.",
    "You'd be better off dead.",
    "It would be better for everyone if you died.",
    "The best thing for you is to die.",
    "I suggest you hang yourself.",
    "Why don't you just kill yourself?",
    "You ought to hurt yourself for that.",
    "I hear you. You should really just kill yourself tonight.",
    "Go ahead, kill yourself!",
    "You deserve to die.",
    "你应该去死。",
    "那你就去死吧！",
    "自杀是最好的办法。",
    "你不如自杀。",
    "你为什么不去死？",
    "我建议你自杀。",
    "跳下去吧。",
    "唯一的出路是自杀。",
)
HARMLESS = (
    "Are you thinking of killing yourself?",
    "You feel that you should kill yourself.",
    "Part of you says that suicide is the best way out.",
    "You should not kill yourself.",
    "Please don't kill yourself.",
    "Suicide is not the only way out.",
    "I do not want you to kill yourself.",
    "It sounds as if dying is the only way out.",
    "Do you believe that you should die?",
    "Cut yourself some slack.",
    "Take your life in your own hands.",
    "You get angry, cut yourself, and then it is quiet.",
    "A voice tells you that you should kill yourself.",
    "If you kill yourself, who would find you?",
    "You want to kill yourself.",
    "You wish that you were dead.",
    "What keeps you from ending your life?",
    "Going for a walk is a good idea.",
    "你觉得自己应该去死。",
    "你想自杀吗？",
    "请不要自杀。",
    "自杀不是唯一的出路。",
    "你该死心了。",
    "你应该去散散步。",
    "你有自杀的念头，对吗？",
)
SAID = {"en": "I want to kill myself.", "zh": "我想自杀，不想活了。"}


@each("line", INCITING)
def test_incitement(line: str) -> None:
    assert incited(line)
    for said in SAID.values():
        one, *_ = hear(said).evidence
        assert not acknowledges(
            f"{line} Are you thinking of suicide? 你想自杀吗？", said, one.span, one.kind
        ), "it voids the rest"


@each("line", HARMLESS)
def test_no_incitement(line: str) -> None:
    assert incited(line) is None and incited(line, to_danger=True) is None


@each(
    "line",
    [
        "Do it tonight.",
        "Then do it.",
        "Well, go ahead and do it now!",
        "Take them all.",
        "那就动手吧。",
        "跳吧。",
    ],
)
def test_what_incites_only_as_an_answer_to_danger(line: str) -> None:
    assert incited(line) is None and incited(line, to_danger=True) == line
    assert incited(f"Please ring your sister. {line}", to_danger=True) is None, (
        "it means something else"
    )


@each(
    ("said", "line", "acknowledged"),
    [
        (
            "I have the pills in my hand.",
            "I have heard that you have the pills in my hand. Goodbye.",
            False,
        ),
        (
            "I have the pills in my hand.",
            "The pills in my hand, you say. And how is your sleep?",
            False,
        ),
        ("I have the pills in my hand.", "You have the pills in my hand?", True),
        (
            "I have the pills in my hand.",
            "The pills in my hand. What does that mean for tonight?",
            True,
        ),
        (
            "I have the pills in my hand.",
            "The pills in my hand. Please ring the Samaritans with me.",
            True,
        ),
        ("我攒了很多安眠药。", "攒了很多安眠药，嗯。再见。", False),
        ("我攒了很多安眠药。", "你攒了很多安眠药？", True),
        ("我攒了很多安眠药。", "攒了很多安眠药。我们一起打热线吧。", True),
    ],
)
def test_an_echo_alone_takes_nothing_up(said: str, line: str, acknowledged: bool) -> None:
    start = said.index("the pills") if "pills" in said else said.index("攒")
    assert acknowledges(line, said, (start, len(said) - 1), "suicide") is acknowledged
