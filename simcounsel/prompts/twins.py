"""Short English texts of the code that reach a model, in the language of the world.

The descriptions of an answer's fields and what is wrong with an answer are English where they are
written, for the code and for whoever reads a log; what is sent has their twins out of
`LANGUAGE/descriptions.txt` and `LANGUAGE/complaints.txt`.
"""

import re
from functools import cache
from string import Template

from simcounsel.prompts import twins

_SLOT = re.compile(r"\\\$(\w+)")


def described(english: str, language: str) -> str | None:
    """The twin of a description in the schema of an answer, or what explains the words of a closed
    list, named in their order; None when there is none.
    """
    return twins("descriptions", language).get(" ".join(english.split()))


def complained(english: str, language: str) -> str:
    """The twin of what is wrong with an answer; the same text where there is none. A complaint
    may have slots (`there is no memory number $number`), whose words are kept, or told by a twin of
    their own.
    """
    for pattern, told in _complaints(language):
        found = pattern.fullmatch(english)
        if found:
            slots = {name: complained(text, language) for name, text in found.groupdict().items()}
            return told.safe_substitute(slots)
    return english


@cache
def _complaints(language: str) -> tuple[tuple[re.Pattern[str], Template], ...]:
    """What a complaint reads like, slots as groups, and its twin; longer ones first."""
    pairs = sorted(twins("complaints", language).items(), key=lambda one: -len(one[0]))
    return tuple(
        (re.compile(_SLOT.sub(r"(?P<\1>.+)", re.escape(english)), re.DOTALL), Template(told))
        for english, told in pairs
    )
