"""The state of the safety protocol in a conversation: a fold over what was heard of danger and what
was done about it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from simcounsel.agents.talk import TalkView
from simcounsel.events import Assessed, Judged, Transitioned
from simcounsel.policies.protection.ladder import (
    AGAIN_AT_MOST,
    MET,
    NAMING,
    OF_ONE_DANGER,
    OF_SECOND,
    QUESTIONS,
    STEPS,
    VERDICTS,
    Named,
    Step,
    Verdict,
)
from simcounsel.policies.protection.owed import PROTOCOL, owed_to
from simcounsel.safety.weighing import higher
from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS, Danger, RiskLevel

ANSWER = "safety answer"
STEP_OF: Mapping[str, Step] = {step: step for step in STEPS}
VERDICT_OF: Mapping[str, Verdict] = {verdict: verdict for verdict in VERDICTS}
"""What the log's words stand for."""


@dataclass(kw_only=True)
class ProtocolState:
    """What the protocol knows."""

    state: Step | None = None
    """The step that it is in; None before it begins in this conversation."""
    level: RiskLevel = "none"
    """Of the open danger, the nearest only."""
    kinds: tuple[Danger, ...] = ()
    """Of the open danger, the nearest only."""
    last: RiskLevel = "none"
    """What was heard in the last client line."""
    last_kinds: tuple[Danger, ...] = ()
    """The kinds of it."""
    named: dict[Danger, Verdict | None] = field(default_factory=dict)
    """The dangers that were asked about by name since it was opened, in that order, with the last
    answer; None while there is none.
    """
    asking: Danger | None = None
    """The one that was asked about last."""
    taken: list[Step] = field(default_factory=list)
    """Steps since the danger was opened."""
    again: list[Step] = field(default_factory=list)
    """Questions that were asked once more."""
    answers: dict[Step, Verdict] = field(default_factory=dict)
    """The last to each other step."""
    urgent: bool = False
    """Whether the danger is for now."""
    met: RiskLevel = "none"
    """The nearest danger that was met in this conversation."""
    owed: RiskLevel = "none"
    """The danger of earlier conversations that was not asked about since."""
    owed_kinds: tuple[Danger, ...] = ()
    """The kinds of it."""
    left_open: bool = False
    """Whether the last conversation ended on danger."""
    by_form: bool = False
    """Whether the last of it was heard in a questionnaire only."""
    held: bool = False
    """Whether the protocol spoke in this conversation."""
    stayed: bool = False
    """Whether they were asked to stay since the danger was opened."""
    repeats: bool = False
    """Whether the last question is asked once more now."""
    acting: Danger | None = None
    """The danger on which the client means to act today, if they said so when they were asked."""

    @property
    def running(self) -> bool:
        """Whether the protocol is at work."""
        return self.state is not None and self.state not in MET

    @property
    def open(self) -> bool:
        """Whether danger was heard here that has not been met. A low one is met once in a
        conversation.
        """
        return self.running or (
            self.level != "none" and (self.level != "low" or self.met == "none")
        )

    @property
    def open_kinds(self) -> tuple[Danger, ...]:
        """The dangers that are open or owed: those asked about first, then as `DANGERS` has
        them.
        """
        some = self.kinds or self.owed_kinds
        return tuple(dict.fromkeys(kind for kind in (*self.named, *DANGERS) if kind in some))

    @property
    def kind(self) -> Danger:
        """The danger that the protocol is about: the first that was not denied. When it is for now,
        it is the one on which they mean to act; where it was heard unasked, harm to others goes
        before.
        """
        if self.acting:
            return self.acting
        left = [kind for kind in self.open_kinds if self.named.get(kind) != "no"]
        if self.urgent and "harm_to_others" in left:
            return "harm_to_others"
        return next(iter(left or self.open_kinds), "suicide")

    @property
    def unnamed(self) -> tuple[Danger, ...]:
        """Open dangers that were not asked about by name, the nearest one first; of low ones only
        where a follow-up began.
        """
        wanted = self.level in ("high", "imminent") or "follow_up" in self.taken
        left = [kind for kind in self.open_kinds if kind not in self.named] if wanted else []
        return tuple(sorted(left, key=lambda kind: kind != self.kind))

    @property
    def second(self) -> Danger | None:
        """The danger that the client has beside the first; None where there is none. When it is for
        now, whatever was heard counts.
        """
        others = [kind for kind in self.open_kinds if kind != self.kind]
        answered = [
            kind
            for kind in others
            if self.named.get(kind) not in (None, "no")
            or (self.urgent and self.named.get(kind) != "no")
        ]
        return answered[0] if answered else None

    @property
    def by_name(self) -> Named:
        """What the route is to know of them."""
        opened = bool({"ask_directly", "follow_up"} & set(self.taken))
        first = opened and self.kind in self.unnamed
        more = any(kind != self.kind for kind in self.unnamed)
        return Named(
            answer=self.named.get(self.kind), first=first, more=more, second=self.second is not None
        )

    def judge(self, step: Step, verdict: Verdict) -> None:
        """Take an answer to a step."""
        if step not in NAMING:
            self.answers[step] = verdict
        elif self.asking:
            self.named[self.asking] = verdict
        if step in ("intent", "intent_also") and verdict == "yes":
            self.acting = self.kind_of(step)
            self.urgent = True

    def may_repeat(self, step: Step) -> bool:
        """Whether a question may be asked once more."""
        return step not in self.again and len(self.again) < AGAIN_AT_MOST

    def kind_of(self, step: Step) -> Danger:
        """The danger that a step, when it is taken now, is about."""
        if self.repeats and step in NAMING and self.asking:
            return self.asking
        if step == "ask_also":
            return next(iter(self.unnamed), self.kind)
        return (self.second or self.kind) if step in OF_SECOND else self.kind

    @property
    def followed(self) -> bool:
        """Whether the present danger was begun by a follow-up."""
        return "follow_up" in self.taken and "ask_directly" not in self.taken


def protocol_state(view: TalkView) -> ProtocolState:
    """The state of the protocol before the next line of `view.me`."""
    protocol = ProtocolState()
    owed = owed_to(view)
    protocol.owed, protocol.owed_kinds = owed.danger.level, owed.danger.kinds
    protocol.by_form, protocol.left_open = owed.by_form, owed.left_open
    for event in view.own:
        if isinstance(event, Assessed):
            _hear(protocol, event)
        elif isinstance(event, Judged) and event.question == ANSWER:
            protocol.judge(STEP_OF[event.state], VERDICT_OF[event.verdict])
        elif isinstance(event, Transitioned) and event.protocol == PROTOCOL:
            _move(protocol, event)
    here = [event for event in view.assessed if event.message == len(view.lines)]
    for event in here:
        protocol.last = higher(protocol.last, event.level)
        protocol.last_kinds = tuple(dict.fromkeys((*protocol.last_kinds, *event.kinds)))
    return protocol


def _hear(protocol: ProtocolState, event: Assessed) -> None:
    if event.level == "none":
        return
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


def _reopen(
    protocol: ProtocolState, steps: tuple[Step, ...] = ("agree", "agree_also", "involve", "help")
) -> None:
    """What was agreed on and named was for another danger; this one wants it once more."""
    protocol.taken = [step for step in protocol.taken if step not in steps]
    for step in steps:
        protocol.answers.pop(step, None)


def _move(protocol: ProtocolState, event: Transitioned) -> None:
    state = STEP_OF[event.state]
    if state in MET:
        protocol.met = higher(protocol.met, protocol.level)
        protocol.level, protocol.kinds, protocol.urgent = "none", (), False
        protocol.taken, protocol.again, protocol.answers, protocol.state, protocol.stayed = (
            [],
            [],
            {},
            state,
            False,
        )
        protocol.named, protocol.asking, protocol.acting = {}, None, None
        return
    again = state == protocol.state and state in QUESTIONS and protocol.may_repeat(state)
    if again and (state not in NAMING or _answered(protocol) == "unclear"):
        protocol.again.append(state)
    elif state in NAMING:
        if state == "follow_up" and protocol.level == "none":
            protocol.level, protocol.kinds = "low", protocol.owed_kinds
        protocol.asking = protocol.kind_of(state)
        protocol.named.setdefault(protocol.asking, None)
    if state == "stay":
        protocol.stayed = True
        if event.origin in QUESTIONS and event.origin in protocol.taken:
            _unanswered(protocol, event.origin)
    protocol.held = True
    protocol.taken.append(state)
    protocol.state = state


def _answered(protocol: ProtocolState) -> Verdict | None:
    return protocol.named.get(protocol.asking) if protocol.asking else None


def _unanswered(protocol: ProtocolState, step: Step) -> None:
    """A question that was not answered before they took leave will be asked again."""
    if step in NAMING and protocol.asking:
        if _answered(protocol) is not None:
            return
        del protocol.named[protocol.asking]
    protocol.taken.remove(step)
