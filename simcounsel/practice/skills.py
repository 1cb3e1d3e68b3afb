"""Which helping skill a line is, told by rules, and what is known of each skill.

The rules count what `talk_measures` counts (questions, reflections, advice), and look for the words
of skills.yaml. They see how a line is built, not whether it was the right one.
"""

import re
from dataclasses import dataclass
from functools import cache

from simcounsel.bench.protocol.asked import asked_in
from simcounsel.danger.hearing.phrases import leave_taken
from simcounsel.envs.danger import endangered, open_dangers
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.instruments.talk import count
from simcounsel.packaged import packaged
from simcounsel.specs.vocabulary import Language
from simcounsel.texts.chinese import is_chinese
from simcounsel.therapies.specs.therapy import MetaSkill, Skill, shipped_therapy
from simcounsel.therapies.specs.therapy_words import in_language

_BROKEN_OFF = re.compile(r"(?:[-–—]|…|\.\.\.|……)\s*\Z")
_WORDS = re.compile(r"[㐀-鿿]|[^\W\d_]+(?:['’][^\W\d_]+)*")
MINIMAL_WORDS = 3


@dataclass(frozen=True, kw_only=True)
class HelpingSkill:
    """What is known of a skill, in one language."""

    id: str
    name: str
    why: str
    """What such a line tends to do."""
    source: str
    instead: str | None
    """The skill to try in its place; None where the line may stay."""
    library: tuple[str, ...]
    """Skills of the therapies' files that carry it out, as THERAPY.ID."""


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """By skill (and `feeling`) the words of both languages by which it is told."""
    found = packaged("simcounsel.practice", "skills.yaml")["words"]
    return {
        name: re.compile("|".join((rf"\b(?:{one['en']})\b", one["zh"])), re.IGNORECASE)
        for name, one in found.items()
    }


@cache
def helping_skills(language: str) -> dict[str, HelpingSkill]:
    """All of them by id."""
    code = language if language == "zh" else "en"
    return {
        id: HelpingSkill(
            id=id,
            name=one["name"][code],
            why=one["why"][code],
            source=one["source"][code],
            instead=one.get("instead"),
            library=tuple(one.get("library", ())),
        )
        for id, one in packaged("simcounsel.practice", "skills.yaml")["skills"].items()
    }


def library_skill(named: str, language: str) -> MetaSkill | Skill:
    """A skill, or a group of skills, of a therapy's file, as THERAPY.ID. KeyError when there is
    none.
    """
    therapy, id = named.split(".", 1)
    return in_language(shipped_therapy(therapy), language).library()[id]


def example_of(skill: HelpingSkill, turn: int, language: str) -> tuple[str, str]:
    """A skill of the library that carries one out, and a line of its file that does: those of the
    first two in turn, so that the same is not read again and again; '' and '' where there is none.
    """
    lines = [
        (named, line)
        for named in skill.library[:2]
        if isinstance(found := library_skill(named, language), Skill)
        for line in found.examples
    ]
    return lines[turn % len(lines)] if lines else ("", "")


def words_in(text: str) -> int:
    """How many words a line has; a Chinese character counts as one."""
    return len(_WORDS.findall(text))


def skill_of(heard: str, said: str, language: Language) -> str:
    """The id of the skill that a line is by rule: of several the one that does most to the client.
    heard: what the client said before it, '' at the beginning.
    """
    found = skills_in(heard, said, language)
    return found[0] if found else "statement"


def skills_in(heard: str, said: str, language: Language) -> tuple[str, ...]:
    """All that the rules find in a line, what weighs most first."""
    words = _WORDS.findall(said)
    if not words:
        return ("silence",)
    counts = count([(CLIENT, heard), (COUNSELOR, said)])
    hits = {name for name, pattern in _patterns().items() if pattern.search(said)}
    feels, asks = "feeling" in hits or "guesses" in hits, counts.questions > 0
    reflects = counts.reflections > 0 or bool({"guesses", "so"} & hits and not asks)
    late = "late_question" in hits and asks
    openly = (counts.open_questions > 0 or late) and "how_many" not in hits
    few = len(words) <= (2 * MINIMAL_WORDS if is_chinese(said) else MINIMAL_WORDS)
    echoed = {*map(str.casefold, words)} <= {*_WORDS.findall(heard.casefold())}
    advises = counts.advice > 0 and "guesses" not in hits
    tests = {
        "risk_question": bool(asked_in(said, language).dangers) or (asks and _meets(heard, said)),
        "judgment": "judgment" in hits,
        "silence": "lets_be" in hits,
        "interruption": _cuts_in(heard, said),
        "reassurance": "reassurance" in hits,
        "advice": advises or "suggests" in hits,
        "self_disclosure": "self_disclosure" in hits,
        "closing": "closing" in hits or bool(leave_taken(said, language)),
        "several_questions": counts.questions > 1,
        "opening": not heard and "opening" in hits,
        "summary": "summary" in hits,
        "affirmation": "affirmation" in hits,
        "minimal": few and not feels and (not asks or echoed),
        "open_question": openly or ("invites" in hits and not asks),
        "closed_question": asks and not openly,
        "reflection": reflects and feels,
        "paraphrase": reflects and not feels,
        "information": "information" in hits,
    }
    return tuple(name for name, holds in tests.items() if holds)


def _meets(heard: str, said: str) -> bool:
    """Whether the client spoke of danger, and the answer takes it up."""
    lines = ((CLIENT, heard), (COUNSELOR, said))
    return endangered(lines) and not open_dangers(lines)


def _cuts_in(heard: str, said: str) -> bool:
    """Whether the client's line breaks off, and the answer takes up none of its last words."""
    if not _BROKEN_OFF.search(heard):
        return False
    last = {word for word in _WORDS.findall(heard.casefold())[-8:] if len(word) > 3 or word >= "一"}
    return not last & {*_WORDS.findall(said.casefold())} and "?" not in said
