"""The sentences of labelled/sessions.yaml, and what can be told of a line by them."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

import yaml

from simcounsel.corpus.checks.risk import risks
from simcounsel.corpus.synthesis.context import PERSON, Line
from simcounsel.danger.hearing.acknowledging import OWN_LIFE

ASKS_ADVICE = re.compile(
    r"\b(?:what (?:i|can|could|should|do)|how (?:do|can|could|to)|know what|advice|tell me)\b",
    re.IGNORECASE,
)


@cache
def forms() -> Mapping[str, Any]:
    """labelled/sessions.yaml."""
    found: Mapping[str, Any] = yaml.safe_load(
        files(__package__).joinpath("labelled", "sessions.yaml").read_text(encoding="utf-8")
    )
    return found


def form_of(stage: str, said: list[str], rng: Random) -> tuple[str, str]:
    """A form of a stage that was not said yet."""
    listed = [(skill, text) for skill, text in forms()["supporter"][stage]]
    fresh = [pair for pair in listed if not any(pair[1] in line for line in said)]
    return rng.choice(fresh or listed)


def fresh(texts: list[str], said: Collection[str], rng: Random) -> str:
    """One of the texts, if possible one that was not said yet."""
    return rng.choice([text for text in texts if text not in said] or texts)


def ended(text: str) -> str:
    """With a full stop, where nothing ends it."""
    return text if text.rstrip()[-1:] in ".!?…" else text.rstrip() + "."


def given_before(back: str, said: list[str]) -> bool:
    """Whether this was given back before."""
    return any(back in line for line in said)


def asks_leave(line: str) -> bool:
    """Whether it asks leave for an idea."""
    return "one small idea" in line


def is_idea(line: str) -> bool:
    """Whether it is one of the ideas."""
    return any(line == idea for ideas in forms()["ideas"].values() for idea in ideas)


def closes(line: str) -> bool:
    """Whether it is a last line."""
    return any(line == text for _, text in forms()["supporter"]["closing"])


def danger_unasked(lines: Sequence[Line]) -> bool:
    """Whether the person has spoken of suicide or self-harm and the three questions about it were
    not all asked.
    """
    said = {line for _, line in lines}
    return any(text not in said for _, text in forms()["supporter"]["danger"]) and any(
        risk.kind in OWN_LIFE for who, text in lines if who == PERSON for risk in risks(text)
    )


def danger_line(said: list[str]) -> tuple[str, str]:
    """The next question about danger, and its skill."""
    return next((skill, text) for skill, text in forms()["supporter"]["danger"] if text not in said)


def asks_about_danger(line: str) -> bool:
    """Whether it is a question about danger."""
    return any(line == text for _, text in forms()["supporter"]["danger"])


def why(heard: str, danger: bool) -> str:
    """What a supporter thought before its line."""
    if danger:
        return "What was said may mean danger; this comes before everything else."
    words = " ".join(heard.split()[:9])
    return f"They said “{words}{'…' if len(heard.split()) > 9 else ''}”; stay close to that."
