"""What a text says of a client in plain words: age, name, occupation, how many of which relatives,
how long together.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

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
