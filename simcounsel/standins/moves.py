"""Which Socratic question a client's line calls for, by the nearest labelled lines."""

from typing import Any

from simcounsel.llm.question import Question
from simcounsel.standins.labelled import labelled
from simcounsel.standins.sense import Probe, Sense

FIRST_CLARIFY = 0.4
"""Before anything is probed it should be clear: how much this counts for the first question."""


def choose_move(request: Question[Any], sense: Sense) -> tuple[str, str]:
    """The kind of question, one not yet used in this talk if there is one, and why."""
    used: tuple[str, ...] = request.hints["used"]
    shares = Probe(sense, labelled("moves"), neighbours=12, sharpness=8.0).weights(
        request.hints["heard"]
    )
    counts = {kind: used.count(kind) for kind in request.options}
    least = min(counts.values())
    open_kinds = [kind for kind in request.options if counts[kind] == least]
    if least == 0 and len(used) < 2:
        open_kinds = [kind for kind in open_kinds if kind != "question"]
    if not used:
        shares["clarify"] = shares.get("clarify", 0.0) + FIRST_CLARIFY
    best = max(open_kinds, key=lambda kind: (shares.get(kind, 0.0), -request.options.index(kind)))
    return (
        best,
        (
            f"of lines like the client's, {min(1.0, shares.get(best, 0.0)):.0%} call for it; used"
            f" so far: {', '.join(used) or 'none'}"
        ),
    )
