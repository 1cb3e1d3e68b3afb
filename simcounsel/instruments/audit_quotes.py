"""Whether words that are quoted as proof are in the conversation."""

import re
import unicodedata

from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.specs.items import Item

Lines = tuple[tuple[str, str], ...]
"""Who (`Client` or `Counselor`) and what."""
SPEAKER = {"client": CLIENT, "counselor": COUNSELOR}
_WORDS = re.compile(r"[㐀-鿿]{2}|[^\W㐀-鿿]+(?:['-][^\W㐀-鿿]+)*")
"""Two Chinese characters are taken for a word."""
_BEGINS, _ENDS = re.compile(r"[^\W㐀-鿿]"), re.compile(r"[^\W㐀-鿿]\Z")


def count_words(text: str) -> int:
    """Words, and pairs of Chinese characters."""
    return len(_WORDS.findall(text))


def stands_in(quote: str, item: Item, lines: Lines) -> bool:
    """Whether a quote is in one line of the right speaker in whole words, but for spaces,
    capitals, quotation marks and what ends it: two words at least, or the whole line.
    """
    wanted = _plain(quote)
    some = [
        _plain(text) for speaker, text in lines if item.by is None or speaker == SPEAKER[item.by]
    ]
    if count_words(wanted) < 2:
        return re.search(r"\w", wanted) is not None and any(
            wanted == text.strip("?!？！。") or wanted == text for text in some
        )
    begins, ends = (
        (r"(?<![^\W㐀-鿿])" if _BEGINS.match(wanted) else ""),
        (r"(?![^\W㐀-鿿])" if _ENDS.search(wanted) else ""),
    )
    return any(re.search(begins + re.escape(wanted) + ends, text) for text in some)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"^(client|counselor)\s*:", "", text.strip())
    return " ".join(re.sub(r"[\"'“”‘’«»„]", "", text).split()).strip(" .…")
