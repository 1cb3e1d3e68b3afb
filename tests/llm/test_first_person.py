"""Sentences about somebody, retold by that person."""

from pathlib import Path

import pytest

from simcounsel.specs.persona import load_persona
from simcounsel.standins.firstperson import base_of, going_on, past, present, retell
from tests.stage import ROOT


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Ines notices that she checks the clock most on nights before a sheet is due.",
            "I notice that I check the clock most on nights before a sheet is due.",
        ),
        (
            "Ines sees that the third coffee buys an hour of the day and sells an hour of the night.",
            "I see that the third coffee buys an hour of the day and sells an hour of the night.",
        ),
        (
            "Ines notices how things fit together and is generous with others.",
            "I notice how things fit together and am generous with others.",
        ),
        (
            "Ines keeps the phone beside her, and it never leaves her.",
            "I keep the phone beside me, and it never leaves me.",
        ),
        (
            "Nobody at the firm blamed her in so many words, and she has waited ever since.",
            "Nobody at the firm blamed me in so many words, and I have waited ever since.",
        ),
        ("Omar said to Ines: “Ines, she is here.”", "Omar said to me: “Ines, she is here.”"),
        (
            "Ines told Omar about “who I am” and “the one who left”.",
            "I told Omar about “who I am” and “the one who left”.",
        ),
        ("She drives her mother to the market and leaves her phone at home.", None),
        ("Ines would like to ask her mother what she needs.", None),
        ("Ines thanked her and opened the file.", None),
        ("Her doctor calls her healthy.", None),
    ],
)
def test_a_sentence(text: str, told: str | None) -> None:
    assert retell(text, "Ines", "she/her") == told


@pytest.mark.parametrize(
    ("text", "pronouns", "told"),
    [
        (
            "Walter hides his feet behind him and hums.",
            "he/him",
            "I hide my feet behind me and hum.",
        ),
        (
            "Walter sees himself in the window; the chair is his.",
            "he/him",
            "I see myself in the window; the chair is mine.",
        ),
        (
            "Walter believes that they sleep badly and count their hours.",
            "they/them",
            "I believe that I sleep badly and count my hours.",
        ),
    ],
)
def test_pronouns(text: str, pronouns: str, told: str) -> None:
    assert retell(text, "Walter", pronouns) == told


def test_people_of_the_same_pronouns_are_not_taken_for_oneself() -> None:
    assert retell("Ines told Lena that she worries.", "Ines", "she/her", others=("Lena",)) is None
    assert (
        retell("Ines told Lena that he worries.", "Ines", "she/her", others=("Lena",))
        == "I told Lena that he worries."
    )
    assert (
        retell("She asks whether Ines is eating.", "Ines", "she/her", linked=False)
        == "She asks whether I am eating."
    )


@pytest.mark.parametrize(
    ("text", "then", "now"),
    [
        (
            "lies awake and listens to the fridge start and stop",
            "lay awake and listened to the fridge start and stop",
            "lying awake and listening to the fridge start and stop",
        ),
        (
            "buys sesame and hears all the news",
            "bought sesame and heard all the news",
            "buying sesame and hearing all the news",
        ),
        (
            "takes her time choosing fish and flowers",
            "took my time choosing fish and flowers",
            "taking my time choosing fish and flowers",
        ),
        (
            "sits on the step until it gets cold",
            "sat on the step until it gets cold",
            "sitting on the step until it gets cold",
        ),
        ("hears the bell and does not get up", "heard the bell and did not get up", None),
    ],
)
def test_a_deed(text: str, then: str, now: str | None) -> None:
    assert retell(text, "Ines", "she/her", past, phrase=True) == then
    assert retell(text, "Ines", "she/her", going_on, phrase=True) == now


def test_verbs() -> None:
    assert [
        base_of(verb)
        for verb in ("watches", "tries", "ties", "goes", "is", "freezes", "washes", "uses")
    ] == ["watch", "try", "tie", "go", "be", "freeze", "wash", "use"]
    assert [past(verb) for verb in ("plan", "carry", "bake", "lie", "be", "play")] == [
        "planned",
        "carried",
        "baked",
        "lay",
        "was",
        "played",
    ]
    assert [going_on(verb) for verb in ("plan", "lie", "bake", "see", "be", "read")] == [
        "planning",
        "lying",
        "baking",
        "seeing",
        "being",
        "reading",
    ]
    assert present("be") == "am"


@pytest.mark.parametrize(
    "file", sorted((ROOT / "personas").glob("*.yaml")), ids=lambda file: file.stem
)
def test_everything_in_our_personas_can_be_told(file: Path) -> None:
    """Nobody speaks of oneself by name, and hardly anything a person does is left out."""
    persona = load_persona(file)
    name, others = persona.name.split()[0], [one.name.split()[0] for one in persona.people]
    deeds = [
        retell(routine.do, name, persona.pronouns, past, phrase=True, others=others)
        for routine in persona.routines
    ]
    thoughts = [
        retell(thought.say, name, persona.pronouns, others=others) for thought in persona.thoughts
    ]
    assert all(
        text is None or (name not in text and " I has " not in text and " I is " not in text)
        for text in (*deeds, *thoughts)
    )
    assert sum(text is None for text in deeds) <= 2
    assert sum(text is None for text in thoughts) <= len(thoughts) / 3
