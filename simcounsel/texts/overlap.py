"""What must not be read out: long stretches of an agenda in a line, or in a reasoning that should
speak of the client.
"""

from simcounsel.texts import sentences
from simcounsel.texts.quotes import is_chinese, units

SAME_WORDS, SAME_CHARACTERS = 6, 12
"""How many words (Chinese characters) in a row are a quotation; the corpus check for leaks counts
in the same way.
"""
Stretch = tuple[str, ...]


def stretches(text: str) -> tuple[Stretch, ...]:
    """All stretches of a text that are long enough to be a quotation, in order; a shorter text has
    none.
    """
    words = units(text)
    size = SAME_CHARACTERS if is_chinese(words) else SAME_WORDS
    return tuple(words[start : start + size] for start in range(len(words) - size + 1))


def read_out(text: str, agenda: tuple[str, ...], spoken: tuple[str, ...] = ()) -> str | None:
    """The first words of `agenda` that are in the text; None when there are none. spoken: what
    both have said, which anybody may repeat.
    """
    said = set(stretches(text)) - {one for line in spoken for one in stretches(line)}
    first = next((one for part in agenda for one in stretches(part) if one in said), None)
    return None if first is None else ("" if is_chinese(first) else " ").join(first)


def without(text: str, agenda: tuple[str, ...], spoken: tuple[str, ...] = ()) -> str:
    """The text without the sentences that read out the agenda, nor any pair of neighbours that does
    so together.
    """
    kept: list[str] = []
    for sentence in sentences.joinable(text):
        if read_out("".join([*kept[-1:], sentence]), agenda, spoken) is None:
            kept.append(sentence)
    return "".join(kept).strip()
