"""What is asked of a model in a staged session: whether a part is done, what the client wants, the
mood, the notes, the exercise.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.agents.talk import TalkLine
from simcounsel.agents.views import talk_text
from simcounsel.chance import seed_of
from simcounsel.llm.question import Question
from simcounsel.policies.staged.standing import Standing
from simcounsel.prompts import phrases, render
from simcounsel.specs.exercises import Exercise
from simcounsel.specs.manual import State

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


def sufficiency(now: Standing, state: State) -> Question[Any]:
    """Whether the client's words meet the state's criteria."""
    view, heard = now.view, now.heard
    system, prompt = render(
        "sufficient",
        view.language,
        other=view.other,
        objective=state.objective,
        notes=now.notes or _none(now),
        criteria="\n".join(f"- {criterion}" for criterion in state.exit.criteria),
        talk=_marked(view.lines, heard),
    )
    return Question(
        verb="fill",
        purpose="sufficient",
        tier="quick",
        who=view.me,
        system=system,
        prompt=prompt,
        schema=SufficiencyAnswer,
        fallback=SufficiencyAnswer(sufficient="no", reason="no verdict was to be had"),
        temperature=0.0,
        max_tokens=120,
        seed=seed_of(*view.key, "sufficient", state.id, len(view.lines)),
        hints={
            "heard": tuple(line.text for line in heard),
            "criteria": state.exit.criteria,
            "language": view.language,
        },
    )


def intent(now: Standing, state: State, options: Iterable[str]) -> Question[Any]:
    """What the client wants, out of what the state knows, or UNCLEAR."""
    view = now.view
    means = phrases("intents", view.language)
    options = (*options, UNCLEAR)
    system, prompt = render(
        "intent",
        view.language,
        me=view.me,
        other=view.other,
        objective=state.objective,
        talk=talk_text(view.lines[-LAST_LINES:]),
        intents="\n".join(f"- {name}: {means[name]}" for name in options),
    )
    return Question(
        verb="choose",
        purpose="intent",
        tier="quick",
        who=view.me,
        system=system,
        prompt=prompt,
        options=options,
        fallback=UNCLEAR,
        temperature=0.0,
        max_tokens=10,
        seed=seed_of(*view.key, "intent", state.id, len(view.lines)),
        hints={"heard": view.heard.text if view.heard else "", "language": view.language},
    )


def valence(now: Standing, state: State) -> Question[Any]:
    """Whether the client's mood is positive or negative."""
    view = now.view
    system, prompt = render(
        "valence",
        view.language,
        me=view.me,
        other=view.other,
        notes=now.notes or _none(now),
        talk=talk_text(view.lines[-LAST_LINES:]),
    )
    client = [line for line in view.lines if line.who != view.me]
    return Question(
        verb="choose",
        purpose="valence",
        tier="quick",
        who=view.me,
        system=system,
        prompt=prompt,
        options=("positive", "negative"),
        fallback="negative",
        temperature=0.0,
        max_tokens=10,
        seed=seed_of(*view.key, "valence", state.id, len(view.lines)),
        hints={"heard": tuple((line.text, line.emotion) for line in client[-3:])},
    )


def note(now: Standing, lines: tuple[TalkLine, ...]) -> Question[Any]:
    """The notes on the client, brought up to date with these lines."""
    view = now.view
    system, prompt = render(
        "note",
        view.language,
        other=view.other,
        notes=now.notes or _none(now),
        day=now.day,
        talk=talk_text(lines),
    )
    client = tuple(line.text for line in lines if line.who != view.me)
    return Question(
        verb="write",
        purpose="note",
        tier="quick",
        who=view.me,
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
        seed=seed_of(*view.key, "note", len(view.lines)),
        hints={"notes": now.notes, "other": view.other, "heard": client, "day": now.day},
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


def exercise(now: Standing, kept: tuple[Exercise, ...]) -> Question[Any]:
    """Which one, out of those that are allowed."""
    view = now.view
    feels = view.heard.emotion if view.heard else "neutral"
    before = ", ".join(dict.fromkeys((*now.offered_before, *now.offered_here)))
    system, prompt = render(
        "exercise",
        view.language,
        other=view.other,
        notes=now.notes or _none(now),
        talk=talk_text(view.lines[-LAST_LINES:]),
        feeling=ADJECTIVE[feels],
        before=before or _none(now),
        candidates="\n".join(
            f"- {one.id}: {one.name}. {one.goal} ({', '.join(one.suits)})" for one in kept
        ),
    )
    fits = next((one.id for one in kept if feels in one.suits), kept[0].id)
    return Question(
        verb="choose",
        purpose="exercise",
        tier="quick",
        who=view.me,
        system=system,
        prompt=prompt,
        options=tuple(one.id for one in kept),
        fallback=fits,
        temperature=0.0,
        max_tokens=16,
        seed=seed_of(*view.key, "exercise", len(view.lines)),
        hints={
            "emotion": feels,
            "notes": now.notes,
            "heard": tuple(line.text for line in view.lines if line.who != view.me),
            "kept": kept,
        },
    )


def _none(now: Standing) -> str:
    return words(now.view.language)["none"]


def words(language: str) -> dict[str, str]:
    """Short phrases that stand in briefs."""
    return phrases("staged_words", language)


def _marked(lines: tuple[TalkLine, ...], heard: tuple[TalkLine, ...]) -> str:
    marked = {id(line) for line in heard}
    return "\n".join(
        f"{'> ' if id(line) in marked else ''}{line.who}: {line.text}" for line in lines
    )
