"""A course held with the scripted model: a client and a counselor whose answers make enough sense to be judged."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from simcounsel.llm.question import Question
from simcounsel.runs.run import Run
from simcounsel.specs.world import World
from simcounsel.therapies.clinic import clinic_world
from simcounsel.therapies.specs.course import CoursePlan
from simcounsel.therapies.specs.therapy import Therapy, shipped_therapy
from tests.stage import NEVER, Listening, live, switchboard, tiny

FEELING = {"emotion": "fear", "intensity": 5, "poignancy": 4}
ASKED = (
    "What was the first thing that went through you then?",
    "And what did you do when it came?",
    "Who knows about this besides you?",
    "What would be different if it were a little smaller?",
    "How was it to tell me that just now?",
)
TOUCHING = "You check the sheet again and again so that nobody can be hurt by it, and that must be so tiring for you."
"""Takes up kindly the first of Ines's defenses."""
TASK = "Until next time, would you write down one moment a day in which you did not check?"
TOLD = (
    "I wake at three and count the hours.",
    "My mother was in hospital and I slept through it.",
    "I checked the drawing six times.",
    "I would like to sleep one whole night.",
    "My brother says I should come home.",
    "I feel like a guest everywhere.",
)


def line_client(request: Question, draw: Random) -> str:
    """Touched, and a little more open, where the counselor takes up the first defense."""
    heard = request.facts.heard
    touched = heard is not None and TOUCHING in heard.text
    moved = {"quote": TOUCHING, "touched": "D1", "openness": min(10, request.facts.openness + 1)}
    return json.dumps(
        {
            "say": f"{draw.choice(TOLD)} That was number {draw.randrange(10**6)}.",
            "wish": "go on",
            **FEELING,
            **(moved if touched else {}),
        }
    )


def line_counselor(request: Question, draw: Random) -> str:
    """A touch now and then, a task near the end, else a question."""
    left = request.facts.turns_left
    words = TASK if left in (3, 4) else TOUCHING if left % 5 == 0 else draw.choice(ASKED)
    say = {"say": f"Mm. {words} ({draw.randrange(10**6)})", "wish": "go on", **FEELING}
    return json.dumps(thought(request, draw) | say)


def thought(request: Question, draw: Random) -> dict[str, str]:
    """What comes before the line: a skill of the session, drawn; {} where nothing is to be thought."""
    asked = request.facts.thought
    if asked is None:
        return {}
    return {
        "assessment": f"She speaks of nights, {draw.randrange(10**6)}.",
        "client_state": "tired",
        "strategy": "slowly",
        "skills": draw.sample([*asked.skills], 2),
    }


def drawn(request: Question, draw: Random) -> dict[str, Any]:
    """The first intentions, and skills of them."""
    of = request.facts.library
    metas = list(of.metas)[: of.fewest_metas]
    below = of.of(metas)
    skills = draw.sample(below, min(of.fewest, len(below)))
    return {"intentions": metas, "skills": skills, "why": "they are due"}


def summarize(request: Question, draw: Random) -> str:
    """What is taken home is the task, where it was given."""
    told = {"summary": "They talked about the nights.", "closeness": "as before", **FEELING}
    if request.facts.takes_home and any(TASK in line.text for line in request.facts.lines):
        told |= {"agreed": "write down one moment a day", "agreed_quote": TASK}
    return json.dumps(told)


def after(request: Question, draw: Random) -> str:
    """Note, facts, rows and the next step, the first that is open."""
    steps = request.schema.model_json_schema()["properties"]["step"]
    step = steps.get("const") or steps["enum"][0]
    next_step = {"step": step, "focus": "the nights", "reason": "there is more to it"}
    told = facts(request, draw)
    return json.dumps(review(request, draw) | told | formulate(request, draw) | next_step)


def review(request: Question, draw: Random) -> dict[str, Any]:
    """The first goal is shown by words of the client's, the second by words that nobody said."""
    facts = request.facts
    said = [line.text for line in facts.lines if line.who == facts.other]
    goals = [
        {"number": 1, "met": True, "quote": said[0][:-1].upper()},
        {"number": 2, "met": True, "quote": "I shall never check again, I promise."},
    ]
    return {
        "summary": f"{facts.other} spoke of nights and drawings, in session {facts.session}.",
        "goals": goals if said else [],
        "client_state": "tired, a bit nearer",
        "alliance": 3,
        "unresolved": ["what she fears would happen"],
        "homework": "one moment a day, written down",
    }


def facts(request: Question, draw: Random) -> dict[str, Any]:
    """Each of the client's lines as a fact, and one that was never told. What has the same words is
    the same; of the rest the first contradicts the first that is known.
    """
    known: Mapping[str, str] = request.facts.known
    said = dict.fromkeys(re.sub(r" That was number.*", "", text) for text in request.facts.told)
    wish = "wish", "fact"
    told = [
        {
            "text": f"She said: {text}",
            "quote": text,
            "realm": "reality",
            "status": wish["would like" not in text],
        }
        for text in said
    ]
    made_up = {
        "text": "She has a sister in Lyon.",
        "quote": "my sister in Lyon",
        "realm": "reality",
        "status": "fact",
    }
    for number, fact in enumerate(told):
        same = next((one for one, old in known.items() if old == fact["text"]), None)
        relation = "same" if same else "contradicts" if number == 0 and known else "new"
        fact |= {"relation": relation, "known": same or next(iter(known), "")}
    return {"facts": [*told[:8], made_up]}


def formulate(request: Question, draw: Random) -> dict[str, Any]:
    said = request.facts.told
    rows = [
        {"field": field, "cells": ["words"] * count, "quote": said[0]}
        for field, count in request.facts.columns.items()
    ] + [
        {"field": "no_such_field", "cells": ["x"], "quote": said[0]},
        {
            "field": next(iter(request.facts.columns)),
            "cells": ["made", "up", "too"],
            "quote": "never said so",
        },
    ]
    return {"rows": rows[-8:]}


SCRIPTS: dict[str, Callable[[Question, Random], str]] = {
    "line_client": line_client,
    "line_counselor": line_counselor,
    "summarize": summarize,
    "course_after": after,
}


def world(
    sessions: int = 10,
    *,
    therapy: Therapy | None = None,
    plan: CoursePlan | None = None,
    base: World | None = None,
    lines: int = 16,
    seed: int = 1,
) -> World:
    base = (base or tiny()).model_copy(update={"seed": seed, "fallbacks": NEVER})
    return clinic_world(
        base,
        client="Ines",
        therapy=therapy or shipped_therapy("cbt"),
        sessions=sessions,
        plan=plan,
        lines=lines,
    )


def by_session(questions: list[Question]) -> list[tuple[int, Question]]:
    """Each question with the session in which, or after which, it was asked, from 1; 0 before the
    first: a session begins with the question for its objective."""
    session, found = 0, []
    for question in questions:
        session += question.purpose == "course_objective"
        found.append((session, question))
    return found


def held(
    out: Path, made: World, scripts: Mapping[str, Any] | None = None, ticks: int | None = None
) -> tuple[Run, list[Question]]:
    """The course, and every request."""
    spy = Listening(SCRIPTS | dict(scripts or {}))
    return live(out, made, ticks, models=switchboard(spy)), spy.requests
