"""What a yes, a no or a shrug means, by the question that it answers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from simcounsel.danger.hearing.grammar import Line
from simcounsel.danger.hearing.lexicon import Lexicon
from simcounsel.danger.hearing.reading import normal
from simcounsel.danger.hearing.weighing import Evidence
from simcounsel.safety.open_danger import higher
from simcounsel.specs.vocabulary import DANGERS, Danger, RiskLevel
from simcounsel.texts import sentences
from simcounsel.texts.sentences import Span

Stance = Literal["yes", "nay", "unsure"]
_QUESTION = re.compile(r"[?？][\"')”’\s]*\Z")
_SAYS_NOTHING = re.compile(r"[\s.…?!。—-]*\Z")
_PERSON = re.compile(r"[a-z']+")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A danger that a counselor asked about."""

    kind: Danger
    level: RiskLevel = "high"
    """What the answer that means danger counts as."""
    past: bool = False
    to_yes: bool = True
    """Which answer means danger."""
    last: bool = True
    """Nothing else was asked after it."""
    words: frozenset[str] = frozenset()
    """Of the question."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What an answer came to."""

    evidence: tuple[Evidence, ...] = ()
    denied: tuple[Danger, ...] = ()
    """Dangers that it says are not there."""


NOTHING = Answered()


def answered(line: Line, text: str, before: str, known: Sequence[Asked] | None = None) -> Answered:
    """What a line says by answering the one before it. known: what that one asked about, by the
    decision behind it; None where nobody knows: then its words tell, if they ask plainly.
    """
    taken = stance(line)
    if taken is None:
        return NOTHING
    span, by_decision = taken[1], known is not None
    if known is None:
        known = tuple(asked_about(before, line.lexicon))
    else:
        spoken = frozenset(_PERSON.findall(before.lower()))
        known = tuple(replace(one, words=spoken) for one in known)
    asked = tuple((one, _means(one, line, taken)) for one in known)
    if by_decision and _goes_on(line, taken):
        asked = tuple((one, means) for one, means in asked if means != "unsure")
    evidence = tuple(said for one, means in asked if (said := _evidence(one, means, span, text)))
    heard = {one.kind for one in evidence}
    denied = tuple(
        kind
        for kind in DANGERS
        if kind not in heard
        and any(
            one.kind == kind and means == ("nay" if one.to_yes else "yes") for one, means in asked
        )
    )
    return Answered(evidence=evidence, denied=denied)


def stance(line: Line) -> tuple[Stance, Span] | None:
    """How a line begins as an answer, and with which words; None when it does not begin as one."""
    if _SAYS_NOTHING.match(line.text):
        return ("unsure", (0, len(line.text))) if line.text.strip() else None
    best: tuple[int, int, Stance] | None = None
    for entry in line.lexicon.answers.fitting(line.text):
        found = entry.pattern.parts[0].regex.search(line.text, 0, 60)
        if (
            found
            and not re.search(r"[^\W_]", line.text[: found.start()])
            and (best is None or found.end() > best[1])
        ):
            best = (found.start(), found.end(), entry.section)  # type: ignore[assignment]
    return None if best is None else (best[2], (best[0], best[1]))


def takes_up_an_offer(line: Line) -> bool:
    """Whether a line agrees to do something ("Yes. I'm willing to try it."), which answers no
    question about danger.
    """
    return line.says("accepts", (0, len(line.text)))


def _goes_on(line: Line, taken: tuple[Stance, Span]) -> bool:
    """Whether it begins as a yes or no and goes on with something else ("I was at the window"): no
    answer, and where the protocol asked, it takes it up itself.
    """
    alone = stance(Line(line.text[slice(*taken[1])], line.lexicon))
    return taken[0] == "unsure" and alone is not None and alone[0] != "unsure"


def _means(asked: Asked, line: Line, taken: tuple[Stance, Span]) -> Stance:
    """A stem that goes on ("I am tired") says nothing clear, unless it goes on with the words of a
    question for safety ("I am safe").
    """
    means, span = taken
    if means == "yes" and asked.to_yes and takes_up_an_offer(line):
        return "unsure"
    following = _PERSON.match(line.text[span[1] :].lower().lstrip(" ,"))
    if (
        means != "unsure"
        or asked.to_yes
        or not following
        or following.group() not in asked.words - line.lexicon.grammar.common
    ):
        return means
    alone = stance(Line(line.text[slice(*span)], line.lexicon))
    return alone[0] if alone else means


def _evidence(asked: Asked, means: Stance, span: Span, text: str) -> Evidence | None:
    if means == ("nay" if asked.to_yes else "yes"):
        return None
    level: RiskLevel = "low" if means == "unsure" or asked.past else asked.level
    said = {"yes": "a yes", "nay": "a no", "unsure": "no clear answer"}[means]
    return Evidence(
        kind=asked.kind,
        level=level,
        span=span,
        words=text[slice(*span)],
        doubt=means == "unsure" or not asked.last,
        answers=True,
        what=(
            f"{said} to a question about"
            f" {asked.kind.replace('_', ' ')}{' in the past' if asked.past else ''}"
        ),
    )


@cache
def _turned(lexicon: Lexicon, me: str) -> dict[str, str]:
    return {
        word: me if other in ("i", "me") else other for word, other in lexicon.words.turned.items()
    }


def asked_about(before: str, lexicon: Lexicon) -> Iterator[Asked]:
    """The dangers that a counselor's line asks about, in its last question, or else in its last
    sentence; in earlier questions also, which a short answer may mean.
    """
    text = normal(before, lexicon)
    spoken = [text[start:end] for start, end in sentences.spans(text) if text[start:end].strip()]
    questions = [one for one in spoken if _QUESTION.search(one)] or spoken[-1:]
    seen: set[tuple[str, bool]] = set()
    for number, question in enumerate(reversed(questions)):
        for asked in _asked(question, lexicon, last=number == 0):
            if (asked.kind, asked.to_yes) not in seen:
                seen.add((asked.kind, asked.to_yes))
                yield asked
        if number == 1:
            return


def _asked(question: str, lexicon: Lexicon, *, last: bool) -> Iterator[Asked]:
    words = frozenset(_PERSON.findall(question.lower()))
    for entry in lexicon.questions.fitting(question):
        section, kind = entry.section.split()
        if entry.pattern.parts[0].regex.search(question):
            yield Asked(
                kind=kind,  # type: ignore[arg-type]
                level="high",
                past=False,
                to_yes=section == "probing",
                last=last,
                words=words,
            )
    levels: dict[Danger, RiskLevel] = {}
    past = False
    for me in ("i", "me"):
        turned = _turned(lexicon, me)
        said = _PERSON.sub(
            lambda found, turned=turned: turned.get(found.group(), found.group()),  # type: ignore[misc]
            question,
        )
        said = said if lexicon.grammar.spaced else "".join(turned.get(one, one) for one in question)
        line = Line(said, lexicon)
        for found in line.cues(plain=True):
            if found.cue.level is not None:
                levels[found.cue.kind] = higher(levels.get(found.cue.kind, "none"), found.cue.level)
        past = past or line.says("past", (0, len(said)))
    for kind, level in levels.items():
        yield Asked(
            kind=kind,
            level="high" if level == "imminent" else level,
            past=past,
            to_yes=True,
            last=last,
        )
