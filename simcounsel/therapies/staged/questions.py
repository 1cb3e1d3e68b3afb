"""What is asked of a model in a staged session: whether a part is done, what the client wants, the
mood, the notes, the exercise.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from simcounsel.agents.talk import TalkLine
from simcounsel.agents.views import talk_text
from simcounsel.llm.question import Facts, Question
from simcounsel.prompts import phrase, phrases, render
from simcounsel.specs.vocabulary import Emotion
from simcounsel.therapies.specs.exercises import Exercise
from simcounsel.therapies.specs.manual import State
from simcounsel.therapies.staged.session import Session

UNCLEAR = "unclear"
NOTE_CHARACTERS = 1200
LAST_LINES = 12


class SufficiencyAnswer(BaseModel):
    """Whether a part of the session has reached what it is for."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)

    reason: Annotated[
        str, Field(max_length=400, description="one short sentence, from the client's own words")
    ] = ""
    sufficient: Literal["yes", "no"]


@dataclass(frozen=True, kw_only=True)
class SufficiencyFacts(Facts):
    """Whether a part of the session has reached what it is for."""

    heard: tuple[str, ...]
    """The client's lines in this state."""
    criteria: tuple[str, ...]
    """What they must have told."""


@dataclass(frozen=True, kw_only=True)
class IntentFacts(Facts):
    """What the client wants, out of the question's options."""

    heard: str
    """The client's last line; '' when there is none."""


@dataclass(frozen=True, kw_only=True)
class ValenceFacts(Facts):
    """Whether the client's mood is positive or negative."""

    heard: tuple[tuple[str, Emotion], ...]
    """The client's last lines, each with the emotion in it."""


@dataclass(frozen=True, kw_only=True)
class NoteFacts(Facts):
    """The notes on a client, to be brought up to date."""

    notes: str
    """As they are; '' when there are none."""
    other: str
    """The client's name."""
    heard: tuple[str, ...]
    """The client's lines since the last notes."""


@dataclass(frozen=True, kw_only=True)
class ExerciseFacts(Facts):
    """Which exercise to offer."""

    emotion: Emotion
    """In the client's last line."""
    notes: str
    """On the client; '' when there are none."""
    heard: tuple[str, ...]
    """All that the client said in this conversation."""
    candidates: tuple[Exercise, ...]
    """Those that may be offered."""


def sufficiency(now: Session, state: State) -> Question[SufficiencyAnswer]:
    """Whether the client's words meet the state's criteria."""
    view, heard = now.view, now.heard
    system, prompt = render(
        "sufficient",
        view.language,
        other=view.other,
        objective=state.objective,
        notes=noted(now),
        criteria="\n".join(f"- {criterion}" for criterion in state.exit.criteria),
        talk=_marked(view.lines, heard),
    )
    return Question(
        verb="fill",
        **view.asks("sufficient", state.id, len(view.lines)),
        tier="quick",
        system=system,
        prompt=prompt,
        schema=SufficiencyAnswer,
        fallback=SufficiencyAnswer(sufficient="no", reason="no verdict was to be had"),
        temperature=0.0,
        max_tokens=120,
        facts=SufficiencyFacts(
            heard=tuple(line.text for line in heard), criteria=state.exit.criteria
        ),
    )


def intent(
    now: Session, state: State, options: Iterable[str], objective: str = ""
) -> Question[str]:
    """What the client wants, out of what the state knows, or UNCLEAR. objective: what is being
    asked, if not what the state asks.
    """
    view = now.view
    means = phrases("intents", view.language)
    options = (*options, UNCLEAR)
    system, prompt = render(
        "intent",
        view.language,
        me=view.me,
        other=view.other,
        objective=objective or state.objective,
        talk=talk_text(view.lines[-LAST_LINES:]),
        intents="\n".join(f"- {name}: {means[name]}" for name in options),
    )
    return Question(
        verb="choose",
        **view.asks("intent", state.id, len(view.lines)),
        tier="quick",
        system=system,
        prompt=prompt,
        options=options,
        fallback=UNCLEAR,
        temperature=0.0,
        max_tokens=10,
        facts=IntentFacts(heard=view.heard.text if view.heard else ""),
    )


def valence(now: Session, state: State) -> Question[str]:
    """Whether the client's mood is positive or negative."""
    view = now.view
    system, prompt = render(
        "valence",
        view.language,
        me=view.me,
        other=view.other,
        notes=noted(now),
        talk=talk_text(view.lines[-LAST_LINES:]),
    )
    client = [line for line in view.lines if line.who != view.me]
    return Question(
        verb="choose",
        **view.asks("valence", state.id, len(view.lines)),
        tier="quick",
        system=system,
        prompt=prompt,
        options=("positive", "negative"),
        fallback="negative",
        temperature=0.0,
        max_tokens=10,
        facts=ValenceFacts(heard=tuple((line.text, line.emotion) for line in client[-3:])),
    )


def note(now: Session, lines: tuple[TalkLine, ...]) -> Question[str]:
    """The notes on the client, brought up to date with these lines."""
    view = now.view
    system, prompt = render(
        "note",
        view.language,
        other=view.other,
        notes=noted(now, "notes so far"),
        day=now.day,
        stands=words(view.language)["goes on" if view.clock.ended is None else "over"],
        talk=talk_text(lines),
    )
    client = tuple(line.text for line in lines if line.who != view.me)
    return Question(
        verb="write",
        **view.asks("note", len(view.lines)),
        tier="quick",
        system=system,
        prompt=prompt,
        temperature=0.0,
        max_tokens=260,
        check=lambda text: (
            None
            if 10 <= len(text.strip()) <= NOTE_CHARACTERS
            else f"the notes had {len(text)} characters; at most {NOTE_CHARACTERS}"
        ),
        fallback=quoted(now.notes, view.other, client),
        facts=NoteFacts(notes=now.notes, other=view.other, heard=client),
    )


def quoted(notes: str, other: str, heard: Iterable[str]) -> str:
    """The notes with the client's own words put after them, cut from the front where it grows too
    long.
    """
    text = " ".join(part for part in (notes, *(f"{other}: “{line}”" for line in heard)) if part)
    return (
        text
        if len(text) <= NOTE_CHARACTERS
        else "… " + text[-NOTE_CHARACTERS + 2 :].split(" ", 1)[-1]
    )


def exercise(now: Session, kept: tuple[Exercise, ...]) -> Question[str]:
    """Which one, out of those that are allowed."""
    view = now.view
    feels = view.heard.emotion if view.heard else "neutral"
    before = ", ".join(dict.fromkeys((*now.offered_before, *now.offered_here)))
    system, prompt = render(
        "exercise",
        view.language,
        other=view.other,
        notes=noted(now),
        talk=talk_text(view.lines[-LAST_LINES:]),
        feeling=phrase("moment", feels, view.language),
        before=phrase("staged_words", "unlike", view.language, what=before) if before else "",
        candidates="\n".join(
            f"- {one.id}: {one.name}. {one.goal} ({', '.join(one.suits)})" for one in kept
        ),
    )
    fits = next((one.id for one in kept if feels in one.suits), kept[0].id)
    return Question(
        verb="choose",
        **view.asks("exercise", len(view.lines)),
        tier="quick",
        system=system,
        prompt=prompt,
        options=tuple(one.id for one in kept),
        fallback=fits,
        temperature=0.0,
        max_tokens=16,
        facts=ExerciseFacts(
            emotion=feels,
            notes=now.notes,
            heard=tuple(line.text for line in view.lines if line.who != view.me),
            candidates=kept,
        ),
    )


def noted(now: Session, label: str = "notes") -> str:
    """The notes on the client below their label; '' while there are none."""
    heading = phrase("staged_words", label, now.view.language, other=now.view.other)
    return f"{heading}\n{now.notes}" if now.notes else ""


def words(language: str) -> dict[str, str]:
    """Short phrases that are in briefs."""
    return phrases("staged_words", language)


def _marked(lines: tuple[TalkLine, ...], heard: tuple[TalkLine, ...]) -> str:
    marked = {id(line) for line in heard}
    return "\n".join(
        f"{'> ' if id(line) in marked else ''}{line.who}: {line.text}" for line in lines
    )
