"""What a conversation leaves behind, without a model: a summary in the words that were said, and
how close the two feel.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from simcounsel.agents.emotion import PLEASANT
from simcounsel.agents.facts import SummaryFacts
from simcounsel.chance import chance


def summaries_in_quotes(facts: SummaryFacts) -> list[str]:
    """Summaries in the words that were emphasized: true whatever was said."""
    name, other, role = facts.name, facts.other, facts.role
    speaker = name if role == "client" else other
    words = [f"“{line.emphasis}”" for line in facts.lines if line.who == speaker and line.emphasis]
    if not words:
        return [f"{name} talked with {other} for a while."]
    pairs = list(pairwise(words)) or [(words[0], "")]
    shapes = {
        "client": ("{name} told {other} about {a}", "{name} spoke with {other} of {a}"),
        "counselor": ("{name} heard {other} speak of {a}", "{name} asked {other} about {a}"),
        "layperson": (
            "{name} chatted with {other}, who spoke of {a}",
            "{name} listened to {other} talk about {a}",
        ),
    }[role]
    return [
        shape.format(name=name, other=other, a=a) + (f" and {b}." if b else ".")
        for a, b in pairs
        for shape in shapes
    ]


def closeness(seed: int, felt: Sequence[str]) -> Literal["as before", "closer"]:
    """Closer when it ended on a good feeling, now and then otherwise; as before when it ended in
    anger.
    """
    late = felt[-3:]
    if any(emotion in PLEASANT for emotion in late):
        return "closer"
    if late and late[-1] == "anger":
        return "as before"
    return "closer" if chance(seed, "closer").random() < 0.4 else "as before"
