"""Dialogues for the tests of checks, made of lines."""

from typing import Any

from simcounsel.corpus.checks import Finding, check_dialogues
from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.specs.vocabulary import Role

SPEAKERS: dict[str, Role] = {"C": "client", "T": "counselor", "L": "layperson"}
FILLER = (
    "C: I come here since my sister asked me to.",
    "T: What did she hope for?",
    "C: That I would talk, I suppose.",
    "T: And you, what do you hope for?",
)


def talk(
    *lines: str, id: str = "one", client: str = "c1", reasoning: str | None = None, **fields: Any
) -> Dialogue:
    """Each line begins with "C: " (client), "T: " (counselor) or "L: " (layperson)."""
    turns = tuple(
        Turn(
            speaker=SPEAKERS[line[0]],
            text=line[3:],
            reasoning=reasoning if line[0] == "T" else None,
        )
        for line in lines
    )
    return Dialogue(id=id, client=client, turns=turns, **fields)


def found(rule: str, *dialogues: Dialogue, **options: Any) -> tuple[Finding, ...]:
    """What one rule finds in them."""
    return check_dialogues(dialogues, rules=[rule], **options).findings
