"""What of a run a measurement is about: the conversations, the sessions, the versions of the
personas. A fold over events.
"""

from dataclasses import replace

from simcounsel.events import ConversationStarted, Entry, PersonaChanged, Said
from simcounsel.instruments.material import Talk
from simcounsel.specs.world import World


class Witness:
    """talks: all conversations by id, in order. sessions: ids of each resident's appointments
    between a counselor and a client. versions: the persona's texts of each resident, oldest first.
    """

    def __init__(self, world: World) -> None:
        self.talks: dict[str, Talk] = {}
        self.sessions: dict[str, list[str]] = {}
        self.versions: dict[str, list[PersonaChanged]] = {}
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
                if event.cause == "appointment" and {self._roles.get(who) for who in event.who} == {
                    "client",
                    "counselor",
                }:
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
