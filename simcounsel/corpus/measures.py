"""What can be counted in a corpus without any model. The same dialogues give the same numbers.

Units of length: a word is a run of letters or digits, with its apostrophes and hyphens; each
Chinese or Japanese character is a unit of its own, so that a Chinese text counts in characters.
Punctuation counts as nothing. (Xue et al. 2026 do not say how they counted in their Tables II and
V, so their lengths are a guide only.) Languages written without spaces other than these, such as
Thai, are counted too low.

A number that cannot be had is None with a reason, never 0. See also `diversity` and `disclosure`.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from simcounsel.corpus.dialogues import Dialogue, Skill, skills_of
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.instruments.talk import measure as talk_measure

_SINGLE = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_UNIT = re.compile(rf"[{_SINGLE}]|[^\W_{_SINGLE}]+(?:['\u2019\u2011-][^\W_{_SINGLE}]+)*")
_CHARACTER = re.compile(rf"[{_SINGLE}]")
_QUESTION = re.compile(r"[?？]")
SKILLS: tuple[str, ...] = get_args(Skill)
NO_SKILLS, NO_OBJECTIVES = "no skills are given", "no objectives are given"
OPENING = 3
"""How many units at its beginning are a line's opening."""
SHARED_SHARE, SHARED_LINES, SHARED_DIALOGUES = 0.01, 3, 2
"""An opening is a template when this share of the counselor's lines of a corpus begin with it, and
at least this many lines of this many dialogues.
"""
Unit = Literal["words", "characters", "words and characters"]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A measured number."""

    value: float | None
    """None when it cannot be had, and then `reason` says why."""
    n: int = 0
    """Of how many things it was made."""
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Quartiles:
    """A distribution in five numbers: least, first quartile, median, third quartile, greatest
    (quartiles interpolated linearly).
    """

    least: float
    first: float
    median: float
    third: float
    greatest: float


def units(text: str) -> list[str]:
    """A text's units of length, in lower case: words, or single Chinese and Japanese characters."""
    return [
        found.lower().replace("’", "'")
        for found in _UNIT.findall(unicodedata.normalize("NFC", text))
    ]


def is_character(unit: str) -> bool:
    """Whether a unit is a Chinese or Japanese character, not a word."""
    return bool(_CHARACTER.match(unit))


def unit_of(dialogues: Iterable[Dialogue]) -> Unit:
    """In what lengths are counted: `characters` where more than nine tenths of the units are,
    `words` where fewer than one tenth are.
    """
    every = [one for dialogue in dialogues for turn in dialogue.turns for one in units(turn.text)]
    share = sum(map(is_character, every)) / len(every) if every else 0.0
    return "characters" if share > 0.9 else "words" if share < 0.1 else "words and characters"


def dialogue_measures(dialogue: Dialogue) -> dict[str, Number]:
    """One dialogue in numbers.

    turns: lines of both sides. length: mean units of a line; counselor_length, client_length: of
    one side's. modified: revised counselor lines in all counselor lines (Xue et al. 2026, Table V,
    "Mod."), known only where a dialogue keeps drafts or names a corrector. questions: share of the
    counselor's lines with a question mark. skills: different skills that the counselor's
    labelled lines use; skill_uses: how often they use one, each line counting each of its skills.
    objectives: points that the session was for. Then the counts of `instruments.talk`.
    """
    counselor = dialogue.lines("counselor", "layperson")
    lines = [
        (CLIENT if turn.speaker == "client" else COUNSELOR, turn.text) for turn in dialogue.turns
    ]
    labelled = [one for turn in dialogue.turns for one in skills_of(turn)]
    return {
        "turns": Number(value=len(dialogue.turns), n=1),
        "length": _mean([len(units(text)) for text in dialogue.lines()], "no line"),
        "counselor_length": _mean(
            [len(units(text)) for text in counselor], "no line of a counselor"
        ),
        "client_length": _mean(
            [len(units(text)) for text in dialogue.lines("client")], "no line of a client"
        ),
        "modified": modification([dialogue]),
        "questions": _mean(
            [float(bool(_QUESTION.search(text))) for text in counselor], "no line of a counselor"
        ),
        "skills": _count(len(set(labelled)), len(labelled), NO_SKILLS),
        "skill_uses": _count(len(labelled), 1, NO_SKILLS),
        "objectives": _count(len(dialogue.objectives), 1, NO_OBJECTIVES),
        **{
            item.id: Number(value=item.value, n=1, reason=item.reason)
            for item in talk_measure(lines)
        },
    }


def corpus_measures(dialogues: Sequence[Dialogue]) -> dict[str, Number]:
    """A whole corpus in numbers.

    sessions: dialogues. utterances: lines a dialogue; length: units a line (Xue et al. 2026, Table
    II), all lines counting alike. modified, questions: as for a dialogue, over all lines.
    templated, skills, effective_skills: see there. skill_uses, objectives: a dialogue, over those
    that give them.
    """
    uses = [sum(len(skills_of(turn)) for turn in dialogue.turns) for dialogue in dialogues]
    points = [len(dialogue.objectives) for dialogue in dialogues]
    lines = [text for dialogue in dialogues for text in dialogue.lines()]
    counselor = [
        text for dialogue in dialogues for text in dialogue.lines("counselor", "layperson")
    ]
    client = [text for dialogue in dialogues for text in dialogue.lines("client")]
    return {
        "sessions": Number(value=len(dialogues), n=len(dialogues)),
        "clients": Number(value=len({dialogue.client for dialogue in dialogues}), n=len(dialogues)),
        "utterances": _mean([len(dialogue.turns) for dialogue in dialogues], "no dialogue"),
        "length": _mean([len(units(text)) for text in lines], "no line"),
        "counselor_length": _mean(
            [len(units(text)) for text in counselor], "no line of a counselor"
        ),
        "client_length": _mean([len(units(text)) for text in client], "no line of a client"),
        "modified": modification(dialogues),
        "questions": _mean(
            [float(bool(_QUESTION.search(text))) for text in counselor], "no line of a counselor"
        ),
        "templated": templatedness(dialogues),
        **skill_coverage(dialogues),
        "skill_uses": _mean([one for one in uses if one], NO_SKILLS),
        "objectives": _mean([one for one in points if one], NO_OBJECTIVES),
    }


def modification(dialogues: Sequence[Dialogue]) -> Number:
    """Share of the counselor's lines that were revised. None where nobody can know: no draft was
    kept and no corrector is named.
    """
    counselor = [
        turn for dialogue in dialogues for turn in dialogue.turns if turn.speaker == "counselor"
    ]
    revised = sum(turn.draft is not None for turn in counselor)
    corrected = any(
        dialogue.origin is not None and "corrector" in dialogue.origin.models
        for dialogue in dialogues
    )
    if not revised and not corrected:
        return Number(value=None, reason="no drafts are kept, and no corrector is named")
    return _share(revised, len(counselor), "no line of a counselor")


def templatedness(dialogues: Sequence[Dialogue]) -> Number:
    """Share of the counselor's lines that begin as many others do.

    A line's opening is its first three units (of a Chinese text its first three characters). An
    opening is a template when at least 1% of the corpus's counselor lines, and at least three lines
    in two dialogues, share it. Lines shorter than three units ("Mm.", "Go on.") have no opening and
    count as untemplated. A measure of our own.
    """
    openings: list[tuple[int, tuple[str, ...]]] = []
    for number, dialogue in enumerate(dialogues):
        openings += [
            (number, tuple(units(text)[:OPENING]))
            for text in dialogue.lines("counselor", "layperson")
        ]
    count = Counter(opening for _, opening in openings)
    where: dict[tuple[str, ...], set[int]] = {}
    for number, opening in openings:
        where.setdefault(opening, set()).add(number)
    least = max(SHARED_LINES, SHARED_SHARE * len(openings))
    shared = sum(
        n
        for opening, n in count.items()
        if len(opening) == OPENING and n >= least and len(where[opening]) >= SHARED_DIALOGUES
    )
    return _share(shared, len(openings), "no line of a counselor")


def skill_coverage(dialogues: Sequence[Dialogue]) -> dict[str, Number]:
    """How widely the counselors' skills range, over lines that name one.

    skills: share of the 18 skills of `dialogues.Skill` that occur; None when a corpus has its own
    names for them. effective_skills: 2 to the power of Shannon's entropy in bits (Hill 1973, order
    1): as many skills as this, used equally often, would range as widely.
    """
    named = Counter(
        one for dialogue in dialogues for turn in dialogue.turns for one in skills_of(turn)
    )
    total = sum(named.values())
    if not total:
        none = Number(value=None, reason=NO_SKILLS)
        return {"skills": none, "effective_skills": none}
    listed = [name for name in named if name in SKILLS]
    entropy = -sum(n / total * math.log2(n / total) for n in named.values())
    own = Number(value=None, n=total, reason="the corpus has its own names for skills")
    return {
        "skills": Number(value=len(listed) / len(SKILLS), n=total) if listed else own,
        "effective_skills": Number(value=2.0**entropy, n=total),
    }


def quartiles(values: Sequence[float]) -> Quartiles | None:
    """Five numbers of a distribution; None without values."""
    if not values:
        return None
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return Quartiles(
        least=ordered[0], first=at(0.25), median=at(0.5), third=at(0.75), greatest=ordered[-1]
    )


def seconds_per_session(spent_s: Mapping[str, float], dialogues: Sequence[Dialogue]) -> Number:
    """Mean seconds that writing a dialogue took (Xue et al. 2026, Table V, "Spe."), where a source
    knows them by dialogue id.
    """
    known = [spent_s[dialogue.id] for dialogue in dialogues if dialogue.id in spent_s]
    return _mean(known, "no times are known")


def _count(many: int, n: int, why: str) -> Number:
    return Number(value=many, n=n) if many else Number(value=None, reason=why)


def _mean(values: Sequence[float], why: str) -> Number:
    return (
        Number(value=sum(values) / len(values), n=len(values))
        if values
        else Number(value=None, reason=why)
    )


def _share(part: int, whole: int, why: str) -> Number:
    return Number(value=part / whole, n=whole) if whole else Number(value=None, reason=why)
