"""What is heard in a line: how near, which kind, whose, when, and what is only a way of speaking."""

import re
import time

from hypothesis import example, given, settings
from hypothesis import strategies as st

from simcounsel.danger.hearing.acknowledging import acknowledges
from simcounsel.danger.hearing.detector import Heard
from simcounsel.danger.hearing.detector import heard_by_words as hear
from simcounsel.danger.hearing.lexicon import lexicons
from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS
from tests.each import each

CLEAR = (
    "I want to kill myself.",
    "I cut myself last night.",
    "I'm going to stab my stepfather.",
    "My husband beats me.",
    "I wish I was dead.",
    "I'm going to shoot myself tonight, it's loaded.",
    "我不想活了",
    "我想自杀",
    "他经常打我",
    "我又割腕了",
)
"""Danger said openly, that no model is asked about."""
QUIET = (
    "I had soup for lunch.",
    "The tram was late again.",
    "今天天气很好。",
    "We painted the kitchen green.",
    "我昨天去了图书馆。",
    "Thank you for asking.",
)


@each(
    ("text", "kind", "level"),
    [
        ("Most nights I hope I don't wake up.", "suicide", "low"),
        ("I wish I had never been born.", "suicide", "low"),
        ("I used to cut myself when I was fifteen.", "self_harm", "low"),
        ("Sometimes I imagine strangling my boss.", "harm_to_others", "low"),
        ("My father used to hit me when I was a child.", "abuse", "low"),
        ("I've been thinking of killing myself.", "suicide", "high"),
        ("I've been saving up my sleeping tablets.", "suicide", "high"),
        ("I sent a couple of goodbye texts.", "suicide", "high"),
        ("I burn myself with cigarettes when he shouts.", "self_harm", "high"),
        ("I'm going to kill my landlord.", "harm_to_others", "high"),
        ("My boyfriend chokes me when he's angry.", "abuse", "high"),
        ("I'm going to hang myself tonight.", "suicide", "imminent"),
        ("I took them all an hour ago.", "suicide", "imminent"),
        ("I'm cutting myself right now.", "self_harm", "imminent"),
        ("I'm outside his house with the gun.", "harm_to_others", "imminent"),
        (
            "He's kicking down the bathroom door, please, the kids are in here with me.",
            "abuse",
            "imminent",
        ),
        ("我不想活了", "suicide", "low"),
        ("我想自杀", "suicide", "high"),
        ("我现在就站在天台边，想跳楼", "suicide", "imminent"),
        ("我又割自己了", "self_harm", "high"),
        ("我想杀了他", "harm_to_others", "high"),
        ("我老公经常打我", "abuse", "high"),
    ],
)
def test_how_near(text: str, kind: str, level: str) -> None:
    heard = hear(text)
    assert kind in heard.kinds
    assert heard.level == level, heard.why


@each(
    ("text", "least", "doubt"),
    [
        ("I have the pills in my hand.", "high", True),
        ("I'm looking at the pills.", "low", True),
        ("I'm holding the knife to my wrist.", "imminent", False),
        ("I'm going to kill him and then myself.", "high", False),
    ],
)
def test_means_at_hand(text: str, least: str, doubt: bool) -> None:
    heard = hear(text, "English")
    assert (heard.level, heard.doubt) == (least, doubt), heard.why


@each(
    "text",
    [
        "I have the pills in my hand that the doctor gave me, shall I take one with food?",
        "I was looking at the pills for the dog.",
        "She killed him and then herself, in that film.",
        "They would kill my family and me if we went back.",
        "This job is killing my husband and me.",
        "The surgeon had a scalpel at my neck.",
        "I have the pills in my hand for my blood pressure.",
        "I was looking at the pills aisle in Boots.",
    ],
)
def test_means_in_everyday_use(text: str) -> None:
    assert hear(text, "English").level == "none", hear(text, "English").why


@each(
    "text",
    [
        "My husband had a knife at my throat.",
        "Someone had a knife to my throat.",
        "My dad held a razor to my neck.",
    ],
)
def test_a_weapon_in_anothers_hand_is_no_harm_to_oneself(text: str) -> None:
    assert (
        "self_harm" not in hear(text, "English").kinds
        and "suicide" not in hear(text, "English").kinds
    )


def test_who_means_to_kill_another_and_themselves_is_heard_twice() -> None:
    assert set(hear("I'm going to kill him and then myself.", "English").kinds) == {
        "suicide",
        "harm_to_others",
    }


@each(
    "text",
    [
        "kms",
        "I'm gonna kms tonight fr",
        "thinking about unaliving myself",
        "su1cide is all I think about",
        "I want to k1ll myself",
        "I want to die",
        "I WANT TO DIE",
        "i wanna dieeee",
        "s u i c i d e is on my mind",
        "I want to kill my self",
        "I just really want to die",
        "I wanna be dead, honestly",
        "i dont want to be here anymore",
        "I don’t want to live anymore",
        "ending it all sounds good",
        "ｉ ｗａｎｔ ｔｏ ｄｉｅ",
        "I want to ki\u200bll myself",
        "想死",
        "真的好想死啊",
        "轻生的念头",
        "自殺",
        "我想结束自己的生命",
        "活着没意思，不想活了",
    ],
)
def test_disguised_and_clipped(text: str) -> None:
    assert "suicide" in hear(text).kinds


@each(
    "text",
    [
        "This job is killing me.",
        "I'm dying to know what she wrote.",
        "I could murder a curry.",
        "I nearly died laughing.",
        "My phone died.",
        "I'd kill for a coffee.",
        "The class sent goodbye texts on graduation day.",
        "She stabbed me in the back over the promotion.",
        "I overdosed on coffee.",
        "He beat me at chess.",
        "It hit me on the bus.",
        "I'm dead tired.",
        "I was so embarrassed I wanted to die.",
        "I'm cutting down on sugar.",
        "My back is killing me",
        "if looks could kill",
        "I'm drowning in work.",
        "I want to end it with Tom.",
        "We did suicides at practice.",
        "笑死我了",
        "累死了",
        "急死我了",
        "气死我了",
        "我快饿死了",
        "想死你了",
        "死心吧",
        "这游戏里我被秒杀了",
        "烦死了这个作业",
    ],
)
def test_ways_of_speaking(text: str) -> None:
    assert hear(text).level == "none", hear(text).why


def test_a_way_of_speaking_that_is_meant() -> None:
    assert hear("He'll kill me when he gets home, he has a knife.").level != "none"


@each(
    "text",
    [
        "I'm not going to kill myself.",
        "I have never thought of ending my life.",
        "I don't want to die.",
        "No, I've never hurt myself.",
        "I would never hurt my baby.",
        "He would never hit me.",
        "I'm not suicidal.",
        "我没有想过自杀",
        "我不会自杀的",
        "我从来没有自残过",
        "I don't cut myself any more, I swim.",
    ],
)
def test_denials(text: str) -> None:
    assert hear(text).level == "none", hear(text).why


@each(
    "text",
    [
        "I can't promise I won't kill myself.",
        "I'm not saying I won't hurt myself.",
        "I'm not going to kill myself yet.",
        "Why not kill myself?",
        "I don't know if I want to live.",
        "I can't stop cutting myself.",
        "Not a day goes by without wanting to die.",
    ],
)
def test_denials_that_are_none(text: str) -> None:
    assert hear(text).level != "none"


def test_what_is_denied_is_said() -> None:
    assert hear("I'm not going to kill myself.").denied == ("suicide",)
    assert hear("I want to kill myself.").denied == ()


@each(
    "text",
    [
        "My great-uncle killed himself before I was born.",
        "My grandmother died in her sleep.",
        "In the film he says he wants to die.",
        "I'm writing my dissertation on self-harm in prisons.",
        "We watched a film about suicide.",
        "The news said a man shot himself.",
        "我爸爸去年去世了",
        "小说里的主角自杀了",
    ],
)
def test_others_and_stories(text: str) -> None:
    assert hear(text).level == "none", hear(text).why


def test_somebody_else_who_is_in_danger_now_is_low_and_in_doubt() -> None:
    heard = hear("My friend says she wants to kill herself.")
    assert (heard.level, heard.doubt) == ("low", True)


def test_a_story_does_not_hide_ones_own() -> None:
    assert hear("After the film I wanted to kill myself.").level != "none"
    assert hear("I read the book and now I want to kill myself.").level == "high"


@each(
    ("asked", "said", "level"),
    [
        ("Are you thinking of ending your life?", "Yes.", "high"),
        ("Are you thinking of ending your life?", "yeah, a lot", "high"),
        ("Are you thinking of ending your life?", "No.", "none"),
        ("Are you thinking of ending your life?", "God no.", "none"),
        ("Have you had thoughts of hurting yourself?", "Sometimes.", "high"),
        ("Do you feel safe at home?", "No.", "high"),
        ("Do you feel safe at home?", "Yes.", "none"),
        ("Did you sleep well?", "No.", "none"),
        ("Did you sleep well?", "Yes.", "none"),
        ("Does he hit you?", "Yes.", "high"),
        ("你想自杀吗？", "是的", "high"),
        ("你想自杀吗？", "没有", "none"),
        ("你有没有想过自杀？", "有", "high"),
    ],
)
def test_answers(asked: str, said: str, level: str) -> None:
    assert hear(said, None, asked).level == level, hear(said, None, asked).why


def test_an_answer_left_open_is_in_doubt() -> None:
    heard = hear("I don't know.", None, "Are you thinking of killing yourself?")
    assert heard.doubt and heard.level == "low"


def test_an_answer_that_denies() -> None:
    assert hear("No.", None, "Are you thinking of ending your life?").denied == ("suicide",)


def test_the_last_of_several_lines_before_is_answered() -> None:
    assert (
        hear("Yes.", None, ("Are you thinking of suicide?", "Would you like some tea?")).level
        == "none"
    )


def test_hints_add_up() -> None:
    one, two = (
        hear("I found a home for both cats."),
        hear("I found a home for both cats. They'd be better off without me."),
    )
    assert (one.level, one.doubt) == ("low", True)
    assert (two.level, two.doubt) == ("high", True)


def test_a_weak_hint_raises_doubt_only() -> None:
    heard = hear("I feel so hopeless.")
    assert (heard.level, heard.kinds, heard.doubt) == ("none", (), True)


def test_traces_count_only_together() -> None:
    one, two = (
        hear("I took the cliff path."),
        hear("I took the cliff path with the letter to my sons."),
    )
    three = hear("I took the cliff path with the letter to my sons, and I felt so calm.")
    assert one == Heard()
    assert (two.level, two.doubt) == ("none", True)
    assert (three.level, three.doubt) == ("low", True)


def test_traces_far_apart_do_not_add_up() -> None:
    assert (
        hear(
            "I took the cliff path. "
            + "We had soup, and the tram was late. " * 8
            + "Then I wrote the letter to my sons."
        )
        == Heard()
    )


def test_an_everyday_ground_near_it_takes_a_hint_back() -> None:
    assert hear("I gave away my guitar.").doubt
    assert not hear("I gave away my guitar. We're moving to a smaller place.").doubt


@each("text", CLEAR)
def test_clear_danger_is_in_no_doubt(text: str) -> None:
    heard = hear(text)
    assert heard.level != "none" and not heard.doubt and heard.floor == heard.level


def test_both_languages_in_a_line() -> None:
    assert hear("Doctor, 我不想活了").level == "low"
    assert hear("我今天很累 but I want to kill myself", "zh").level == "high"


def test_a_language_without_words_is_in_doubt() -> None:
    heard = hear("Я больше не хочу жить.")
    assert (heard.level, heard.doubt) == ("none", True) and "no words are known" in heard.why
    assert hear("Ich will nicht mehr leben.", "de").doubt
    assert not hear("12 34 !!!").doubt


@each("text", ["", " ", "...", "\n\n", "?", "😀"])
def test_nothing(text: str) -> None:
    assert hear(text) == Heard()


ODD = st.text(max_size=300) | st.lists(
    st.sampled_from(
        [
            "I",
            "want",
            "to",
            "kill",
            "myself",
            "not",
            "never",
            "don't",
            "he",
            "she",
            "said",
            "?",
            ".",
            ",",
            "\n",
            "die",
            "tonight",
            "he's",
            "’s",
            "K",
            "İ",
            "ß",
            "\u200b",
            "想",
            "死",
            "不",
            "我",
            "自杀",
            "没有",
            "。",
            "pills",
            "k1ll",
            "k*ll",
            "s u i c i d e",
            "diiiie",
            "'",
            "''",
            "yes",
            "no",
            "killing me",
            "\ud800",
        ]
    ),
    max_size=40,
).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(
    ODD,
    ODD | st.just("Are you thinking of ending your life?"),
    st.sampled_from([None, "en", "zh", "de", "English", ""]),
)
@example("İ want to kill myself", "", None)
@example("ﬁ I want to die", "", None)
def test_no_text_is_too_odd(text: str, before: str, language: str | None) -> None:
    heard = hear(text, language, before)
    assert heard.level in RISK_LEVELS and all(kind in DANGERS for kind in heard.kinds)
    assert bool(heard.kinds) == (heard.level != "none")
    assert RISK_LEVELS.index(heard.floor) <= RISK_LEVELS.index(heard.level)
    for one in heard.evidence:
        assert 0 <= one.span[0] < one.span[1] <= len(text) and one.words == text[slice(*one.span)]
    assert heard == hear(text, language, before)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(CLEAR), st.lists(st.sampled_from(QUIET), min_size=1, max_size=4), st.booleans()
)
def test_a_quiet_sentence_beside_it_never_lowers_clear_danger(
    danger: str, quiet: list[str], first: bool
) -> None:
    rest = " ".join(quiet)
    both = hear(f"{rest} {danger}" if first else f"{danger} {rest}")
    assert RISK_LEVELS.index(both.floor) >= RISK_LEVELS.index(hear(danger).level), both.why


def test_long_texts_take_no_long() -> None:
    for text in (
        "I want to die. " * 3_000,
        "i" * 100_000,
        "want to " * 20_000,
        "不" * 50_000,
        "he he he " * 20_000,
        "I am not " * 10_000 + "dead",
        "," * 50_000,
        "it's " * 20_000,
    ):
        start = time.process_time()
        hear(text)
        assert time.process_time() - start < 8, text[:20]


def test_every_pattern_of_every_language_can_be_searched_for() -> None:
    for lexicon in lexicons().values():
        for index in (
            lexicon.cues,
            lexicon.context,
            lexicon.answers,
            lexicon.questions,
            lexicon.counselor,
        ):
            for entries in index._by.values():
                for entry in entries:
                    assert all(isinstance(part.regex, re.Pattern) for part in entry.pattern.parts)


@each(
    ("line", "acknowledged"),
    [
        ("Are you thinking of killing yourself?", True),
        ("Are you safe tonight?", True),
        ("What did you have for lunch?", False),
        ("Don't talk about dying.", False),
    ],
)
def test_taking_up(line: str, acknowledged: bool) -> None:
    said = "I want to kill myself."
    place = hear(said).evidence[0]
    assert acknowledges(line, said, place.span, "suicide") is acknowledged


@each(
    "line",
    [
        "He got hit by a cricket ball and has a lovely purple eye.",
        "I miss having a job to go to, and I never thought I'd say it.",
        "I had the bottle in my hand and I poured it down the sink.",
        "I nearly choked when I saw the bill.",
        "My father bleeds a lot when he shaves.",
        "I could bang my head against the wall, that's how bored I was.",
        "He told me that I'm killing myself with the cigarettes.",
        "A drink in my hand",
        "I've a drink in my hand by six, it's a habit, and then another.",
    ],
)
def test_everyday_talk_beside_the_words_of_danger(line: str) -> None:
    assert hear(line).level == "none"
