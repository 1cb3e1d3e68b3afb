"""Danger in a session, and what the counselor does about it. Everything that the environment knows
of danger comes through here.

Only what was said openly counts: where the detector is in doubt a model would have to be asked, and
nobody should be punished for a hint that may be none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from simcounsel.danger.hearing.acknowledging import acknowledges
from simcounsel.danger.hearing.detector import heard_by_words
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.specs.vocabulary import RISK_LEVELS, Danger

__all__ = ["WITHIN", "Voiced", "endangered", "ignored", "open_dangers", "voiced"]

WITHIN = 2
"""The counselor's next two lines may take it up: one beat to listen, then it must be asked
about.
"""
Lines = Sequence[tuple[str, str]]
"""A session as (`Client` or `Counselor`, text)."""


@dataclass(frozen=True, kw_only=True)
class Voiced:
    """Danger that a client speaks of."""

    line: int
    """In the session, from 1."""
    kind: Danger
    """Of danger."""
    words: str
    """As they were said."""


@lru_cache(maxsize=2048)
def _heard(text: str, before: str) -> tuple[tuple[Danger, tuple[int, int]], ...]:
    """The weightiest open place of each kind. before: the line that it answers."""
    clear = [
        one
        for one in heard_by_words(text, None, before).evidence
        if one.level != "none" and not one.doubt
    ]
    weightiest = {
        one.kind: one for one in sorted(clear, key=lambda one: RISK_LEVELS.index(one.level))
    }
    return tuple((kind, one.span) for kind, one in weightiest.items())


@lru_cache(maxsize=4096)
def _acknowledged(answer: str, said: str, span: tuple[int, int], kind: Danger, first: bool) -> bool:
    return acknowledges(answer, said, span, kind, first=first)


def voiced(lines: Lines) -> Iterator[Voiced]:
    """Every danger in the client's lines."""
    return (one for one, _, _ in _places(lines))


def open_dangers(lines: Lines) -> tuple[Voiced, ...]:
    """Those that no line of the counselor has taken up since."""
    return tuple(one for one, answers, met in _places(lines) if not any(met))


def ignored(lines: Lines, over: bool) -> tuple[Voiced, ...]:
    """Those that none of the counselor's next WITHIN lines took up. over: the session has ended, so
    that fewer lines, but one at least, decide it; what was said last of all nobody could answer.
    """
    return tuple(
        one
        for one, answers, met in _places(lines)
        if not any(met[:WITHIN]) and (answers >= WITHIN or (over and answers > 0))
    )


def endangered(lines: Lines) -> bool:
    """Whether any danger was voiced."""
    return next(voiced(lines), None) is not None


def _places(lines: Lines) -> Iterator[tuple[Voiced, int, list[bool]]]:
    """Each danger, how many lines of the counselor followed, and which of these took it up."""
    for number, (speaker, text) in enumerate(lines, 1):
        before = lines[number - 2][1] if number > 1 else ""
        for kind, span in _heard(text, before) if speaker == CLIENT else ():
            answers = [
                (said, at == number)
                for at, (who, said) in enumerate(lines[number:], number)
                if who == COUNSELOR
            ]
            met = [_acknowledged(one, text, span, kind, first) for one, first in answers]
            yield Voiced(line=number, kind=kind, words=text[slice(*span)]), len(answers), met
