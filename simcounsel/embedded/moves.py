"""What a client's line calls for: by rule where it hurts, doubts or tells much, else one of the six
questions, by the nearest labelled lines.
"""

from simcounsel.embedded.labelled import labelled
from simcounsel.embedded.similarity import Probe, Similarity
from simcounsel.llm.question import Question
from simcounsel.policies.socratic import MoveFacts
from simcounsel.scripted.registry import Given
from simcounsel.specs.vocabulary import QUESTIONS

FIRST_CLARIFY = 0.4
"""Before anything is probed it should be clear: how much this counts for the first question."""


def choose_move(facts: MoveFacts, question: Question[str], similarity: Similarity) -> Given[str]:
    """What is due by rule; else the kind of question, one that was asked least in this talk; and
    why.
    """
    if facts.due:
        move, why = facts.due
        return Given(value=move, notes={"why": why})
    used = [move for move in facts.used if move in QUESTIONS]
    kinds = [kind for kind in question.options if kind in QUESTIONS]
    if not kinds:
        return Given(value=question.fallback, notes={"why": "nothing new is opened now"})
    shares = Probe(similarity, labelled("moves"), neighbours=12, sharpness=8.0).weights(facts.heard)
    counts = {kind: used.count(kind) for kind in kinds}
    least = min(counts.values())
    open_kinds = [kind for kind in kinds if counts[kind] == least]
    if least == 0 and len(used) < 2:
        open_kinds = [kind for kind in open_kinds if kind != "question"]
    if not used:
        shares["clarify"] = shares.get("clarify", 0.0) + FIRST_CLARIFY
    best = max(open_kinds, key=lambda kind: (shares.get(kind, 0.0), -kinds.index(kind)))
    why = (
        f"of lines like the client's, {min(1.0, shares.get(best, 0.0)):.0%} call for it; used so"
        f" far: {', '.join(used) or 'none'}"
    )
    return Given(value=best, notes={"why": why})
