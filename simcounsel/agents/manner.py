"""A persona's own manner of speaking, for a model that words its lines.

Of a persona's lines only these reach a model, and only to show how somebody talks. What a client
says once it has come to see something, or hopes, and whatever policies, exercises and safety steps
bring as lines, are for stand-ins alone: shown to a model, they would plant the outcome of help.
"""

from simcounsel.agents.emotion import emotion_relevance
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import TalkView
from simcounsel.agents.views import under
from simcounsel.chance import chance
from simcounsel.prompts import phrase
from simcounsel.specs.persona import ClientPersona, LaypersonPersona
from simcounsel.specs.vocabulary import Emotion
from simcounsel.specs.voice import Line
from simcounsel.texts.quotes import content

SHOWN = 4
"""How many lines a model sees."""
BEFORE_HELP = frozenset({"early", "telling", "angry"})
"""Stages of a client's telling that owe nothing to what somebody else has said."""
ABOUT_THE_OTHER = "{"
"""Of a line with slots: it speaks to somebody of what they said."""


def manner_of_speaking(resident: Resident, view: TalkView, move: str) -> str:
    """The nearest few lines of the speaker's own voice, under a heading that says what they are: by
    the move, by the words just heard, by feeling. '' for a persona without a voice.
    """
    heading = phrase("moment", "voice", view.language, name=resident.name)
    return under(heading, tuple(line.text for line in _nearest(resident, view, move)))


def _nearest(resident: Resident, view: TalkView, move: str) -> list[Line]:
    lines = _own_lines(resident, move)
    said = {*resident.said, *(line.text for line in view.lines)}
    heard = content(view.heard.text) if view.heard else frozenset()
    chance(*view.key, "manner", resident.name).shuffle(lines)
    fresh = [line for line in lines if line.text not in said]
    fresh.sort(key=lambda line: -_nearness(line, heard, view.emotion))
    return fresh[:SHOWN]


def _nearness(line: Line, heard: frozenset[str], emotion: Emotion) -> float:
    """Words in common with what was heard, and how near the feelings are, in [0, 1]."""
    return len(content(line.text) & heard) + emotion_relevance(line.emotion, emotion)


def _own_lines(resident: Resident, move: str) -> list[Line]:
    persona = resident.persona
    if isinstance(persona, ClientPersona):
        return [line for line in persona.voice if line.stage in BEFORE_HELP]
    if isinstance(persona, LaypersonPersona):
        return [
            line for line in persona.voice if line.act == move and ABOUT_THE_OTHER not in line.say
        ]
    return []
