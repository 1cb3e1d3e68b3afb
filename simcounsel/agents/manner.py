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
from simcounsel.specs.voice import ChatLine, VoiceLine
from simcounsel.texts.quotes import content

SHOWN = 4
"""How many lines a model sees in every prompt."""
NEAR = 2
"""How many more, near to the moment."""
BEFORE_HELP = frozenset({"early", "telling", "angry"})
"""Stages of a client's telling that owe nothing to what somebody else has said."""
ABOUT_THE_OTHER = "{"
"""Of a line with slots: it speaks to somebody of what they said."""


def manner_of_speaking(resident: Resident, view: TalkView) -> str:
    """A few lines of the speaker's own voice, under a heading that says what they are, the same for
    the whole run: they show how somebody talks, not what to say now. '' for a persona without a
    voice.
    """
    heading = phrase("moment", "voice", view.language, name=resident.name)
    return under(heading, tuple(line.text for line in _drawn(resident, view)))


def near_the_moment(resident: Resident, view: TalkView, move: str, emotion: Emotion) -> str:
    """One or two further lines of the speaker's voice that are near to what is talked about, what
    is felt and what the speaker does, under their heading; '' where none is about anything that was
    said last. move: what the speaker does. emotion: what it feels.
    """
    fixed = {line.text for line in _drawn(resident, view)}
    said = content(*(line.text for line in view.lines[-2:]))
    scored = []
    for at, line in enumerate(one for one in _own_lines(resident) if one.text not in fixed):
        shared = len(said & content(line.text, line.theme))
        fits = isinstance(line, ChatLine) and line.act == move
        if shared:
            scored.append(
                (-shared - fits - emotion_relevance(line.emotion, emotion), at, line.text)
            )
    heading = phrase("moment", "voice_near", view.language, name=resident.name)
    return under(heading, tuple(text for *_, text in sorted(scored)[:NEAR]))


def _drawn(resident: Resident, view: TalkView) -> list[ChatLine | VoiceLine]:
    """A draw by seed, one line of each stage or act before a second one of any."""
    lines = _own_lines(resident)
    chance(view.key[0], "manner", resident.name).shuffle(lines)
    kinds: dict[str, int] = {}
    turns: list[tuple[int, int, ChatLine | VoiceLine]] = []
    for line in lines:
        kind = line.stage if isinstance(line, VoiceLine) else line.act
        kinds[kind] = kinds.get(kind, 0) + 1
        turns.append((kinds[kind], len(turns), line))
    return [line for *_, line in sorted(turns, key=lambda turn: turn[:2])[:SHOWN]]


def _own_lines(resident: Resident) -> list[ChatLine | VoiceLine]:
    persona = resident.persona
    if isinstance(persona, ClientPersona):
        return [line for line in persona.voice if line.stage in BEFORE_HELP]
    if isinstance(persona, LaypersonPersona):
        return [line for line in persona.voice if ABOUT_THE_OTHER not in line.say]
    return []
