"""What of a run a measurement is about, kept as the run goes on or is read: conversations,
sessions and the versions of personas.
"""

from collections.abc import Iterable, Mapping

from simcounsel.events import Entry, Measured, PersonaChanged, Said
from simcounsel.instruments.material import Talk
from simcounsel.runs.conversation import Conversation
from simcounsel.runs.folds import Conversations
from simcounsel.specs.vocabulary import Role
from simcounsel.specs.world import World


class ObserverRecord:
    """What an observer may be shown, event by event."""

    def __init__(self, world: World) -> None:
        self.versions: dict[str, list[PersonaChanged]] = {}
        """By resident, its persona's texts, oldest first."""
        self.seated: dict[str, int] = {}
        """By resident, the first tick in which a person spoke or answered for them."""
        self._roles = {resident.name: resident.role for resident in world.residents}
        self._conversations = Conversations()
        self._ended: dict[str, Talk] = {}
        self._ended_of: dict[str, list[Talk]] = {}
        self._present: tuple[Talk, ...] | None = ()

    def observe(self, entry: Entry) -> None:
        """Take in an event; others are ignored."""
        self._present = None
        for talk in _talks(self._conversations.observe(entry)):
            self._ended[talk.chat] = talk
            for who in talk.who:
                self._ended_of.setdefault(who, []).append(talk)
        if isinstance(entry.event, PersonaChanged):
            self.versions.setdefault(entry.event.who, []).append(entry.event)
        if isinstance(entry.event, Said | Measured) and entry.event.source == "human":
            self.seated.setdefault(entry.event.who, entry.tick)

    @property
    def talks(self) -> dict[str, Talk]:
        """All conversations by id, in the order in which they began."""
        return self._ended | {talk.chat: talk for talk in self._under_way()}

    def sessions(self, who: str) -> list[Talk]:
        """Somebody's sessions, in order."""
        return [talk for talk in self._talks_of(who) if _is_session(talk, self._roles)]

    def session_in(self, who: str, tick: int) -> int | None:
        """How many sessions somebody has had, if the last was in this tick; None otherwise."""
        had = self.sessions(who)
        return len(had) if had and had[-1].tick == tick else None

    def talks_in(self, who: str, tick: int) -> list[Talk]:
        """The conversations that somebody had in this tick, whoever it was with; those in which
        nothing was said are left out.
        """
        return [talk for talk in self._talks_of(who) if talk.tick == tick and talk.lines]

    def point(self, who: str, talk: Talk) -> str:
        """What a measurement of somebody about this conversation is called: `after session 2` for
        the second session of that person, else `after conversation 5` for the fifth of the run.
        """
        sessions = [session.chat for session in self.sessions(who)]
        if talk.chat in sessions:
            return f"after session {sessions.index(talk.chat) + 1}"
        return f"after conversation {list(self.talks).index(talk.chat) + 1}"

    def last_talk(self, who: str) -> Talk | None:
        """The last conversation by appointment; the last of all where there is none; None before
        the first.
        """
        own = self._talks_of(who)
        dates = [talk for talk in own if talk.cause == "appointment"]
        return (dates or own)[-1] if own else None

    def _talks_of(self, who: str) -> list[Talk]:
        now = (talk for talk in self._under_way() if who in talk.who)
        return [*self._ended_of.get(who, ()), *now]

    def _under_way(self) -> tuple[Talk, ...]:
        """The conversations of the tick that has not ended."""
        if self._present is None:
            self._present = _talks(self._conversations.under_way())
        return self._present


def _talks(conversations: Iterable[Conversation]) -> tuple[Talk, ...]:
    """Conversations as an observer may be shown them."""
    return tuple(
        Talk(
            chat=one.id,
            tick=one.tick,
            minute=one.minute,
            who=one.who,
            cause=one.started.cause,
            lines=tuple((line.who, line.text) for line in one.lines),
        )
        for one in conversations
    )


def sessions_of(
    conversations: Iterable[Conversation], roles: Mapping[str, Role]
) -> dict[str, list[str]]:
    """By resident, the ids of its sessions. roles: of the residents."""
    found: dict[str, list[str]] = {}
    for talk in _talks(conversations):
        if _is_session(talk, roles):
            for who in talk.who:
                found.setdefault(who, []).append(talk.chat)
    return found


def _is_session(talk: Talk, roles: Mapping[str, Role]) -> bool:
    """Whether it is an appointment between a counselor and a client."""
    parts = {roles.get(who) for who in talk.who}
    return talk.cause == "appointment" and parts == {"client", "counselor"}
