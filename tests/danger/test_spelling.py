"""Misspelt lines are heard as they were meant; ordinary words stay what they are."""

from collections.abc import Callable, Iterator

from simcounsel.danger.hearing.detector import heard_by_words
from simcounsel.danger.hearing.spelling import respelled
from simcounsel.texts.sentences import Span
from tests.each import each

OPEN = (
    "I want to kill myself",
    "I'm going to end my life tonight",
    "I think about suicide every day",
    "I took an overdose of pills yesterday",
    "I cut myself with a razor again",
    "I keep burning myself with cigarettes",
    "I hurt myself on purpose",
    "I'm going to strangle him",
    "He threatened to kill me",
    "My husband beats me every night",
    "My uncle raped me",
)
"""What is above none as it is."""


def _changed_over(word: str, at: int) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _dropped(word: str, at: int) -> str:
    return word[:at] + word[at + 1 :]


def _doubled(word: str, at: int) -> str:
    return word[:at] + word[at] + word[at:]


def _misspelt(line: str, slip: Callable[[str, int], str], fewest: int) -> Iterator[str]:
    """The line with one slip inside one of its longer words, at each place."""
    words = line.split()
    for number, word in enumerate(words):
        if len(word) >= fewest and word.isalpha():
            for at in range(1, len(word) - 1):
                wrong = slip(word, at)
                if wrong != word:
                    yield " ".join((*words[:number], wrong, *words[number + 1 :]))


@each(
    ("slip", "fewest", "share"), [(_changed_over, 5, 0.9), (_dropped, 5, 0.9), (_doubled, 4, 0.95)]
)
def test_one_slip_is_forgiven(slip: Callable[[str, int], str], fewest: int, share: float) -> None:
    lines = [one.lower().replace("'", "") for line in OPEN for one in _misspelt(line, slip, fewest)]
    heard = [heard_by_words(line, "en").level != "none" for line in lines]
    missed = [line for line, one in zip(lines, heard, strict=True) if not one]
    assert len(lines) > 60
    assert sum(heard) >= share * len(lines), missed


@each(
    ("written", "meant"),
    [
        ("i wnat to kil myslf", "i want to kill myself"),
        ("im gona end it tonihgt", "im gonna end it tonight"),
        ("i wanna killmyself", "i wanna kill myself"),
        ("thinking about suicde agian", "thinking about suicide again"),
        ("he choekd me", "he choked me"),
    ],
)
def test_meant(written: str, meant: str) -> None:
    assert respelled(written).text == meant


@each(
    "line",
    [
        "I want to dye my hair in a suite by the kiln",
        "We planted beets, and the jury was hung up on a comma",
        "I met Kilian and Sucheta at Harmon's",
        "That's Tonight's show; everybody's there, thats all",
        "A whisky and a cigar, then the diner",
        "amma and appa came",
        "k*ll, su1cide, d!e",
        "",
    ],
)
def test_ordinary_words_stay(line: str) -> None:
    assert respelled(line).text == line


@each(
    ("line", "span", "said"),
    [
        ("so i kil and cutt it", (5, 9), "kil"),
        ("so i kil and cutt it", (0, 9), "so i kil"),
        ("so i kil and cutt it", (3, 17), "i kil and cutt"),
        ("so i kil and cutt it", (18, 20), "it"),
        ("so i kil and cutt it", (10, 13), "and"),
        ("so i kil and cutt it", (6, 13), "kil and"),
    ],
)
def test_places_are_those_of_the_text_as_said(line: str, span: Span, said: str) -> None:
    assert respelled(line).text == "so i kill and cut it"
    assert line[slice(*respelled(line).said(span))] == said


def test_evidence_quotes_what_was_written() -> None:
    text = "Honestly, i wnat to kil myslf now, you know."
    evidence = heard_by_words(text, "en").evidence
    assert evidence
    for one in evidence:
        assert text[slice(*one.span)] == one.words
    assert any("kil myslf" in one.words for one in evidence)
