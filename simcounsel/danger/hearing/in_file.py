"""Danger that a client's file holds: what a stand-in knows, who speaks lines out of that file.

A line that was chosen out of a file means what the file means. So where no model judges, a hint in
such a line counts only if the file speaks of danger openly somewhere: in the client's lines, or in
what is written about the client.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from simcounsel.danger.hearing.detector import heard_by_words
from simcounsel.danger.hearing.lexicon import lexicons
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.vocabulary import DANGERS, Danger


def dangers_in_lines(lines: Iterable[str], language: str) -> tuple[Danger, ...]:
    """The kinds of danger that a client's lines speak of openly, in the order of DANGERS."""
    some = {kind for line in lines for kind in _openly(line, language)}
    return tuple(kind for kind in DANGERS if kind in some)


def dangers_in_file(persona: ClientPersona, language: str) -> tuple[Danger, ...]:
    """The same of a client's whole file: of most of it as if the client said it of themselves,
    since it is written about them.
    """
    name = persona.name.split()[0]
    texts = [line.text for line in persona.voice]
    for one in _texts(persona.model_dump(exclude={"voice"})):
        texts += _as_said(one, name, language)
    return dangers_in_lines(texts, language)


@lru_cache(maxsize=16384)
def _openly(line: str, language: str) -> tuple[Danger, ...]:
    evidence = heard_by_words(line, language).evidence
    return tuple(one.kind for one in evidence if one.level != "none" and not one.doubt)


def _as_said(text: str, name: str, language: str) -> Iterator[str]:
    """What is written about somebody as they would say it; twice where a word has two meanings."""
    lexicon = lexicons().get(language)
    if lexicon is None:
        return
    known = lexicon.words
    said = known.reported | {name.casefold(): known.own[0]}
    yield _turned(text, said, spaced=known.spaced)
    if known.reported_too:
        yield _turned(text, said | known.reported_too, spaced=known.spaced)


def _turned(text: str, said: Mapping[str, str], *, spaced: bool) -> str:
    if not spaced:
        return "".join(said.get(one, one) for one in text)
    return re.sub(r"[\w']+", lambda word: said.get(word[0].casefold(), word[0]), text)


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
