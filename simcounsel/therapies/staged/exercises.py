"""Which exercise may be offered to this client now, and why each other may not."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

from simcounsel.events import Candidate
from simcounsel.therapies.specs.exercises import (
    STAGES,
    Exercise,
    Exercises,
    ExerciseStage,
    load_exercises,
)

STAGE_ENDS = {"beginning": 3, "intermediate": 6}
"""The last day of the first two stages; what comes after is advanced."""
A_DAY = 3
"""Exercises on the schedule of a day."""
WIDER = (
    "not done before",
    "done on an earlier day, to be practised again",
    "meant for another day of a stage already reached",
)
"""What is allowed, one after the other, while nothing is left to choose from. What was offered in
this talk, what a contraindication rules out and what belongs to a later stage is never allowed.
"""
_BETWEEN = (
    r"(?:(?:a|an|any|the|had|have|has|having|got|get|be|been|really|actually|ever|history of|signs?"
    r" of|kind of|form of|suffer(?:ed|ing)? from"
    r"|diagnosed with|problems? with|trouble with) )*"
)
_NO = re.compile(
    rf"(?:\b(?:no|not|never|neither|nor|free (?:of|from))|n't) {_BETWEEN}(?:(?:\w+ )?\w+ or"
    rf" {_BETWEEN})?$"
)
_NO_ZH = re.compile(
    r"(?:(?<![有是])没有?|(?<!是)不是|并非|毫?无|不曾|从不|从来没有?|从来不)"
    r"(?:什么|任何|得过|得|患过|患|犯过|犯|发过|有过|过|再|那种|这种|严重的|[^。！？；，"
    r",]{1,4}[和或])*$"
)
"""A denial that reaches as far as a cue: nothing but what belongs to it is between. In doubt
the contraindication holds.
"""
NEAR = 300
"""So many characters before a cue are looked at for a denial."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


@cache
def library(language: str) -> Exercises:
    """The exercises that come with simcounsel, in a language."""
    with as_file(files("simcounsel.therapies").joinpath("exercises", f"{language}.yaml")) as path:
        return load_exercises(path)


def stage_of(day: int) -> ExerciseStage:
    """The stage of a day of the protocol."""
    return next((stage for stage in STAGES if day <= STAGE_ENDS.get(stage, day)), "advanced")


def schedule(day: int, known: Exercises) -> tuple[Exercise, ...]:
    """The exercises of a day for who chooses none: of its stage (where there are none, of the one
    before), in the catalogue's order, the next ones on each day; at most A_DAY, () before the first
    stage that has any.
    """
    reached = STAGES[: STAGES.index(stage_of(day)) + 1]
    of_stage = (
        [one for one in known.exercises if one.stage == stage] for stage in reversed(reached)
    )
    there = next((some for some in of_stage if some), [])
    first = (day - 1) * A_DAY
    return tuple(there[(first + k) % len(there)] for k in range(min(A_DAY, len(there))))


def cues_in(text: str, known: Exercises, language: str) -> list[tuple[str, str]]:
    """(contraindication, words) that a client's words suggest, each once; what they say they do not
    have is none.
    """
    plain = " ".join(text.lower().replace("’", "'").split())
    found = []
    for one in known.contraindications:
        cue = next((cue for cue in one.cues if _said(cue.lower(), plain, language, known)), None)
        if cue:
            found.append((one.id, cue))
    return found


def _said(cue: str, text: str, language: str, known: Exercises) -> bool:
    inside = language == "zh" or _UNSPACED.search(cue)
    pattern = re.escape(cue) if inside else rf"(?<!\w){re.escape(cue)}(?!\w)"
    denied = _NO_ZH if language == "zh" else _NO
    return any(
        not denied.search(before := text[max(0, found.start() - NEAR) : found.start()])
        and not _ends_with_one_of(known.denials, before, cue)
        for found in re.finditer(pattern, text)
    )


def _ends_with_one_of(denials: Iterable[str], before: str, cue: str) -> bool:
    """Whether what is right before a cue is one of a catalogue's own denials, as a word where
    words have spaces between them.
    """
    edge = "" if _UNSPACED.search(cue) else r"(?<!\w)"
    return any(re.search(rf"{edge}{re.escape(no.lower())}\s*$", before) for no in denials)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What was kept for the choice."""

    kept: tuple[Exercise, ...]
    candidates: tuple[Candidate, ...]
    """All, with why."""
    wider: int
    """Which of WIDER it took, from 0."""


def fitting(
    known: Exercises,
    *,
    day: int,
    against: Sequence[str],
    earlier: Iterable[str],
    here: Iterable[str],
    danger: str | None,
) -> Fit:
    """Step one of a choice: day, stage, contraindications and what was done. earlier, here: ids
    offered in earlier talks and in this one. danger: the level that forbids every exercise; None
    when there is none.
    """
    earlier, here = frozenset(earlier), frozenset(here)
    for wider in range(len(WIDER)):
        why = {
            exercise.id: _against(exercise, day, against, earlier, here, danger, wider)
            for exercise in known.exercises
        }
        kept = tuple(exercise for exercise in known.exercises if why[exercise.id] is None)
        if kept or danger:
            break
    candidates = tuple(
        Candidate(
            id=exercise.id,
            kept=why[exercise.id] is None,
            why=why[exercise.id] or f"day {day}, {stage_of(day)}; {WIDER[wider]}",
        )
        for exercise in known.exercises
    )
    return Fit(kept=kept, candidates=candidates, wider=wider)


def _against(
    exercise: Exercise,
    day: int,
    against: Sequence[str],
    earlier: frozenset[str],
    here: frozenset[str],
    danger: str | None,
    wider: int,
) -> str | None:
    """Why it must not be offered; None when it may."""
    stage = stage_of(day)
    if danger:
        return f"danger assessed as {danger}: people first, no exercise"
    ruled_out = [name for name in exercise.not_when if name in against]
    if ruled_out:
        return f"not with {', '.join(ruled_out)}"
    if exercise.id in here:
        return "offered in this talk already"
    if STAGES.index(exercise.stage) > STAGES.index(stage):
        return f"{exercise.stage}, and day {day} is {stage}"
    if exercise.id in earlier and wider < 1:
        return "done before"
    first, last = exercise.days
    if not first <= day <= last and wider < 2:
        return f"for days {first} to {last}, and it is day {day}"
    return None
