"""Where danger was heard in a run, and what was done about it."""

from typing import Any

from simcounsel.errors import SimcounselError
from simcounsel.events import Assessed, Transitioned
from simcounsel.instruments.safety_moves import dangers_in_files, files_text
from simcounsel.runs.counts import PROTOCOL
from simcounsel.runs.history import History, only
from simcounsel.runs.run import Run

Fields = dict[str, Any]


def safety_moves(history: History) -> Fields:
    """How many lines of counselors the safety protocol decided, `moves` of `lines`, and what the
    clients' files say of danger, in words (`files`).
    """
    counts = history.counts()
    return {
        "moves": counts.safety_moves,
        "lines": counts.counselor_lines,
        "files": _in_files(history) if counts.safety_moves else "",
    }


def _in_files(history: History) -> str:
    """'' where the run's world cannot be read any more."""
    try:
        return files_text(dangers_in_files(Run.open(history.log.folder, damaged=True).world))
    except SimcounselError:
        return ""


def dangers(history: History) -> Fields:
    """`heard`: each time, with its tick, who, the line, level, kinds, whose judgment it is and the
    words; `steps`: by conversation, what the safety protocol did in it, in order.
    """
    heard = only(
        Assessed,
        history.log.entries(("assessed",), where=lambda fields: fields.get("level") != "none"),
    )
    steps: dict[str, list[Fields]] = {}
    if heard:
        taken = history.log.entries(
            ("transitioned",), where=lambda fields: fields.get("protocol") == PROTOCOL
        )
        for one in only(Transitioned, taken):
            step = {"who": one.event.who, "state": one.event.state, "reason": one.event.reason}
            steps.setdefault(one.event.chat, []).append(step)
    return {
        "heard": [
            {"tick": one.tick, "who": one.event.who, "chat": one.event.chat}
            | {"message": one.event.message, "level": one.event.level, "by": one.event.by}
            | {"kinds": list(one.event.kinds), "evidence": list(one.event.evidence)}
            | {"why": one.event.why}
            for one in heard
        ],
        "steps": steps,
    }
