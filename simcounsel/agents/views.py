"""What of a resident may stand in a prompt, by role: all of oneself, of others what is said and
seen.

No function here takes two residents: whoever writes a prompt for one cannot reach the other's file.
"""

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import TalkLine
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.vocabulary import Emotion


def whoami(resident: Resident) -> str:
    """Everything that somebody knows about itself, for its own prompts only."""
    p = resident.persona
    version = resident.version
    lines = [
        (
            f"{resident.name} ({p.name}), {p.age}, {p.gender}, {p.pronouns}, {p.culture},"
            f" {p.occupation}."
        ),
        f"Background: {p.background}",
    ]
    lines += (
        [f"Characteristic: {version.characteristic}", f"Recent feeling: {version.recent_feeling}"]
        if version
        else [f"History: {p.history}"]
    )
    if isinstance(p, ClientPersona):
        lines += [
            "Core beliefs: " + " ".join(b.belief for b in p.core_beliefs),
            "Rules and assumptions: " + " ".join(b.belief for b in p.intermediate_beliefs),
            "Ways of coping: " + "; ".join(p.coping_strategies) + ".",
        ]
    lines += [
        "Habits: " + "; ".join(p.habits) + ".",
        "People: " + "; ".join(f"{a.name} ({a.relation})" for a in p.people) + ".",
    ]
    lines.append(f"Way of speaking: {p.style}")
    return "\n".join(lines)


def theme_of(resident: Resident) -> str:
    """A client's theme; '' for others."""
    return resident.persona.theme if isinstance(resident.persona, ClientPersona) else ""


def bullets(texts: tuple[str, ...]) -> str:
    """Texts as a list of lines, or a word that there are none."""
    return "\n".join(f"- {text}" for text in texts) or "- nothing in particular"


def numbered(texts: tuple[str, ...]) -> str:
    """Texts as numbered lines, from 1."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def feeling(emotion: Emotion, intensity: int) -> str:
    """A feeling in words: 'rather afraid'."""
    if emotion == "neutral":
        return "nothing strongly"
    return (
        "slightly " if intensity <= 3 else "rather " if intensity <= 6 else "very "
    ) + ADJECTIVE[emotion]


def talk_text(lines: tuple[TalkLine, ...]) -> str:
    """A conversation, one line each."""
    return "\n".join(f"{line.who}: {line.text}" for line in lines) or "(nothing yet)"


def talked_before(count: int) -> str:
    """'They have never talked before.', 'They have talked 3 times before.'"""
    if not count:
        return "They have never talked before."
    return (
        f"They have talked {('once', 'twice')[count - 1] if count < 3 else f'{count} times'}"
        " before."
    )
