"""What a client has told is kept: times, means, people; no question is asked as if it had not been said."""

import json
import re
from random import Random

from simcounsel.danger.protection.circumstances import whose_danger
from simcounsel.danger.protection.data import told
from simcounsel.danger.protection.telling import Disclosures, conditional, time_named, told_so_far
from simcounsel.danger.protection.wording import Wanted
from simcounsel.events import Assessed, Judged
from simcounsel.events.practice import DangerDetails
from simcounsel.llm.question import Question
from simcounsel.specs.practice import SafetySettings
from tests.danger.planted import Line, Session, high, low, risk, session
from tests.each import each
from tests.stage import said, view


def told_in(*texts: str, language: str = "en", step: str = "plan") -> Disclosures:
    """Of lines in which danger was heard, after one of the counselor's at that step of the protocol."""
    lines = [said("Miriam", "And?"), *(said("Ines", text) for text in texts)]
    heard = tuple(
        Assessed(
            who="Ines",
            chat="c",
            message=number,
            level="high",
            kinds=("suicide",),
            by="words",
            evidence=(),
            why="",
        )
        for number in range(2, len(lines) + 1)
    )
    return told_so_far(
        view(
            *lines,
            me="Miriam",
            other="Ines",
            own=heard,
            moves=(step,),
            deciders=("safety",),
            language=language,
        )
    )


@each(
    ("text", "language", "when", "today"),
    [
        ("After Thursday I don't know.", "en", "After Thursday", False),
        ("Not before Thursday.", "en", "Not before Thursday", False),
        (
            "I want to be dead when that tram has gone by.",
            "en",
            "when that tram has gone by",
            False,
        ),
        ("I am going to do it on Sunday night.", "en", "on Sunday night", False),
        ("It will be tonight.", "en", "tonight", True),
        ("Once everyone is asleep.", "en", "Once everyone is asleep", False),
        ("On the 14th, and then it is over.", "en", "On the 14th", False),
        ("After the funeral.", "en", "After the funeral", False),
        (
            "They close on Thursday. After Thursday I don't know. I don't see a Friday.",
            "en",
            "After Thursday",
            False,
        ),
        ("Nothing on Sunday, then. I don't see a Monday.", "en", "on Sunday", False),
        ("In two days it will not matter.", "en", "In two days", False),
        ("I thought about it on Sunday.", "en", None, False),
        ("It has been like this since Monday.", "en", None, False),
        ("Every Thursday is the same.", "en", None, False),
        ("Not today.", "en", None, False),
        ("I don't want to talk.", "en", None, False),
        ("星期四之后我就不知道了。", "zh", "星期四之后", False),
        ("周日晚上。", "zh", "周日晚上", False),
        ("就今晚。", "zh", "今晚", True),
        ("等他们睡了以后。", "zh", "等他们睡了以后", False),
        ("过完年再说。", "zh", "过完年", False),
        ("上周日我想过。", "zh", None, False),
        ("不是今天。", "zh", None, False),
    ],
)
def test_a_time_to_come_is_heard(text: str, language: str, when: str | None, today: bool) -> None:
    found = told_in(text, language=language)
    assert (found.when, found.today) == (when, today)


def test_the_last_time_that_was_named_counts() -> None:
    assert told_in("On Sunday.", "No, tomorrow.").when == "tomorrow"


@each(
    ("text", "language", "means"),
    [
        ("I have put the pills aside.", "en", ("medicine",)),
        ("There is the bridge, and there are my tablets.", "en", ("medicine", "a height")),
        ("I cannot go on.", "en", ()),
        ("药我都攒着。", "zh", ("药物",)),
        ("我去过那座桥。", "zh", ("高处",)),
    ],
)
def test_a_means_is_heard_as_a_category(text: str, language: str, means: tuple[str, ...]) -> None:
    assert told_in(text, language=language).means == means


def test_what_is_said_of_other_things_is_no_means_and_no_time() -> None:
    lines = (said("Miriam", "Who helps?"), said("Ines", "My sister came by train, until Sunday."))
    seen = view(*lines, me="Miriam", other="Ines", moves=("protective",), deciders=("safety",))
    assert told_so_far(seen).means == () and told_so_far(seen).when is None


@each(
    ("texts", "language", "people", "alone"),
    [
        (("My sister is here.",), "en", ("your sister",), False),
        (("Lena's in the next room.",), "en", ("Lena",), False),
        (("I'm alone at home.",), "en", (), True),
        (("I'm on my own.", "My brother is on his way."), "en", ("your brother",), False),
        (("He is nice.",), "en", (), False),
        (("我妈妈在家。",), "zh", ("你妈妈",), False),
        (("家里没人。",), "zh", (), True),
        (("小雅在陪着我。",), "zh", ("小雅",), False),
    ],
)
def test_who_is_near_is_heard(
    texts: tuple[str, ...], language: str, people: tuple[str, ...], alone: bool
) -> None:
    found = told_in(*texts, language=language)
    assert (found.people, found.alone) == (people, alone)


@each(
    ("text", "language", "today"),
    [
        ("Tonight.", "en", True),
        ("No. Not before Thursday.", "en", False),
        ("I don't know about tonight.", "en", None),
        ("Maybe tomorrow.", "en", None),
        ("Yes.", "en", None),
        ("周四。", "zh", False),
        ("也许明天。", "zh", None),
    ],
)
def test_a_time_in_an_answer(text: str, language: str, today: bool | None) -> None:
    assert time_named(text, language) is today


@each(
    ("text", "language", "holds"),
    [
        ("No. Not before Thursday.", "en", True),
        ("Only if she leaves me.", "en", True),
        ("Not yet.", "en", True),
        ("Okay, as long as my mother does not hear of it.", "en", True),
        ("No, I never would.", "en", False),
        ("Yes, I can do that.", "en", False),
        ("除非她离开我。", "zh", True),
        ("星期天之前不会。", "zh", True),
        ("不会的。", "zh", False),
    ],
)
def test_an_answer_under_a_condition(text: str, language: str, holds: bool) -> None:
    assert conditional(text, language) is holds


# in a session


def worded(seen: list[Question], move: str) -> Question:
    return next(one for one in seen if one.facts.move == move)  # type: ignore[union-attr]


def thursday(seen: list[Question] | None = None) -> Session:
    """The talk of which a capable model's counselor made "agree for today" and a Socratic question."""

    def line(request: Question, draw: Random) -> str:
        assert seen is not None
        seen.append(request)
        say = f"I see, number {draw.randrange(10**6)}."
        return json.dumps(
            {"say": say, "emotion": "trust", "intensity": 3, "poignancy": 3, "wish": "go on"}
        )

    return session(
        Line("Hello."),
        high("After Thursday I don't know."),
        Line("It is enough."),
        Line("Yes."),
        Line("No."),
        Line("No. Not before Thursday."),
        Line("There's Lena."),
        Line("Okay, I can do that."),
        Line("Hm."),
        Line("Thanks."),
        scripts={} if seen is None else {"line_counselor": line},
    )


def test_a_day_that_was_named_is_a_plan_and_not_before_it_is_no_plain_no() -> None:
    talk = thursday()
    assert talk.steps == [
        "acknowledge",
        "ask_directly",
        "means",
        "intent",
        "protective",
        "agree",
        "involve",
        "help",
        "over",
    ]
    assert ("intent", "conditional", "words") in talk.verdicts
    assert "Thursday" in talk.said_at("agree")


def test_every_prompt_of_it_is_told_what_is_known() -> None:
    seen: list[Question] = []
    talk = thursday(seen)
    begins = told("en")["known"]
    for step in talk.steps[:-1]:
        prompt = worded(seen, step).prompt
        assert prompt.count(begins) == 1
        assert "It is about thoughts of killing themselves." in prompt
        assert "They named a time: “After Thursday”" in prompt or step in talk.steps[4:]
    assert "They named “After Thursday”: ask about today, and about that time." in (
        worded(seen, "intent").prompt
    )
    late = worded(seen, "help").prompt
    assert "They named a time: “Not before Thursday”" in late
    assert "for today: not now, or only under a condition" in late
    assert "live for somebody: Lena" in late


def test_it_stays_what_the_talk_is_about_after_it_was_met() -> None:
    seen: list[Question] = []
    talk = thursday(seen)
    own = {move for policy, move in talk.moves if policy == "socratic"}
    after = [one for one in seen if one.facts.move in own and "Lena" in one.prompt]  # type: ignore[union-attr]
    assert after and all(
        "it goes on being the main thing" in one.prompt and "Thursday" in one.prompt
        for one in after
    )


def test_whoever_reads_an_answer_is_told_nothing_that_is_for_the_counselor() -> None:
    read: list[Question] = []

    def answer(request: Question, draw: Random) -> str:
        read.append(request)
        return "unclear"

    session(
        high("After Thursday I don't know, with the pills."),
        Line("."),
        high("Grey, I would call it, and quiet."),
        Line("Who knows, the bus, the rain."),
        scripts={"safety_answer": answer},
    )
    prompts = "\n".join(one.prompt for one in read)
    assert "They named a time: “After Thursday”." in prompts and "has to hold" not in prompts
    assert "They spoke of a means: medicine." in prompts and "out of their reach" not in prompts
    for one in read:
        assert one.prompt.count(one.facts.answer) == 1, "only as the answer"  # type: ignore[union-attr]


def test_before_anything_was_said_no_prompt_is_told_of_danger() -> None:
    seen: list[Question] = []
    thursday(seen)
    assert told("en")["known"] not in seen[0].prompt


@each(
    ("text", "language", "quoted", "asked"),
    [
        ("I want to end my life.", "en", "I want to end my life", "killing yourself|suicide"),
        ("我想自杀。", "zh", "我想自杀", "自杀|结束自己生命"),
    ],
)
def test_what_was_said_by_name_is_named_and_a_plan_asked_for(
    text: str, language: str, quoted: str, asked: str
) -> None:
    talk = session(
        high(text), Line("."), Line("有。" if language == "zh" else "Yes."), language=language
    )
    assert talk.steps[:3] == ["acknowledge", "plan", "means"]
    assert quoted in talk.said_at("acknowledge")
    assert re.search(asked, talk.said_at("plan"))


def test_its_prompt_says_to_ask_by_name_for_a_plan() -> None:
    seen: list[Question] = []

    def line(request: Question, draw: Random) -> str:
        seen.append(request)
        return "no line"

    session(high("I want to end my life."), Line("."), scripts={"line_counselor": line})
    assert told("en")["openly"] in worded(seen, "plan").prompt
    assert told("en")["openly"] not in worded(seen, "means").prompt


def test_the_aim_of_a_step_is_that_of_the_danger() -> None:
    for kind, words_of_it in (("suicide", "a time for it"), ("abuse", "getting worse")):
        seen: list[Question] = []

        def line(request: Question, draw: Random, seen: list[Question] = seen) -> str:
            seen.append(request)
            return "no line"

        session(
            high("It is so.", kind=kind),  # type: ignore[arg-type]
            Line("."),
            Line("Yes."),
            scripts={"line_counselor": line},
        )
        assert words_of_it in worded(seen, "plan").prompt


def test_a_word_for_a_means_may_be_taken_up_where_the_client_said_it() -> None:
    wanted = Wanted(language="en", heard="i've been cutting again. since sunday.")
    assert wanted.problem("You said that you've been cutting again.") is None
    assert "must not name a means" in (wanted.problem("Do you use a razor?") or "")
    assert "must not name a means" in (
        Wanted(language="en").problem("You said that you've been cutting again.") or ""
    )


def test_a_model_says_of_what_kind_it_is_what_only_it_hears_while_danger_is_open() -> None:
    talk = session(
        Line("I want to kill myself."),
        Line("The stop is outside of my house, that is all I say."),
        scripts={"risk": lambda request, draw: risk("high", "suicide")},
        listens=SafetySettings(),
    )
    heard = [event for event in talk.of(Assessed) if event.by == "model"]
    assert heard and heard[0].kinds == ("suicide",)


def test_a_wish_to_die_is_still_asked_about() -> None:
    assert session(low("I want to die."), Line(".")).steps[:2] == ["acknowledge", "ask_directly"]


def test_what_is_asked_once_more_says_what_was_left_open() -> None:
    seen: list[Question] = []

    def line(request: Question, draw: Random) -> str:
        seen.append(request)
        return "no line"

    talk = session(
        high(),
        Line("."),
        Line("It depends on what you call it, the grey, the quiet."),
        Line("Yes."),
        scripts={"line_counselor": line, "safety_answer": lambda request, draw: "unclear"},
    )
    assert talk.steps[:3] == ["acknowledge", "ask_directly", "plan"]  # it depends: no plain answer
    talk = session(
        high(),
        Line("."),
        Line("What you call it, the grey, the quiet."),
        Line("Yes."),
        scripts={"line_counselor": line, "safety_answer": lambda request, draw: "unclear"},
    )
    assert talk.steps[:3] == ["acknowledge", "ask_directly", "ask_directly"]
    prompts = [one.prompt for one in seen if one.facts.move == "ask_directly"]  # type: ignore[union-attr]
    first, again = prompts[-4], prompts[-1]  # each is asked twice, as its line does not do
    assert "“What you call it, the grey, the quiet.” to this question left it open" in again
    assert "left it open" not in first
    lines = [
        text
        for (_, move), text in zip(talk.moves, talk.spoken, strict=True)
        if move == "ask_directly"
    ]
    assert any(lines[1].startswith(begins) for begins in told("en")["again_words"])


def test_an_agreement_under_a_condition_is_asked_for_once_more_then_others_come_in() -> None:
    talk = session(
        high(),
        Line("."),
        Line("Yes."),
        Line("No."),
        Line("No."),
        Line("My mother."),
        Line("Only if she does not hear of it."),
        Line("Only if she does not hear of it, I said."),
        Line("Fine."),
    )
    assert talk.steps[5:9] == ["agree", "agree", "involve", "help"]


def test_while_danger_is_open_a_model_judges_every_line() -> None:
    asked: list[str] = []

    def judge(request: Question, draw: Random) -> str:
        asked.append(request.prompt)
        return risk("none")

    session(
        Line("The week was long."),
        Line("I want to kill myself."),
        Line("It rains a lot."),
        Line("Yes."),
        Line("No."),
        Line("The bus was late."),
        Line("My mother."),
        Line("Okay, I can do that."),
        Line("Thanks."),
        Line("The garden is green."),
        scripts={"risk": judge},
        listens=SafetySettings(),
    )
    about = [
        next(line for line in one.splitlines() if line.startswith("The client's line"))
        for one in asked
    ]
    assert (
        "The client's line: It rains a lot." in about
        and "The client's line: The bus was late." in about
    )
    assert not any("week was long" in one or "garden is green" in one for one in about)
    open_ = asked[1:]
    assert asked[0].count("I want to kill myself.") == 1
    assert all("I want to kill myself." in one for one in open_)
    assert all("What the danger was taken to be so far: suicide" in one for one in open_)
    assert "where danger was heard: “I want to kill myself.”" in open_[-1]


def test_what_the_client_says_corrects_the_kind() -> None:
    """Taken for being hurt, denied, and meant otherwise: then suicide is asked about by name."""
    talk = session(
        high("I hand over the key on Friday.", "abuse"),
        Line("It is a small key."),
        Line("Nobody's hurting me, no. The other one."),
        Line("Yes."),
        scripts={"safety_answer": lambda request, draw: "no"},
    )
    assert talk.steps[:3] == ["acknowledge", "ask_directly", "ask_directly"]
    asked = [
        text
        for text, (_, move) in zip(talk.spoken, talk.moves, strict=True)
        if move == "ask_directly"
    ]
    assert not re.search("kill|suicid|your (own )?life", asked[0]) and re.search(
        "kill|suicid|your (own )?life", asked[1]
    )
    which = [event for event in talk.of(Judged) if event.question == "which danger"]
    assert [(event.verdict, event.by) for event in which] == [("suicide", "words")]


def test_a_plain_denial_names_no_other_kind() -> None:
    talk = session(high("I hand over the key on Friday.", "abuse"), Line("No."), Line("No."))
    assert [event for event in talk.of(Judged) if event.question == "which danger"] == []


def test_a_model_that_judges_corrects_the_kind() -> None:
    def judge(request: Question, draw: Random) -> str:
        line = request.prompt.split("The client's line:")[1]
        return risk("high", "abuse" if "key" in line.split("\n")[0] else "suicide", when="Friday")

    talk = session(
        Line("My sister gets the key on Friday, he has hit me for the last time."),
        Line("No, he isn't the trouble."),
        Line("No. It's me who won't be here after Friday."),
        scripts={"risk": judge, "safety_answer": lambda request, draw: "no"},
        listens=SafetySettings(),
    )
    assert "suicide" in talk.of(Assessed)[1].kinds
    assert any(re.search("kill|suicid|your (own )?life", text) for text in talk.spoken[2:4])


def test_a_weekday_before_a_noun_is_no_time() -> None:
    """Played by hand: it was kept as "After the Thursday"."""
    assert told_in("Friday. After the Thursday repair's been picked up.").when == "Friday"
    assert told_in("I will do it after the weekend.").when == "after the weekend"


def test_what_a_model_read_goes_before_the_rules() -> None:
    details = DangerDetails(when="Sunday", people=("my sister",), means="the boat")
    heard = Assessed(
        who="Ines",
        chat="c",
        message=2,
        level="high",
        kinds=("suicide",),
        by="model",
        evidence=(),
        why="",
        details=details,
    )
    lines = (said("Miriam", "And?"), said("Ines", "Saturday it goes back. Sunday, in the boat."))
    known = told_so_far(view(*lines, me="Miriam", other="Ines", own=(heard,)))
    assert (known.when, known.named, known.means) == ("Sunday", ("my sister",), ("the boat",))


def test_whose_life_it_is_by_a_model() -> None:
    def heard(whose: str | None) -> Assessed:
        return Assessed(
            who="Ines",
            chat="c",
            message=2,
            level="high",
            kinds=("suicide",),
            by="model",
            evidence=(),
            why="",
            details=DangerDetails(whose=whose),
        )

    lines = (said("Miriam", "And?"), said("Ines", "My brother said thank you to all of us."))
    for whose, called in (("My brother", "your brother"), ("Tess", "Tess"), (None, None)):
        seen = view(*lines, me="Miriam", other="Ines", own=(heard(whose),))
        assert whose_danger(seen)[1] == called
