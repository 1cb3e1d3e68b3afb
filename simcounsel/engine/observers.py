"""Who observes what: the one rule by which a run, its replay and a revisit tell events to
residents.
"""

from simcounsel.events import (
    Assessed,
    ConversationEnded,
    ConversationStarted,
    Event,
    Joined,
    Left,
    Said,
    TickEnded,
    Warned,
)
from simcounsel.specs.vocabulary import Role
from simcounsel.specs.world import World


class Observers:
    """A fold over the events of a world: who lives there now, and whom each event is told to."""

    def __init__(self, world: World) -> None:
        self.present: dict[str, Role] = {}
        """Those who live there now, by name, in the order in which they came."""
        self._roles: dict[str, Role] = {spec.name: spec.role for spec in world.residents}

    def of(self, event: Event) -> tuple[str, ...]:
        """Take in the next event of the run; the names of those present who observe it.

        A line is observed by its speaker alone: the other hears it in the conversation. Danger in a
        line is known to both who talk; danger in a questionnaire to whoever counsels.
        """
        if isinstance(event, Joined):
            self.present[event.who] = self._roles[event.who]
        elif isinstance(event, Left):
            self.present.pop(event.who, None)
        return tuple(name for name in self._concerned(event) if name in self.present)

    def _concerned(self, event: Event) -> tuple[str, ...]:
        match event:
            case Warned() | TickEnded():
                return ()
            case ConversationStarted():
                return event.who
            case ConversationEnded():
                return both_of(event.chat)
            case Assessed() if event.chat is not None:
                return both_of(event.chat)
            case Assessed():
                return tuple(name for name, role in self.present.items() if role == "counselor")
            case Said():
                return (event.who,)
        who = getattr(event, "who", None)
        return (who,) if isinstance(who, str) else ()


def both_of(chat: str) -> tuple[str, str]:
    """The two who talk, by the conversation's id."""
    first, second = chat.split(":", 1)[1].split("+")
    return first, second
