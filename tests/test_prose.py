"""What people read has no word of the list, and fewer and fewer long sentences (`python -m tests.prose` lists both)."""

from tests.prose import long, tiring

LONG = 20
"""How many sentences are longer than they should be; it only falls."""
MEANT = {
    "live through",  # of people in a world
    "lived it",  # an item of a scale
    "of no use to anybody",
    "./lived.js",
}


def test_the_words_that_tire_are_gone() -> None:
    left = [one for one in tiring() if not any(words in one[2] for words in MEANT)]
    assert left == []


def test_long_sentences_only_become_fewer() -> None:
    found = [f"{where}: {one}" for where, one in long()]
    assert len(found) <= LONG, "\n".join(found)
