"""Why a judge gave each of its answers, out of its recorded replies."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from simcounsel.runs.calls import Call
from simcounsel.runs.history import History
from simcounsel.runs.measurements import FOLDER, LOG, Measurement
from simcounsel.runs.rating_lines import RatingCheck

BECAUSE = "because"
Reasons = Callable[[Measurement, Mapping[str, str]], Mapping[str, str]]


def reasons_of(history: History) -> Reasons:
    """A function that finds the reasons for a measurement's answers, by item, given the items'
    texts. What was recorded is read once for each tick or file.
    """

    @cache
    def logged(tick: int) -> dict[str, Call]:
        return {call.key: call for call in history.calls(tick)}

    @cache
    def afterwards(file: Path) -> dict[str, Call]:
        calls = (Call.read(one) for one in RatingCheck(file).lines() if one.get("kind") == "call")
        return {call.key: call for call in calls if call is not None}

    def found(one: Measurement, items: Mapping[str, str]) -> Mapping[str, str]:
        if one.measured.respondent == "talk":
            return {}
        file = history.log.folder / FOLDER / one.source
        calls = logged(one.tick) if one.source == LOG else afterwards(file)
        return _reasons((calls[key] for key in one.measured.calls if key in calls), items)

    return found


def _reasons(calls: Iterable[Call], items: Mapping[str, str]) -> dict[str, str]:
    """The first that was given for each item. A block's reply holds all its items by id, one for an
    item alone is told by the item's text in what was asked.
    """
    found: dict[str, str] = {}
    for call in calls:
        for item, because in (_block(call) or _alone(call, items)).items():
            found.setdefault(item, because)
    return found


def _block(call: Call) -> dict[str, str]:
    try:
        reply: Any = json.loads(call.reply or "")
    except ValueError:
        return {}
    if not isinstance(reply, dict):
        return {}
    given = {key: one.get(BECAUSE) for key, one in reply.items() if isinstance(one, dict)}
    return {key: because for key, because in given.items() if isinstance(because, str) and because}


def _alone(call: Call, items: Mapping[str, str]) -> dict[str, str]:
    lines = [line for line in (call.reply or "").splitlines() if line.strip()]
    asked = call.messages[-1].content if call.messages else ""
    item = next((key for key, text in items.items() if text in asked), None)
    if item is None or len(lines) < 2:
        return {}
    words = " ".join(line.strip() for line in lines[:-1])
    return {item: words.removeprefix(f"{BECAUSE}:").strip()}
