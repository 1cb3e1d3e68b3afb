"""What each of two people takes away from a conversation: memories, a closeness, what a policy
keeps.
"""

from dataclasses import dataclass

from simcounsel.agents.mind import Effects
from simcounsel.engine.talk import OpenTalk, Side
from simcounsel.events import Event, Memory, Said, as_event
from simcounsel.llm.question import Ask
from simcounsel.policies.policy import Concluding
from simcounsel.prompts import phrase
from simcounsel.specs.vocabulary import Language


@dataclass(frozen=True, kw_only=True)
class Talked:
    """A whole conversation: events in order, and each side's memory drafts by name."""

    events: tuple[Event, ...]
    drafts: dict[str, tuple[Memory, ...]]


def take_away(talk: OpenTalk, first: Side, second: Side, events: list[Event]) -> Ask[Talked]:
    """Each side's memories of the lines, its summary and its new relationship score, and what its
    policy keeps.
    """
    drafts: dict[str, tuple[Memory, ...]] = {}
    for me, other in ((first, second), (second, first)):
        effects: Effects = yield from me.mind.take_away(me.scene, talk.view(me, other))
        events += map(as_event, effects.events)
        drafts[me.name] = (
            *(
                _line_memory(said, talk.started.place, other.name, me.scene.language)
                for said in talk.said
            ),
            *effects.drafts,
        )
        if isinstance(me.policy, Concluding):
            kept = yield from me.policy.conclude(talk.view(me, other))
            events += map(as_event, kept)
    return Talked(events=tuple(events), drafts=drafts)


def _line_memory(said: Said, place: str, other: str, language: Language) -> Memory:
    return Memory(
        id="",
        type="chat",
        text=phrase("lived", "said", language, who=said.who, to=said.to, text=said.text),
        emotion=said.emotion,
        intensity=said.intensity,
        poignancy=said.poignancy,
        place=place,
        present=(other,),
        chat=said.chat,
        message=said.message,
        origin="talk",
    )
