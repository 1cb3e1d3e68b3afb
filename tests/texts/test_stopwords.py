"""The lists of words that say little."""

from simcounsel.corpus.disclosure import content as told
from simcounsel.texts import stopwords
from simcounsel.texts.quotes import content
from tests.each import each


@each("name", [name for name in vars(stopwords) if name.isupper()])
def test_every_list_holds_the_small_words_in_small_letters(name: str) -> None:
    words = getattr(stopwords, name)
    assert words >= stopwords.SMALL
    assert all(word == word.lower() and word.strip("' ") == word for word in words)


def test_each_reader_leaves_out_its_own() -> None:
    assert content("nobody wanted it") == {"want"}
    assert told("nobody wanted it") == told("nobody")
