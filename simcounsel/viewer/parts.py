"""The parts of a world's run that its page asks for."""

from datetime import datetime
from typing import Any

from simcounsel.clock import date_text
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.viewer import conversations
from simcounsel.viewer.overview import overview as drawn

Fields = dict[str, Any]


def overview(history: History) -> Fields:
    """The run at a glance."""
    log = history.log
    found = drawn(log.manifest, history.lives(), log.ticks)
    return found | {"run": log.name, "problems": log.problems(), "size": log.size}


def size(history: History) -> Fields:
    """Whether there is more than before."""
    return {"size": history.log.size, "ticks": history.log.ticks}


def conversation(history: History, chat: str) -> Fields | None:
    """A conversation with its transcript as `text` and as `markdown`; None when there is none."""
    held = None if history.log.is_synthesis else history.conversation(chat)
    if held is None:
        return None
    text, marked = conversations.transcript(held, when(history.log, held.minute))
    return conversations.conversation(held) | {"text": text, "markdown": marked}


def when(log: Log, minute: int) -> str:
    """A minute of this run in words; the number where the start is not known."""
    try:
        return date_text(minute, datetime.fromisoformat(log.manifest["world"]["start"]))
    except (KeyError, ValueError, TypeError):
        return f"minute {minute}"
