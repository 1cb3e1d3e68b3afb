"""Whom a participant talks with: a counselor or friend, or a client whom they counsel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from simcounsel.envs.episode import Episode
from simcounsel.envs.seat import Line
from simcounsel.envs.setting import Setting
from simcounsel.events import Entry
from simcounsel.llm.switchboard import Switchboard
from simcounsel.practice.exchange import Exchange
from simcounsel.practice.session import PracticeSession
from simcounsel.trial.texts import page_texts


@dataclass(frozen=True, kw_only=True)
class Told:
    """A talk as it stands after the other side has spoken."""

    said: tuple[str, ...]
    """All that the other side said in it."""
    notes: tuple[str, ...]
    """All that was told beside it."""
    over: bool
    entries: tuple[Entry, ...] = ()
    """What happened in it, once it is over."""


class Opposite(Protocol):
    """The other side of one talk."""

    def go_on(self, own: Sequence[str], *, ending: bool) -> Told:
        """Answer what has not been answered. own: all that the participant said in this talk.
        ending: the participant, or the day, ends it. ModelUnreachable when a model does not answer.
        """
        ...


class Counseled:
    """The participant is the client; the episode goes on from talk to talk."""

    def __init__(self, episode: Episode, stored: int) -> None:
        """stored: how many of its entries are in the store."""
        self.episode, self.stored = episode, stored
        self._given = 0

    def next_talk(self, setting: Setting) -> "Counseled":
        """The same episode in another talk."""
        self.episode.setting = setting
        self.episode.open()
        return Counseled(self.episode, self.stored)

    def go_on(self, own: Sequence[str], *, ending: bool) -> Told:
        """See `Opposite`."""
        episode = self.episode
        while episode.view is not None and self._given < len(own):
            self._given += 1
            episode.say(Line(text=own[self._given - 1]))
        if ending and episode.view is not None:
            episode.say(Line(text="", silent=True))
        me = episode.setting.client.name
        if episode.view is not None:
            lines = [(line.who, line.text) for line in episode.view.lines]
            return Told(said=_of_others(lines, me), notes=(), over=False)
        new = tuple(episode.entries[self.stored :])
        self.stored += len(new)
        return Told(said=_of_others(episode.past[-1].pairs, me), notes=(), over=True, entries=new)


class Counseling:
    """The participant counsels a simulated client, with feedback where the arm has it."""

    def __init__(self, setting: Setting, models: Switchboard, feedback: str, language: str) -> None:
        self._session = PracticeSession(
            setting, models, feedback="line" if feedback == "line" else "none"
        )
        self._feedback, self._texts = feedback, page_texts(language)

    def go_on(self, own: Sequence[str], *, ending: bool) -> Told:
        """See `Opposite`."""
        session = self._session
        session.open()
        for text in own[len(session.exchanges) :]:
            if not session.over:
                session.say(text)
        over = session.over or ending
        notes = [self._note(one) for one in session.exchanges if one.feedback]
        entries = tuple(session.finish()) if over else ()
        if over and session.exchanges and self._feedback != "none":
            report = session.end()
            well = [f"“{one['quote']}” {one['why']}" for one in report.well]
            notes.append("\n".join([*well, report.next, report.line]).strip())
        return Told(
            said=tuple(text for one in session.exchanges for text in one.answers),
            notes=tuple(notes),
            over=over,
            entries=entries,
        )

    def _note(self, exchange: Exchange) -> str:
        """Feedback as it is read beside the talk."""
        found = exchange.feedback
        assert found is not None
        instead = f"{self._texts['instead']} {found.alternative}" if found.alternative else ""
        by = self._texts["by_rules"] if found.by == "rules" else ""
        parts = (found.name, found.noticed, found.effect, instead, found.reason, found.source, by)
        return "\n".join(one for one in parts if one)


def _of_others(lines: Sequence[tuple[str, str]], me: str) -> tuple[str, ...]:
    return tuple(text for who, text in lines if who != me)
