"""What a client wants, by whole utterances."""

import re

import pytest
import yaml

from simcounsel.therapies.staged.intents import INTENTS, intent_in, patterns_of
from tests.each import each
from tests.stage import ROOT

ENGLISH = {
    "yes": [
        "Yes.",
        "Yes, please.",
        "Sure, why not?",
        "I don't mind.",
        "I wouldn't mind trying.",
        "No problem.",
        "It can't hurt to try.",
        "If you think it helps.",
        "Well, I suppose I could give it a try.",
        "Okay, let's do it.",
        "I'd like that.",
        "Why not?",
        "I’d love to.",
        "Thank you. Yes.",
        "Yes, I would like to try an exercise.",
        "I'd be glad to learn the breathing technique.",
        "I'd love to try one of your exercises.",
    ],
    "no": [
        "No.",
        "No, thank you.",
        "I'd rather not.",
        "Maybe later.",
        "Not today, maybe tomorrow.",
        "Yes, but not now.",
        "I don't think so.",
        "I don't want to.",
        "That is kind of you, thank you, but no.",
        "I'm too tired for that.",
        "Another time.",
        "I am not ready yet.",
        "That's enough for today.",
    ],
    "explain": [
        "What would that be?",
        "Yes, what would that be?",
        "How long does it take?",
        "Could you explain that again?",
        "I don't understand.",
    ],
    "another": [
        "Something else, please.",
        "No, something else.",
        "Another one, please.",
        "Is there another exercise?",
    ],
    "done": [
        "I did it.",
        "I've done it.",
        "Understood.",
        "Okay, I'll try it tonight.",
        "That's clear.",
    ],
    "tell_more": [
        "Can I just talk a bit more about it?",
        "I'd like to talk about it some more.",
        "There is more.",
        "No, let me finish.",
    ],
    None: [
        "I would like to try a different exercise.",
        "I'd like to do an exercise that my sister does.",
        "Maybe.",
        "I don't know.",
        "Okay?",
        "Not really, but okay.",
        "I can't say no to that.",
        "no idea",
        "Not at all.",
        "",
        "...",
        "Yes I lie awake every night thinking about my thesis.",
        "She said no.",
        "Nobody ever said yes to me.",
        "Know what I mean?",
        "It is noon.",
    ],
}
CHINESE = {
    "yes": [
        "好的。",
        "好啊，试试吧",
        "没问题",
        "为什么不呢？",
        "嗯，我愿意试一试。",
        "行，开始吧！",
        "可以",
        "谢谢，我想试试",
    ],
    "no": [
        "不用了，谢谢",
        "改天吧",
        "以后再说吧",
        "我不太想做",
        "可以，但今天不行",
        "没有",
        "可以是可以，可是我今天太累了",
    ],
    "explain": ["那是什么练习呢？", "怎么做？", "好的，那是什么？"],
    "another": ["换一个吧", "不想做这个", "有没有别的练习？"],
    "done": ["我做完了", "我明白了"],
    "tell_more": ["我想再聊聊", "你先听我说"],
    None: ["不知道", "也许吧", "好吗？", "我妈说不行我就没去", "昨天晚上又没睡着"],
}


@each(
    ("language", "intent", "text"),
    [
        (language, intent, text)
        for language, known in (("en", ENGLISH), ("zh", CHINESE))
        for intent, texts in known.items()
        for text in texts
    ],
)
def test_whole_utterances(language: str, intent: str | None, text: str) -> None:
    assert intent_in(text, language) == intent


@pytest.mark.parametrize("language", ["en", "zh"])
def test_there_are_enough_patterns_of_each(language: str) -> None:
    kinds = patterns_of(language).kinds
    assert len(kinds["yes"]) >= 40
    assert len(kinds["no"]) >= 13
    assert set(INTENTS) <= set(kinds)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_pattern_matches_nothing_or_everything(language: str) -> None:
    for kind, patterns in patterns_of(language).kinds.items():
        for pattern in patterns:
            assert not pattern.fullmatch(""), (kind, pattern.pattern)
            assert not pattern.fullmatch(
                "the tram was late" if language == "en" else "电车晚点到站"
            ), (kind, pattern.pattern)


def test_a_yes_inside_a_longer_clause_is_none() -> None:
    for text, intent in (
        (t, i) for i, texts in ENGLISH.items() if i in ("yes", "no") for t in texts
    ):
        longer = f"my brother told me {re.sub('[.,?!]', '', text).lower()} when the letter came"
        assert intent_in(longer) != intent or intent is None, longer


@pytest.mark.parametrize(("language", "understood"), [("en", 64), ("zh", 30)])
def test_written_answers(language: str, understood: int) -> None:
    """Measured once when they were written, and held since: what the rules decide they decide right
    (0.97), they never take a yes for a no or a no for a yes, and leave more than half to whoever judges after them."""
    data = (ROOT / "tests" / "data" / "client_answers.yaml").read_text(encoding="utf-8")
    answers = [
        (kind, text) for kind, texts in yaml.safe_load(data)[language].items() for text in texts
    ]
    decided = [(kind, found) for kind, text in answers if (found := intent_in(text, language))]
    right = sum(kind == found for kind, found in decided)
    assert right >= understood
    assert right / len(decided) > 0.96
    assert not {("yes", "no"), ("no", "yes")} & set(decided)


def test_a_weight_on_the_chest_is_no_wish() -> None:
    assert intent_in("It's like a weight on my chest.") is None
