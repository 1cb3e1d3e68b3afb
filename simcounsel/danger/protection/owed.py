"""What earlier conversations and questionnaires left for the next one to ask about."""

from collections.abc import Sequence
from dataclasses import dataclass

from simcounsel.agents.talk import TalkView
from simcounsel.danger.hearing.left_open import only_the_classifier
from simcounsel.danger.protection.ladder import MET
from simcounsel.events import Assessed, Judged, PracticeEvent, Transitioned
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger, higher
from simcounsel.specs.vocabulary import DANGERS

PROTOCOL = "safety"
"""Under this name the log has the steps of the safety protocol."""
WHOSE = "whose danger"
"""Under this question it has whether the danger is the client's `own` or that of `another`, whom
the reason names.
"""

WHICH = "which danger"
"""Under this question it has the kind of danger that the client names in place of the one that was
asked about and denied.
"""


@dataclass(frozen=True, kw_only=True)
class OpenFollowUp:
    """The danger of earlier conversations that no later one came back to."""

    danger: OpenDanger = NOTHING_OPEN
    by_form: bool = False
    """Whether only a questionnaire tells it."""
    another: str | None = None
    """Whose danger it was when they last spoke of it, if not the client's own."""
    left_open: bool = False
    """Whether the last conversation ended on it: nobody asked plainly, or named help."""
    faint_so_far: bool = True
    """Whether nobody but the classifier heard any danger in them."""


def open_follow_up(view: TalkView) -> OpenFollowUp:
    """What the conversation is to come back to. It is met with the protocol's last step; what the
    last conversation left open is owed whatever steps were taken in it.
    """
    owed = _not_followed([entry.event for entry in view.kept])
    heard = [
        entry.event
        for entry in view.kept
        if isinstance(entry.event, Assessed) and entry.event.level != "none"
    ]
    faint = all(only_the_classifier(event) for event in heard)
    left = NOTHING_OPEN if heard and faint else view.meeting.left_open
    level = higher(*(event.level for event in owed))
    kinds = {kind for event in owed if event.level == level for kind in event.kinds}
    told = OpenDanger(level=level, kinds=tuple(kind for kind in DANGERS if kind in kinds))
    return OpenFollowUp(
        danger=told.and_also(left),
        by_form=bool(owed) and all(event.chat is None for event in owed) and not left,
        another=_another(view) if level != "none" or left else None,
        left_open=bool(left),
        faint_so_far=faint,
    )


def _another(view: TalkView) -> str | None:
    turns = [
        entry.event
        for entry in view.kept
        if isinstance(entry.event, Judged) and entry.event.question == WHOSE
    ]
    return turns[-1].reason if turns and turns[-1].verdict == "another" else None


def _not_followed(events: Sequence[object]) -> list[Assessed]:
    """What was heard since the protocol's last step met what was heard before."""
    owed: list[Assessed] = []
    chats: dict[str | None, list[PracticeEvent]] = {}
    for number, event in enumerate(events):
        if isinstance(event, Assessed | Transitioned):
            key = event.chat if event.chat is not None else f"questionnaire {number}"
            chats.setdefault(key, []).append(event)
    for some in chats.values():
        steps = [
            event.state
            for event in some
            if isinstance(event, Transitioned) and event.protocol == PROTOCOL
        ]
        heard = [
            event
            for event in some
            if isinstance(event, Assessed)
            and event.level != "none"
            and not only_the_classifier(event)
        ]
        owed = [*(owed if not steps or steps[-1] not in MET else []), *heard]
    return owed
