"""What the site answers about a synthesis, out of its history."""

from typing import Any

from simcounsel.runs.conversation import Conversation
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.viewer import sessions

Fields = dict[str, Any]


def overview(history: History) -> Fields:
    """A synthesis at a glance."""
    log = history.log
    return sessions.overview(history) | {
        "run": log.name,
        "problems": log.problems(),
        "size": log.size,
    }


def summed(log: Log) -> Fields:
    """A synthesis in the list of runs: its length is in waves."""
    settings = sessions.settings_of(log.manifest, log.ticks)
    condition = f"without {', '.join(settings['without'])}" if settings["without"] else "full"
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


def session(history: History, name: str) -> Fields | None:
    """One session; None when there is none of that name."""
    held = history.conversation(name)
    return _session(history, held) if held else None


def _session(history: History, held: Conversation) -> Fields:
    return sessions.session(history.log.manifest, held, history.authors(held))


def asked(history: History, name: str) -> Fields | None:
    """The requests behind a session, by line; None when there is no session of that name."""
    held = history.conversation(name)
    if held is None:
        return None
    requests = sessions.asked(held, history.calls(held.tick, held.id))
    return {"recorded": history.names_calls, "requests": requests}


def everything(history: History, prompts_most: int) -> tuple[Fields, list[str]]:
    """All that the page could ask for, by the path it asks with, and what was left out, in words.

    prompts_most: with more characters of prompts and replies they are left out.
    """
    data: Fields = {"sessions": overview(history)}
    prompts: Fields = {}
    size = 0
    for held in history.conversations():
        data[f"session/{held.id}"] = _session(history, held)
        if size > prompts_most:
            continue
        calls = list(history.calls(held.tick, held.id))
        found = sessions.asked(held, calls)
        prompts[f"asked/{held.id}"] = {"recorded": history.names_calls, "requests": found}
        shown = {request["key"] for requests in found.values() for request in requests}
        size += sum(call.characters for call in calls if call.key in shown)
    if size > prompts_most:
        return data, ["the prompts and replies, which are too many for one file"]
    return data | prompts, []
