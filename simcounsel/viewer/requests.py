"""Requests to models as pages show them, and which of them are behind an event."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from simcounsel.events import Entry, Remembered
from simcounsel.events.data import Answered
from simcounsel.runs.calls import Call

Fields = dict[str, Any]
SHOWN = {
    "key",
    "who",
    "tick",
    "purpose",
    "verb",
    "tier",
    "model",
    "source",
    "messages",
    "parameters",
    "left_out",
    "reply",
    "problem",
    "complaint",
    "tokens_in",
    "tokens_out",
    "cost_usd",
    "latency_s",
    "tries",
    "spare",
}


def request(call: Call) -> Fields:
    """A request with what was sent and what came back. The seed is a text: browsers round numbers
    of that size.
    """
    seed = (
        {}
        if call.seed is None
        else {"parameters": {**(call.parameters or {}), "seed": str(call.seed)}}
    )
    return call.model_dump(mode="json", include=SHOWN) | seed


def keys_of(event: BaseModel) -> tuple[str, ...]:
    """The keys of the calls that an event came from."""
    if isinstance(event, Answered):
        return event.calls
    return event.memory.calls if isinstance(event, Remembered) else ()


def behind(entry: Entry) -> Fields:
    """An event and the keys of its calls."""
    event = {"seq": entry.seq, "tick": entry.tick, "minute": entry.minute}
    return {
        "event": event | entry.event.model_dump(mode="json"),
        "keys": list(keys_of(entry.event)),
    }


def by_key(calls: Iterable[Call]) -> dict[str, Call]:
    """Calls by their keys. A fork's file may hold a key twice: the last counts."""
    return {call.key: call for call in calls}


def requests_of(events: Sequence[BaseModel | None], calls: dict[str, Call]) -> list[Fields]:
    """The requests behind some events, in order, each once."""
    keys = dict.fromkeys(key for event in events if event for key in keys_of(event))
    return [request(calls[key]) for key in keys if key in calls]
