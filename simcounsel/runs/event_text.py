"""An event of a run as a line for people, for the screen of a run."""

from simcounsel.clock import time_text
from simcounsel.events import (
    Assessed,
    BeliefMoved,
    ConversationEnded,
    ConversationStarted,
    Entry,
    Foreign,
    Measured,
    ParameterLeftOut,
    PersonaChanged,
    Reflected,
    Said,
    Warned,
)
from simcounsel.runs.measured_text import measured_line
from simcounsel.runs.open_ends import danger_text

LONGEST = 120
"""Characters of a field of another package's event, in a line for people."""


def describe(entry: Entry) -> str | None:
    """An event as a line for people; None for events that are only for the log."""
    event, at = entry.event, time_text(entry.minute)
    match event:
        case ConversationStarted():
            return (
                f"{at}  {event.who[0]} and {event.who[1]} begin to talk ({event.place},"
                f" {event.met})"
            )
        case Said():
            return f"{at}    {event.who}: {event.text}"
        case Assessed() if event.level != "none":
            kinds = ", ".join(event.kinds)
            return f"{at}    danger: {event.level} ({kinds}), by {event.by}"
        case ConversationEnded():
            how = f"{event.by} takes leave" if event.by else "time is up"
            said = f"{at}  they part ({how}, {event.messages} lines)"
            if event.open_danger == "none":
                return said
            return f"{said} on open danger: {danger_text(event.open_danger, event.open_kinds)}"
        case Reflected() if event.insights:
            return f"{at}  {event.who} reflects: " + " ".join(
                insight.text for insight in event.insights
            )
        case PersonaChanged() if event.version > 0:
            return (
                f"{at}  {event.who}'s portrait changes (version {event.version}):"
                f" {event.recent_feeling}"
            )
        case BeliefMoved():
            return (
                f"{at}  {event.who} now believes “{event.text}” at {event.after} of 100 (before"
                f" {event.before}): {event.why}"
            )
        case Measured():
            return f"{at}  {measured_line(event)}"
        case Warned():
            return (
                f"{at}  warning: {event.who}, {event.purpose}: {event.cause}; the fallback was"
                " taken"
            )
        case ParameterLeftOut():
            return f"{at}  warning: {event.model} takes no {event.parameter}; it is left out"
        case Foreign():
            return f"{at}  {foreign_line(event)}"
    return None


def foreign_line(event: Foreign) -> str:
    """An event of another package in one line: its kind and fields."""
    told = (f"{name} {_short(value)}" for name, value in event.fields.items())
    return f"{event.kind}: {', '.join(told)}"


def _short(value: object) -> str:
    """What is longer is in the log."""
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
