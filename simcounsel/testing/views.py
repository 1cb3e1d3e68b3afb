"""A conversation as one of the two sees it, made up."""

from typing import Any

from simcounsel.agents.talk import TalkLine, TalkView

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
    many lines, the other's first. more: fields of TalkView in place of the made-up ones.
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
    fields: dict[str, Any] = {
        "chat": f"2:{'+'.join(sorted((me, other)))}",
        "me": me,
        "other": other,
        "other_role": "client",
        "place": "Counseling Center",
        "meeting": 1,
        "appointment": True,
        "lines": said,
        "moves": (),
        "turns_left": 20,
        "parting": False,
        "closeness": 3.0,
        "emotion": "neutral",
        "key": (1, 2, "a conversation"),
    }
    return TalkView(**(fields | more))
