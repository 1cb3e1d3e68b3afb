"""What a client's line does, told by hand rules: talk for and against change, resistance, assent,
disclosure.

The rules are patterns in en.yaml and zh.yaml, tried on a clause at a time. They read words, not
meaning: irony, and what is said indirectly, escape them; how often, see docs/evidence.md.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from analysis.validity.talk.sessions import ClientLine
from simcounsel.packaged import packaged
from simcounsel.specs.vocabulary import Language

Move = Literal["change", "sustain", "resists", "agrees", "takes_up", "improves", "discloses"]
MOVES: Mapping[Move, str] = {
    "change": "speaks for change",
    "sustain": "speaks against change",
    "resists": "resists",
    "agrees": "agrees",
    "takes_up": "takes up a proposal",
    "improves": "says that it is better",
    "discloses": "discloses something inner",
}
"""With what the client then does, in words."""
_CLAUSE = re.compile(r"[.!?;。！？；\n]+|,\s+(?=but\b)|，(?=但|可是|不过)", re.IGNORECASE)


def moves_in(line: ClientLine, language: Language = "en") -> frozenset[Move]:
    """Which moves a line makes; a line may make several, or none."""
    said, before = (text.replace("’", "'").strip() for text in (line.said, line.before))
    clauses = [part.strip() for part in _CLAUSE.split(said) if part.strip()]
    rules = _rules(language)
    found = {
        move
        for move in get_args(Move)
        if _makes(rules.of[move], said, clauses, before, rules.proposal)
    }
    if "resists" in found:
        found -= {"agrees", "takes_up"}
    if "takes_up" in found:
        found |= {"agrees"}
    return frozenset(found)


Patterns = Mapping[str, re.Pattern[str]]


@dataclass(frozen=True, kw_only=True)
class _Rules:
    of: Mapping[Move, Patterns]
    """`clause` is searched in each clause unless `not` is found there, `proposed` likewise after a
    proposal; `line` in the whole line, `answer` likewise where the counselor asked for no fact.
    """
    proposal: re.Pattern[str]
    """What tells that a counselor's line proposes something."""


def _makes(
    patterns: Patterns, said: str, clauses: list[str], before: str, proposal: re.Pattern[str]
) -> bool:
    proposed = bool(proposal.search(before))
    asked = before.rstrip().endswith(("?", "？")) and not proposed
    whole = ["line"] if asked else ["line", "answer"]
    parts = ["clause", "proposed"] if proposed else ["clause"]
    if any(name in patterns and patterns[name].search(said) for name in whole):
        return True
    no = patterns.get("not")
    return any(
        patterns[name].search(clause) and not (no and no.search(clause))
        for name in parts
        if name in patterns
        for clause in clauses
    )


@cache
def _rules(language: Language) -> _Rules:
    listed = packaged("analysis.validity.talk.moves", f"{language}.yaml")
    return _Rules(
        of={
            move: {kind: _any_of(patterns) for kind, patterns in listed[move].items()}
            for move in get_args(Move)
        },
        proposal=_any_of(listed["proposal"]),
    )


def _any_of(lines: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in lines.splitlines()), re.IGNORECASE)
