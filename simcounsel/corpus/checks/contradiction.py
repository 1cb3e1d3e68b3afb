"""Where a line says of the client what the client's file, or the client before, says otherwise."""

import re
from collections.abc import Iterator

from simcounsel.corpus.checks.facts import Fact, facts
from simcounsel.corpus.checks.findings import Finding, Severity, quoted
from simcounsel.corpus.checks.naming import people
from simcounsel.corpus.checks.rules import Limits, of_dialogue
from simcounsel.corpus.dialogues import Dialogue

BIRTHDAY = 1
"""Years by which an age may differ: people round, and have birthdays."""
_PAIRS = (
    ("wife", "husband"),
    ("girlfriend", "boyfriend"),
    ("daughter", "son"),
    ("sister", "brother"),
)
"""Of such a pair a client may have both; a counselor who names the one of which nobody spoke has
probably mixed them up.
"""
Known = dict[str, tuple[Fact, str]]


@of_dialogue("contradiction", looks_for="what the client's file says otherwise")
def contradiction(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """Plain statements that exclude each other, in a line of either side, against the `situation`
    and the client's earlier lines.

    It compares age (an error if it differs by more than a year), name, occupation, numbers of
    children and siblings, years of marriage, and relatives that the counselor mixes up (warnings:
    sentences have contexts that words do not show). In Chinese only age and childlessness. What is
    said in other words, such as "since the wedding in spring" against "divorced", it does not see;
    a judge may.
    """
    known: Known = {}
    _learn(known, dialogue.situation or "", "the file")
    spoken = dialogue.situation or ""
    for number, turn in enumerate(dialogue.turns, start=1):
        if turn.speaker == "client":
            yield from _compared(dialogue, number, "me", known)
            _learn(known, turn.text, f"turn {number}")
            spoken += "\n" + turn.text
        else:
            yield from _compared(dialogue, number, "you", known)
            yield from _mixed_up(dialogue, number, spoken)


def _learn(known: Known, text: str, where: str) -> None:
    for fact in facts(text):
        known.setdefault(fact.about, (fact, f"{where} says {quoted(text[slice(*fact.span)])}"))


def _compared(dialogue: Dialogue, number: int, person: str, known: Known) -> Iterator[Finding]:
    turn = dialogue.turns[number - 1]
    for fact in facts(turn.text, person):
        if fact.about == "name":
            named = people(dialogue.model_copy(update={"turns": (), "note": None}))
            if (
                named
                and person == "me"
                and not any(_same_name(str(fact.value), name) for name in named)
            ):
                yield _finding(
                    dialogue,
                    number,
                    fact.span,
                    f"the client is called {quoted(named[0])}",
                    "warning",
                )
        elif fact.about in known and _excludes(known[fact.about][0], fact):
            yield _finding(
                dialogue,
                number,
                fact.span,
                known[fact.about][1],
                "error" if fact.about == "age" else "warning",
            )


def _excludes(one: Fact, other: Fact) -> bool:
    if (
        isinstance(one.value, int)
        and isinstance(other.value, int)
        and one.about in ("age", "married", "together")
    ):
        return abs(one.value - other.value) > BIRTHDAY
    return one.value != other.value


def _same_name(one: str, name: str) -> bool:
    """Whether one may be part of the name, or short for it (Tom, Thomas): they begin alike."""
    return any(one[:1].lower() == part[:1].lower() for part in name.split())


def _mixed_up(dialogue: Dialogue, number: int, spoken: str) -> Iterator[Finding]:
    """ "Your son" from a counselor to whom a daughter, and never a son, was mentioned."""
    text = dialogue.turns[number - 1].text
    for one, other in (*_PAIRS, *((second, first) for first, second in _PAIRS)):
        found = re.search(
            rf"\byour (?:own |eldest |youngest |older |younger )?{one}\b(?!-)", text, re.IGNORECASE
        )
        if (
            found
            and re.search(rf"\b{other}\b", spoken, re.IGNORECASE)
            and not re.search(rf"\b{_kind(one)}", spoken, re.IGNORECASE)
        ):
            yield _finding(
                dialogue,
                number,
                found.span(),
                f"the client spoke of a {other}, never of a {one}",
                "warning",
            )


def _kind(relative: str) -> str:
    """Whatever words speak of such a relative, or of one who may be: children, siblings, a boy."""
    return {
        "son": r"(?:sons?\b|boys?\b|child|kids?\b|(?:my|our) baby|twins?\b|grandson)",
        "daughter": (
            r"(?:daughters?\b|girls?\b|child|kids?\b|(?:my|our) baby|twins?\b|granddaughter)"
        ),
        "husband": r"(?:husband|married to him|hubby|fiancé\b)",
        "wife": r"(?:wife|married to her|missus|fiancée\b)",
        "boyfriend": r"(?:boyfriend|partner)",
        "girlfriend": r"(?:girlfriend|partner)",
        "brother": r"(?:brother|sibling|twin)",
        "sister": r"(?:sister|sibling|twin)",
    }[relative]


def _finding(
    dialogue: Dialogue, number: int, span: tuple[int, int], against: str, severity: Severity
) -> Finding:
    turn = dialogue.turns[number - 1]
    return Finding(
        turn=number,
        severity=severity,
        span=span,
        what=f"the {turn.speaker} says {quoted(turn.text[slice(*span)])}, {against}",
        remedy=(
            "correct the line or the file; if both are true, say how (a counselor may err, and be"
            " corrected)"
        ),
    )
