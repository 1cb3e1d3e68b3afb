"""How the state of the protocol follows from what was heard, said and done in a conversation."""

from dataclasses import replace

from simcounsel.agents.talk import TalkView
from simcounsel.danger.hearing.left_open import only_the_classifier
from simcounsel.danger.protection.circumstances import BY_OWN_HAND, asks_for_secrecy, circumstances
from simcounsel.danger.protection.client_words import said_plainly
from simcounsel.danger.protection.ladder import (
    ASKED,
    MET,
    NAMING,
    OF_FURTHER,
    OF_ONE_DANGER,
    QUESTIONS,
    Step,
    Verdict,
)
from simcounsel.danger.protection.owed import PROTOCOL, WHICH, WHOSE, open_follow_up
from simcounsel.danger.protection.state import ANSWER, STEP_OF, VERDICT_OF, ProtocolState
from simcounsel.danger.protection.telling import names_it, told_so_far
from simcounsel.events import Assessed, Judged, Transitioned
from simcounsel.safety.open_danger import higher
from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS


def protocol_state(view: TalkView) -> ProtocolState:
    """The state of the protocol before the next line of `view.me`."""
    protocol = ProtocolState()
    owed = open_follow_up(view)
    protocol.owed, protocol.owed_kinds = owed.danger.level, owed.danger.kinds
    protocol.by_form, protocol.left_open = owed.by_form, owed.left_open
    protocol.another = owed.another
    protocol.asked_plainly = any(_asks_plainly(entry.event) for entry in view.kept)
    protocol.faint_so_far = owed.faint_so_far
    for event in view.own:
        if isinstance(event, Assessed):
            _hear(protocol, event)
        elif isinstance(event, Judged) and event.question == ANSWER:
            protocol.judge(STEP_OF[event.state], VERDICT_OF[event.verdict])
        elif isinstance(event, Judged) and event.question == WHOSE:
            _turn(protocol, event.reason if event.verdict == "another" else None)
        elif isinstance(event, Judged) and event.question == WHICH:
            correct_kind(protocol, event)
        elif isinstance(event, Transitioned) and event.protocol == PROTOCOL:
            _move(protocol, event)
    some = (protocol.level, protocol.owed, protocol.met)
    if protocol.open or any(level != "none" for level in some) or asks_for_secrecy(view):
        _take_in(protocol, view)
    here = [event for event in view.assessed if event.message == len(view.lines)]
    for event in here:
        protocol.last = higher(protocol.last, event.level)
        protocol.last_kinds = tuple(dict.fromkeys((*protocol.last_kinds, *event.kinds)))
    return protocol


def _take_in(protocol: ProtocolState, view: TalkView) -> None:
    """What circumstances make of an open danger: it is for now where it was done already, or where
    somebody who is hurt goes back, or another is about to. What was met once counts again only
    when it is said again.
    """
    protocol.about = circumstances(view)
    if not protocol.about.own and protocol.about.another is None:
        protocol.about = replace(protocol.about, another=protocol.another)
    if protocol.open and protocol.about.another != protocol.another:
        protocol.turned = True
        _turn(protocol, protocol.about.another)
    protocol.owes_word = asks_for_secrecy(view) or (
        protocol.about.secrecy and not protocol.confided
    )
    said = circumstances(view, last=True) if protocol.met != "none" else protocol.about
    kinds = set(protocol.open_kinds)
    now = bool(kinds & set(BY_OWN_HAND)) and (said.done or (protocol.about.another and said.soon))
    near = "abuse" in kinds and said.near
    if protocol.open and (now or near):
        protocol.urgent = True
    protocol.told = told_so_far(view)
    _take_at_their_word(protocol, view)
    if protocol.timed and "plan" not in protocol.taken:
        protocol.taken.append("plan")
        protocol.told_unasked = ("plan",)
        protocol.answers["plan"] = "yes"


def _take_at_their_word(protocol: ProtocolState, view: TalkView) -> None:
    """What they said openly of suicide answers the question whether it is there."""
    asked = {"ask_directly", "follow_up"} & set(protocol.taken) or "suicide" in protocol.named
    near = protocol.level in ("high", "imminent") and protocol.kind == "suicide"
    if not near or asked or protocol.of_another or not names_it(said_plainly(view), view.language):
        return
    protocol.openly = True
    protocol.named["suicide"] = "yes"
    protocol.taken.append("ask_directly")


def _turn(protocol: ProtocolState, another: str | None) -> None:
    """What was asked and agreed on was about the danger of one person; the other's is asked about
    again, but who says that it is not theirs is not asked by name once more.
    """
    was, protocol.another = protocol.another, another
    if was is not None and another is not None:
        return
    asked = ("ask_directly", "follow_up") if another is None else ()
    _reopen(protocol, (*OF_ONE_DANGER, "company", *asked))
    for kind in BY_OWN_HAND:
        if kind in protocol.named:
            if another is None:
                del protocol.named[kind]
            else:
                protocol.named[kind] = None
    protocol.asking = None if another is None else protocol.asking


def correct_kind(protocol: ProtocolState, event: Judged) -> None:
    """The danger is of the kind that the client names; it is asked about by name next."""
    protocol.kinds = tuple(kind for kind in DANGERS if kind == event.verdict)
    protocol.level = higher(protocol.level, "low")
    protocol.faint, protocol.asking = False, None
    _reopen(protocol, (*OF_ONE_DANGER, "ask_directly"))


def _hear(protocol: ProtocolState, event: Assessed) -> None:
    faint = only_the_classifier(event)
    if event.level == "none" or (faint and protocol.asked_plainly and protocol.faint_so_far):
        return
    protocol.faint_so_far = protocol.faint_so_far and faint
    protocol.faint = faint and (protocol.level == "none" or protocol.faint)
    before = protocol.kind
    if RISK_LEVELS.index(event.level) > RISK_LEVELS.index(protocol.level):
        protocol.kinds = event.kinds
        _reopen(protocol)
    elif event.level == protocol.level and not set(event.kinds) <= set(protocol.kinds):
        protocol.kinds = tuple(kind for kind in DANGERS if kind in {*protocol.kinds, *event.kinds})
        _reopen(protocol)
    protocol.level = higher(protocol.level, event.level)
    if event.level in ("high", "imminent"):
        for kind in event.kinds:  # neither a denial nor a refusal outlasts what is said after it
            if protocol.named.get(kind, "yes") != "yes":
                _reopen(protocol)
                protocol.named[kind] = "yes"
    protocol.urgent = protocol.urgent or event.level == "imminent"
    if protocol.kind != before and protocol.taken:
        _reopen(protocol, OF_ONE_DANGER)


def _asks_plainly(event: object) -> bool:
    return isinstance(event, Transitioned) and event.protocol == PROTOCOL and event.state in NAMING


def _reopen(
    protocol: ProtocolState, steps: tuple[Step, ...] = ("agree", "agree_also", "involve", "help")
) -> None:
    """What was agreed on and named was for another danger; this one wants it once more."""
    protocol.taken = [step for step in protocol.taken if step not in steps]
    protocol.taken_for = [one for one in protocol.taken_for if one[0] not in steps]
    for step in steps:
        protocol.answers.pop(step, None)


def _move(protocol: ProtocolState, event: Transitioned) -> None:
    state = STEP_OF[event.state]
    protocol.asked_plainly = protocol.asked_plainly or _asks_plainly(event)
    if state in MET:
        protocol.met = higher(protocol.met, protocol.level)
        protocol.met_kinds = (protocol.kind,) if protocol.kinds else protocol.met_kinds
        protocol.level, protocol.kinds, protocol.urgent = "none", (), False
        protocol.taken, protocol.again, protocol.answers, protocol.state, protocol.stayed = (
            [],
            [],
            {},
            state,
            False,
        )
        protocol.named, protocol.asking, protocol.acting = {}, None, None
        protocol.taken_for = []
        return
    again = state == protocol.state and state in QUESTIONS and protocol.may_repeat(state)
    if again and (
        state not in (*NAMING, *OF_FURTHER)
        or _last_answer(protocol, state) in ("unclear", "conditional")
    ):
        protocol.again.append(state)
    elif state in OF_FURTHER:
        protocol.taken_for.append((state, protocol.kind_of(state)))
    elif state in NAMING:
        if state == "follow_up" and protocol.level == "none":
            protocol.level, protocol.kinds = "low", protocol.owed_kinds
        protocol.asking = protocol.kind_of(state)
        protocol.named.setdefault(protocol.asking, None)
    if state == "confide":
        _answered_with_a_word(protocol, event)
        return
    if state == "emergency":
        protocol.urgent = True
    if state == "stay":
        protocol.stayed = True
        if event.origin in QUESTIONS and event.origin in protocol.taken:
            _unanswered(protocol, event.origin)
    protocol.held = True
    protocol.taken.append(state)
    protocol.state = state


def _answered_with_a_word(protocol: ProtocolState, event: Transitioned) -> None:
    """A question that was met with a wish for secrecy, and not answered, will be asked again."""
    protocol.confided = True
    protocol.taken.append("confide")
    protocol.state = "confide"
    asked = STEP_OF.get(event.origin or "")
    if asked not in QUESTIONS or asked not in protocol.taken:
        return
    if asked in NAMING and protocol.asking and _answered(protocol) in (None, "unclear", "refuses"):
        protocol.named[protocol.asking] = None
        _unanswered(protocol, asked)
    elif asked in ASKED and protocol.answers.get(asked) in (None, "unclear", "refuses"):
        protocol.answers.pop(asked, None)
        _unanswered(protocol, asked)


def _answered(protocol: ProtocolState) -> Verdict | None:
    return protocol.named.get(protocol.asking) if protocol.asking else None


def _last_answer(protocol: ProtocolState, step: Step) -> Verdict | None:
    return _answered(protocol) if step in NAMING else protocol.answers.get(step)


def _unanswered(protocol: ProtocolState, step: Step) -> None:
    """A question that was not answered before they took leave will be asked again."""
    if step in NAMING and protocol.asking:
        if _answered(protocol) is not None:
            return
        del protocol.named[protocol.asking]
    if step in OF_FURTHER:
        protocol.taken_for.remove((step, protocol.asked_by(step)))
    protocol.taken.remove(step)
