"""What is counted in a session, each a number or None where it cannot be had.

All are shares, means or ratios, none grows with a session's length as such.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from sklearn.metrics import cohen_kappa_score

from analysis.dialogue import lexicon, sentiment
from analysis.validity.talk.moves import MOVES, Move, moves_in
from analysis.validity.talk.sessions import ClientLine, Coded, TalkSession
from simcounsel.corpus.measures import units

WINDOW = 50
"""Units of the moving window of `variety`."""
Group = str
Codes = Callable[[TalkSession], Sequence[frozenset[Move]]]
"""The moves of each client line of a session: by rules, or by a model."""


@dataclass(frozen=True, kw_only=True)
class TalkMeasure:
    """One number of a session."""

    id: str
    name: str
    """As the page says it."""
    group: Group
    of: Callable[[TalkSession], float | None]
    share: bool = False
    """Whether it is a share of 1."""


def variety(words: Sequence[str], window: int = WINDOW) -> float | None:
    """The moving-average type-token ratio (Covington and McFall 2010): different words in a window
    of `window`, averaged over all of them, in (0, 1]; unlike a plain ratio it does not fall with
    the length of the text. None for a text that is shorter than a window.
    """
    if len(words) < window:
        return None
    count: dict[str, int] = {}
    total = 0
    for place, word in enumerate(words):
        count[word] = count.get(word, 0) + 1
        if place >= window:
            old = words[place - window]
            count[old] -= 1
            if not count[old]:
                del count[old]
        if place >= window - 1:
            total += len(count)
    return total / window / (len(words) - window + 1)


def course(values: Sequence[float]) -> float | None:
    """Mean of the last third minus mean of the first; None for fewer than three."""
    third = len(values) // 3
    if not third:
        return None
    return statistics.fmean(values[-third:]) - statistics.fmean(values[:third])


def feelings(session: TalkSession) -> list[float] | None:
    """Of each client line how positive its words are, -1 to 1 (`analysis.dialogue.sentiment`,
    VADER's words); None for a Chinese session, for which there is no such list.
    """
    if session.chinese:
        return None
    lexicon()
    return [sentiment(line.said) for line in session.client_lines]


def measures(codes: Codes = lambda session: coded_by_rules(session)) -> tuple[TalkMeasure, ...]:
    """All of them, in the order of the page. codes: who says which moves a line makes."""
    return (
        *_LENGTHS,
        *_WORDS,
        *(_of_move(move, codes) for move in MOVES),
        TalkMeasure(
            id="change_balance",
            name="change talk of change and sustain talk",
            group="what clients do",
            of=lambda session: _balance(codes(session)),
            share=True,
        ),
        TalkMeasure(
            id="disclosure_course",
            name="disclosure, last third minus first",
            group="what clients do",
            of=lambda session: course([float("discloses" in one) for one in codes(session)]),
        ),
    )


def coded_by_rules(session: TalkSession) -> Sequence[frozenset[Move]]:
    """By the hand rules."""
    return _coded(session.client_lines, session.chinese)


_CODED: dict[tuple[ClientLine, ...], tuple[frozenset[Move], ...]] = {}


def _coded(lines: tuple[ClientLine, ...], chinese: bool) -> tuple[frozenset[Move], ...]:
    if lines not in _CODED:
        _CODED[lines] = tuple(moves_in(line, "zh" if chinese else "en") for line in lines)
    return _CODED[lines]


def _of_move(move: Move, codes: Codes) -> TalkMeasure:
    return TalkMeasure(
        id=move,
        name=f"lines in which the client {MOVES[move]}",
        group="what clients do",
        of=lambda session: _share([move in one for one in codes(session)]),
        share=True,
    )


def _balance(codes: Sequence[frozenset[Move]]) -> float | None:
    """Change talk in all change and sustain talk."""
    change = sum("change" in one for one in codes)
    both = change + sum("sustain" in one for one in codes)
    return change / both if both else None


def _share(yes: Sequence[bool]) -> float | None:
    return sum(yes) / len(yes) if yes else None


def _client_units(session: TalkSession) -> list[str]:
    return [one for line in session.client_lines for one in units(line.said)]


def _lengths(lines: Sequence[str]) -> list[int]:
    return [len(units(text)) for text in lines]


def _unevenness(session: TalkSession) -> float | None:
    lengths = _lengths([line.said for line in session.client_lines])
    mean = statistics.fmean(lengths)
    return statistics.stdev(lengths) / mean if mean and len(lengths) > 1 else None


def _talk_share(session: TalkSession) -> float | None:
    client = len(_client_units(session))
    both = client + sum(_lengths(session.counselor_lines))
    return client / both if both else None


def _mean_length(lines: Sequence[str]) -> float | None:
    return statistics.fmean(_lengths(lines)) if lines else None


def _asks(lines: Sequence[str]) -> float | None:
    return _share([any(mark in text for mark in "?？") for text in lines])


def _hesitations(session: TalkSession) -> float | None:
    """Broken-off and filled places in a hundred units."""
    words = _client_units(session)
    broken = sum(
        line.said.count("...") + line.said.count("…") + line.said.count("- ")
        for line in session.client_lines
    )
    filled = sum(word in _FILLERS for word in words)
    return 100 * (broken + filled) / len(words) if words else None


_FILLERS = frozenset("um uh er erm hm hmm mm mhm uhm ah 嗯 呃 唔".split())


def _mean_feeling(session: TalkSession) -> float | None:
    found = feelings(session)
    return statistics.fmean(found) if found else None


def _feeling_course(session: TalkSession) -> float | None:
    found = feelings(session)
    return course(found) if found else None


_LENGTHS = (
    TalkMeasure(
        id="client_words",
        name="length of the client's lines, words",
        group="how much is said",
        of=lambda session: _mean_length([line.said for line in session.client_lines]),
    ),
    TalkMeasure(
        id="client_unevenness",
        name="unevenness of their lengths, SD/mean",
        group="how much is said",
        of=_unevenness,
    ),
    TalkMeasure(
        id="counselor_words",
        name="length of the counselor's lines, words",
        group="how much is said",
        of=lambda session: _mean_length(session.counselor_lines),
    ),
    TalkMeasure(
        id="talk_share",
        name="the client's share of all words",
        group="how much is said",
        of=_talk_share,
        share=True,
    ),
)
_WORDS = (
    TalkMeasure(
        id="client_questions",
        name="client's lines with a question",
        group="how it is said",
        of=lambda session: _asks([line.said for line in session.client_lines]),
        share=True,
    ),
    TalkMeasure(
        id="counselor_questions",
        name="counselor's lines with a question",
        group="how it is said",
        of=lambda session: _asks(session.counselor_lines),
        share=True,
    ),
    TalkMeasure(
        id="variety",
        name=f"variety of the client's words, MATTR {WINDOW}",
        group="how it is said",
        of=lambda session: variety(_client_units(session)),
    ),
    TalkMeasure(
        id="hesitations",
        name="hesitations in a hundred words",
        group="how it is said",
        of=_hesitations,
    ),
    TalkMeasure(
        id="feeling",
        name="sentiment of the client's lines, -1 to 1",
        group="how it is said",
        of=_mean_feeling,
    ),
    TalkMeasure(
        id="feeling_course",
        name="sentiment, last third minus first",
        group="how it is said",
        of=_feeling_course,
    ),
)


def table(
    sessions: Sequence[TalkSession], counted: Sequence[TalkMeasure]
) -> Mapping[str, list[float | None]]:
    """By measure its value in each session."""
    return {one.id: [one.of(session) for session in sessions] for one in counted}


CODES = ("change", "sustain", "neutral")


def checked(coded: Sequence[Coded]) -> pd.DataFrame:
    """Of change and of sustain talk how often the rules find what people found, and how often they
    are right (in 0 to 1), with Cohen's kappa.
    """
    rules = [moves_in(one.line) for one in coded]
    rows = []
    for code in CODES[:2]:
        people = [one.code == code for one in coded]
        found = [code in one for one in rules]
        both = sum(a and b for a, b in zip(people, found, strict=True))
        rows.append(
            {
                "code": f"{code} talk",
                "lines": len(coded),
                "by people": sum(people),
                "by rules": sum(found),
                "recall": both / sum(people) if any(people) else None,
                "precision": both / sum(found) if any(found) else None,
                "kappa": float(cohen_kappa_score(people, found))
                if any(people) and any(found)
                else None,
            }
        )
    return pd.DataFrame(rows)
