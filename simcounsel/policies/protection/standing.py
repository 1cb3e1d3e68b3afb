"""Where the safety protocol stands in a conversation: a fold over what was heard of danger and what was done about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from simcounsel.agents.talk import TalkView
from simcounsel.events import Assessed, Judged, PracticeEvent, Transitioned
from simcounsel.policies.protection.ladder import MET, NAMING, OF_ANOTHER, QUESTIONS, Step, Verdict
from simcounsel.safety.weighing import higher
from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS, Danger, RiskLevel

PROTOCOL = "safety"
ANSWER = "safety answer"


@dataclass(kw_only=True)
class Standing:
    """What the protocol knows.

    state: the step it is in; None before it begins in this conversation. level, kinds: of the open danger. last: the level of the
    last client line. named: the dangers that were asked about by name since it was opened, in that order. taken: steps since then.
    again: questions asked once more. answers: the last to each step. urgent: it is for now. met: the nearest danger that was met in
    this conversation. owed: the danger of earlier conversations that was not asked about since; by_form: the last of it was heard in a
    questionnaire only. held: the protocol spoke in this conversation. stayed: they were asked to stay since the danger was opened.
    """

    state: Step | None = None
    level: RiskLevel = "none"
    kinds: tuple[Danger, ...] = ()
    last: RiskLevel = "none"
    named: list[Danger] = field(default_factory=list)
    taken: list[Step] = field(default_factory=list)
    again: list[Step] = field(default_factory=list)
    answers: dict[Step, Verdict] = field(default_factory=dict)
    urgent: bool = False
    met: RiskLevel = "none"
    owed: RiskLevel = "none"
    owed_kinds: tuple[Danger, ...] = ()
    by_form: bool = False
    held: bool = False
    stayed: bool = False

    @property
    def running(self) -> bool:
        """Whether the protocol is at work."""
        return self.state is not None and self.state not in MET

    @property
    def open(self) -> bool:
        """Whether danger was heard here that has not been met. A low one is met once in a conversation."""
        return self.running or (self.level != "none" and (self.level != "low" or self.met == "none"))

    @property
    def kind(self) -> Danger:
        """The danger that the protocol is about: of the nearest ones the one that was asked about by name first, or else the first."""
        open_ = self.kinds or self.owed_kinds
        return next((kind for kind in (*self.named, *DANGERS) if kind in open_), "suicide")

    @property
    def another(self) -> Danger | None:
        """A second danger that is as near as the first, high or imminent; None where there is none."""
        if self.level not in ("high", "imminent"):
            return None
        return next((kind for kind in (*self.named, *DANGERS) if kind in self.kinds and kind != self.kind), None)

    def kind_of(self, step: Step) -> Danger:
        """The danger that a step is about."""
        return (self.another or self.kind) if step in OF_ANOTHER else self.kind

    @property
    def followed(self) -> bool:
        """Whether the present danger was begun by a follow-up."""
        return "follow_up" in self.taken and "ask_directly" not in self.taken


def standing(view: TalkView) -> Standing:
    """Where the protocol stands before the next line of `view.me`."""
    stand = Standing()
    stand.owed, stand.owed_kinds, stand.by_form = _owed([entry.event for entry in view.kept if isinstance(entry.event, Assessed | Transitioned)])
    for event in view.own:
        if isinstance(event, Assessed):
            _hear(stand, event)
        elif isinstance(event, Judged) and event.question == ANSWER:
            _answer(stand, event)
        elif isinstance(event, Transitioned) and event.protocol == PROTOCOL:
            _move(stand, event)
    here = [event for event in view.assessed if event.message == len(view.lines)]
    for event in here:
        stand.last = higher(stand.last, event.level)
    return stand


def _hear(stand: Standing, event: Assessed) -> None:
    if event.level == "none":
        return
    if RISK_LEVELS.index(event.level) > RISK_LEVELS.index(stand.level):
        stand.kinds = event.kinds
        _reopen(stand)
    elif event.level == stand.level and not set(event.kinds) <= set(stand.kinds):
        stand.kinds = tuple(kind for kind in DANGERS if kind in {*stand.kinds, *event.kinds})
        _reopen(stand)
    stand.level = higher(stand.level, event.level)
    if event.level in ("high", "imminent"):
        for asked in NAMING:  # a denial does not outlast what is said after it
            if stand.answers.get(asked) == "no" and stand.kind_of(asked) in event.kinds:
                stand.answers[asked] = "yes"
                _reopen(stand)
    stand.urgent = stand.urgent or event.level == "imminent"


def _reopen(stand: Standing) -> None:
    """What was agreed on and named was for another danger; this one wants it once more."""
    stand.taken = [step for step in stand.taken if step not in ("agree", "agree_also", "involve", "help")]
    for agreed in ("agree", "agree_also"):
        stand.answers.pop(agreed, None)


def _answer(stand: Standing, event: Judged) -> None:
    step: Step = event.state  # type: ignore[assignment]
    verdict: Verdict = event.verdict  # type: ignore[assignment]
    stand.answers[step] = verdict
    stand.urgent = stand.urgent or (step == "intent" and verdict == "yes")


def _move(stand: Standing, event: Transitioned) -> None:
    state: Step = event.state  # type: ignore[assignment]
    if state in MET:
        stand.met = higher(stand.met, stand.level)
        stand.level, stand.kinds, stand.urgent = "none", (), False
        stand.taken, stand.again, stand.named, stand.answers, stand.state, stand.stayed = [], [], [], {}, state, False
        return
    if state == stand.state and state in QUESTIONS and state not in stand.again:
        stand.again.append(state)
    if state == "follow_up" and stand.level == "none":
        stand.level, stand.kinds = "low", stand.owed_kinds
    if state in NAMING and stand.kind_of(state) not in stand.named:
        stand.named.append(stand.kind_of(state))
    if state == "stay":
        stand.stayed = True
        if event.origin in QUESTIONS and event.origin in stand.taken:
            stand.taken.remove(event.origin)  # it was not answered, and will be asked again
    stand.held = True
    stand.taken.append(state)
    stand.state = state


def _owed(events: Sequence[PracticeEvent]) -> tuple[RiskLevel, tuple[Danger, ...], bool]:
    """The danger of earlier conversations that no later one came back to: its level and kinds, and whether only a questionnaire tells it."""
    owed: list[Assessed] = []
    chats: dict[str | None, list[PracticeEvent]] = {}
    for number, event in enumerate(events):
        key = event.chat if event.chat is not None else f"questionnaire {number}"
        chats.setdefault(key, []).append(event)
    for some in chats.values():
        steps = [event.state for event in some if isinstance(event, Transitioned) and event.protocol == PROTOCOL]
        heard = [event for event in some if isinstance(event, Assessed) and event.level != "none"]
        owed = [*(owed if not steps or steps[-1] not in MET else []), *heard]
    level: RiskLevel = "none"
    for event in owed:
        level = higher(level, event.level)
    return level, _kinds(event for event in owed if event.level == level), bool(owed) and all(event.chat is None for event in owed)


def _kinds(events: Iterable[Assessed]) -> tuple[Danger, ...]:
    named = {kind for event in events for kind in event.kinds}
    return tuple(kind for kind in DANGERS if kind in named)
