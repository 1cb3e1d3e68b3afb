"""Short answers to a question about danger: yes, no, neither, or the beginning of something else."""

import pytest

from simcounsel.safety.detector import heard_by_words as hear

SUICIDE, SAFE = "Are you thinking about suicide?", "Are you safe tonight?"


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
@pytest.mark.parametrize("asked", [SUICIDE, SAFE])
def test_an_unsure_stem_is_in_doubt(asked: str, said: str) -> None:
    heard = hear(said, "en", asked)
    assert (heard.level, heard.doubt, heard.denied) == ("low", True, ()), heard.why


@pytest.mark.parametrize(
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
@pytest.mark.parametrize("asked", [SUICIDE, SAFE])
def test_a_stem_that_goes_on_with_something_else_is_in_doubt(asked: str, said: str) -> None:
    heard = hear(said, "en", asked)
    assert (heard.level, heard.doubt, heard.denied) == ("low", True, ()), heard.why


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("said", "level"),
    [("I have no plan.", "none"), ("I have a plan.", "high"), ("I have no idea.", "low")],
)
def test_having_a_plan(said: str, level: str) -> None:
    assert hear(said, "en", "Do you have a plan?").level == level


def test_without_a_question_about_danger_a_stem_says_nothing() -> None:
    assert all(
        hear(said, "en", "Did you sleep well?") == hear("")
        for said in ("I am", "I am tired", "I do not", "I am not sure")
    )
