"""Danger as a listener hears it in what a client says."""

from dataclasses import dataclass

from simcounsel.agents.talk import TalkView
from simcounsel.danger.hearing.answers import Asked
from simcounsel.danger.hearing.assessing import NOTHING_HEARD, assess
from simcounsel.danger.hearing.in_file import dangers_in_file
from simcounsel.danger.hearing.judging import LineContext
from simcounsel.danger.hearing.left_open import HeardIn, heard_in, left_open, told_since
from simcounsel.danger.hearing.reminding import heard_at_once
from simcounsel.danger.protection.folding import protocol_state
from simcounsel.danger.protection.ladder import MET
from simcounsel.danger.protection.owed import PROTOCOL
from simcounsel.events import PracticeEvent
from simcounsel.llm.question import Ask
from simcounsel.policies.listening import HeardLine
from simcounsel.safety.help import Help
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger
from simcounsel.specs.persona import ClientPersona


@dataclass(frozen=True, kw_only=True)
class DangerListener:
    """Hears how near danger is in each line of a client. A line in which there is nothing to wonder
    about leaves nothing in the log.
    """

    every_line: bool = False
    """Whether a model judges every line, not only those in doubt."""
    vectors: bool = False
    """Whether the classifier may ask for vectors (MiniLM's)."""
    protects: bool = False
    """Whether the safety protocol is before this side's policy."""

    def hear(self, view: TalkView, line: HeardLine) -> Ask[tuple[PracticeEvent, ...]]:
        """The verdict on the line; while danger is open a model, if there is one, judges each."""
        said, asked, known = line.said, line.asked, self._open(view)
        heard = yield from assess(
            said.text,
            _context(view, line, known=known),
            chat=said.chat,
            message=said.message,
            every_line=self.every_line or known,
            vectors=self.vectors,
            asked=None if asked is None else tuple(a for a in asked if isinstance(a, Asked)),
        )
        wondered = heard.by == "model" or not heard.why.startswith(NOTHING_HEARD)
        return (heard,) if heard.level != "none" or wondered else ()

    def holds(self, view: TalkView) -> bool:
        """Whether the protocol has another line, since danger was just heard, or goes on."""
        if not self.protects or not view.lines:
            return False
        if view.lines[-1].who == view.me:
            return view.turns[-1].decider == PROTOCOL and view.turns[-1].move not in MET
        noted = view.assessed
        return bool(noted) and noted[-1].message == len(view.lines) and self._open(view)

    def left_open(self, view: TalkView) -> OpenDanger:
        """What was said and not met, and what the protocol has still to do about it."""
        if not self.protects:
            told = told_since(entry.event for entry in view.kept)
            return said_and_open(view, heard_in(view.assessed), told)
        return said_and_open(view, heard_in(view.assessed)).and_also(_undone(view))

    def _open(self, view: TalkView) -> bool:
        return self.protects and protocol_state(view).open


@dataclass(frozen=True, kw_only=True)
class AtTheEnd:
    """Notes nothing on the way; the detector alone says at the end what was left open."""

    def hear(self, view: TalkView, line: HeardLine) -> Ask[tuple[PracticeEvent, ...]]:
        """Nothing."""
        return ()
        yield  # an Ask that needs no model

    def holds(self, view: TalkView) -> bool:
        """Never."""
        return False

    def left_open(self, view: TalkView) -> OpenDanger:
        """What the detector hears in what was said, and was not met."""
        lines = [(line.who, line.text) for line in view.lines]
        told = told_since(entry.event for entry in view.kept)
        return said_and_open(view, heard_at_once(lines, view.other, view.language), told)


def said_and_open(
    view: TalkView, heard: tuple[HeardIn, ...], told: OpenDanger = NOTHING_OPEN
) -> OpenDanger:
    """The danger heard in the other's lines that was not met by what was said. told: what
    questionnaires told since the last conversation.
    """
    return left_open(
        [(line.who, line.text) for line in view.lines],
        view.other,
        heard,
        Help(locale=view.meeting.locale, language=view.language),
        view.meeting.left_open.and_also(told),
    )


def _undone(view: TalkView) -> OpenDanger:
    """What was heard here and has not been met, and what a questionnaire told that was not asked
    about.
    """
    protocol = protocol_state(view)
    if protocol.open:
        return OpenDanger(level=protocol.level, kinds=protocol.open_kinds)
    if protocol.by_form and not protocol.held:
        return OpenDanger(level=protocol.owed, kinds=protocol.owed_kinds)
    return NOTHING_OPEN


def _context(view: TalkView, line: HeardLine, *, known: bool) -> LineContext:
    """What the line is judged with. known: danger is open."""
    some = [event for event in view.assessed if event.level != "none"]
    heard = {event.message for event in some}
    lines = view.lines[:-1]
    chosen = line.file if line.said.source == "chosen" else None
    return LineContext(
        who=view.other,
        key=line.key,
        language=view.language,
        before=lines[-1].text if lines else "",
        talk=tuple((one.who == view.other, one.text) for one in lines),
        earlier=tuple(one.text for number, one in enumerate(lines, 1) if number in heard),
        kinds=some[-1].kinds if some else (),
        noted=None if known else tuple(kind for event in view.assessed for kind in event.noted),
        file=dangers_in_file(chosen, view.language) if isinstance(chosen, ClientPersona) else None,
    )
