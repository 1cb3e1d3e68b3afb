"""The steps of the safety protocol and how they follow each other: pure, from what was heard, answered and done so far.

A route is the list of steps that a danger calls for; the next step is the first of them that was not taken yet. What is
heard and answered changes the route: a nearer danger adds steps and wants what closes it once more, a denial takes some away, neither
undoes what is in the log. No step with which the danger counts as met answers a line in which high or imminent danger was heard.
The order follows what guides for clinicians have in common: hear it, ask directly, then plan, means and intent, what protects,
what is agreed on for safety, and whom to call (Stanley and Brown 2012, safety planning; no contract).
"""

from collections.abc import Mapping
from typing import Literal, get_args

from simcounsel.specs.vocabulary import RiskLevel

Step = Literal[
    "acknowledge", "ask_directly", "plan", "means", "intent", "ask_also", "protective", "agree", "agree_also", "help",
    "emergency", "company", "distance", "involve", "stay", "follow_up", "leave_safely", "over",
]
Verdict = Literal["yes", "no", "unclear", "refuses", "passive"]
"""What an answer came to. passive: yes, but to a wish without intent."""
STEPS: tuple[Step, ...] = get_args(Step)
MET: tuple[Step, ...] = ("over", "leave_safely")
"""The danger has been met: `over` hands back to the counselor's own policy, `leave_safely` ends the talk."""
ASKED: tuple[Step, ...] = ("ask_directly", "plan", "means", "intent", "ask_also", "agree", "agree_also", "distance", "follow_up")
"""Steps whose answer is read as yes or no."""
NAMING: tuple[Step, ...] = ("ask_directly", "follow_up", "ask_also")
"""Steps that ask whether a danger is there, by name."""
OF_ANOTHER: tuple[Step, ...] = ("ask_also", "agree_also")
"""Steps about a second danger, as near as the first."""
QUESTIONS: tuple[Step, ...] = (*ASKED, "acknowledge", "protective", "company")
AGAIN_AT_MOST = 2
"""So many questions in all are asked once more after an unclear answer."""

ALWAYS: tuple[Step, ...] = ("emergency", "stay", "help")
"""To these there is a way from everywhere: nothing may be in the way of them."""
ONCE_MORE: tuple[Step, ...] = ("intent", "agree", "help")
"""Where all steps were taken and danger is heard again."""
ONCE_MORE_NOW: tuple[Step, ...] = ("company", "agree", "help")
"""The same where it is for now."""


def route(level: RiskLevel, answers: Mapping[Step, Verdict], *, urgent: bool, followed: bool, another: bool = False) -> tuple[Step, ...]:
    """The steps that are called for. level: the nearest danger heard. answers: to the steps asked so far, the last of each.
    urgent: it is for now. followed: it was begun by a follow-up. another: a second kind of danger was heard that is as near."""
    if urgent:
        outside: tuple[Step, ...] = ("involve",) if answers.get("distance") in ("no", "refuses") else ()
        return ("emergency", "company", "distance", *outside, "agree", *_unagreed(answers), "help", "leave_safely")
    opening: tuple[Step, ...] = ("follow_up",) if followed else ("acknowledge", "ask_directly")
    answer = answers.get("follow_up" if followed else "ask_directly")
    also, agreed = _another(answers) if another else ((), ())
    if followed and answer == "no":
        return (*opening, "over")
    if answer == "yes" or (level in ("high", "imminent") and answer != "no" and not (followed and answer in ("passive", "unclear", "refuses"))):
        means: tuple[Step, ...] = () if answers.get("plan") == "no" else ("means",)
        return (*opening, "plan", *means, "intent", *also, "protective", "agree", *agreed, *_unagreed(answers), "help", "over")
    if level in ("high", "imminent") and answer == "no" and not followed:
        return (*opening, *also, "protective", "agree", *agreed, *_unagreed(answers), "help", "over")
    return (*opening, "protective", "help", "over")


def _unagreed(answers: Mapping[Step, Verdict]) -> tuple[Step, ...]:
    """Where something is not agreed on, others are brought in."""
    return ("involve",) if {answers.get("agree"), answers.get("agree_also")} & {"no", "refuses", "unclear"} else ()


def _another(answers: Mapping[Step, Verdict]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Of a second danger: the question whether it is there, and unless it is denied what is agreed on for it."""
    return ("ask_also",), () if answers.get("ask_also") == "no" else ("agree_also",)
