"""How near danger is in what a client says, by words and grammar and by a small classifier, without
a model.

What is open it hears well, what is hinted at badly. Measured on frozen lines
(docs/hearing-danger.md has the intervals; tests/benchmarks/danger.py), any danger
against none:

    English    precision 0.93   recall 0.68 (plain 0.88, hinted 0.42)   with doubt 0.88
    Chinese    precision 0.89   recall 0.61 (plain 0.78, hinted 0.53)   with doubt 0.82

So silence promises nothing.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simcounsel.danger.hearing.answers import Asked, answered
from simcounsel.danger.hearing.features import words_say
from simcounsel.danger.hearing.gate import LEARNED, SURE, WITH_VECTORS, Chance, gate_of
from simcounsel.danger.hearing.grammar import Line
from simcounsel.danger.hearing.lexicon import lexicons
from simcounsel.danger.hearing.reading import LATIN, languages_of, normal
from simcounsel.danger.hearing.spelling import Respelled, respelled
from simcounsel.danger.hearing.weighing import Evidence, evidence_of, previous_level, traces, weigh
from simcounsel.safety.open_danger import higher
from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS, Danger, RiskLevel


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What was heard in a line."""

    level: RiskLevel = "none"
    """Of the nearest danger."""
    kinds: tuple[Danger, ...] = ()
    """The dangers above none, in the order of DANGERS."""
    evidence: tuple[Evidence, ...] = ()
    """The words, by place."""
    doubt: bool = False
    """Whether a model should be asked, since the words may mean more or less than they count as
    here.
    """
    why: str = ""
    """The same in words; '' when nothing was heard."""
    denied: tuple[Danger, ...] = ()
    """Dangers that the client says are not there, asked or unasked."""
    strange: tuple[str, ...] = ()
    """Languages without words that it seems to be in, wholly or in part, as ISO 639-1 codes; `und`
    for a script that nobody knows.
    """
    by: Literal["words", "classifier"] = "words"
    """Who raised it to its level."""
    chance: float | None = None
    """The classifier's probability of any danger in this line alone, from 0 to 1; None where none
    has learned the language.
    """
    likeliest: Danger | None = None
    """The danger that the classifier takes for the likeliest, if there is any."""

    @property
    def guess(self) -> str:
        """What the classifier says, in words; '' where there is none."""
        if self.chance is None or self.likeliest is None:
            return ""
        return f"the classifier: {self.chance:.2f} likely ({self.likeliest.replace('_', ' ')})"

    @property
    def floor(self) -> RiskLevel:
        """The least that it is, whatever a model says: the level where it is clear; in doubt what
        was said openly, and one level below what hints add up to.
        """
        return (
            higher(
                previous_level(self.level), *(one.level for one in self.evidence if not one.doubt)
            )
            if self.doubt
            else self.level
        )

    def waits(self, noted: Collection[Danger] = ()) -> bool:
        """Whether there is danger in doubt only, and the first sign of it: nothing said openly or
        in answer to a question, and the classifier is not nearly sure. noted: the dangers that
        earlier lines of the talk raised so.
        """
        plain = self.floor != "none" or any(one.answers for one in self.evidence)
        sure = plain or (self.chance or 0.0) >= SURE or set(self.kinds) & set(noted)
        return self.level != "none" and not sure

    def first(self, kind: Danger) -> Evidence | None:
        """The weightiest evidence of a kind; of equals the first."""
        some = [one for one in self.evidence if one.kind == kind]
        return max(some, key=lambda one: (RISK_LEVELS.index(one.level), one.points), default=None)


NOTHING = Heard()


def hear(
    text: str,
    language: str | None = None,
    before: Sequence[str] | str = (),
    vector: NDArray[np.float32] | None = None,
    asked: Sequence[Asked] | None = None,
) -> Heard:
    """Danger in one line of a client, by words and by the classifier (`gate`). Pure, and the same
    for the same text and vector.

    What was said openly stays what it is. Where the words hear nothing, or only hints, the
    classifier may flag the line (low, in doubt), raise doubt, or take a hint for harmless: then
    there is doubt and no level.

    language: an ISO 639-1 code or an English name; guessed by the script if None. before: the
    counselor's line that this answers; of several the last. vector: MiniLM's of the text, with
    which the classifier hears better. asked: what the counselor's line asked about, where its
    decision says so; None: its words tell, where they ask plainly.
    """
    heard = heard_by_words(text, language, before, asked)
    languages = languages_of(text, language)
    learned = [code for code in languages if code in LEARNED]
    code = "zh" if "zh" in learned else learned[0] if learned else ""
    gate = gate_of(code, vectors=vector is not None)
    if gate is None:
        return heard
    return _beside(heard, gate.chance(as_learned(text, code), said_by(heard), vector))


def takes_vectors(text: str, language: str | None = None) -> bool:
    """Whether the classifier hears a line better with its vector."""
    codes = languages_of(text, language)
    return "zh" not in codes and any(code in WITH_VECTORS for code in codes)


def as_learned(text: str, code: str) -> str:
    """A line as the classifier reads it: in Chinese with one form of each character, in English
    with what is misspelt as it was meant.
    """
    return normal(text, lexicons()[code]) if code == "zh" else respelled(text).text


def said_by(heard: Heard) -> NDArray[np.float64]:
    """What the words made of a line, as the classifier is told."""
    return words_say(
        heard.level, clear=heard.floor != "none", doubt=heard.doubt, denied=bool(heard.denied)
    )


def _beside(heard: Heard, chance: Chance) -> Heard:
    """The words' hearing with what the classifier says of the line alone, without its question."""
    open_ = heard.floor != "none" or any(one.answers for one in heard.evidence)
    kind = None if heard.strange else chance.kind  # of another language it knows nothing
    told = replace(heard, chance=round(chance.danger, 3), likeliest=kind)
    if open_:
        return told
    if chance.flags and heard.level == "none" and not heard.strange:
        return replace(told, level="low", kinds=(chance.kind,), doubt=True, by="classifier")
    if chance.asks or heard.strange or not heard.doubt:
        return replace(told, doubt=chance.asks or heard.doubt)
    return replace(told, level="none", kinds=(), by="classifier")


def heard_by_words(
    text: str,
    language: str | None = None,
    before: Sequence[str] | str = (),
    asked: Sequence[Asked] | None = None,
) -> Heard:
    """The same by words and grammar alone."""
    last = before if isinstance(before, str) else before[-1] if before else ""
    evidence: list[Evidence] = []
    denied: set[Danger] = set()
    strange = []
    for code in languages_of(text, language) or languages_of(last, language):
        lexicon = lexicons().get(code)
        if lexicon is None:
            strange.append(code)
            continue
        meant = respelled(text) if code == LATIN else Respelled(text=text)
        line, said = Line(meant.text, lexicon), []
        for found in line.cues():
            if found.denied and found.whose == "own":
                denied.add(found.cue.kind)
            said.append(evidence_of(line, meant.text, found))
        if last:
            answer = answered(line, meant.text, last, asked)
            said += answer.evidence
            denied.update(answer.denied)
        evidence += [_as_said(one, text, meant) for one in said if one]
    evidence = list(_counted(_kept(evidence)))
    if not evidence and not denied and not strange:
        return NOTHING
    return _heard(evidence, denied, strange)


def _as_said(one: Evidence, text: str, meant: Respelled) -> Evidence:
    """Evidence in a text as it was meant, at its place in the text as it was said."""
    if not meant.changed:
        return one
    span = meant.said(one.span)
    return replace(one, span=span, words=text[slice(*span)])


def _heard(evidence: list[Evidence], denied: set[Danger], strange: list[str]) -> Heard:
    kept = tuple(evidence)
    levels = {kind: weigh([one for one in kept if one.kind == kind]) for kind in DANGERS}
    level = higher(*(level for level, _ in levels.values()))
    doubt = _in_doubt(level, levels.values(), bool(strange))
    why = [f"{one.what}: “{one.words}”" for one in kept] + [
        f"no words are known for the language {code}" for code in strange
    ]
    return Heard(
        level=level,
        kinds=tuple(kind for kind in DANGERS if levels[kind][0] != "none"),
        evidence=kept,
        doubt=doubt,
        why="; ".join(why) + (" (in doubt)" if doubt else ""),
        denied=tuple(kind for kind in DANGERS if kind in denied and levels[kind][0] == "none"),
        strange=tuple(strange),
    )


def _in_doubt(level: RiskLevel, levels: Iterable[tuple[RiskLevel, bool]], strange: bool) -> bool:
    """Whether a model should be asked. level: the highest of `levels`, which are by kind, each with
    its doubt. strange: part of it was in a language without words.
    """
    if level in ("high", "imminent"):
        at_the_top = [doubt for of, doubt in levels if of == level]
        return all(at_the_top)
    return any(doubt for _, doubt in levels) or (strange and level == "none")


def _counted(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Without traces that are too few, of their kind, to count."""
    few = {kind for kind in DANGERS if traces([one for one in evidence if one.kind == kind]) < 2}
    return tuple(one for one in evidence if not (one.trace and one.kind in few))


def _kept(evidence: list[Evidence]) -> tuple[Evidence, ...]:
    """Of the same kind in overlapping places the weightiest only, by place."""
    kept: list[Evidence] = []
    for one in sorted(
        evidence,
        key=lambda one: (-RISK_LEVELS.index(one.level), -one.points, one.span[0] - one.span[1]),
    ):
        if not any(
            one.kind == other.kind and one.span[0] < other.span[1] and other.span[0] < one.span[1]
            for other in kept
        ):
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: (one.span, DANGERS.index(one.kind))))
