"""Where a line says of the client what the client's file, or the client before, says otherwise.

What a text says of a client in plain words: age, name, occupation, how many of which relatives,
how long together.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from simcounsel.corpus.checks.findings import Finding, Severity, quoted
from simcounsel.corpus.checks.naming import people
from simcounsel.corpus.checks.rules import Limits, of_dialogue
from simcounsel.corpus.dialogues import Dialogue

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
_TENS = ("twenty thirty forty fifty sixty seventy eighty ninety").split()
NUMBERS: dict[str, int] = {word: number for number, word in enumerate(_SMALL)}
NUMBERS |= {word: 20 + 10 * place for place, word in enumerate(_TENS)}
NUMBERS |= {
    f"{ten}{dash}{one}": NUMBERS[ten] + NUMBERS[one]
    for ten, one, dash in product(_TENS, _SMALL[1:10], ("-", " "))
}
_NUMBER = r"(?P<number>\d{1,3}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + ")"
JOBS = (
    "accountant actor architect baker barber bricklayer butcher carpenter cashier chef cleaner"
    " dentist driver electrician farmer firefighter fisherman gardener hairdresser journalist"
    " lawyer librarian mechanic midwife miner musician nun nurse painter paramedic pharmacist"
    " photographer pilot plumber policeman policewoman priest programmer receptionist secretary"
    " shepherd soldier surveyor tailor teacher translator vet waiter waitress welder"
).split()
"""Occupations that mostly exclude each other; a scientist may be a postdoc, and so may many a
doctor.
"""
_KIN = {
    "sons": "sons",
    "son": "sons",
    "daughters": "daughters",
    "daughter": "daughters",
    "children": "children",
    "kids": "children",
    "child": "children",
    "kid": "children",
    "brothers": "brothers",
    "brother": "brothers",
    "sisters": "sisters",
    "sister": "sisters",
}
_MANY = "children|kids|sons|daughters|brothers|sisters"
_RELATIVE = (
    r"(?:(?:little|young|small|older|elder|younger|grown|big|teenage)"
    rf" )?(?P<kin>{'|'.join(_KIN)})\b(?!-in-law| in law)"
)
_I = {
    "me": (
        r"\bI(?:'|’)?(?:m| am)",
        r"(?:\bI have|\bI(?:'|’)ve got|\bwe have|\bwe(?:'|’)ve got|\bmy)",
        r"\bmy",
    ),
    "you": (r"\byou(?:'|’)?(?:re| are)", r"(?:\byou have|\byou(?:'|’)ve got|\byour)", r"\byour"),
}


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One statement."""

    about: str
    """Age, name, job, married, together, or a kind of relatives (sons, children ...)."""
    value: int | str
    """What compares."""
    span: tuple[int, int]
    """Where it is."""


def facts(text: str, person: str = "me") -> Iterator[Fact]:
    """What a text states about its speaker (`me`), or about the one it speaks to (`you`); only
    plain statements in the present tense.
    """
    am, have, my = _I[person]
    for found in re.finditer(
        rf"{am} {_NUMBER}(?: years? old\b| years of age\b|(?=\s*(?:[.,;!?]|$|and\b)))",
        text,
        re.IGNORECASE,
    ):
        yield _numbered("age", found)
    for found in re.finditer(rf"{am} a {_NUMBER}[- ]year[- ]old\b", text, re.IGNORECASE):
        yield _numbered("age", found)
    for found in re.finditer(rf"{have} (?:only )?{_NUMBER} {_RELATIVE}", text, re.IGNORECASE):
        yield _numbered(_KIN[found["kin"].lower()], found)
    for found in re.finditer(
        rf"{am} (?:a|an|still a|still an) (?:\w+ )?(?P<job>{'|'.join(JOBS)})\b(?!['’]s)",
        text,
        re.IGNORECASE,
    ):
        yield Fact(about="job", value=found["job"].lower(), span=found.span())
    for found in re.finditer(
        rf"\b(?P<what>married|together)(?: now)? (?:for )?{_NUMBER} years\b", text, re.IGNORECASE
    ):
        yield _numbered(found["what"].lower(), found)
    for found in re.finditer(
        rf"(?i:{my}) (?:first )?name(?: is|['’]s) (?P<name>[A-Z][^\W\d_]+)", text
    ):
        yield Fact(about="name", value=found["name"], span=found.span())
    yield from _denied(text, person)
    yield from _chinese(text, "我" if person == "me" else "你")


def _denied(text: str, person: str) -> Iterator[Fact]:
    who = "I" if person == "me" else "you"
    none = (
        rf"\b{who} (?:have no|don['’]t have(?: any)?|never had(?: any)?) (?P<kin>{_MANY})\b(?!"
        r" (?:of|with|at|left))"
    )
    for found in re.finditer(none, text, re.IGNORECASE):
        yield Fact(about=_KIN[found["kin"].lower()], value=0, span=found.span())
    for found in re.finditer(rf"{_I[person][0]} an only child\b", text, re.IGNORECASE):
        yield Fact(about="brothers", value=0, span=found.span())
        yield Fact(about="sisters", value=0, span=found.span())


def _chinese(text: str, who: str) -> Iterator[Fact]:
    for found in re.finditer(
        rf"{who}(?:现在|今年|已经)*(?:是个?|才)?(?P<number>\d{{2}})岁(?!的?时|那|左|以|之|就|开始|前|后)",
        text,
    ):
        yield _numbered("age", found)
    for found in re.finditer(
        rf"{who}(?:没有|还没有?)(?P<kin>孩子|儿子|女儿)(?=[，。；！]|$)", text
    ):
        yield Fact(
            about={"孩子": "children", "儿子": "sons", "女儿": "daughters"}[found["kin"]],
            value=0,
            span=found.span(),
        )


def _numbered(about: str, found: re.Match[str]) -> Fact:
    word = found["number"].lower()
    return Fact(
        about=about, value=int(word) if word.isdigit() else NUMBERS[word], span=found.span()
    )


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
