"""What of a run a measurement is about, kept while the run is lived or read: the conversations, the
sessions, the versions of the personas.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from simcounsel.events import ConversationStarted, Entry, PersonaChanged, Said
from simcounsel.instruments.material import Talk
from simcounsel.runs.conversation import Conversation
from simcounsel.specs.vocabulary import Role
from simcounsel.specs.world import World


class ObserverRecord:
    """What an observer may be shown, event by event."""

    def __init__(self, world: World) -> None:
        self.talks: dict[str, Talk] = {}
        """All conversations by id, in order."""
        self.sessions: dict[str, list[str]] = {}
        """By resident, the ids of its sessions."""
        self.versions: dict[str, list[PersonaChanged]] = {}
        """By resident, its persona's texts, oldest first."""
        self._roles = {resident.name: resident.role for resident in world.residents}

    def observe(self, entry: Entry) -> None:
        """Take in an event; others are ignored."""
        event = entry.event
        match event:
            case ConversationStarted():
                self.talks[event.chat] = Talk(
                    chat=event.chat,
                    tick=entry.tick,
                    minute=entry.minute,
                    who=event.who,
                    cause=event.cause,
                )
                if _is_session(event, self._roles):
                    for who in event.who:
                        self.sessions.setdefault(who, []).append(event.chat)
            case Said() if event.chat in self.talks:
                talk = self.talks[event.chat]
                self.talks[event.chat] = replace(talk, lines=(*talk.lines, (event.who, event.text)))
            case PersonaChanged():
                self.versions.setdefault(event.who, []).append(event)

    def session_in(self, who: str, tick: int) -> int | None:
        """How many sessions somebody has had, if the last was in this tick; None otherwise."""
        had = self.sessions.get(who, [])
        return len(had) if had and self.talks[had[-1]].tick == tick else None

    def last_talk(self, who: str) -> Talk | None:
        """The last conversation by appointment; the last of all where there is none; None before
        the first.
        """
        own = [talk for talk in self.talks.values() if who in talk.who]
        dates = [talk for talk in own if talk.cause == "appointment"]
        return (dates or own)[-1] if own else None


def sessions_of(
    conversations: Iterable[Conversation], roles: Mapping[str, Role]
) -> dict[str, list[str]]:
    """By resident, the ids of its sessions. roles: of the residents."""
    found: dict[str, list[str]] = {}
    for one in conversations:
        if isinstance(one.started, ConversationStarted) and _is_session(one.started, roles):
            for who in one.who:
                found.setdefault(who, []).append(one.id)
    return found


def _is_session(started: ConversationStarted, roles: Mapping[str, Role]) -> bool:
    """Whether it is an appointment between a counselor and a client."""
    parts = {roles.get(who) for who in started.who}
    return started.cause == "appointment" and parts == {"client", "counselor"}
