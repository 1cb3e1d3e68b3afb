"""One conversation as the page shows it: lines, what stood behind each, and what was kept of it."""

from collections.abc import Iterable, Iterator
from typing import Any

from simcounsel.viewer.frames import Fields, pick

PRACTICE = ("judged", "transitioned", "noted", "retrieved", "reasoned", "client_shifted")
"""What a policy writes on its way to a line."""
COURSE = ("session_planned", "session_reviewed", "fact_learned", "formulated", "course_advanced")
"""What a counselor plans and keeps of a session in a course."""
OF_CHAT = frozenset(
    (
        "said",
        "conversation_ended",
        "conversation_started",
        "decided",
        "assessed",
        *PRACTICE,
        *COURSE,
    )
)
NOT_SHOWN = ("seq", "tick", "minute", "chat")


def conversation(entries: Iterable[Fields], chat: str) -> Fields | None:
    """One conversation out of the events of its tick; None when it is not among them.

    Each line has the move that was decided, what the policy wrote before it, and the recall;
    `after` holds what each took away, how the relationship moved, and what their policies wrote
    once it was over; `course` what the counselor planned and kept of a session.
    """
    events = list(_of_chat(entries, chat))
    if not events:
        return None
    started, *rest = events
    lines: list[Fields] = []
    course: list[Fields] = []
    after: dict[str, Fields] = {
        name: {"summary": None, "emotion": None, "relation": None, "practice": []}
        for name in started["who"]
    }
    ended: Fields = {"ended": None, "by": None}
    waiting: Fields = {}
    for entry in rest:
        match entry["kind"]:
            case "decided":
                waiting["decided"] = pick(entry, "move", "policy", "options", "reason")
            case kind if kind in COURSE:
                course.append(_told(entry))
            case kind if kind in PRACTICE:
                (after[entry["who"]] if ended["ended"] else waiting).setdefault(
                    "practice", []
                ).append(_told(entry))
            case "assessed":
                lines[-1]["assessed"] = pick(entry, "level", "kinds", "by", "evidence", "why")
            case "recalled":
                waiting["recalled"] = pick(entry, "seq", "query", "emotion", "hits")
            case "said":
                lines.append(
                    pick(
                        entry,
                        "seq",
                        "message",
                        "who",
                        "to",
                        "text",
                        "stressed",
                        "emotion",
                        "intensity",
                        "poignancy",
                        "source",
                    )
                    | waiting
                )
                waiting = {}
            case "conversation_ended":
                ended = {"ended": entry["cause"], "by": entry["by"]}
            case "appraised":
                after[entry["who"]] |= {"summary": entry["about"]} | pick(
                    entry, "emotion", "intensity", "poignancy"
                )
            case "relation_changed":
                after[entry["who"]]["relation"] = pick(entry, "before", "after", "why")
    head = pick(
        started,
        "seq",
        "chat",
        "tick",
        "minute",
        "who",
        "place",
        "cause",
        "closeness",
        "probability",
    )
    return head | {"lines": lines, "course": course, "after": after} | ended


def _told(entry: Fields) -> Fields:
    return {key: value for key, value in entry.items() if key not in NOT_SHOWN}


def _of_chat(entries: Iterable[Fields], chat: str) -> Iterator[Fields]:
    """The events of a conversation stand together: from its start to what the second of the two
    took away and kept of it.
    """
    inside: Fields | None = None
    parted: set[Any] = set()
    for entry in entries:
        kind, who = entry["kind"], entry.get("who")
        if kind == "conversation_started":
            if inside is not None:
                return
            inside = entry if entry["chat"] == chat else None
        if inside is None:
            continue
        if kind in OF_CHAT:
            if entry["chat"] == chat:
                yield entry
        elif (
            kind in ("recalled", "appraised", "relation_changed")
            and who in inside["who"]
            and parted != set(inside["who"])
        ):
            if kind == "relation_changed":
                parted.add(who)
            yield entry
        elif parted:
            return


def transcript(talk: Fields, clock: str) -> tuple[str, str]:
    """A conversation as plain text and as Markdown. clock: when and where it was, in words."""
    names = " and ".join(talk["who"])
    head = f"{names}, {clock}, {talk['place']}"
    lines = [(line["who"], " ".join(str(line["text"]).split())) for line in talk["lines"]]
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
