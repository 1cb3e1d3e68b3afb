"""A measurement as a line of text."""

from simcounsel.events import Measured, Score


def measured_line(event: Measured, *, damaged: bool = False) -> str:
    """A measurement in one line: about whom, with what, when, by whom; each score with its band and
    flags.
    """
    by = {
        "self": "simulated self-report",
        "human": "asked of the person in the seat",
        "observer": "rated by a judge",
        "talk": "counted from the talk",
    }[event.answered_by]
    parts = []
    for score in event.scores:
        value = f"none ({score.reason})" if score.value is None else f"{score.value:g}"
        lacks = _lacks(score) if score.value is not None else ""
        beside = "; ".join(part for part in (score.band, *score.flags, lacks) if part)
        parts.append(f"{score.name} {value}" + (f" [{beside}]" if beside else ""))
    return (
        f"{event.who}: {event.instrument}, {event.point} ({by}): "
        + ", ".join(parts)
        + _absent(event)
        + _because(event)
        + (" (of a damaged run)" if damaged else "")
    )


def _lacks(score: Score) -> str:
    return "" if score.made == "complete" else f"from {score.used} of {score.of} items"


def _absent(event: Measured) -> str:
    """How many items have no number, by kind, and how many scores could not be made."""
    counts = {
        "items not applicable": sum(one.absent == "not applicable" for one in event.items),
        "missing": sum(one.absent == "missing" for one in event.items),
        "scores incomplete": sum(one.made == "incomplete" for one in event.scores),
    }
    said = [f"{count} {what}" for what, count in counts.items() if count]
    return f" ({', '.join(said)})" if said and event.respondent != "talk" else ""


def _because(event: Measured) -> str:
    """Why a person left items out, each reason once."""
    reasons = dict.fromkeys(one.reason for one in event.items if one.absent == "missing")
    return f": {'; '.join(filter(None, reasons))}" if reasons and event.source else ""
