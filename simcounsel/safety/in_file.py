"""Danger that a client's file holds: what a stand-in knows, who speaks lines out of that file.

A line that was chosen out of a file means what the file means. So where no model judges, a hint in
such a line counts only if the file speaks of danger openly somewhere: in the client's lines, or in
what is written about the client.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from simcounsel.safety.detector import heard_by_words
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.vocabulary import DANGERS, Danger


def dangers_in_lines(lines: Iterable[str], language: str | None = None) -> tuple[Danger, ...]:
    """The kinds of danger that a client's lines speak of openly, in the order of DANGERS."""
    return _in_order(kind for line in lines for kind in _openly(line, language))


def dangers_in_file(persona: ClientPersona, language: str | None = None) -> tuple[Danger, ...]:
    """The kinds of danger that a client's file speaks of openly, whoever is the subject: most of it
    is written about the client by name.
    """
    texts = tuple(_texts(persona.model_dump(exclude={"voice"})))
    spoken = tuple(line.text for line in persona.voice)
    return _in_order((*_named(texts, language), *dangers_in_lines(spoken, language)))


@lru_cache(maxsize=64)
def _named(texts: tuple[str, ...], language: str | None) -> tuple[Danger, ...]:
    """Words that say it, which is no hint; denied, past or another's all the same."""
    return tuple(
        one.kind
        for text in texts
        for one in heard_by_words(text, language).evidence
        if one.level != "none" and one.points == 0
    )


@lru_cache(maxsize=8192)
def _openly(line: str, language: str | None) -> tuple[Danger, ...]:
    heard = heard_by_words(line, language)
    return heard.kinds if heard.floor != "none" else ()


def _texts(value: object) -> Iterator[str]:
    """All texts in data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _in_order(kinds: Iterable[Danger]) -> tuple[Danger, ...]:
    some = set(kinds)
    return tuple(kind for kind in DANGERS if kind in some)
