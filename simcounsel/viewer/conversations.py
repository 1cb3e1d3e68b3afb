"""One conversation as the page shows it: lines, what was behind each, and what was kept of it."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from simcounsel.runs.authors import in_words
from simcounsel.runs.conversation import Aftermath, Conversation, Line
from simcounsel.viewer.people import picked

Fields = dict[str, Any]
OF_LINE = (
    "message",
    "who",
    "to",
    "text",
    "emphasis",
    "emotion",
    "intensity",
    "poignancy",
    "source",
)


def conversation(held: Conversation, authors: Mapping[int, str]) -> Fields:
    """A conversation of a world. authors: who worded each line, by its number.

    Each line has the move that was decided, what the policy wrote before it, and the recall;
    `after` holds what each took away, how the relationship moved, and what their policies wrote
    once it was over; `course` what the counselor planned and kept of a session.
    """
    started, ended = held.started, held.ended
    return {
        "seq": held.seq,
        "chat": held.id,
        "tick": held.tick,
        "minute": held.minute,
        "who": list(held.who),
        "place": started.place,
        "cause": started.cause,
        "closeness": started.closeness,
        "probability": started.probability,
        "lines": [_line(line, authors[line.message]) for line in held.lines],
        "course": [_own(event) for event in held.course],
        "after": {name: _after(left) for name, left in held.after.items()},
        "ended": ended.cause if ended else None,
        "by": ended.by if ended else None,
        "open_danger": ended.open_danger if ended else "none",
        "open_kinds": list(ended.open_kinds) if ended else [],
    }


def _line(line: Line, worded: str) -> Fields:
    found: Fields = {"seq": line.seq} | picked(line.event, *OF_LINE)
    found |= {"author": worded, "came_about": in_words(worded)}
    if line.decided:
        found["decided"] = picked(line.decided, "move", "policy", "options", "reason")
    if line.practice:
        found["practice"] = [_own(event) for event in line.practice]
    if line.recalled:
        found["recalled"] = {"seq": line.recalled.seq} | picked(
            line.recalled.event, "query", "emotion", "hits", "stood_back"
        )
    if line.danger:
        found["assessed"] = picked(line.danger, "level", "kinds", "by", "evidence", "why")
    return found


def _after(left: Aftermath) -> Fields:
    felt = left.felt
    return {
        "summary": felt.about if felt else None,
        "emotion": felt.emotion if felt else None,
        "relation": picked(left.relation, "before", "after", "why") if left.relation else None,
        "practice": [_own(event) for event in left.practice],
    } | (picked(felt, "intensity", "poignancy") if felt else {})


def _own(event: BaseModel) -> Fields:
    """An event of this conversation, which need not be named again."""
    return event.model_dump(mode="json", exclude={"chat"})


def transcript(held: Conversation, clock: str) -> tuple[str, str]:
    """A conversation as plain text and as Markdown. clock: when it was, in words."""
    head = f"{' and '.join(held.who)}, {clock}, {held.started.place}"
    lines = [(line.who, " ".join(line.text.split())) for line in held.lines]
    text = "\n".join([head, "", *(f"{who}: {said}" for who, said in lines), ""])
    marked = "\n".join(
        [
            f"## {_marked(head)}",
            "",
            *(f"**{_marked(who)}:** {_marked(said)}\n" for who, said in lines),
        ]
    )
    return text, marked


def _marked(text: str) -> str:
    """Text in which Markdown and HTML mean nothing."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|~" else c for c in text)
