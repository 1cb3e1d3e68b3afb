"""What is known of a danger beyond its level and kind, and how the protocol then goes on: already done, somebody else, a minor, secrecy,
abuse that is near, voices."""

import json
import re
from typing import Any

from simcounsel.danger.hearing.detector import hear
from simcounsel.danger.hearing.phrases import has_number, means_named, secrecy_promised
from simcounsel.danger.protection.circumstances import Circumstances, circumstances
from simcounsel.danger.protection.data import ways, words
from simcounsel.danger.protection.ladder import Step
from simcounsel.danger.protection.saying import said_in, ways_of
from simcounsel.danger.protection.wording import Wanted
from simcounsel.safety.help import Help
from simcounsel.specs.vocabulary import DANGERS, Danger
from tests.danger.planted import Line, Session, high, imminent, low, session
from tests.each import each
from tests.stage import said, view

OWN_SUICIDE = re.compile(
    r"you\b[^?]{0,40}(?:kill(?:ing)? yourself|suicide|your (?:own )?life|hurt(?:ing)? yourself)"
    r"|你(?:自己)?(?:在想|想过?|有没有|是不是想|打算)[^？]{0,6}(?:自杀|想死|轻生|结束)",
    re.IGNORECASE,
)
HOW_MUCH = re.compile(
    r"(?:how (?:many|much)|what) (?:did|have) you|(?:吃|吞|喝)(?:了|的是)?(?:多少|几|什么)"
)


def known(*lines: str, language: Any = "en") -> Circumstances:
    told = [said("Ines", line) for line in lines]
    return circumstances(view(*told, me="Miriam", other="Ines", language=language))


def in_chinese(text: str) -> bool:
    return bool(re.search("[\u4e00-\u9fff]", text))


# what is heard


@each(
    ("text", "name", "value"),
    [
        ("I just swallowed some.", "done", True),
        ("I already took them, all of them.", "done", True),
        ("I've taken an overdose", "done", True),
        ("I cut really deep and there's blood everywhere", "done", True),
        ("我刚刚把药吞下去了。", "done", True),
        ("血止不住了。", "done", True),
        ("I took some time off.", "done", False),
        ("I took half the day off.", "done", False),
        ("I took an overdose when I was sixteen.", "done", False),
        ("I haven't taken them.", "done", False),
        ("我吃了饭。", "done", False),
        ("He is at home when I get back.", "near", True),
        ("If he's home, probably.", "near", False),
        ("pleese dont tell anyone", "secrecy", True),
        ("我爸打我媽，別告訴任何人。", "secrecy", True),
        ("I'm 15.", "minor", True),
        ("im fifteen and nobody listens", "minor", True),
        ("I'm in ninth grade.", "minor", True),
        ("I'm 45.", "minor", False),
        ("I'm 15 minutes late.", "minor", False),
        ("I was 15 then.", "minor", False),
        ("我今年十五岁。", "minor", True),
        ("我上初二。", "minor", True),
        ("我35岁了。", "minor", False),
        ("Promise me you won't tell anyone.", "secrecy", True),
        ("please dont tell my mum", "secrecy", True),
        ("This has to stay between us.", "secrecy", True),
        ("If I tell you something, do you have to tell the school?", "secrecy", True),
        ("Please don't ring anybody.", "secrecy", True),
        ("Is this confidential?", "secrecy", True),
        ("你会告诉我妈吗？", "secrecy", True),
        ("这是保密的吗？", "secrecy", True),
        ("I promise I will call her.", "secrecy", False),
        ("Did you tell anyone how it went?", "secrecy", False),
        ("Should I tell the school?", "secrecy", False),
        ("I don't ring anybody.", "secrecy", False),
        ("I don't tell anyone how I feel.", "secrecy", False),
        ("He promised he won't drink.", "secrecy", False),
        ("I can't tell my mum.", "secrecy", False),
        ("你别告诉我妈。", "secrecy", True),
        ("你能帮我保密吗？", "secrecy", True),
        ("我没告诉别人。", "secrecy", False),
        ("He has a gun in the bedroom.", "near", True),
        ("I go home to him after this.", "near", True),
        ("he's waiting outside", "near", True),
        ("He has a garden.", "near", False),
        ("He used to keep a gun.", "near", False),
        ("他卧室里有枪。", "near", True),
        ("我等会儿就得回他那里去。", "near", True),
        ("The voices tell me to cut myself.", "voices", True),
        ("I have to stop him before he stops me.", "voices", True),
        ("有个声音叫我去死。", "voices", True),
        ("I love the voices in that choir.", "voices", False),
        ("In the film the voices told her to jump.", "voices", False),
    ],
)
def test_circumstances(text: str, name: str, value: bool) -> None:
    assert bool(getattr(known(text, language="zh" if in_chinese(text) else "en"), name)) is value


@each(
    ("lines", "whom"),
    [
        (("My brother says he'll hang himself tonight.",), "your brother"),
        (("My friend says she wants to die.",), "your friend"),
        (("My daughter is cutting herself.",), "your daughter"),
        (("He says he will kill himself.", "No, not me. Him."), "this person"),
        (("I want to die.",), None),
        (("I want to die.", "My brother says he wants to die, too."), None),
        (("My brother says he wants to die.", "And I want to kill myself as well."), None),
        (("I want to end my life.", "No, not me. Him."), None),
        (("My brother hits me and I want to die.",), None),
        (("我弟弟说他今晚要自杀。",), "你弟弟"),
        (("我朋友说她不想活了。", "不是我，是她。"), "你朋友"),
        (("我想自杀。",), None),
    ],
)
def test_whose_danger_it_is(lines: tuple[str, ...], whom: str | None) -> None:
    assert known(*lines, language="zh" if in_chinese(lines[0]) else "en").another == whom


@each(
    ("text", "level", "kind"),
    [
        ("I just swallowed some.", "imminent", "suicide"),
        ("I swallowed all of them", "imminent", "suicide"),
        ("I swallowed some water the wrong way.", "none", None),
        ("I had two vitamins and swallowed them.", "none", None),
        ("The voices want me to jump.", "high", "suicide"),
        ("The voices in the choir tell me to sing.", "none", None),
        ("I have to stop him before he stops me.", "high", "harm_to_others"),
        ("I have to stop him before he gets in the car.", "none", None),
        ("I have to stop the man upstairs before he stops me.", "high", "harm_to_others"),
        ("He rang and said he'll hang himself tonight, and then he hung up.", "low", "suicide"),
        ("She told me she is going to end her life.", "low", "suicide"),
        ("声音叫我先下手。", "high", "harm_to_others"),
        ("我刚吞了一些药。", "imminent", "suicide"),
        ("我割得很深，血止不住。", "imminent", "self_harm"),
        ("流鼻血止不住。", "none", None),
        ("在他动手之前我得先拦住他。", "high", "harm_to_others"),
        ("声音让我很放松。", "none", None),
    ],
)
def test_what_is_told_openly_is_heard(text: str, level: str, kind: str | None) -> None:
    heard = hear(text, "zh" if in_chinese(text) else "en")
    assert (heard.floor if level == "none" else heard.level) == level
    assert kind is None or kind in heard.kinds


# what is said


@each("language", ["en", "zh"])
def test_every_way_has_its_words(language: str) -> None:
    ours, english = ways(language)["ways"], ways("en")["ways"]
    assert list(ours) == list(english) and set(ways(language)["heard"]) == set(ways("en")["heard"])
    for way, about in ours.items():
        assert list(about["steps"]) == list(english[way]["steps"]) and about["rules"]
        for step, told in about["steps"].items():
            assert told["aim"] and step in words(language)["steps"]
            for kind in told["lines"]:
                assert len(told["lines"][kind]) >= 3, (way, step, kind)


FULL = {
    "another": Circumstances(another="your brother"),
    "hurt": Circumstances(hurt="your brother"),
    "done": Circumstances(done=True),
    "near": Circumstances(near=True),
    "voices": Circumstances(voices=True),
    "minor": Circumstances(age=15),
}


@each("language", ["en", "zh"])
@each("way", FULL)
def test_every_line_keeps_to_its_way(way: str, language: str) -> None:
    seen = 0
    for kind in DANGERS:
        if way not in ways_of(FULL[way], kind):
            continue
        for step, about in ways(language)["ways"][way]["steps"].items():
            told = said_in(step, FULL[way], kind, language)
            assert told.about["aim"] == about["aim"].replace("{whom}", "your brother")
            wanted = Wanted(
                language=language,
                asks=tuple(told.about.get("must", {}).get(kind, ())),
                never=told.never,
            )
            for line in (*about["lines"].get(kind, ()), *about["lines"].get("any", ())):
                seen += 1
                assert wanted.problem(line) is None, (step, line)
                assert not re.search(r"\bwhy\b|为什么", line)
                assert set(re.findall(r"\{\w+\}", line)) <= {
                    "{whom}",
                    "{name}",
                    "{emergency}",
                    "{help}",
                }
                if words(language)["steps"][step].get("names_help"):
                    assert "{emergency}" in line and "{help}" in line, line
    assert seen >= 9


@each(
    ("way", "line", "language"),
    [
        ("another", "And are you thinking of killing yourself?", "en"),
        ("another", "那你有没有想过自杀？", "zh"),
        ("done", "How many did you take?", "en"),
        ("done", "Drink water and sleep it off.", "en"),
        ("done", "你吃了多少？", "zh"),
        ("near", "Could you tell him that you are leaving?", "en"),
        ("near", "Perhaps you should confront him.", "en"),
        ("near", "你可以和他好好谈一谈。", "zh"),
        ("voices", "The voices are not real.", "en"),
        ("voices", "He is after you, that is true.", "en"),
        ("voices", "这只是幻听。", "zh"),
    ],
)
def test_what_must_never_be_said(way: str, line: str, language: str) -> None:
    kind: Danger = "abuse" if way == "near" else "suicide"
    told = said_in("agree", FULL[way], kind, language)
    assert Wanted(language=language, never=told.never).problem(line)
    plain = said_in("agree", Circumstances(), kind, language)
    assert Wanted(language=language, never=plain.never).problem(line) is None


# somebody else is hurt


@each(
    ("texts", "language", "whom"),
    [
        (("My father hits my mother.",), "en", "your mother"),
        (("My sister's boyfriend beats her. I saw the bruises.",), "en", "your sister"),
        (("My best friend is being beaten by her boyfriend.",), "en", "your friend"),
        (("He hits my little brother when he drinks.",), "en", "your brother"),
        (("She locks my neighbour's kid in the cellar.",), "en", "your neighbour's kid"),
        (("He beats me.",), "en", None),
        (("My father hits my mother and me.",), "en", None),
        (("My father hits my mother.", "He hits me, too."), "en", None),
        (("My brother beat the other team.",), "en", None),
        (("In the film he hits my mother's double.",), "en", None),
        (("我爸打我妈。",), "zh", "你妈"),
        (("我闺蜜被她男朋友打。",), "zh", "你闺蜜"),
        (("我姐姐的老公打她。",), "zh", "你姐姐"),
        (("他打我。",), "zh", None),
        (("他打我弟弟，也打我。",), "zh", None),
    ],
)
def test_who_is_hurt(texts: tuple[str, ...], language: str, whom: str | None) -> None:
    assert known(*texts, language=language).hurt == whom


def test_somebody_else_who_is_hurt_is_what_the_talk_is_about() -> None:
    talk = session(
        high("My father hits my mother.", kind="abuse"),
        Line("I hear it through the wall."),
        Line("Yes."),
        Line("No, not today."),
        Line("My aunt knows."),
        Line("Okay, I can do that."),
        Line("Tired."),
        Line("Thanks."),
    )
    assert talk.steps == [
        "acknowledge",
        "ask_directly",
        "intent",
        "company",
        "agree",
        "own_state",
        "help",
        "over",
    ]
    for step in ("ask_directly", "intent", "agree", "help"):
        assert "your mother" in talk.said_at(step) or step == "agree", talk.said_at(step)
    assert not any(re.search(r"hurting you\b|who hurts you", line) for line in talk.spoken)


def test_who_is_hurt_as_well_is_asked_of_themselves_from_then_on() -> None:
    talk = session(
        high("My father hits my mother.", kind="abuse"),
        Line("Well."),
        high("Yes. And he hits me, too.", kind="abuse"),
    )
    assert talk.steps[:3] == ["acknowledge", "ask_directly", "plan"]


# already done


def test_what_was_done_already_brings_the_emergency_number_at_once() -> None:
    talk = session(
        high(),
        Line("I just swallowed some of them."),
        Line("I am scared."),
        Line("My flatmate is in the kitchen."),
        Line("Yes."),
        Line("Okay."),
        Line("They are here."),
    )
    assert talk.steps == [
        "acknowledge", "emergency", "company", "distance", "agree", "help", "leave_safely"
    ]  # fmt: skip
    assert "999" in talk.said_at("emergency")
    assert not any(HOW_MUCH.search(line) or means_named(line, "en") for line in talk.spoken)
    assert re.search("door", talk.said_at("distance"))


def test_what_was_done_is_taken_up_in_chinese_too() -> None:
    talk = session(
        high("我想死。"), Line("我刚刚把药吞下去了。"), Line("我妈在隔壁。"), Line("可以。"), Line("好的。"),
        language="zh", locale="zh-CN",
    )  # fmt: skip
    assert talk.steps[:4] == ["acknowledge", "emergency", "company", "distance"]
    assert "120" in talk.said_at("emergency") and "12356" in talk.said_at("emergency")
    assert not any(HOW_MUCH.search(line) for line in talk.spoken)


def test_what_was_done_once_and_met_is_not_taken_up_again() -> None:
    talk = session(
        high(), Line("I took them all."), Line("All right."), Line("My flatmate."), Line("Yes."), Line("Yes."),
        Line("The ambulance is here."), max_turns=30,
    )  # fmt: skip
    assert talk.steps.count("emergency") == 1 and talk.steps[-1] == "leave_safely"


def test_a_models_question_for_the_amount_is_not_said() -> None:
    asking = json.dumps(
        {
            "say": "How many did you take? Call 999 now, or the Samaritans on 116 123.",
            "emotion": "trust",
            "intensity": 3,
            "poignancy": 3,
        }
    )
    scripts = {"line_counselor": lambda request, draw: asking}
    talk = session(high(), Line("I just took all my tablets."), scripts=scripts, max_turns=6)
    assert not HOW_MUCH.search(talk.said_at("emergency")) and "999" in talk.said_at("emergency")


# somebody else


def another_in_danger(talk: Session) -> None:
    """What holds wherever it is somebody else."""
    assert not any(OWN_SUICIDE.search(line) for line in talk.spoken), talk.spoken
    assert not {"plan", "means", "distance", "protective"} & set(talk.steps)


def test_somebody_else_has_a_way_of_their_own() -> None:
    talk = session(
        low("My brother says he wants to die."),
        Line("He wrote it to me."),
        Line("Yes, he has."),
        Line("No, not today."),
        Line("My mother is with him."),
        Line("Yes, I can."),
        Line("I am tired."),
        Line("Thank you."),
    )
    assert talk.steps == [
        "acknowledge", "ask_directly", "intent", "company", "agree", "own_state", "help", "over"
    ]  # fmt: skip
    another_in_danger(talk)
    assert all(
        "your brother" in talk.said_at(step) for step in ("acknowledge", "intent", "company")
    )
    assert re.search("suicide|kill(?:ing)? themselves", talk.said_at("ask_directly"))
    assert "999" in talk.said_at("help")


def test_where_it_is_tonight_somebody_else_gets_help_first() -> None:
    talk = session(
        low("My brother says he'll hang himself tonight."),
        Line("He is at home."),
        Line("Nobody."),
        Line("Yes, I can."),
        Line("I am scared."),
        Line("Yes."),
    )
    assert talk.steps == ["emergency", "company", "agree", "own_state", "help", "leave_safely"]
    another_in_danger(talk)
    assert "999" in talk.said_at("emergency") and "your brother" in talk.said_at("emergency")


def test_not_me_him_is_taken_up_and_their_own_danger_is_not_asked_about_twice() -> None:
    talk = session(
        high("He keeps saying that he will kill himself, and I can't bear it."),
        Line("For weeks."),
        Line("No, not me. Him."),
        Line("No."),
        Line("His wife."),
        Line("Yes."),
        Line("Tired."),
        Line("Thanks."),
    )
    asked = [line for line in talk.spoken if OWN_SUICIDE.search(line)]
    assert len(asked) <= 1
    assert talk.steps[-1] == "over" and "own_state" in talk.steps and "plan" not in talk.steps


def test_who_then_speaks_of_themselves_is_asked_about_themselves() -> None:
    talk = session(
        low("My brother says he wants to die."),
        Line("He wrote it."),
        high("And I want to kill myself as well."),
        Line("For weeks."),
        Line("No."),
        Line("No."),
        Line("My sister."),
        Line("Okay."),
    )
    assert {"plan", "intent", "protective", "agree", "help"} <= set(talk.steps)


def test_somebody_else_in_chinese() -> None:
    talk = session(
        low("我弟弟说他不想活了。"), Line("他发消息说的。"), Line("说过。"), Line("不会。"), Line("我妈在。"),
        Line("可以。"), Line("很累。"), Line("谢谢。"), language="zh", locale="zh-CN",
    )  # fmt: skip
    assert talk.steps[-2:] == ["help", "over"] and "own_state" in talk.steps
    another_in_danger(talk)
    assert "你弟弟" in talk.said_at("acknowledge")


def test_the_next_meeting_asks_after_somebody_else() -> None:
    first = session(
        high("My brother says he wants to die."),
        Line("I should go.", leaves=True),
        Line("I am going.", leaves=True),
    )
    second = session(
        Line("Hello."),
        Line("No, he is better."),
        Line("I slept."),
        before=first.entries(),
        tick=50,
        meeting=2,
        scripts={"safety_answer": lambda request, draw: "no"},
    )
    assert second.steps == ["follow_up", "own_state", "help", "over"]
    assert "your brother" in second.said_at("follow_up")
    another_in_danger(second)
    third = session(
        Line("Hello."),
        high("It is me who wants to kill myself now."),
        Line("For weeks."),
        Line("No."),
        before=first.entries(),
        tick=50,
        meeting=2,
    )
    assert third.steps[:3] == ["follow_up", "acknowledge", "ask_directly"]
    assert OWN_SUICIDE.search(third.said_at("ask_directly"))


def test_whose_danger_it_is_stands_in_the_log() -> None:
    talk = session(
        low("My brother says he wants to die."),
        Line("He wrote it."),
        high("And I want to kill myself as well."),
        Line("For weeks."),
    )
    assert [verdict for _, verdict, _ in talk.verdicts if verdict in ("another", "own")] == [
        "another",
        "own",
    ]


# secrecy


@each(
    ("text", "language", "locale"),
    [
        ("Promise me you won't tell anyone.", "en", "en-GB"),
        ("你答应我，不要告诉别人。", "zh", "zh-CN"),
    ],
)
def test_a_wish_for_secrecy_gets_an_honest_word_at_once(
    text: str, language: str, locale: str
) -> None:
    talk = session(Line(text), Line("Hm."), language=language, locale=locale, max_turns=8)
    assert talk.steps == ["confide"] and talk.moves[1] == ("safety", "confide")
    assert secrecy_promised(talk.said_at("confide"), language) is None
    assert talk.moves[2][0] == "socratic" and talk.end.open_danger == "none"


def test_a_question_that_is_met_with_a_wish_for_secrecy_is_asked_again() -> None:
    talk = session(
        high(),
        Line("For weeks."),
        Line("First promise you won't tell my mum."),
        Line("All right."),
        high("Yes, I do."),
        Line("No."),
        Line("No."),
    )
    assert talk.steps[:5] == ["acknowledge", "ask_directly", "confide", "ask_directly", "plan"]
    assert talk.steps.count("confide") == 1


def test_a_models_line_that_keeps_silent_about_the_limits_is_not_said() -> None:
    beside = json.dumps(
        {"say": "I was thinking about the tea.", "emotion": "trust", "intensity": 3, "poignancy": 3}
    )
    scripts = {"line_counselor": lambda request, draw: beside}
    talk = session(Line("Promise me you won't tell anyone."), scripts=scripts, max_turns=6)
    assert re.search("can't|won't|limit|could not|danger|safety", talk.said_at("confide"))


def test_emergency_help_comes_before_the_word_on_secrecy() -> None:
    talk = session(
        imminent("I have it all here, it is tonight. Promise me you won't tell anyone."),
        Line("Please."),
        Line("Nobody."),
    )
    assert talk.steps[:3] == ["emergency", "confide", "company"]


def test_a_wish_for_secrecy_does_not_keep_what_is_owed_from_being_asked() -> None:
    before = session(high(), Line("I should go.", leaves=True), Line("I am going.", leaves=True))
    talk = session(
        Line("Promise me you won't tell my wife."),
        Line("Hm."),
        Line("No."),
        before=before.entries(),
        tick=50,
        meeting=2,
    )
    assert talk.steps[:2] == ["confide", "follow_up"]


# a minor


@each(
    ("locale", "first", "number"),
    [
        ("en-CA", "I am 15 and I want to die.", "1-800-668-6868"),
        ("de-AT", "I'm fourteen. I want to die.", "147"),
        ("en-US", "I'm 15 and I want to die.", "988"),
    ],
)
def test_a_minor_is_told_of_lines_for_children_where_there_are_some(
    locale: str, first: str, number: str
) -> None:
    talk = session(
        high(first), Line("For weeks."), high("Yes."), Line("No."), Line("No."), Line("My aunt."), Line("Okay."),
        locale=locale,
    )  # fmt: skip
    assert has_number(talk.said_at("help"), number)
    assert re.search("adult|young people|trust", talk.said_at("help"))
    assert re.search("adult|grown-up|helped", talk.said_at("protective"))


def test_no_adult_is_sent_to_a_line_for_children() -> None:
    for locale in ("en-CA", "de-AT", "pl-PL", "it-IT", "de-CH", "fr-FR", "en-IN"):
        for kind in DANGERS:
            grown, child = (
                Help(locale=locale, language="en", child=child).lines_for(kind)
                for child in (False, True)
            )
            assert not any(line.get("whom") == "children" for line in grown)
            assert child[0].get("whom") == "children" or set(map(str, child)) == set(
                map(str, grown)
            )


def test_a_minor_is_told_in_simple_words_what_cannot_be_kept() -> None:
    talk = session(Line("I'm 14. Promise me you won't tell my mum."), max_turns=6)
    assert talk.steps == ["confide"]
    simple = ways("en")["ways"]["minor"]["steps"]["confide"]["lines"]["any"]
    assert talk.said_at("confide") in simple


# abuse that is near


NEAR = (Line("My sister knows."), Line("She could take me."), Line("Yes."), Line("Yes."))


@each("text", ["He has a gun in the bedroom.", "I go home to him after this."])
def test_abuse_that_is_near_is_for_now(text: str) -> None:
    talk = session(high("My husband hits me.", kind="abuse"), Line(text), Line("All right."), *NEAR)
    assert talk.steps[:4] == ["acknowledge", "emergency", "company", "distance"]
    assert {"agree", "help"} <= set(talk.steps)
    plan = ways("en")["ways"]["near"]["steps"]["agree"]["lines"]["any"]
    assert talk.said_at("agree") in plan
    assert not any(re.search("confront|stand up to|talk to him", line) for line in talk.spoken)


def test_a_weapon_that_was_named_before_counts_when_abuse_is_told() -> None:
    talk = session(
        Line("He keeps a gun in the bedroom."),
        high("He hits me.", kind="abuse"),
        Line("Yes."),
        *NEAR,
    )
    assert talk.steps[0] == "emergency"


def test_a_weapon_at_home_is_no_danger_by_itself() -> None:
    assert session(Line("He has a gun in the bedroom, for hunting."), max_turns=6).steps == []
    talk = session(high(), Line("I go home to her after this."), Line("Yes."), max_turns=6)
    assert "emergency" not in talk.steps


def test_abuse_that_is_near_in_chinese() -> None:
    talk = session(
        high("我老公打我。", kind="abuse"), Line("我等会儿就得回他那里去。"), Line("好。"), Line("我姐知道。"),
        Line("可以。"), Line("可以。"), language="zh", locale="zh-CN",
    )  # fmt: skip
    assert talk.steps[:2] == ["acknowledge", "emergency"] and "110" in talk.said_at("emergency")
    assert talk.said_at("agree") in ways("zh")["ways"]["near"]["steps"]["agree"]["lines"]["any"]


# voices


@each("kind", ["self_harm", "harm_to_others", "suicide"])
def test_voices_are_neither_argued_with_nor_confirmed(kind: Any) -> None:
    talk = session(
        high("The voices tell me to do it, before he stops me.", kind=kind),
        Line("Every night."),
        high("Yes.", kind=kind),
        Line("Yes."),
        Line("Yes."),
        Line("No, not today."),
        Line("My mother."),
        Line("Yes."),
        Line("Thanks."),
    )
    assert talk.steps == [
        "acknowledge", "ask_directly", "plan", "means", "intent", "protective", "agree", "help", "over"
    ]  # fmt: skip
    own = ways("en")["ways"]["voices"]["steps"]
    steps: tuple[Step, ...] = ("acknowledge", "plan", "protective", "agree")
    for step in steps:
        assert talk.said_at(step) in own[step]["lines"]["any"], step
    assert re.search("doctor|seen|somebody", talk.said_at("agree"))
    assert not any(re.search(r"real\b|imagin|hallucinat", line) for line in talk.spoken)


def test_what_the_voices_want_is_asked_about_for_today() -> None:
    talk = session(
        high("有个声音叫我割自己。", kind="self_harm"), Line("每天晚上。"), Line("是的。"), Line("有。"), Line("有。"),
        Line("会。"), language="zh", locale="zh-CN",
    )  # fmt: skip
    assert talk.steps[:6] == [
        "acknowledge", "ask_directly", "plan", "means", "intent", "emergency"
    ]  # fmt: skip
    assert (
        talk.said_at("acknowledge")
        in ways("zh")["ways"]["voices"]["steps"]["acknowledge"]["lines"]["any"]
    )


# more than two dangers


def test_each_of_three_dangers_has_its_steps() -> None:
    talk = session(
        high(also=("harm_to_others", "abuse")),
        Line("For weeks."),
        Line("Yes."),
        Line("No."),
        Line("No."),
        Line("Yes."),
        Line("Yes."),
        Line("No."),
        Line("No."),
        Line("My brother."),
        Line("Okay."),
        Line("Okay."),
        Line("Okay."),
        Line("Thanks."),
        Line("Thanks."),
        max_turns=40,
        locale="de-AT",
    )
    assert talk.steps == [
        "acknowledge", "ask_directly", "plan", "intent", "ask_also", "ask_also", "intent_also", "intent_also",
        "protective", "agree", "agree_also", "agree_also", "help", "over",
    ]  # fmt: skip
    for step in ("intent_also", "agree_also"):
        first, last = (
            line for line, (_, move) in zip(talk.spoken, talk.moves, strict=True) if move == step
        )
        assert re.search("somebody|other person|that person|nobody is hurt", first), first
        assert re.search("hurts? you|being hurt|hurt you", last), last
    assert "142" in talk.said_at("help") and "0800 222 555" in talk.said_at("help")


def test_what_is_said_to_be_there_goes_before_a_wish_without_intent() -> None:
    talk = session(
        high(also=("self_harm", "abuse")),
        Line("For weeks."),
        Line("Yes."),
        Line("No."),
        Line("No."),
        low("Sometimes, a little.", kind="self_harm"),
        Line("Yes."),
        Line("No."),
        Line("No."),
        Line("My brother."),
        Line("Okay."),
        Line("Okay."),
        Line("Okay."),
        max_turns=40,
    )
    first, last = (
        line
        for line, (_, move) in zip(talk.spoken, talk.moves, strict=True)
        if move == "agree_also"
    )
    assert re.search("hurts? you|being hurt", first) and re.search("hurt(?:ing)? yourself", last)


def test_who_does_not_agree_for_one_of_three_is_not_left_alone() -> None:
    talk = session(
        high(also=("harm_to_others", "abuse")),
        Line("For weeks."),
        *map(Line, ["Yes.", "No.", "No.", "Yes.", "Yes.", "No.", "No.", "My brother.", "Okay.", "No.", "Okay."]),
        Line("Thanks."),
        max_turns=40,
    )  # fmt: skip
    assert talk.steps[-5:] == ["agree_also", "agree_also", "involve", "help", "over"]


def test_intent_for_a_further_danger_is_acted_on() -> None:
    talk = session(
        high(also=("harm_to_others", "abuse")),
        Line("For weeks."),
        *map(Line, ["Yes.", "No.", "No.", "Yes.", "Yes.", "No.", "Yes.", "Okay."]),
        max_turns=40,
    )
    assert talk.steps[6:9] == ["intent_also", "intent_also", "emergency"]
    lines = words("en")["steps"]["emergency"]["lines"]["abuse"]
    assert talk.said_at("emergency")[:30] in {line[:30] for line in lines} | {
        line.replace("{name}", "Ines")[:30] for line in lines
    }
