"""The state of the safety protocol in a conversation: a fold over what was heard of danger and what
was done about it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from simcounsel.danger.protection.circumstances import BY_OWN_HAND, Circumstances
from simcounsel.danger.protection.ladder import (
    AGAIN_AT_MOST,
    MET,
    NAMING,
    OF_FURTHER,
    STEPS,
    VERDICTS,
    Named,
    Step,
    Verdict,
)
from simcounsel.danger.protection.telling import Disclosures
from simcounsel.specs.vocabulary import DANGERS, Danger, RiskLevel

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
    taken_for: list[tuple[Step, Danger]] = field(default_factory=list)
    """Those about further dangers, with the danger of each."""
    again: list[Step] = field(default_factory=list)
    """Questions that were asked once more."""
    answers: dict[Step, Verdict] = field(default_factory=dict)
    """The last to each other step."""
    urgent: bool = False
    """Whether the danger is for now."""
    met: RiskLevel = "none"
    """The nearest danger that was met in this conversation."""
    met_kinds: tuple[Danger, ...] = ()
    """The kinds of what was met last."""
    owed: RiskLevel = "none"
    """The danger of earlier conversations that was not asked about since."""
    owed_kinds: tuple[Danger, ...] = ()
    """The kinds of it."""
    left_open: bool = False
    """Whether the last conversation ended on danger."""
    by_form: bool = False
    """Whether the last of it was heard in a questionnaire only."""
    faint: bool = False
    """Whether only the classifier has heard what is open, from no telling word."""
    asked_plainly: bool = False
    """Whether a danger was asked about by name in this course."""
    faint_so_far: bool = True
    """Whether nobody but the classifier has heard any in it: once it was asked about, it is not
    asked about again.
    """
    held: bool = False
    """Whether the protocol spoke in this conversation."""
    confided: bool = False
    """Whether they were told in this conversation what cannot be kept secret."""
    stayed: bool = False
    """Whether they were asked to stay since the danger was opened."""
    repeats: bool = False
    """Whether the last question is asked once more now."""
    acting: Danger | None = None
    """The danger on which the client means to act today, if they said so when they were asked."""
    about: Circumstances = field(default_factory=Circumstances)
    """What was said of it beyond its level and kind."""
    openly: bool = False
    """Whether they said by name, unasked, that they think of suicide: then a plan and a time are
    asked for, not whether it is there.
    """
    told_unasked: tuple[Step, ...] = ()
    """Steps that count as taken since they told unasked what was to be asked."""
    told: Disclosures = field(default_factory=Disclosures)
    """What need not be asked again."""
    another: str | None = None
    """Whose danger it was so far, if not the client's own."""
    turned: bool = False
    """Whether it turns out now to be somebody else's, or the client's own after all."""
    owes_word: bool = False
    """Whether they asked that nobody be told, and were not answered."""

    @property
    def running(self) -> bool:
        """Whether the protocol is at work."""
        return self.state is not None and self.state not in (*MET, "confide")

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
    def kinds_left(self) -> tuple[Danger, ...]:
        """Those of them that were not denied."""
        return tuple(kind for kind in self.open_kinds if self.named.get(kind) != "no")

    @property
    def kind(self) -> Danger:
        """The danger that the protocol is about: the first that was not denied. When it is for now,
        it is the one on which they mean to act; where it was heard unasked, harm to others goes
        before.
        """
        if self.acting:
            return self.acting
        left = self.kinds_left
        if self.about.done and (by_hand := [kind for kind in left if kind in BY_OWN_HAND]):
            return by_hand[0]
        if self.urgent and "harm_to_others" in left:
            return "harm_to_others"
        if self.urgent and self.level != "imminent" and self.about.near and "abuse" in left:
            return "abuse"
        return next(iter(left or self.open_kinds), "suicide")

    @property
    def of_another(self) -> bool:
        """Whether it is not the client who may die or be hurt."""
        return self.whom is not None

    @property
    def whom(self) -> str | None:
        """Who may die or be hurt, where it is not the client."""
        if self.kind == "abuse":
            return self.about.hurt
        return self.about.another if self.kind in BY_OWN_HAND else None

    @property
    def timed(self) -> bool:
        """Whether they named a time for harm to themselves or to others."""
        theirs = not self.of_another and self.kind != "abuse"
        return theirs and self.told.when is not None and self.named.get(self.kind) != "no"

    @property
    def dated(self) -> bool:
        """Whether that time is after today, or they said that it is not for now."""
        if self.of_another or self.kind == "abuse":
            return False
        later = "conditional" in (self.answers.get("intent"), self.named.get(self.kind))
        return later or (self.timed and not self.told.today)

    @property
    def unnamed(self) -> tuple[Danger, ...]:
        """Open dangers that were not asked about by name, the nearest one first; of low ones only
        where a follow-up began.
        """
        wanted = self.level in ("high", "imminent") or "follow_up" in self.taken
        left = [kind for kind in self.open_kinds if kind not in self.named] if wanted else []
        return tuple(sorted(left, key=lambda kind: kind != self.kind))

    @property
    def further(self) -> tuple[Danger, ...]:
        """The dangers that the client has beside the first, the nearest one first: what they said
        yes to before a wish without intent. When it is for now, whatever was heard counts.
        """
        some = [
            kind
            for kind in self.open_kinds
            if kind != self.kind
            and self.named.get(kind) != "no"
            and (self.urgent or self.named.get(kind) is not None)
        ]
        order = {"yes": 0, "passive": 2}
        return tuple(sorted(some, key=lambda kind: order.get(self.named.get(kind) or "", 1)))

    def _not_yet(self, step: Step) -> tuple[Danger, ...]:
        """The further dangers for which such a step was not taken."""
        return tuple(kind for kind in self.further if (step, kind) not in self.taken_for)

    @property
    def by_name(self) -> Named:
        """What the route is to know of them."""
        opened = bool({"ask_directly", "follow_up"} & set(self.taken))
        first = opened and self.kind in self.unnamed
        more = any(kind != self.kind for kind in self.unnamed)
        return Named(
            answer=self.named.get(self.kind),
            first=first,
            more=more,
            to_intend=bool(self._not_yet("intent_also")),
            to_agree=bool(self._not_yet("agree_also")),
        )

    def asked_about(self, step: Step) -> bool:
        """Whether the danger that a step is about was asked about by name, or they named it
        themselves and were asked what follows from it.
        """
        if self.openly and self.kind_of(step) == "suicide":
            return bool({"plan", "intent", "means"} & set(self.taken) - set(self.told_unasked))
        return self.kind_of(step) in self.named

    def judge(self, step: Step, verdict: Verdict) -> None:
        """Take an answer to a step."""
        if step not in NAMING:
            bad = step == "agree_also" and self.answers.get(step) in ("no", "refuses")
            self.answers[step] = self.answers[step] if bad else verdict
        elif self.asking:
            self.named[self.asking] = verdict
        if step in ("intent", "intent_also") and verdict == "yes":
            self.acting = self.asked_by(step)
            self.urgent = True

    def may_repeat(self, step: Step) -> bool:
        """Whether a question may be asked once more."""
        return step not in self.again and len(self.again) < AGAIN_AT_MOST

    def kind_of(self, step: Step) -> Danger:
        """The danger that a step, when it is taken now, is about."""
        if self.repeats:
            return self.asked_by(step)
        if step == "ask_also":
            return next(iter(self.unnamed), self.kind)
        if step in OF_FURTHER:
            return next(iter((*self._not_yet(step), *self.further)), self.kind)
        return self.kind

    def asked_by(self, step: Step) -> Danger:
        """The danger that such a step, when it was taken last, was about."""
        if step in NAMING and self.asking:
            return self.asking
        if step in OF_FURTHER:
            some = [kind for taken, kind in self.taken_for if taken == step]
            return some[-1] if some else self.kind
        return self.kind

    @property
    def followed(self) -> bool:
        """Whether the present danger was begun by a follow-up."""
        return "follow_up" in self.taken and "ask_directly" not in self.taken
