"""What the site answers about a synthesis, out of its log."""

from collections import defaultdict
from typing import Any

from simcounsel.viewer import sessions
from simcounsel.viewer.reader import Log

Fields = dict[str, Any]
_WORDS = (
    ("a tick that was not finished", "a wave that was not finished"),
    ("lives it again", "writes it again"),
    (
        "the world, its places and its people are taken from what happened",
        "settings, situations and models are not known",
    ),
    (
        "places and people are taken from what happened",
        "settings, situations and models are not known",
    ),
)
"""What a log's problems are called when nobody lives in it."""


def is_synthesis(log: Log) -> bool:
    """Whether a run is a synthesis: by its manifest or, where that is gone, by what happened."""
    if log.manifest:
        return bool(log.manifest.get("synthesis"))
    log.refresh()
    return next(log.entries(("extracted", "session_ended")), None) is not None


def overview(log: Log) -> Fields:
    """A synthesis at a glance."""
    found = sessions.overview(log.manifest, log.entries(sessions.OVERVIEW), log.ticks)
    return found | {"run": log.name, "problems": problems(log), "size": log.size}


def problems(log: Log) -> list[str]:
    """What is missing or damaged, in words."""
    found = log.problems()
    for word, instead in _WORDS:
        found = [text.replace(word, instead) for text in found]
    return found


def summed(log: Log) -> Fields:
    """A synthesis in the list of runs: its length is in waves."""
    told = sessions.overview(log.manifest, (), log.ticks)
    condition = f"without {', '.join(told['without'])}" if told["without"] else "full"
    return {
        "name": log.name,
        "world": f"synthesis: {told['name'] or log.name}",
        "condition": condition,
        "seed": told["seed"],
        "model": ", ".join(sorted(set(told["roles"].values()))),
        "created": log.manifest.get("created"),
        "ticks": log.ticks,
        "ticks_planned": told["waves_planned"],
        "unit": "waves",
        "parent": told["parent"],
        "problems": problems(log),
    }


def session(log: Log, name: str) -> Fields | None:
    """One session; None when there is none of that name."""
    found = sessions.session(log.manifest, log.entries(subject=name), name)
    if found is None:
        return None
    learned = log.entries(sessions.LEARNED, since_tick=found["wave"], until_tick=found["wave"] + 1)
    again = sessions.session(log.manifest, learned, name)
    return found | {"learned": again["learned"] if again else []}


def asked(log: Log, name: str) -> Fields | None:
    """The requests behind a session, by line; None when there is no session of that name."""
    found = sessions.session(log.manifest, log.entries(subject=name), name)
    return (
        None
        if found is None
        else sessions.asked(log.manifest, found, log.calls(found["wave"], name))
    )


def everything(log: Log, prompts_most: int) -> tuple[Fields, list[str]]:
    """All that the page could ask for, by the path it asks with, and what was left out, in words.

    prompts_most: with more characters of prompts and replies they are left out.
    """
    data: Fields = {"sessions": overview(log)}
    entries = defaultdict(list)
    for fields in log.entries():
        entries[fields.get("session", fields.get("who"))].append(fields)
    names = [one["session"] for one in data["sessions"]["sessions"]]
    data |= {
        f"session/{name}": sessions.session(log.manifest, entries[name], name) for name in names
    }
    prompts: Fields = {}
    size = 0
    for name in names:
        found = data[f"session/{name}"]
        prompts[f"asked/{name}"] = sessions.asked(
            log.manifest, found, log.calls(found["wave"], name)
        )
        size += sum(
            len(str(call[key]))
            for calls in prompts[f"asked/{name}"].values()
            for call in calls
            for key in ("system", "prompt", "reply")
        )
        if size > prompts_most:
            return data, ["the prompts and replies, which are too many for one file"]
    return data | prompts, []


def not_side_by_side(*logs: Log) -> str | None:
    """Why these runs cannot be compared on one clock; None when they can."""
    names = [log.name for log in dict.fromkeys(logs) if is_synthesis(log)]
    if not names:
        return None
    which = (
        f"{names[0]} is a synthesis" if len(names) == 1 else f"{' and '.join(names)} are syntheses"
    )
    return (
        f"{which} of dialogues: nobody lives through days there, and there is no clock to lay two"
        " runs side by side on. Open each for itself; `python -m analysis corpus RUN RUN` compares"
        " corpora by judgment and in numbers."
    )
