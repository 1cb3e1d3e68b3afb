"""A synthesis as its pages show it: sessions with their loops (draft, critique, revision), and what
was learned.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from simcounsel.events import (
    Disclosed,
    Drafted,
    Evaluated,
    Extracted,
    SessionEnded,
    StrategyLearned,
)
from simcounsel.runs.calls import Call
from simcounsel.runs.conversation import Conversation, Line
from simcounsel.runs.history import History
from simcounsel.runs.learning import LearnedStrategy
from simcounsel.runs.manifest import label_of
from simcounsel.specs.vocabulary import DISCLOSURES, QUALITIES, SYNTHESIS_ROLES
from simcounsel.viewer.people import picked
from simcounsel.viewer.requests import by_key, request, requests_of

Fields = dict[str, Any]


def overview(history: History) -> Fields:
    """All sessions in a line each, all strategies, and the settings.

    A session's theme and situation are None where the log lost its beginning, and its counts where
    it lost its end. Of the lines every second is the supporter's, so that there are half as many
    drafts.
    """
    held = list(history.outline())
    return settings_of(history.log.manifest, history.log.ticks) | {
        "sessions": [_outlined(one) for one in held if one.started or one.ended],
        "strategies": [_strategy(one) for one in history.strategies().values()],
        "warnings": len(history.warnings()),
    }


def settings_of(manifest: Fields, waves: int) -> Fields:
    """What a synthesis was told to do, and how far it came."""
    settings, models = manifest.get("synthesis") or {}, manifest.get("models") or {}
    count = settings.get("sessions") or len(settings.get("situations") or ())
    return {
        "name": settings.get("name"),
        "about": settings.get("about"),
        "seed": settings.get("seed"),
        "without": sorted(settings.get("without") or ()),
        "wave_size": settings.get("wave"),
        "waves": waves,
        "waves_planned": -(-count // (settings.get("wave") or 1)) or None,
        "sessions_planned": count or None,
        "label": label_of(models.values()),
        "roles": {role: models[role] for role in SYNTHESIS_ROLES if role in models},
        "parent": (manifest.get("parent") or {}).get("run"),
        "stages": list(DISCLOSURES),
        "qualities": list(QUALITIES),
    }


def _outlined(one: Conversation) -> Fields:
    started = one.started if isinstance(one.started, Extracted) else None
    ended = one.ended if isinstance(one.ended, SessionEnded) else None
    return {
        "session": one.id,
        "wave": one.tick,
        "theme": started.theme if started else None,
        "situation": started.situation if started else None,
        "messages": ended.messages if ended else None,
        "drafts": ended.messages // 2 if ended else None,
        "revised": ended.revised if ended else None,
        "cause": ended.cause if ended else None,
    }


def _strategy(one: LearnedStrategy) -> Fields:
    found = [picked(at.event, "session", "text", "cosine") | {"wave": at.tick} for at in one.found]
    return {
        "id": one.id,
        "text": one.text,
        "session": one.session,
        "wave": one.wave,
        "advice": list(one.advice),
        "found": found,
        "dropped": one.dropped,
    }


def session(manifest: Fields, held: Conversation, authors: Mapping[int, str]) -> Fields:
    """One session: its situation, its file, and its turns, each of the supporter's with all that
    became of it. Where the log lost its beginning, `facts` is None. authors: who worded each line
    as it was said, by its number.
    """
    started, ended = held.started, held.ended
    told_in = {
        fact: line.message
        for line in reversed(held.lines)
        if isinstance(line.event, Disclosed)
        for fact in line.event.facts
    }
    found: Fields = {"theme": None, "situation": None, "text": None, "facts": None}
    if isinstance(started, Extracted):
        facts = [
            fact.model_dump(mode="json") | {"told": told_in.get(fact.id)} for fact in started.facts
        ]
        found = {
            "theme": started.theme,
            "situation": started.situation,
            "text": _situation(manifest, started.situation),
            "facts": facts,
        }
    return found | {
        "session": held.id,
        "wave": held.tick,
        "strategies": list(started.strategies) if isinstance(started, Extracted) else [],
        "turns": [_turn(line) | {"author": authors[line.message]} for line in held.lines],
        "warnings": [picked(one, "purpose", "cause") for one in held.warnings],
        "learned": [
            {"id": one.id, "text": one.text, "new": isinstance(one, StrategyLearned)}
            for one in held.learned
        ],
        "cause": ended.cause if ended else None,
        "messages": ended.messages if ended else None,
        "mean_ratings": _means(line.judged for line in held.lines),
    }


def _turn(line: Line) -> Fields:
    """A line as it was drafted, with its judgment and the revision beside it."""
    if not isinstance(line.event, Drafted):
        shown = picked(line.event, "message", "text", "stage", "facts", "source")
        return {"who": line.who} | shown
    drafted = picked(
        line.event, "message", "text", "stage", "skill", "reasoning", "strategies", "source"
    )
    judged = (
        picked(line.judged, "ratings", "revise", "advice", "go_on", "source")
        if line.judged
        else None
    )
    revised = picked(line.revised, "text", "source") if line.revised else None
    return {"who": line.who} | drafted | {"judged": judged, "revised": revised}


def _situation(manifest: Fields, id: str) -> str | None:
    situations = (manifest.get("synthesis") or {}).get("situations") or ()
    return next((one["text"] for one in situations if one.get("id") == id), None)


def _means(judged: Iterable[Evaluated | None]) -> dict[str, float | None]:
    """Each quality's mean over the drafts of a session; None where nothing was judged."""
    values: dict[str, list[int]] = {quality: [] for quality in QUALITIES}
    for one in judged:
        for rating in one.ratings if one else ():
            if rating.value is not None:
                values[rating.quality].append(rating.value)
    return {name: sum(given) / len(given) if given else None for name, given in values.items()}


def asked(held: Conversation, calls: Iterable[Call]) -> Mapping[str, list[Fields]]:
    """The requests behind a session: by the number of a line, in order; under "extract" and
    "distil" those before and after all lines, under "other" those that led to no event.

    calls: those of its wave on behalf of this session.
    """
    known = by_key(call for call in calls if not call.embeds)
    lines = {
        str(line.message): requests_of((line.event, line.judged, line.revised), known)
        for line in held.lines
    }
    started = (held.started,) if isinstance(held.started, Extracted) else ()
    found = {
        "extract": requests_of(started, known),
        **lines,
        "distil": requests_of(held.learned, known),
    }
    named = {one["key"] for part in found.values() for one in part}
    other = [request(call) for key, call in known.items() if key not in named and not call.spare]
    return found | {"other": other}
