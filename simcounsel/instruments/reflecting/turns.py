"""The turns of a counselor in what they belong to: in a transcript of speech a turn is often broken
by a `Yeah` of the client's, and goes on after it.
"""

from collections.abc import Iterable, Iterator

from simcounsel.instruments.material import CLIENT
from simcounsel.texts.chinese import is_chinese

FEW = 3
"""So few words of a client's line say nothing that could be given back by themselves: what was said
before still counts as heard."""
_DASHES = ("-", "–", "—")


def in_context(lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Of each turn of the counselor (what the client had said, the turn): the turn with the part
    before where it only goes on. lines: (`Client` or `Counselor`, text).
    """
    heard = before = ""
    for speaker, text in lines:
        if speaker == CLIENT:
            heard = f"{heard} {text}".strip() if _little(text) else text
            continue
        goes_on = before.endswith(_DASHES) and text.startswith(_DASHES)
        before = f"{before.rstrip('-–— ')} {text.lstrip('-–— ')}" if goes_on else text
        yield heard, before


def _little(text: str) -> bool:
    return len(text) < 2 * FEW if is_chinese(text) else len(text.split()) < FEW
