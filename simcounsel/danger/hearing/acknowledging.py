"""Whether a counselor's line acknowledges the danger that a client spoke of."""

import re

from simcounsel.danger.hearing.detector import heard_by_words
from simcounsel.danger.hearing.grammar import Line
from simcounsel.danger.hearing.lexicon import Entry, lexicons
from simcounsel.danger.hearing.phrases import asks_back, help_named, incited
from simcounsel.danger.hearing.reading import languages_of
from simcounsel.specs.vocabulary import Danger
from simcounsel.texts import sentences
from simcounsel.texts.sentences import Span

ECHO = 3
"""This many words in a row of the place, three in four of a longer one, are the client's own words
("If you went to sleep and that was it?").
"""
OWN_LIFE: tuple[Danger, ...] = ("suicide", "self_harm")
_WORDS = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:'[^\W_]+)*")


def acknowledges(
    line: str, said: str, place: Span, kind: Danger | None = None, *, first: bool = False
) -> bool:
    """Whether a counselor's line takes up what the client said there: by naming it, by asking for
    safety, or by a question about it or help named in the client's own words.

    Danger to the client's own life wants more than a word of violence: the act with `you` or
    `yourself`, or safety. A word that is waved away ("don't talk about dying") does not count, and
    a line that incites takes nothing up. kind: the danger; found from the place if not given.
    first: nobody spoke in between.
    """
    kind = kind or next(
        (one.kind for one in heard_by_words(said).evidence if one.span == place), None
    )
    return not incited(line, to_danger=first) and (
        _names(line, own=kind in OWN_LIFE) or _asks_in_their_words(line, said[slice(*place)])
    )


def _names(text: str, *, own: bool) -> bool:
    for code in languages_of(text, None):
        lexicon = lexicons().get(code)
        if lexicon is None:
            continue
        line = Line(text, lexicon)
        entries = lexicon.counselor.fitting(line.text)
        brushed = [entry for entry in entries if entry.section == "brushed_off"]
        naming = [
            entry
            for entry in entries
            if entry.section == "acknowledged"
            or (entry.section == "violence_acknowledged" and not own)
        ]
        if any(
            not _brushed_off(line, span, brushed) for entry in naming for span in line.places(entry)
        ):
            return True
    return False


def _brushed_off(line: Line, span: Span, brushed: list[Entry]) -> bool:
    """Whether the sentence waves away what it names there, before it or in the same words."""
    start, _ = line.sentence(span)
    return any(True for entry in brushed for _ in line.places(entry, (start, span[1])))


def _asks_in_their_words(line: str, place: str) -> bool:
    """Whether the sentence with the client's words is a question, the next one asks back, or the
    line names help.
    """
    if not _echoes(line, place):
        return False
    said = [line[start:end] for start, end in sentences.spans(line)]
    if any(help_named(line, code) for code in languages_of(line, None)):
        return True
    return any(
        _echoes(one, place) and (one.rstrip().endswith(("?", "？")) or asks_back(following))
        for one, following in zip(said, [*said[1:], ""], strict=True)
    )


def _echoes(line: str, place: str) -> bool:
    words, answer = _words(place), _words(line)
    size = max(ECHO, -(-3 * len(words) // 4))
    runs = {tuple(answer[start : start + size]) for start in range(len(answer) - size + 1)}
    return any(tuple(words[start : start + size]) in runs for start in range(len(words) - size + 1))


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.lower().replace("’", "'"))
