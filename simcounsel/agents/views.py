"""What of a resident may be in a prompt: all of oneself, of others what is said and seen.

No function here takes two residents: whoever writes a prompt for one cannot reach the other's file.
Labels are in the language of the world (`prompts/person.txt`, `moment.txt`); what has nothing to
say is left out with its label.
"""

import re
from functools import lru_cache

from simcounsel.agents.client_state import parts, strengths
from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import TalkLine, TalkView
from simcounsel.clock import day_of, time_text
from simcounsel.prompts import phrase, prompt_text
from simcounsel.specs.persona import Acquaintance, AnyPersona, ClientPersona
from simcounsel.specs.practice import Language
from simcounsel.specs.vocabulary import Emotion

AT = frozenset({"market", "counseling center", "office", "cafe", "other"})
"""Kinds of places that one is at; in the others one is in."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
STEPS_OF_TODAY = 6
"""How much of what was done today is in a prompt."""


def whoami(resident: Resident, language: Language = "en", *, ids: bool = False) -> str:
    """Everything that somebody knows about itself, for its own prompts only: the file, which stays,
    and below it the portrait that reflection writes, which replaces nothing. ids: whether beliefs,
    rules and ways of coping are named (C1, R2, D3), for answers that name them.
    """
    told = (known(resident, language, ids=ids), portrait(resident, language, ids=ids))
    return "\n".join(part for part in told if part)


def known(resident: Resident, language: Language = "en", *, ids: bool = False) -> str:
    """The file of somebody, which stays the same for the whole run."""
    words = prompt_text("person", language)
    return _file_text(_File(resident.name, resident.persona), language, ids, words)


def portrait(resident: Resident, language: Language = "en", *, ids: bool = False) -> str:
    """How somebody comes across and feels of late, by the last reflection, and how strongly a
    client holds its beliefs; '' before the first version. Without ids only beliefs that were moved.
    """
    version = resident.version
    if version is None:
        return ""
    told = [
        _of("characteristic", language, name=resident.name, text=version.characteristic),
        _of("recent_feeling", language, name=resident.name, text=version.recent_feeling),
    ]
    told += _held(resident, language, ids) if resident.client_state != "off" else ()
    return "\n".join(told)


def _held(resident: Resident, language: Language, ids: bool) -> list[str]:
    """How strongly beliefs are held; [] where there is nothing to say."""
    if ids:
        each = (f"{one} {held}" for one, held in _strengths(resident).items())
    else:
        texts = parts(resident.persona)
        each = (f"“{texts[one]}” {held}" for one, held in resident.strengths.items())
    what = ("；" if language == "zh" else "; ").join(each)
    key = in_terms(resident, "strengths")
    return [phrase("moment", key, language, name=resident.name, what=what)] if what else []


def in_terms(resident: Resident, key: str) -> str:
    """The key of the words about what moves a client: beliefs, or the parts of a case."""
    case = isinstance(resident.persona, ClientPersona) and resident.persona.case
    return f"{key} of a case" if case else key


def _strengths(resident: Resident) -> dict[str, int]:
    return strengths(resident.persona) | resident.strengths


def _of(key: str, language: Language, **slots: object) -> str:
    return phrase("person", key, language, **slots)


class _File:
    """A persona that is told from others by what it is, not by all that is in it: most prompts
    begin with its text, and to hash it would cost more than to write it out.
    """

    def __init__(self, name: str, persona: AnyPersona) -> None:
        self.name, self.persona = name, persona

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _File) and self.persona is other.persona and self.name == other.name
        )

    def __hash__(self) -> int:
        return hash((self.name, id(self.persona)))


@lru_cache(maxsize=4096)
def _file_text(file: _File, language: Language, ids: bool, words: str) -> str:
    """The persona's file as the person knows it, without its lines and habits by the hour. words:
    the prompt that is in use, which sets replace.
    """
    p = file.persona
    between = "；" if language == "zh" else "; "
    parts = [
        _of("intro", language, name=file.name),
        _of(
            "who",
            language,
            name=file.name,
            full=p.name,
            age=p.age,
            gender=p.gender,
            pronouns=_of(p.pronouns, language),
            culture=p.culture,
            occupation=p.occupation,
        ),
        _of("background", language, text=p.background),
        _of("history", language, text=p.history),
    ]
    if isinstance(p, ClientPersona):
        parts += [
            f"{f'P{n}: ' * ids}{one.name}{'：' if language == 'zh' else ': '}{closed(one.text)}"
            for n, one in enumerate(p.case, 1)
        ] or [
            _of(key, language, text=_lettered(p, letter, language, ids))
            for key, letter in (("core", "C"), ("rules", "R"), ("coping", "D"))
        ]
    parts.append(_of("habits", language, text=between.join(p.habits)))
    if p.people:
        people = between.join(_acquaintance(one, language) for one in p.people)
        parts.append(_of("people", language, text=people))
    parts.append(_of("style", language, text=p.style))
    return "\n".join(parts)


def _lettered(persona: ClientPersona, letter: str, language: Language, ids: bool) -> str:
    """The parts of a client's file of one kind, each with its id where ids are wanted."""
    texts = {name: text for name, text in parts(persona).items() if name[0] == letter}
    gap = "" if language == "zh" else " "
    if ids:
        return gap.join(f"{name}: {closed(text)}" for name, text in texts.items())
    if letter == "D":
        return closed(("；" if language == "zh" else "; ").join(texts.values()))
    return gap.join(closed(text) for text in texts.values())


def closed(text: str) -> str:
    """A text with a full stop, as it is written in its language."""
    if text[-1:] in ".!?。！？":
        return text
    return f"{text}{'。' if _CHINESE.match(text[-1:]) else '.'}"


def _acquaintance(one: Acquaintance, language: Language) -> str:
    return _of(
        "noted" if one.note else "person",
        language,
        name=one.name,
        relation=one.relation,
        note=one.note.rstrip(".。"),
    )


def theme_of(resident: Resident) -> str:
    """A client's theme; '' for others."""
    return resident.persona.theme if isinstance(resident.persona, ClientPersona) else ""


def bullets(texts: tuple[str, ...]) -> str:
    """Texts as a list of lines; '' when there are none."""
    return "\n".join(f"- {text}" for text in texts)


def under(heading: str, texts: tuple[str, ...]) -> str:
    """A list of lines under a heading; '' when there are none."""
    return f"{heading}\n{bullets(texts)}" if texts else ""


def in_mind(
    resident: Resident, texts: tuple[str, ...], language: Language, key: str = "mind"
) -> str:
    """What comes to a resident's mind, under its heading; '' when nothing does."""
    return under(phrase("moment", key, language, name=resident.name), texts)


def numbered(texts: tuple[str, ...]) -> str:
    """Texts as numbered lines, from 1."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def feeling(emotion: Emotion, intensity: int, language: Language = "en") -> str:
    """A feeling in words: 'rather afraid'."""
    plain = phrase("moment", emotion, language)
    if emotion == "neutral":
        return plain
    strength = "slightly" if intensity <= 3 else "rather" if intensity <= 6 else "very"
    return phrase("moment", strength, language, feeling=plain)


def at_this_moment(resident: Resident, emotion: Emotion, intensity: int) -> str:
    """What a resident feels just now, which need not be how it has felt of late; '' where that is
    nothing strongly.
    """
    if emotion == "neutral":
        return ""
    felt = feeling(emotion, intensity, resident.language)
    return phrase("moment", "feels", resident.language, name=resident.name, feeling=felt)


def whereabouts(place: str, scene: Scene) -> str:
    """Where somebody is, as one says it of such a place: 'in Ines's Bedroom'."""
    there = next((one for one in scene.places if one.name == place), None)
    if there is None or there.kind in AT:
        key = "at_place"
    else:
        key = "at_home" if there.own_home else "in_place"
    return phrase("moment", key, scene.language, place=place)


def talk_text(lines: tuple[TalkLine, ...]) -> str:
    """A conversation, one line each; '' before anything was said."""
    return "\n".join(f"{line.who}: {line.text}" for line in lines)


def so_far(view: TalkView) -> str:
    """The conversation under its heading; '' before anything was said."""
    heading = phrase("moment", "talk" if view.clock.ended is None else "talk_then", view.language)
    return f"{heading}\n{talk_text(view.lines)}" if view.lines else ""


def done_today(resident: Resident, scene: Scene) -> tuple[tuple[str, int], ...]:
    """The last of what was done today, oldest first: activity and minute."""
    done = sorted(resident.done_on(day_of(scene.minute)).items(), key=lambda one: one[1])
    return tuple(done[-STEPS_OF_TODAY:])


def today(resident: Resident, scene: Scene) -> str:
    """What was done today, under its heading, oldest first; '' in the morning."""
    return under(
        phrase("moment", "today", scene.language, name=resident.name),
        tuple(
            f"{time_text(minute)} {activity}" for activity, minute in done_today(resident, scene)
        ),
    )
