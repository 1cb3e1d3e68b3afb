"""Short answers to a question about danger: yes, no, neither, or the beginning of something else."""

from simcounsel.danger.hearing.answers import Asked
from simcounsel.danger.hearing.detector import heard_by_words as hear
from simcounsel.danger.protection.ladder import STEPS, Step
from simcounsel.danger.protection.wording import asks_of, lines_of
from simcounsel.safety.help import Help
from simcounsel.specs.vocabulary import DANGERS, Language
from tests.each import each

SUICIDE, SAFE = "Are you thinking about suicide?", "Are you safe tonight?"


@each(
    "said",
    [
        "I do",
        "I am.",
        "I have, yes.",
        "I do sometimes.",
        "I have been, lately",
        "I'm thinking about it.",
        "I do think about it",
        "I am and it scares me",
    ],
)
def test_a_stem_that_ends_its_clause_is_a_yes(said: str) -> None:
    heard = hear(said, "en", SUICIDE)
    assert (heard.level, heard.doubt, heard.denied) == ("high", False, ()), heard.why


@each(
    "said",
    [
        "I do not",
        "I do not think so",
        "I have never",
        "I am not.",
        "I don't think so",
        "I did not, no",
        "I would never do that",
        "I'm not, really",
    ],
)
def test_a_negated_stem_is_a_no(said: str) -> None:
    heard = hear(said, "en", SUICIDE)
    assert (heard.level, heard.doubt, heard.denied) == ("none", False, ("suicide",)), heard.why
    safe = hear(said, "en", SAFE)
    assert (safe.level, safe.doubt, safe.denied) == ("high", False, ()), safe.why


@each(
    "said",
    [
        "I am not sure",
        "I'm not certain",
        "I do not know",
        "I would rather not say",
        "I do not want to talk about it",
        "I would not say no",
        "I might",
    ],
)
@each("asked", [SUICIDE, SAFE])
def test_an_unsure_stem_is_in_doubt(asked: str, said: str) -> None:
    heard = hear(said, "en", asked)
    assert (heard.level, heard.doubt, heard.denied) == ("low", True, ()), heard.why


@each(
    "said",
    [
        "I am fine.",
        "I'm fine.",
        "I have a dog",
        "I am tired, the baby cried all night.",
        "I do wonder about the cat",
        "I do love my kids",
        "I am scared",
        "I am not happy",
        "I don't sleep",
        "I never eat breakfast",
        "I have no friends",
        "It is raining",
        "I am at home",
    ],
)
@each("asked", [SUICIDE, SAFE])
def test_a_stem_that_goes_on_with_something_else_is_in_doubt(asked: str, said: str) -> None:
    heard = hear(said, "en", asked)
    assert (heard.level, heard.doubt, heard.denied) == ("low", True, ()), heard.why


@each(
    ("asked", "said", "level"),
    [
        (SAFE, "I am safe", "none"),
        (SAFE, "I'm safe with my sister", "none"),
        (SAFE, "I am not safe", "high"),
        ("Do you feel safe at home?", "I do feel safe", "none"),
        ("Do you feel safe at home?", "I don't feel safe", "high"),
    ],
)
def test_a_stem_that_goes_on_with_the_words_of_a_question_for_safety(
    asked: str, said: str, level: str
) -> None:
    heard = hear(said, "en", asked)
    assert (heard.level, heard.doubt) == (level, False), heard.why


@each(
    ("said", "level"),
    [("I have no plan.", "none"), ("I have a plan.", "high"), ("I have no idea.", "low")],
)
def test_having_a_plan(said: str, level: str) -> None:
    asked = (Asked(kind="suicide"),)
    assert hear(said, "en", "Do you have a plan?", asked).level == level


def test_without_a_question_about_danger_a_stem_says_nothing() -> None:
    assert all(
        hear(said, "en", "Did you sleep well?") == hear("")
        for said in ("I am", "I am tired", "I do not", "I am not sure")
    )


ORDINARY = (
    "You sort of have a plan to cut back?",
    "Have you got a plan for the weekend?",
    "Have you thought about how you would do it without the car?",
    "Do you have your pills with you, for the trip?",
    "Have you tried that before?",
    "Is there anything that helps?",
)


@each("asked", ORDINARY)
@each("said", ["Yeah, definitely.", "No.", "I don't know.", "Yes."])
def test_an_ordinary_question_opens_no_danger(asked: str, said: str) -> None:
    heard = hear(said, "en", asked)
    assert (heard.level, heard.doubt, heard.denied, heard.evidence) == ("none", False, (), ())


@each("language", ["en", "zh"])
@each("step", [step for step in STEPS if step != "over"])
def test_an_answer_to_the_protocol_is_about_its_own_danger(step: Step, language: Language) -> None:
    """Every line by hand, for every danger: a yes or no is never about another one, and is danger
    only where the step's question makes it so.
    """
    yes, no, unsure = (
        ("Yes.", "No.", "I don't know.") if language == "en" else ("是的。", "没有。", "不知道。")
    )
    for kind in DANGERS:
        asks = asks_of(step, kind)
        for line in lines_of(step, kind, Help(locale=LOCALE[language], language=language)):
            for said, means in ((yes, True), (no, False)):
                heard = hear(said, language, line, asks)
                danger = bool(asks) and asks[0].to_yes == means
                assert heard.kinds == ((kind,) if danger else ()), (
                    step,
                    kind,
                    said,
                    line,
                    heard.why,
                )
                assert heard.level == ("high" if danger else "none")
                assert heard.denied == ((kind,) if asks and not danger else ())
            heard = hear(unsure, language, line, asks)
            assert heard.kinds == ((kind,) if asks else ()), (step, kind, line, heard.why)


LOCALE = {"en": "en-GB", "zh": "zh-CN"}


def test_asks_of_the_steps() -> None:
    assert asks_of("intent", "harm_to_others") == (Asked(kind="harm_to_others", to_yes=True),)
    assert asks_of("distance", "suicide") == (Asked(kind="suicide", to_yes=False),)
    assert asks_of("help", "abuse") == asks_of("acknowledge", "suicide") == ()


def test_where_a_decision_asked_only_an_answer_counts() -> None:
    """By a question's words alone it may be one; the protocol asks again by itself."""
    asked = (Asked(kind="suicide"),)
    said = "I was at the window with a tea."
    assert hear(said, "en", SUICIDE, asked).evidence == ()
    assert hear("I don't know.", "en", SUICIDE, asked).level == "low"
    assert hear("I have.", "en", SUICIDE, asked).level == "high"
