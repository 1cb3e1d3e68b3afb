"""A synthesis as its page shows it: sessions with their loops (draft, critique, revision), and what
was learned.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from simcounsel.corpus.disclosure import DISCLOSURES
from simcounsel.corpus.synthesis.events import (
    QUALITIES,
    Disclosed,
    Drafted,
    Evaluated,
    StrategyLearned,
)
from simcounsel.corpus.synthesis.kind import SYNTHESIS
from simcounsel.corpus.synthesis.sessions import SessionLine, Sessions, WrittenSession
from simcounsel.corpus.synthesis.settings import ROLES
from simcounsel.corpus.synthesis.strategies import Strategy
from simcounsel.runs.calls import Call
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.manifest import label_of
from simcounsel.viewer.pages import Answer, RecordPage
from simcounsel.viewer.people import picked
from simcounsel.viewer.requests import by_key, request, requests_of

Fields = dict[str, Any]


def overview(history: History) -> Fields:
    """A synthesis at a glance: all sessions in a line each, all strategies, and the settings.

    A session's theme and situation are None where the log lost its beginning, and its counts where
    it lost its end. Of the lines every second is the supporter's, so that there are half as many
    drafts.
    """
    read, log = Sessions(history), history.log
    return settings_of(log.manifest, log.ticks) | {
        "sessions": [_outlined(one) for one in read.outline() if one.started or one.ended],
        "strategies": [_strategy(one) for one in read.strategies().all()],
        "warnings": len(history.warnings()),
        "run": log.name,
        "problems": log.problems(),
        "size": log.size,
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
        "informed": bool(settings.get("informed")),
        "wave_size": settings.get("wave"),
        "waves": waves,
        "waves_planned": -(-count // (settings.get("wave") or 1)) or None,
        "sessions_planned": count or None,
        "label": label_of(models.values()),
        "roles": {role: models[role] for role in ROLES if role in models},
        "parent": (manifest.get("parent") or {}).get("run"),
        "stages": list(DISCLOSURES),
        "qualities": list(QUALITIES),
    }


def summed(log: Log) -> Fields:
    """A synthesis in the list of runs: its length is in waves."""
    settings = settings_of(log.manifest, log.ticks)
    condition = f"without {', '.join(settings['without'])}" if settings["without"] else "full"
    condition += ", informed" if settings["informed"] else ""
    return {
        "name": log.name,
        "world": f"synthesis: {settings['name'] or log.name}",
        "condition": condition,
        "seed": settings["seed"],
        "model": ", ".join(sorted(set(settings["roles"].values()))),
        "created": log.manifest.get("created"),
        "ticks": log.ticks,
        "ticks_planned": settings["waves_planned"],
        "unit": "waves",
        "parent": settings["parent"],
        "problems": log.problems(),
    }


def _outlined(one: WrittenSession) -> Fields:
    started, ended = one.started, one.ended
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


def _strategy(one: Strategy) -> Fields:
    found = [picked(again, "session", "text", "cosine") | {"wave": at} for at, again in one.again]
    return {
        "id": one.id,
        "text": one.text,
        "session": one.session,
        "wave": one.wave,
        "advice": list(one.advice),
        "found": found,
        "dropped": one.dropped,
    }


def session(history: History, name: str) -> Fields | None:
    """One session; None when there is none of that name."""
    read = Sessions(history)
    held = read.named(name)
    return _session(read, held) if held else None


def _session(read: Sessions, held: WrittenSession) -> Fields:
    """Its situation, its file, and its turns, each of the supporter's with all that became of it.
    Where the log lost its beginning, `facts` is None.
    """
    started, ended, authors = held.started, held.ended, read.authors(held)
    told_in = {
        fact: line.message
        for line in reversed(held.lines)
        if isinstance(line.event, Disclosed)
        for fact in line.event.facts
    }
    found: Fields = {"theme": None, "situation": None, "text": None, "facts": None}
    if started:
        facts = [
            fact.model_dump(mode="json") | {"told": told_in.get(fact.id)} for fact in started.facts
        ]
        found = {
            "theme": started.theme,
            "situation": started.situation,
            "text": _situation(read.log.manifest, started.situation),
            "facts": facts,
        }
    return found | {
        "session": held.id,
        "wave": held.tick,
        "strategies": list(started.strategies) if started else [],
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


def _turn(line: SessionLine) -> Fields:
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


def asked(history: History, name: str) -> Fields | None:
    """The requests behind a session, by line; None when there is no session of that name."""
    held = Sessions(history).named(name)
    return _asked(history, held, history.calls(held.tick, held.id)) if held else None


def _asked(history: History, held: WrittenSession, calls: Iterable[Call]) -> Fields:
    """By the number of a line, in order; under "extract" and "distil" those before and after all
    lines, under "other" those that led to no event. calls: those of its wave on its behalf.
    """
    known = by_key(call for call in calls if not call.embeds)
    found: Mapping[str, list[Fields]] = {
        "extract": requests_of((held.started,) if held.started else (), known),
        **{
            str(line.message): requests_of((line.event, line.judged, line.revised), known)
            for line in held.lines
        },
        "distil": requests_of(held.learned, known),
    }
    named = {one["key"] for part in found.values() for one in part}
    other = [request(call) for key, call in known.items() if key not in named and not call.spare]
    return {"requests": {**found, "other": other}}


def everything(history: History, prompts_most: int) -> tuple[Fields, list[str]]:
    """All that the page could ask for, by the path it asks with, and what was left out, in words.

    prompts_most: with more characters of prompts and replies they are left out.
    """
    data: Fields = {"sessions": overview(history)}
    prompts: Fields = {}
    size, read = 0, Sessions(history)
    for held in read.all():
        data[f"session/{held.id}"] = _session(read, held)
        if size > prompts_most:
            continue
        calls = list(history.calls(held.tick, held.id))
        found = prompts[f"asked/{held.id}"] = _asked(history, held, calls)
        shown = {one["key"] for requests in found["requests"].values() for one in requests}
        size += sum(call.characters for call in calls if call.key in shown)
    if size > prompts_most:
        return data, ["the prompts and replies, which are too many for one file"]
    return data | prompts, []


def _sessions(request: Request, history: History) -> Fields:
    if history.log.kind is not SYNTHESIS:
        why = f"{history.log.name} is no synthesis: it has people and days, not sessions"
        raise HTTPException(404, why)
    return overview(history)


def _of_session(part: Callable[[History, str], Fields | None]) -> Answer:
    def answer(request: Request, history: History) -> Fields:
        found = part(history, request.path_params["session"])
        if found is None:
            raise HTTPException(404, "no such session")
        return found

    return answer


PAGE = RecordPage(
    name="sessions",
    static=Path(str(files("simcounsel.corpus.synthesis") / "static")),
    summed=summed,
    everything=everything,
    answers={
        "sessions": _sessions,
        "session/{session}": _of_session(session),
        "asked/{session}": _of_session(asked),
    },
    apart=(
        "of dialogues: nobody lives through days there, and there is no clock to lay two runs side"
        " by side on. Open each for itself; `simcounsel study corpus RUN RUN` compares corpora by"
        " judgment and in numbers."
    ),
)
