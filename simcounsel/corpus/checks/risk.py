"""Danger that a client speaks of, and that no counselor takes up."""

from collections.abc import Iterator
from itertools import islice

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.rules import Limits, of_dialogue
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.danger.hearing.acknowledging import acknowledges
from simcounsel.danger.hearing.detector import heard_by_words
from simcounsel.danger.hearing.weighing import Evidence
from simcounsel.specs.vocabulary import Danger

IN_WORDS: dict[Danger, str] = {
    "suicide": "suicide",
    "self_harm": "self-harm",
    "harm_to_others": "harm to others",
    "abuse": "being harmed",
}
WITHIN = 2
"""The counselor's next two lines may take it up: one beat to listen, then it must be asked
about.
"""
AROUND = 40
"""How many characters around the place are quoted."""


def risks(text: str, before: str = "") -> tuple[Evidence, ...]:
    """Where a client's line speaks of danger: the weightiest place of each kind. before: the
    counselor's line that it answers.
    """
    heard = heard_by_words(text, None, before)
    return tuple(place for kind in heard.kinds if (place := heard.first(kind)))


@of_dialogue("unaddressed_risk", looks_for="danger to life that no counselor takes up")
def unaddressed_risk(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """A client's danger that neither of the counselor's next WITHIN lines takes up, nor the line
    before, to which it may be the answer.

    Danger is heard by `simcounsel.danger.hearing.detector`, which says how well. Being harmed is a
    warning, since it may be long past and be met in many words, and so is a hint; the rest is an
    error. People hint in ways that no list knows: a silent rule promises nothing.
    """
    before = ""
    for number, turn in enumerate(dialogue.turns, start=1):
        if turn.speaker != "client":
            before = turn.text
            continue
        found = risks(turn.text, before)
        around = [before, *_answers(dialogue, number)] if found else []
        risk = next(
            (
                risk
                for risk in found
                if not any(
                    acknowledges(answer, turn.text, risk.span, risk.kind) for answer in around
                )
            ),
            None,
        )
        if risk:
            yield Finding(
                turn=number,
                span=risk.span,
                severity="warning" if risk.kind == "abuse" or risk.doubt else "error",
                what=(
                    f"the client speaks of {IN_WORDS[risk.kind]} ({risk.what}), and the counselor"
                    f" does not take it up: {quoted(_around(turn.text, risk.span))}"
                ),
                remedy=(
                    "let the counselor ask about it directly and calmly, and about safety and who"
                    " can be there; or drop the dialogue"
                ),
            )


def _answers(dialogue: Dialogue, number: int) -> list[str]:
    """The counselor's next WITHIN lines after a turn."""
    later = islice(dialogue.turns, number, None)
    return list(islice((turn.text for turn in later if turn.speaker != "client"), WITHIN))


def _around(text: str, span: tuple[int, int]) -> str:
    return text[max(0, span[0] - AROUND) : span[1] + AROUND]
