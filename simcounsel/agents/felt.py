"""What is felt in a conversation, and to which feeling memories are near or far there."""

from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import TalkView
from simcounsel.specs.vocabulary import Emotion


def felt(resident: Resident, view: TalkView) -> tuple[Emotion, int]:
    """The feeling of one's own last line; before that, the one that one came with."""
    own = next((line for line in reversed(view.lines) if line.who == view.me), None)
    return (own.emotion, own.intensity) if own else (resident.emotion, resident.intensity)


def cue(resident: Resident, view: TalkView) -> Emotion:
    """The emotion to which that of a memory is near or far: what is felt, or what the line just
    heard expresses (see `MemorySettings.emotion_of`).
    """
    heard = view.heard
    if resident.memory.settings.emotion_of == "query" and heard is not None:
        return heard.emotion
    return felt(resident, view)[0]
