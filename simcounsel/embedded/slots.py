"""A day and its slots, chosen out of a persona's days and routines."""

from collections.abc import Callable
from itertools import pairwise
from random import Random

import numpy as np

from simcounsel.agents.emotion import emotion_relevance
from simcounsel.agents.facts import DayFacts, SlotsFacts, Strokes
from simcounsel.agents.slots import usual_feeling
from simcounsel.agents.tasks import (
    BlockAnswer,
    DayAnswer,
    RestOfDayAnswer,
    SlotAnswer,
    StrokeAnswer,
)
from simcounsel.chance import chance
from simcounsel.clock import MINUTES_PER_DAY, minutes_of_day, time_text
from simcounsel.embedded.feelings import Feeling
from simcounsel.embedded.similarity import Similarity
from simcounsel.llm.question import Question
from simcounsel.scripted.registry import Given
from simcounsel.specs.persona import Routine

STAY_SLEEP, STAY_OTHER = 0.8, 0.55
"""How likely the same activity goes on into the next slot, while its hours last."""
NIGHTLY = ("sleep", "sleepless")
ONCE_IN_A_WHILE = {"meal": 150, "errand": 300, "care": 240}
"""Kinds of activity that are not taken up again so soon, in minutes."""


def choose_day(
    facts: DayFacts, question: Question[DayAnswer | RestOfDayAnswer], similarity: Similarity
) -> Given[DayAnswer | RestOfDayAnswer]:
    """The sample day that is nearest to what is on the mind, with today's appointments put in; in a
    revision what of it is still to come."""
    rng = chance(question.seed, "day")
    mind = " ".join(facts.memories) or "an ordinary day"
    days = facts.days
    near = similarity.nearness(mind, [" ".join(do for _, do in day) for day in days])
    scores = [float(n) + rng.gauss(0, 0.08) for n in near]
    strokes = list(days[int(np.argmax(scores))])
    now = time_text(facts.minute)
    for appointment in facts.appointments:
        strokes = [
            s for s in strokes if abs(minutes_of_day(s[0]) - minutes_of_day(appointment[0])) >= 60
        ] + [appointment]
    strokes = _five_to_eight(sorted(strokes), days)
    if facts.why is None:
        return Given(value=DayAnswer(strokes=_strokes(strokes)))
    ahead = [s for s in strokes if s[0] >= now] or [(now, strokes[-1][1])]
    return Given(value=RestOfDayAnswer(strokes=_strokes(ahead)))


def _strokes(strokes: list[tuple[str, str]]) -> tuple[StrokeAnswer, ...]:
    return tuple(StrokeAnswer(at=at, do=do) for at, do in strokes)


def _five_to_eight(
    strokes: list[tuple[str, str]], days: tuple[Strokes, ...]
) -> list[tuple[str, str]]:
    while len(strokes) > 8:
        gaps = [minutes_of_day(b[0]) - minutes_of_day(a[0]) for a, b in pairwise(strokes)]
        strokes.pop(
            int(np.argmin(gaps)) + (0 if "meets" not in strokes[int(np.argmin(gaps))][1] else 1)
        )
    for stroke in (s for day in days for s in day):
        if len(strokes) >= 5:
            break
        if all(abs(minutes_of_day(stroke[0]) - minutes_of_day(s[0])) >= 60 for s in strokes):
            strokes = sorted([*strokes, stroke])
    return strokes


def choose_slots(
    facts: SlotsFacts,
    question: Question[BlockAnswer],
    similarity: Similarity,
    feel: Callable[[str], Feeling],
) -> Given[BlockAnswer]:
    """For each slot a routine of that hour: by mood, by the day's plan, by what was done
    already. feel: what an appointment feels like, by its text.
    """
    rng = chance(question.seed, "slots")
    current = next((r for r in facts.routines if r.do == facts.activity), None)
    done = dict(facts.done)
    slots: list[SlotAnswer] = []
    for minute in facts.minutes:
        if current is None or not _goes_on(current, minute, rng):
            current = _choose(minute, facts, done, similarity, rng, current)
        done[current.do] = minute
        agreed = facts.appointed.get(minute)
        felt = feel(f"{facts.name} {agreed}.")._asdict() if agreed else usual_feeling(current)
        slots.append(
            SlotAnswer(
                activity=current.do,
                seen=current.seen,
                kind=current.kind,
                place=_place(current, facts),
                **felt,
            )
        )
    return Given(value=BlockAnswer(slots=tuple(slots)))


def _goes_on(current: Routine, minute: int, rng: Random) -> bool:
    stay = STAY_SLEEP if current.kind == "sleep" else STAY_OTHER
    return current.covers(minute) and rng.random() < stay


def _choose(
    minute: int,
    facts: SlotsFacts,
    done: dict[str, int],
    similarity: Similarity,
    rng: Random,
    current: Routine | None,
) -> Routine:
    fitting = [r for r in facts.routines if r.covers(minute)]
    reachable = {place.kind for place in facts.places}
    fitting = [r for r in fitting if r.place in reachable] or fitting
    stroke = _stroke_at(minute, facts.strokes)
    near = (
        similarity.nearness(stroke, [r.do for r in fitting]) if stroke else np.zeros(len(fitting))
    )
    by_age = sorted((r for r in facts.routines if r.do in done), key=lambda r: done[r.do])
    lately = {r.kind: minute - done[r.do] for r in by_age}
    once = {kind for kind, since in lately.items() if since < ONCE_IN_A_WHILE.get(kind, 0)}
    scores = []
    for routine, plan in zip(fitting, near, strict=True):
        mood = (
            0.0
            if routine.emotion is None
            else emotion_relevance(routine.emotion, facts.emotion) - 0.5
        )
        since = minute - done.get(routine.do, -MINUTES_PER_DAY)
        again = -1.2 if since < 6 * 60 else -0.3 if since < MINUTES_PER_DAY else 0.0
        again = -0.35 if routine is current else 0.0 if routine.kind in NIGHTLY else again
        too_soon = -0.9 if routine.kind in once and routine is not current else 0.0
        scores.append(
            0.5 * mood
            + 0.6 * float(plan)
            + again
            + too_soon
            + _night(routine, minute, facts, current)
            + rng.gauss(0, 0.18)
        )
    best: Routine = fitting[int(np.argmax(scores))]
    return best


def _night(routine: Routine, minute: int, facts: SlotsFacts, current: Routine | None) -> float:
    """Who has got up in the morning stays up; who suffers from insomnia lies awake more than
    others.
    """
    up = current is not None and current.kind not in (*NIGHTLY, "rest")
    if routine.kind in NIGHTLY and up and 5 * 60 <= minute % MINUTES_PER_DAY < 12 * 60:
        return -0.8
    return 0.3 if routine.kind == "sleepless" and facts.theme == "insomnia" else 0.0


def _stroke_at(minute: int, strokes: Strokes) -> str | None:
    """The stroke that has begun last by that time of day."""
    of_day = minute % MINUTES_PER_DAY
    begun = [do for at, do in strokes if minutes_of_day(at) <= of_day]
    return begun[-1] if begun else None


def _place(routine: Routine, facts: SlotsFacts) -> str:
    places = [p for p in facts.places if p.kind == routine.place]
    own = (
        [p for p in places if p.own_home]
        or places
        or [p for p in facts.places if p.own_home]
        or list(facts.places)
    )
    return own[0].name
