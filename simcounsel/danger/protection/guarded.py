"""A counselor's policy behind the safety protocol."""

from dataclasses import replace

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.danger.protection.circumstances import asks_for_secrecy
from simcounsel.danger.protection.folding import correct_kind, protocol_state
from simcounsel.danger.protection.known import afterwards
from simcounsel.danger.protection.ladder import (
    AGAIN_FOR_EACH,
    ALWAYS,
    ASKED,
    MET,
    NAMING,
    ONCE_MORE,
    ONCE_MORE_ALSO,
    ONCE_MORE_NOW,
    SETTLING,
    Step,
    route,
)
from simcounsel.danger.protection.owed import PROTOCOL, WHICH, WHOSE
from simcounsel.danger.protection.reading import read_answer
from simcounsel.danger.protection.state import ANSWER, ProtocolState
from simcounsel.danger.protection.telling import means_another
from simcounsel.danger.protection.wording import OwnNumbers, decision_for
from simcounsel.events import Data, Entry, Foreign, Judged, PracticeEvent, Transitioned
from simcounsel.llm.question import Ask, traced
from simcounsel.policies.policy import Concluding, Policy
from simcounsel.safety.help import Help
from simcounsel.specs.vocabulary import Danger

ASKED_FOR_SECRECY = "they ask that nobody be told: what cannot be kept secret is said at once"
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
        protocol = protocol_state(view)
        if not protocol.open:
            if view.moves and not view.parting and asks_for_secrecy(view):
                return _step("confide", protocol, view, ASKED_FOR_SECRECY, ())
            if protocol.owed == "none" or protocol.held or view.parting or not view.moves:
                return (yield from self._own(view, protocol))
            return _step("follow_up", protocol, view, "what was heard before comes first", ())
        judged = (*(yield from _judge(view, protocol)), *_whose(view, protocol))
        judged = (*judged, *_which(view, protocol))
        protocol.repeats = protocol.repeats and not protocol.owes_word
        step, why = (
            (protocol.state, "the answer left it open; asked once more in other words")
            if protocol.repeats and protocol.state
            else _next(protocol, view)
        )
        if step != "over":
            return _step(step, protocol, view, why, judged)
        own = yield from self._own(view, protocol)
        return replace(own, events=(*judged, _moved(step, protocol, view, why), *own.events))

    def _own(self, view: TalkView, protocol: ProtocolState) -> Ask[Decision]:
        """The policy's own move; its line, too, sends nobody to a number of another country, and
        near danger that was met in this conversation is not passed over after it.
        """
        decision = yield from self.policy.decide(_unguarded(view))
        own_numbers = OwnNumbers(help=Help(locale=view.meeting.locale, language=view.language))
        near = "high" in (protocol.met, protocol.level) or "imminent" in (
            protocol.met,
            protocol.level,
        )
        brief = (
            "\n".join((decision.wording.brief, afterwards(protocol, view)))
            if near
            else decision.wording.brief
        )
        return decision.worded(never=own_numbers, brief=brief.strip())

    def conclude(self, view: TalkView) -> Ask[tuple[Data | Foreign, ...]]:
        """What the policy keeps of the conversation."""
        if isinstance(self.policy, Concluding):
            return (yield from self.policy.conclude(_unguarded(view)))
        return ()


def _judge(view: TalkView, protocol: ProtocolState) -> Ask[tuple[PracticeEvent, ...]]:
    """The answer to the step that was taken last, if it asked something, and whether it is asked
    once more (`protocol.repeats`).
    """
    if (
        protocol.state not in ASKED
        or view.parting
        or view.heard is None
        or view.lines[-1].who == view.me
        or protocol.turned
    ):
        return ()
    step = protocol.state
    read = yield from read_answer(view, protocol)
    protocol.judge(step, read.verdict)
    open_ = ("unclear", "conditional") if step in SETTLING else ("unclear",)
    again = read.verdict in open_ and protocol.may_repeat(step)
    protocol.repeats = (
        again
        and view.clock.most_left >= LINES_TO_GO_ON
        and not (protocol.urgent and "emergency" not in protocol.taken)
    )
    return (
        Judged(
            who=view.me,
            chat=view.chat,
            state=step,
            question=ANSWER,
            verdict=read.verdict,
            by=read.by,
            reason=read.reason,
            **traced(*read.replies),
        ),
    )


def _whose(view: TalkView, protocol: ProtocolState) -> tuple[PracticeEvent, ...]:
    """What is put down where the danger turns out to be somebody else's, or the client's own."""
    if not protocol.turned:
        return ()
    return (
        Judged(
            who=view.me,
            chat=view.chat,
            state=protocol.state or "acknowledge",
            question=WHOSE,
            verdict="another" if protocol.another else "own",
            by="words",
            reason=protocol.another or "the client's own",
        ),
    )


def _which(view: TalkView, protocol: ProtocolState) -> tuple[PracticeEvent, ...]:
    """What is put down where the client denies the danger that was asked about and means another:
    the kind that a model heard in the line, or by words ("no, the other one") suicide, which is
    asked about first.
    """
    asked = protocol.asking
    if view.heard is None or asked is None or protocol.kinds_left or protocol.named[asked] != "no":
        return ()
    heard = [kind for kind in protocol.last_kinds if kind not in protocol.named]
    if not heard and not means_another(view.heard.text, view.language):
        return ()
    first: Danger = "self_harm" if "suicide" in protocol.named else "suicide"
    event = Judged(
        who=view.me,
        chat=view.chat,
        state=protocol.state or "ask_directly",
        question=WHICH,
        verdict=heard[0] if heard else first,
        by="model" if heard else "words",
        reason=f"“{view.heard.text[:60]}”",
    )
    correct_kind(protocol, event)
    return (event,)


def _next(protocol: ProtocolState, view: TalkView) -> tuple[Step, str]:
    """The step that comes now, and why."""
    if protocol.urgent and "emergency" not in protocol.taken:
        return "emergency", "imminent danger: emergency help comes before all else"
    if view.parting:
        return (
            ("help", "they leave all the same")
            if protocol.stayed
            else ("stay", "they take leave while there is danger")
        )
    if protocol.owes_word:
        return "confide", ASKED_FOR_SECRECY
    to_go = _to_go(protocol)
    if view.clock.most_left < LINES_TO_GO_ON and to_go[0] not in MET:
        return (
            "agree" if "help" in protocol.taken and "agree" in to_go else "help"
        ), "the talk cannot be held any longer"
    answer = (
        (protocol.named.get(protocol.asking) if protocol.asking else None)
        if protocol.state in NAMING
        else protocol.answers.get(protocol.state or "over")
    )
    return to_go[0], f"{protocol.level} danger ({protocol.kind_of(to_go[0])})" + (
        f"; {protocol.state} was answered: {answer}" if answer else ""
    )


def _to_go(protocol: ProtocolState) -> tuple[Step, ...]:
    """The steps still to be taken, in order, never none; after a line in which danger was heard not
    those with which it would be met.
    """
    way = route(
        protocol.level,
        protocol.by_name,
        protocol.answers,
        urgent=protocol.urgent,
        followed=protocol.followed,
        left_open=protocol.left_open,
        another=protocol.of_another,
        dated=protocol.dated,
        faint=protocol.faint,
    )
    left = (
        tuple(step for step in way if step in AGAIN_FOR_EACH or step not in protocol.taken)
        or way[-1:]
    )
    if protocol.last not in ("high", "imminent") or left[0] not in MET:
        return left
    last = set(protocol.last_kinds)
    of_further = bool(last & set(protocol.further)) and protocol.kind not in last
    again = ONCE_MORE_NOW if protocol.urgent else ONCE_MORE_ALSO if of_further else ONCE_MORE
    return (min(again, key=protocol.taken.count), *left)


def _step(
    step: Step, protocol: ProtocolState, view: TalkView, why: str, judged: tuple[PracticeEvent, ...]
) -> Decision:
    open_ = (step,) if step == "follow_up" else (step, *_to_go(protocol), *ALWAYS)
    return decision_for(
        step,
        protocol,
        view,
        why,
        (*judged, _moved(step, protocol, view, why)),
        tuple(dict.fromkeys(open_)),
    )


def _moved(step: Step, protocol: ProtocolState, view: TalkView, why: str) -> Transitioned:
    return Transitioned(
        who=view.me,
        chat=view.chat,
        protocol=PROTOCOL,
        origin=protocol.state,
        state=step,
        reason=why,
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
        isinstance(event, Judged) and event.question in (ANSWER, WHICH, WHOSE)
    )
