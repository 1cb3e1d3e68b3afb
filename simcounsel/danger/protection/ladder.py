"""The steps of the safety protocol and how they follow each other: pure, from what was heard,
answered and done so far.

A route is the list of steps that a danger calls for; the next step is the first of them that was
not taken yet. What is heard and answered changes the route: a nearer danger adds steps and wants
what closes it once more, a denial takes some away, neither undoes what is in the log. No step with
which the danger counts as met answers a line in which high or imminent danger was heard. The order
follows what guides for clinicians have in common: hear it, ask directly, then plan, means and
intent, what protects, what is agreed on for safety, and whom to call (Stanley and Brown 2012,
safety planning; no contract).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from simcounsel.specs.vocabulary import RiskLevel

Step = Literal[
    "acknowledge",
    "ask_directly",
    "plan",
    "means",
    "intent",
    "ask_also",
    "intent_also",
    "protective",
    "agree",
    "agree_also",
    "help",
    "emergency",
    "company",
    "distance",
    "involve",
    "stay",
    "confide",
    "own_state",
    "follow_up",
    "leave_safely",
    "over",
]
Verdict = Literal["yes", "no", "unclear", "refuses", "passive", "conditional"]
"""What an answer came to. passive: yes, but to a wish without intent. conditional: not now, or only
if something happens ("not before Thursday").
"""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
STEPS: tuple[Step, ...] = get_args(Step)
MET: tuple[Step, ...] = ("over", "leave_safely")
"""The danger has been met: `over` hands back to the counselor's own policy, `leave_safely` ends the
talk.
"""
ASKED: tuple[Step, ...] = (
    "ask_directly",
    "plan",
    "means",
    "intent",
    "ask_also",
    "intent_also",
    "agree",
    "agree_also",
    "distance",
    "follow_up",
)
"""Steps whose answer is read as yes or no."""
SETTLING: tuple[Step, ...] = ("agree", "agree_also", "distance")
"""Steps of ASKED whose yes speaks for safety; of the others a yes means danger."""
NAMING: tuple[Step, ...] = ("ask_directly", "follow_up", "ask_also")
"""Steps that ask whether a danger is there, by name."""
OF_FURTHER: tuple[Step, ...] = ("intent_also", "agree_also")
"""Steps about each further danger beside the one that the others are about, one after the other."""
AGAIN_FOR_EACH: tuple[Step, ...] = ("ask_also", *OF_FURTHER)
"""Steps that are taken once for each danger."""
OF_ONE_DANGER: tuple[Step, ...] = (
    "plan",
    "means",
    "intent",
    "ask_also",
    "intent_also",
    "protective",
    "agree",
    "agree_also",
    "involve",
    "help",
)
"""Steps that another danger, when it becomes the nearest, wants again."""
QUESTIONS: tuple[Step, ...] = (*ASKED, "acknowledge", "protective", "company", "own_state")
AGAIN_AT_MOST = 2
"""The number of questions in all that may be asked once more after an unclear answer."""

ALWAYS: tuple[Step, ...] = ("emergency", "stay", "confide", "help")
"""To these there is a way from everywhere: nothing may be in the way of them."""
ONCE_MORE: tuple[Step, ...] = ("intent", "agree", "help")
"""Where all steps were taken and danger is heard again."""
ONCE_MORE_ALSO: tuple[Step, ...] = ("intent_also", "agree_also", "help")
"""The same where it is a further danger."""
ONCE_MORE_NOW: tuple[Step, ...] = ("company", "agree", "help")
"""The same where it is for now."""


@dataclass(frozen=True, kw_only=True)
class Named:
    """What is known of the dangers by name."""

    answer: Verdict | None = None
    """To the question whether the nearest one is there; None where it has not been answered."""
    first: bool = False
    """The nearest one was not asked about by name though the opening is over (an earlier one was
    denied, or is farther).
    """
    more: bool = False
    """A further one was not either."""
    to_intend: bool = False
    """They have a further one of which it was not asked yet whether it is for now."""
    to_agree: bool = False
    """They have one for which safety was not agreed on yet."""


def route(
    level: RiskLevel,
    named: Named,
    answers: Mapping[Step, Verdict],
    *,
    urgent: bool,
    followed: bool,
    left_open: bool = False,
    another: bool = False,
    dated: bool = False,
    faint: bool = False,
) -> tuple[Step, ...]:
    """The steps that are called for. level: the nearest danger heard. answers: to the other steps
    asked so far, the last of each. urgent: it is for now. followed: it was begun by a follow-up;
    left_open: on a danger that the last conversation did not meet, so that help is named even if it
    is denied now. another: it is not the client who may die or be hurt. dated: they named a day or
    an hour for it, or said that it is not for now: that is a plan, and others are brought in before
    that time. faint: only the classifier has heard it, from no telling word: it is asked about
    plainly, once, and is over where it is denied.
    """
    if another:
        return _for_another(named, urgent=urgent, followed=followed)
    agreeing = _agreeing(answers, named.to_agree, dated=dated)
    if urgent:
        outside: tuple[Step, ...] = (
            ("involve",) if answers.get("distance") in ("no", "refuses") else ()
        )
        return ("emergency", "company", "distance", *outside, *agreeing, "help", "leave_safely")
    if faint and not followed and named.answer in (None, "no"):
        return ("ask_directly", "over")
    opening: tuple[Step, ...] = ("follow_up",) if followed else ("acknowledge", "ask_directly")
    first: tuple[Step, ...] = ("ask_also",) if named.first else ()
    more: tuple[Step, ...] = ("ask_also",) if named.more or named.first else ()
    if followed and named.answer == "no":
        return (*opening, *more, *(("help",) if left_open else ()), "over")
    near = (
        level in ("high", "imminent")
        and named.answer != "no"
        and not (followed and named.answer in ("passive", "unclear", "refuses"))
    )
    if named.answer in ("yes", "conditional") or near:
        means: tuple[Step, ...] = () if answers.get("plan") == "no" else ("means",)
        also: tuple[Step, ...] = ("ask_also",) if named.more and not named.first else ()
        further: tuple[Step, ...] = ("intent_also",) if named.to_intend else ()
        return (
            *opening,
            *first,
            "plan",
            *means,
            "intent",
            *also,
            *further,
            "protective",
            *agreeing,
            "help",
            "over",
        )
    if level in ("high", "imminent") and named.answer == "no" and not followed:
        return (*opening, *more, "protective", *agreeing, "help", "over")
    return (*opening, *first, "protective", "help", "over")


def _for_another(named: Named, *, urgent: bool, followed: bool) -> tuple[Step, ...]:
    """Where somebody else is in danger: how near, who is with them, what the client can do, how the
    client is, whom to call. The client is not asked about a plan, means or a wish of their own.
    """
    more: tuple[Step, ...] = ("ask_also",) if named.more else ()
    if urgent:
        return ("emergency", "company", "agree", "own_state", "help", "leave_safely")
    opening: tuple[Step, ...] = ("follow_up",) if followed else ("acknowledge", "ask_directly")
    near: tuple[Step, ...] = () if named.answer == "no" else ("intent", "company", "agree")
    return (*opening, *near, *more, "own_state", "help", "over")


def _agreeing(answers: Mapping[Step, Verdict], further: bool, *, dated: bool) -> tuple[Step, ...]:
    """What is agreed on; where something is not, or a time was named, others are brought in."""
    bad = ("no", "refuses", "unclear", "conditional")
    involved = dated or answers.get("agree") in bad
    first: tuple[Step, ...] = ("agree", "involve") if involved else ("agree",)
    also: tuple[Step, ...] = ("agree_also",) if further else ()
    others: tuple[Step, ...] = (
        ("involve",) if answers.get("agree_also") in bad and "involve" not in first else ()
    )
    return (*first, *also, *others)
