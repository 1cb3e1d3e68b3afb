"""The lines of a persona: what it might say, and how a counselor words a move."""

import re
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from simcounsel.specs.load import Spec
from simcounsel.specs.vocabulary import Chatter, Cue, Emotion, Stage

Text = Annotated[str, Field(min_length=1, max_length=4000)]

SLOTS = {"words", "feeling", "name"}

_MARK = re.compile(r"\[([^\[\]]+)\]")


class Line(Spec):
    """A line that a person might say. [Brackets] mark the words on which the voice leans:
    everybody hears them, so a listener may quote them; they are not printed."""

    say: Text
    theme: str = "any"
    emotion: Emotion = "neutral"

    @field_validator("say")
    @classmethod
    def _one_mark(cls, value: str) -> str:
        if len(_MARK.findall(value)) > 1 or value.count("[") != value.count("]"):
            raise ValueError(f"{value!r}: mark at most one [stretch of words]")
        return value

    @property
    def text(self) -> str:
        """The line as it is spoken."""
        return _spoken(self.say)

    @property
    def emphasis(self) -> str | None:
        """The words that a listener may quote; `None` when nothing is marked."""
        found = _MARK.search(self.say)
        return found.group(1) if found else None


@lru_cache(maxsize=16_384)
def _spoken(say: str) -> str:
    """Without its marks; kept, since a counselor's hundreds of forms are gone through at each
    line.
    """
    return _MARK.sub(r"\1", say)


class VoiceLine(Line):
    """A client's line, with where in its telling it belongs and what it can answer."""

    stage: Stage
    answers: Annotated[tuple[Cue, ...], Field(min_length=1)]


class ChatLine(Line):
    """A layperson's line. {name} is the other's name; {words} what they emphasized, in quotes."""

    act: Chatter

    @model_validator(mode="after")
    def _slots_known(self) -> "ChatLine":
        check_slots(self.say)
        return self


class Form(Line):
    """A counselor's way to word a move: {words} the client's own words in quotes, {feeling} an
    adjective for the feeling heard, {name} the client's name.
    """

    when: Literal["first", "later", "any"] = "any"
    """Which meetings it suits."""

    @model_validator(mode="after")
    def _slots_known(self) -> "Form":
        check_slots(self.say)
        return self


def check_slots(text: str) -> None:
    """ValueError when a text has a {slot} that nobody fills."""
    unknown = set(re.findall(r"\{([^{}]*)\}", text)) - SLOTS
    if unknown:
        raise ValueError(
            f"{text!r}: no slot {{{sorted(unknown)[0]}}}; there are {{words}}, {{feeling}},"
            " {name}"
        )


def fill_slots(text: str, *, words: str | None, feeling: str | None, name: str) -> str | None:
    """A form with its slots filled; None when it has a slot for which nothing was heard. A
    quotation begins a sentence with a capital.
    """
    if ("{words}" in text and not words) or ("{feeling}" in text and not feeling):
        return None
    quoted = words or ""
    text = re.sub(
        r"(^|[.!?]\s+)\{words\}",
        lambda found: f"{found[1]}“{quoted[:1].upper()}{quoted[1:]}”",
        text,
    )
    return (
        text.replace("{words}", f"“{quoted}”")
        .replace("{feeling}", feeling or "")
        .replace("{name}", name)
    )
