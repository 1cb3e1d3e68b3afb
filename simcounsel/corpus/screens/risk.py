"""Danger to life that a client speaks of, and that no counselor takes up."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.measures import units
from simcounsel.corpus.screens.findings import Finding, quoted
from simcounsel.corpus.screens.rules import Limits
from simcounsel.corpus.screens.wordlists import phrases

KINDS = ("suicide", "self-harm", "harm to others", "being harmed")
OWN_LIFE = ("suicide", "self-harm")
WITHIN = 2
"""The counselor's next two lines may take it up: one beat to listen, then it must be asked about."""
ECHO = 3
"""A counselor who repeats so many words in a row of the place (three in four of a longer one) took it up ("If you went to sleep and that was it")."""
_SENTENCE = re.compile(r"[.!?\n。！？]")
_CLAUSE = re.compile(r"[.!?;,，。！？；\n]|\bbut\b|但")


@dataclass(frozen=True, kw_only=True)
class Risk:
    """One place where danger is spoken of. kind: one of KINDS."""

    kind: str
    span: tuple[int, int]


def risks(text: str) -> tuple[Risk, ...]:
    """Where a text speaks of danger to life, at most one place of each kind; ways of speaking and denials are left out."""
    named = [(kind, list(phrases("risk")[kind].finditer(text))) for kind in KINDS]
    if not any(hits for _, hits in named):
        return ()
    idioms = [found.span() for found in phrases("risk")["idiom"].finditer(text) if not _meant(text, found.span())]
    return tuple(Risk(kind=kind, span=meant.span()) for kind, hits in named if (meant := _first_meant(hits, text, idioms)))


def _first_meant(hits: list[re.Match[str]], text: str, idioms: list[tuple[int, int]]) -> re.Match[str] | None:
    return next((found for found in hits if not any(start < found.end() and found.start() < end for start, end in idioms)
                 and not _denied(text, found.start())), None)


def _meant(text: str, idiom: tuple[int, int]) -> bool:
    """Whether the sentence of a way of speaking names a means or a place, so that it is none."""
    start = max((found.end() for found in _SENTENCE.finditer(text, 0, idiom[0])), default=0)
    after = _SENTENCE.search(text, idiom[1])
    return phrases("risk")["means"].search(text, start, after.start() if after else len(text)) is not None and "kill" in text[slice(*idiom)].lower()


def _denied(text: str, start: int) -> bool:
    """Whether the clause says, right before the place, that it is not so."""
    breaks = [found.end() for found in _CLAUSE.finditer(text, 0, start)]
    clause = text[max(breaks, default=0):start].rstrip()
    return not phrases("risk")["no denial"].search(clause) and any(found.end() == len(clause) for found in phrases("risk")["denied"].finditer(clause))


def takes_up(line: str, said: str, place: tuple[int, int], kind: str | None = None) -> bool:
    """Whether a counselor's line takes up what the client said there: by naming it, by asking for safety, or in the client's own words.

    Danger to the client's own life wants more than a word of violence: the act with `you` or `yourself`, or safety. A word that is waved
    away ("don't talk about dying") does not count.
    kind: the danger, one of KINDS; found from the place if not given.
    """
    kind = kind or next((risk.kind for risk in risks(said) if risk.span == place), None)
    lists = ("taken up",) if kind in OWN_LIFE else ("taken up", "violence taken up")
    if any(not _brushed_off(line, found) for name in lists for found in phrases("risk")[name].finditer(line)):
        return True
    words, answer = units(said[place[0]:place[1]]), units(line)
    size = max(ECHO, -(-3 * len(words) // 4))
    runs = {tuple(answer[start:start + size]) for start in range(len(answer) - size + 1)}
    return any(tuple(words[start:start + size]) in runs for start in range(len(words) - size + 1))


def _brushed_off(line: str, found: re.Match[str]) -> bool:
    """Whether the sentence waves away what it names there."""
    start = max((end.end() for end in _SENTENCE.finditer(line, 0, found.start())), default=0)
    return phrases("risk")["brushed off"].search(line, start, found.end()) is not None


def unaddressed_risk(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """A client's danger that neither of the counselor's next WITHIN lines takes up, nor the line before, to which it may be the answer.

    Being harmed is a warning, since it may be long past and be met in many words; the rest is an error. Words see what is
    said openly, and miss hints. Measured on the 722 utterances of PsyGUARD's validation set with odd numbers (Chinese;
    207 labelled as some risk), the words having been chosen on those with even numbers: an utterance is flagged with
    precision 0.87 and recall 0.81 (even numbers: 0.91 and 0.90). False alarms are mostly talk of death without a wish
    for it. The English words have not been measured on labelled data. Of the last 20 sentences of our own on which none had been chosen
    an earlier list heard 3; more words came in by these, and nothing blind is left to measure the list as it is. People hint: a silent rule
    promises nothing.
    """
    for number, turn in enumerate(dialogue.turns, start=1):
        found = risks(turn.text) if turn.speaker == "client" else ()
        around = _answers(dialogue, number) if found else []
        risk = next((risk for risk in found if not any(takes_up(answer, turn.text, risk.span, risk.kind) for answer in around)), None)
        if risk:
            yield Finding(dialogue=dialogue.id, turn=number, rule="unaddressed_risk", severity="warning" if risk.kind == "being harmed" else "error",
                          span=risk.span, what=f"the client speaks of {risk.kind}, and the counselor does not take it up: "
                                               f"{quoted(_around(turn.text, risk.span))}",
                          remedy="let the counselor ask about it directly and calmly, and about safety and who can be there; or drop the dialogue")


def _answers(dialogue: Dialogue, number: int) -> list[str]:
    """The counselor's last line before a turn and the next WITHIN after it."""
    before = [turn.text for turn in dialogue.turns[:number - 1] if turn.speaker != "client"][-1:]
    return before + [turn.text for turn in dialogue.turns[number:] if turn.speaker != "client"][:WITHIN]


def _around(text: str, span: tuple[int, int]) -> str:
    start = max((found.end() for found in _CLAUSE.finditer(text, 0, span[0])), default=0)
    return text[max(start, span[0] - 40):span[1] + 40]
