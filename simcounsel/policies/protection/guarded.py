"""A counselor's policy behind the safety protocol."""

from dataclasses import replace

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.events import Data, Entry, Foreign, Judged, PracticeEvent, Transitioned
from simcounsel.llm.question import Ask
from simcounsel.policies.policy import Concluding, Policy
from simcounsel.policies.protection.ladder import (
    ALWAYS,
    ASKED,
    MET,
    NAMING,
    ONCE_MORE,
    ONCE_MORE_ALSO,
    ONCE_MORE_NOW,
    Step,
    route,
)
from simcounsel.policies.protection.reading import read_answer
from simcounsel.policies.protection.standing import ANSWER, PROTOCOL, Standing, standing
from simcounsel.policies.protection.wording import decision_for

LINES_TO_GO_ON = 4
"""With fewer lines left, however long the conversation is held, there is no time for more
questions.
"""


class Guarded:
    """Delegates to a policy until danger is heard; then the safety protocol decides until the
    danger has been met.

    Met means: it was denied, or an agreement was reached, or other people are brought in; and help
    was named by number. What an earlier conversation left, and what a questionnaire told, is asked
    about right after the next greeting.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @property
    def name(self) -> str:
        """The name of the policy behind the protocol; what the protocol decides is logged under its
        own.
        """
        return self.policy.name

    def decide(self, view: TalkView) -> Ask[Decision]:
        """The protocol's step while danger is open, the policy's own move otherwise."""
        stand = standing(view)
        if not stand.open:
            if stand.owed == "none" or stand.held or view.parting or not view.moves:
                return (yield from self.policy.decide(_unguarded(view)))
            return _step("follow_up", stand, view, "what was heard before comes first", ())
        judged = yield from _judge(view, stand)
        step, why = (
            (stand.state, "the answer was unclear; asked once more in other words")
            if stand.repeats and stand.state
            else _next(stand, view)
        )
        if step != "over":
            return _step(step, stand, view, why, judged)
        own = yield from self.policy.decide(_unguarded(view))
        return replace(own, events=(*judged, _moved(step, stand, view, why), *own.events))

    def holds(self, view: TalkView) -> bool:
        """Whether the conversation must not end before this counselor has answered."""
        return standing(view).open

    def conclude(self, view: TalkView) -> Ask[tuple[Data | Foreign, ...]]:
        """What the policy keeps of the conversation."""
        if isinstance(self.policy, Concluding):
            return (yield from self.policy.conclude(_unguarded(view)))
        return ()


def _judge(view: TalkView, stand: Standing) -> Ask[tuple[PracticeEvent, ...]]:
    """The answer to the step that was taken last, if it asked something, and whether it is asked
    once more (`stand.repeats`).
    """
    if (
        stand.state not in ASKED
        or view.parting
        or view.heard is None
        or view.lines[-1].who == view.me
    ):
        return ()
    step = stand.state
    verdict, by, reason = yield from read_answer(view, stand)
    stand.judge(step, verdict)
    again = verdict == "unclear" and stand.may_repeat(step)
    stand.repeats = (
        again
        and view.most_left >= LINES_TO_GO_ON
        and not (stand.urgent and "emergency" not in stand.taken)
    )
    return (
        Judged(
            who=view.me,
            chat=view.chat,
            state=step,
            question=ANSWER,
            verdict=verdict,
            by=by,
            reason=reason,
        ),
    )


def _next(stand: Standing, view: TalkView) -> tuple[Step, str]:
    """The step that comes now, and why."""
    if stand.urgent and "emergency" not in stand.taken:
        return "emergency", "imminent danger: emergency help comes before all else"
    if view.parting:
        return (
            ("help", "they leave all the same")
            if stand.stayed
            else ("stay", "they take leave while there is danger")
        )
    to_go = _to_go(stand)
    if view.most_left < LINES_TO_GO_ON and to_go[0] not in MET:
        return (
            "agree" if "help" in stand.taken and "agree" in to_go else "help"
        ), "the talk cannot be held any longer"
    answer = (
        (stand.named.get(stand.asking) if stand.asking else None)
        if stand.state in NAMING
        else stand.answers.get(stand.state or "over")
    )
    return to_go[0], f"{stand.level} danger ({stand.kind_of(to_go[0])})" + (
        f"; {stand.state} was answered: {answer}" if answer else ""
    )


def _to_go(stand: Standing) -> tuple[Step, ...]:
    """The steps still to be taken, in order, never none; after a line in which danger was heard not
    those with which it would be met.
    """
    way = route(
        stand.level, stand.by_name, stand.answers, urgent=stand.urgent, followed=stand.followed
    )
    left = tuple(step for step in way if step == "ask_also" or step not in stand.taken) or way[-1:]
    if stand.last not in ("high", "imminent") or left[0] not in MET:
        return left
    of_second = stand.second in stand.last_kinds and stand.kind not in stand.last_kinds
    again = ONCE_MORE_NOW if stand.urgent else ONCE_MORE_ALSO if of_second else ONCE_MORE
    return (min(again, key=stand.taken.count), *left)


def _step(
    step: Step, stand: Standing, view: TalkView, why: str, judged: tuple[PracticeEvent, ...]
) -> Decision:
    open_ = (step,) if step == "follow_up" else (step, *_to_go(stand), *ALWAYS)
    return decision_for(
        step,
        stand,
        view,
        why,
        (*judged, _moved(step, stand, view, why)),
        tuple(dict.fromkeys(open_)),
    )


def _moved(step: Step, stand: Standing, view: TalkView, why: str) -> Transitioned:
    return Transitioned(
        who=view.me, chat=view.chat, protocol=PROTOCOL, origin=stand.state, state=step, reason=why
    )


def _unguarded(view: TalkView) -> TalkView:
    """The view without the protocol's own events, which are no business of the policy behind it;
    what was heard of danger stays.
    """
    return replace(
        view,
        own=tuple(e for e in view.own if not _of_protocol(e)),
        kept=tuple(e for e in view.kept if not _of_protocol(e)),
    )


def _of_protocol(what: Entry | PracticeEvent) -> bool:
    event = what.event if isinstance(what, Entry) else what
    return (isinstance(event, Transitioned) and event.protocol == PROTOCOL) or (
        isinstance(event, Judged) and event.question == ANSWER
    )
