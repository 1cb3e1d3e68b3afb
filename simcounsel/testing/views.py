"""A conversation as one of the two sees it, made up."""

from dataclasses import fields, replace
from typing import Any

from simcounsel.agents.talk import Meeting, OwnTurn, TalkClock, TalkLine, TalkView

SAID = (
    "Hello. I did not sleep again, and I do not know where to begin.",
    "Take your time. What was the night like?",
    "I lay awake and counted the hours. My mother always said that I worry too much.",
    "You lay there for hours, and there was her voice as well.",
    "Yes. I was angry at her, and then I was ashamed of it.",
    "What would you have liked to say to her?",
)


def talk_view(lines: int = 0, *, me: str = "Miriam", other: str = "Ines", **more: Any) -> TalkView:
    """What `me`, a counselor unless `more` says otherwise, sees of a session with `other` after so
    many lines, the other's first. more: as `changed_view` takes it.
    """
    said = tuple(
        TalkLine(
            who=(other, me)[number % 2],
            text=SAID[number % len(SAID)] + ("" if number < len(SAID) else f" ({number})"),
            emphasis=None,
            emotion="sadness" if number % 2 == 0 else "neutral",
        )
        for number in range(lines)
    )
    seen = TalkView(
        chat=f"2:{'+'.join(sorted((me, other)))}",
        me=me,
        other=other,
        meeting=Meeting(
            place="Counseling Center", number=1, appointment=True, role="client", closeness=3.0
        ),
        lines=said,
        turns=(),
        turns_left=20,
        parting=False,
        emotion="neutral",
        key=(1, 2, "a conversation"),
    )
    return changed_view(seen, **more)


def changed_view(seen: TalkView, **more: Any) -> TalkView:
    """The view with other values. more: fields of `TalkView`, of its `Meeting` and of its
    `TalkClock`; `moves` and `deciders` make its `turns`.
    """
    moves = more.pop("moves", None)
    deciders = more.pop("deciders", None)
    if moves is not None:
        turns = zip(moves, deciders or (None,) * len(moves), strict=True)
        more["turns"] = tuple(OwnTurn(move=move, decider=by) for move, by in turns)
    meeting = _taken(more, {one.name for one in fields(Meeting)})
    clock = _taken(more, {one.name for one in fields(TalkClock)})
    return replace(
        seen, meeting=replace(seen.meeting, **meeting), clock=replace(seen.clock, **clock), **more
    )


def _taken(more: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """What is there under these names, taken out."""
    return {name: more.pop(name) for name in sorted(names & more.keys())}
