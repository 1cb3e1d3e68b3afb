"""The danger that a conversation leaves open: heard, and not met by whom it was said to.

Told by what was said alone, so that one measure holds for every policy, for a human in the
counselor's seat and for a friend. Danger is met where a question took it up, help was named by a
number of the client's own country, and something was said to the last line in which it was high or
imminent; each kind by itself. Where only the classifier has heard it, a question is all. Imminent
danger wants the emergency number, and no question before it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from simcounsel.danger.hearing.acknowledging import acknowledges
from simcounsel.danger.hearing.phrases import has_number
from simcounsel.events.practice import Assessed
from simcounsel.safety.help import Help
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger, higher
from simcounsel.specs.vocabulary import Danger, RiskLevel
from simcounsel.texts import sentences
from simcounsel.texts.sentences import Span


@dataclass(frozen=True, kw_only=True)
class HeardIn:
    """Danger in a client's line."""

    message: int
    """The line's number in the conversation, from 1."""
    level: RiskLevel
    kinds: tuple[Danger, ...]
    words: tuple[str, ...]
    """The client's, that told it; () where only a model heard it."""
    faint: bool = False
    """Whether only the classifier has heard it, from no telling word."""


def only_the_classifier(event: Assessed) -> bool:
    """Whether the classifier alone heard it, from no word that says it: asked about once in a
    course, by name, and closed by a plain no.
    """
    return event.level == "low" and event.by == "classifier"


def heard_in(assessed: Iterable[Assessed]) -> tuple[HeardIn, ...]:
    """What these verdicts say of lines; not those on a questionnaire, nor those of no danger."""
    return tuple(
        HeardIn(
            message=one.message,
            level=one.level,
            kinds=one.kinds,
            words=one.evidence,
            faint=only_the_classifier(one),
        )
        for one in assessed
        if one.message is not None and one.level != "none"
    )


def told_since(events: Iterable[object]) -> OpenDanger:
    """What questionnaires told after the last conversation. events: all that was kept of earlier
    conversations and questionnaires, oldest first.
    """
    found = NOTHING_OPEN
    for event in events:
        if getattr(event, "chat", None) is not None:
            found = NOTHING_OPEN
        elif isinstance(event, Assessed):
            found = found.and_also(OpenDanger(level=event.level, kinds=event.kinds))
    return found


def left_open(
    lines: Sequence[tuple[str, str]],
    client: str,
    heard: Iterable[HeardIn],
    help_: Help,
    before: OpenDanger = NOTHING_OPEN,
) -> OpenDanger:
    """What of the danger heard in a conversation is not met as of its last line. lines: (who, text)
    from the first. before: what the last conversation of the two left open.
    """
    open_ = {kind: _Danger(kind=kind, level=before.level, faint=False) for kind in before.kinds}
    by_line: dict[int, list[HeardIn]] = {}
    for one in heard:
        by_line.setdefault(one.message, []).append(one)
    for number, (who, text) in enumerate(lines, 1):
        if who != client:
            for danger in open_.values():
                danger.answer(text, help_)
        for one in by_line.get(number, ()):
            for kind in one.kinds:
                open_.setdefault(kind, _Danger(kind=kind)).hear(one, text)
    unmet = [OpenDanger(level=one.level, kinds=(kind,)) for kind, one in open_.items() if one.unmet]
    return reduce(OpenDanger.and_also, unmet, NOTHING_OPEN)


@dataclass(kw_only=True)
class _Danger:
    """One kind of danger: how near it came, and what was done about it, line by line."""

    kind: Danger
    level: RiskLevel = "none"
    """The nearest so far."""
    asked: bool = False
    """Whether a question took it up since it was first heard."""
    helped: bool = False
    """Whether help was named since it came as near as this."""
    faint: bool = True
    """Whether only the classifier has heard it: a question is all that is owed then."""
    answered: bool = True
    """Whether anything was said to it since it was last high or imminent."""
    said: tuple[str, Span] = ("", (0, 0))
    """The line in which it was heard last, and the place in it."""

    def hear(self, one: HeardIn, text: str) -> None:
        """A client's line in which it is."""
        now = higher(self.level, one.level)
        self.helped = self.helped and now == self.level
        self.faint = self.faint and one.faint
        self.answered = self.answered and one.level == "low"
        self.level, self.said = now, (text, _place(text, one.words))

    def answer(self, text: str, help_: Help) -> None:
        """A line of the other."""
        for_now = any(has_number(text, one) for one in help_.emergency_numbers)
        named = for_now or (
            self.level != "imminent" and any(has_number(text, one) for one in help_.numbers)
        )
        asked = any(acknowledges(one, *self.said, self.kind) for one in _questions(text))
        self.asked = self.asked or asked or (self.level == "imminent" and for_now)
        self.helped = self.helped or named
        self.answered = self.answered or named or acknowledges(text, *self.said, self.kind)

    @property
    def unmet(self) -> bool:
        """Whether something is still to be done about it."""
        return not (self.asked and self.answered and (self.helped or self.faint))


def _place(text: str, words: Sequence[str]) -> Span:
    at, found = next(((text.find(one), one) for one in words if one and one in text), (0, text))
    return at, at + len(found)


def _questions(text: str) -> list[str]:
    said = (text[start:end].strip() for start, end in sentences.spans(text))
    return [one for one in said if one.rstrip('"”’」)').endswith(("?", "？"))]
