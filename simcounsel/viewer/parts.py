"""The parts of a world's run that its page asks for."""

from datetime import datetime
from typing import Any

from simcounsel.clock import date_text
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.measurements import measurement_files
from simcounsel.viewer import conversations, people, requests
from simcounsel.viewer.dangers import dangers, safety_moves
from simcounsel.viewer.outcomes import outcomes
from simcounsel.viewer.overview import overview as drawn
from simcounsel.viewer.row import arm, clients

Fields = dict[str, Any]


def overview(history: History) -> Fields:
    """The run at a glance."""
    log = history.log
    found = drawn(log.manifest, history.lives(), log.ticks)
    ends = [
        {"chat": one.chat, "tick": one.tick, "who": list(one.who)}
        | {"danger": one.danger, "since": one.since}
        for one in history.open_ends()
    ]
    return found | {
        "run": log.name,
        "problems": log.problems(),
        "size": _size(log),
        "open_ends": ends,
        "dangers": dangers(history),
    }


def summed(log: Log) -> Fields:
    """A world's run in the list of runs."""
    world = log.manifest.get("world") or {}
    return {
        "name": log.name,
        "world": world.get("name"),
        "condition": world.get("condition"),
        "arm": arm(log.folder),
        "clients": clients(log.manifest),
        "seed": world.get("seed"),
        "model": (log.manifest.get("models") or {}).get("reason"),
        "created": log.manifest.get("created"),
        "ticks": log.ticks,
        "ticks_planned": world.get("ticks"),
        "parent": (log.manifest.get("parent") or {}).get("run"),
        "problems": log.problems(),
    }


def size(history: History) -> Fields:
    """Whether there is more than before."""
    return {"size": _size(history.log), "ticks": history.log.ticks}


def _size(log: Log) -> int:
    """Of the log and of what was measured since, in bytes; what is written to either changes it."""
    return log.size + sum(file.stat().st_size for file in measurement_files(log.folder))


def conversation(history: History, chat: str) -> Fields | None:
    """A conversation with its transcript as `text` and as `markdown`; None when there is none."""
    held = history.conversation(chat)
    if held is None:
        return None
    text, marked = conversations.transcript(held, when(history.log, held.minute))
    return conversations.conversation(held, history.authors(held)) | {
        "text": text,
        "markdown": marked,
    }


def when(log: Log, minute: int) -> str:
    """A minute of this run in words; the number where the start is not known."""
    try:
        return date_text(minute, datetime.fromisoformat(log.manifest["world"]["start"]))
    except (KeyError, ValueError, TypeError):
        return f"minute {minute}"


def everything(history: History, prompts_most: int) -> tuple[Fields, list[str]]:
    """All that the page could ask for, by the path it asks with, and what was left out, in words.

    prompts_most: with more characters of prompts and replies they are left out.
    """
    found = overview(history)
    data: Fields = {"warnings": people.warnings(history), "outcomes": outcomes(history)}
    data["safety"] = safety_moves(history)
    for who in found["tracks"]:
        data[f"person/{who}"] = people.person(history, who)
        data[f"memories/{who}"] = people.memories(history, who)
        data[f"recalls/{who}"] = people.recalls(history, who)
    for talk in found["talks"]:
        data[f"conversation/{talk['chat']}"] = conversation(history, talk["chat"])
    calls = _calls(history, prompts_most)
    left_out = (
        [] if calls is not None else ["the prompts and replies, which are too many for one file"]
    )
    return data | (calls or {}) | {"overview": found}, left_out


def _calls(history: History, most: int) -> Fields | None:
    """Prompts and replies of every tick, and which of them are behind each line; None when they
    are too many.
    """
    found: Fields = {}
    size = 0
    for tick in range(history.log.ticks):
        calls = [call for call in history.calls(tick) if not call.embeds]
        size += sum(call.characters for call in calls)
        if size > most:
            return None
        found[f"calls/{tick}"] = [requests.request(call) for call in calls]
        for entry in history.log.entries(("said",), since_tick=tick, until_tick=tick + 1):
            found[f"behind/{entry.seq}?tick={tick}"] = requests.behind(entry)
    return found
