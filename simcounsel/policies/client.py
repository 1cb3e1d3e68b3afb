"""The client's policy: whether to take leave, and for stand-ins in which tone the next line is.

What a client says follows from who it is, what was said to it and where it is
(`simcounsel.agents.client_state`), not from a stance that is decided for it. A model is told none;
where lines are chosen out of hand-written ones, a rule names the stage of telling that they suit.
"""

from typing import ClassVar

from simcounsel.agents.client_state import last_shift, openness
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.llm.question import Ask
from simcounsel.policies.manual import aims
from simcounsel.specs.vocabulary import STAGES, Stage

HOLDS_BACK_BELOW, HOPES_FROM = 4.0, 6.5
"""Openness (0 to 10) below which one who hardly knows the other keeps to the surface, and from
which on a good feeling is let be heard."""
ANGRY_FROM = 5
"""Intensity of anger or disgust that is heard in a line."""


class Client:
    """Speaks from where it is; takes leave when the other does or time is up."""

    name: ClassVar[str] = "client"

    def decide(self, view: TalkView) -> Ask[Decision]:
        """By rule; no model is asked and nothing is drawn."""
        stage, reason = _stage(view)
        ending = stage == "ending"
        return Decision(
            move=stage,
            options=("ending",) if ending else STAGES,
            reason=reason,
            aim=aims(self.name, view.language)["ending"] if ending else "",
        )
        yield  # an Ask that needs no model


def _stage(view: TalkView) -> tuple[Stage, str]:
    """The stage of telling, and why."""
    if view.parting or view.turns_left <= 1:
        return "ending", "the talk is ending"
    stands, last = openness(view), last_shift(view)
    own = [line for line in view.lines if line.who == view.me]
    reason = f"openness {stands:g}, {view.emotion}"
    if own and view.emotion in ("anger", "disgust") and own[-1].intensity >= ANGRY_FROM:
        return "angry", reason
    if stands < HOLDS_BACK_BELOW and view.meeting.number == 1 and len(own) < 2:
        return "early", reason
    if last is not None and last.openness < last.before:
        return "doubting", f"{reason}, less than before"
    if stands >= HOPES_FROM and own and view.emotion in ("joy", "trust", "anticipation"):
        return "hopeful", reason
    return "telling", reason
