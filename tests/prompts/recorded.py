"""Runs of every policy, role and condition with the scripted model, every request of theirs, and marks on all that belongs to one person alone."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel

from simcounsel.events import Said
from simcounsel.llm.question import Question
from simcounsel.measuring.interview import Interview
from simcounsel.prompts.sets import USUAL
from simcounsel.runs.run import Run
from simcounsel.specs.measurement import MeasurementSpec
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.prompt_set import prompts_named
from simcounsel.specs.residents import Appointment
from simcounsel.specs.world import World
from tests.stage import NEVER, ROOT, Listening, changed, happened, live, switchboard, three
from tests.therapies import held

POLICIES = ("socratic", "supportive", "staged", "single", "unguided", "course")
DANGER = {"en": "I want to kill myself. I have the pills here", "zh": "我想自杀，药就在手边"}
"""What a client says with its second line where the safety protocol is to run, a policy beside it."""
CONDITIONS = ("client_only", "client_layperson", "client_counselor")
KEPT = frozenset(
    "name role theme pronouns age routines days at since until kind place emotion intensity stage"
    " answers act when strength".split()
)
"""Fields of a persona that stay as they are: closed lists, and what others see."""
FEELING = {"emotion": "fear", "intensity": 5, "poignancy": 8}
LINES = {
    "en": (
        "I wake at three and count the hours",
        "My mother was in hospital and I slept",
        "I would like to sleep one whole night",
        "Yes, I feel sad about it, maybe because of the letter",
        "Yes, please, I would like to try that",
    ),
    "zh": (
        "我三点就醒了，一直数着时间",
        "妈妈住院的时候我睡着了",
        "我想好好睡一整夜",
        "嗯，我很难过，也许是因为那封信",
        "好的，我愿意试一试",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A run, and what was asked in it."""

    run: Run
    questions: tuple[Question[Any], ...]
    secrets: dict[str, tuple[str, str]]
    """By mark whose it is, and the field of the file that it is in; '' for what is thought."""
    said: frozenset[str]
    """All lines of the run."""


class Marks:
    """A unique word for each text that belongs to one person alone."""

    def __init__(self, language: str) -> None:
        self.of: dict[str, tuple[str, str]] = {}
        self.language = language

    def text(self, who: str, field: str = "") -> str:
        """A new mark of somebody's: in Chinese a number, so that no letter comes from the test."""
        number = 70_000_000 + len(self.of)
        self.of[str(number)] = who, field
        return str(number)

    def marked(self, value: Any, who: str, field: str) -> Any:
        """The value with a mark in each of its texts; in Chinese the mark and a filling as
        long as the text are all there is."""
        if isinstance(value, BaseModel):
            return value.model_copy(
                update={
                    key: self.marked(getattr(value, key), who, f"{field}.{key}")
                    for key in type(value).model_fields
                    if key not in KEPT
                }
            )
        if isinstance(value, dict):
            return {key: self.marked(inner, who, f"{field}.{key}") for key, inner in value.items()}
        if isinstance(value, tuple):
            return tuple(
                self.marked(one, who, f"{field}.{getattr(one, 'stage', '')}") for one in value
            )
        if not isinstance(value, str):
            return value
        mark = self.text(who, field)
        if self.language == "en":
            return f"{value} {mark}"
        # about as much as the English says: a Chinese character for three letters
        return f"中文{mark}{'，写着这个人的事' * (len(value) // 24)}。"


def private(
    marks: Marks, danger: bool = False
) -> dict[str, Callable[[Question[Any], Random], str]]:
    """Answers whose private parts are marked with whose they are; what is said aloud, and what is
    done, is not."""

    def own(request: Question[Any]) -> str:
        word = "想着" if marks.language == "zh" else "thinks of"
        return f"{word} {marks.text(request.who)}"

    def line(request: Question[Any], draw: Random) -> str:
        told = getattr(request.facts, "lines", ())
        second = request.purpose == "line_client" and len(told) in (2, 3)
        words = DANGER[marks.language] if danger and second else draw.choice(LINES[marks.language])
        thought = (
            held.thought(request, draw) if getattr(request.facts, "thought", None) else {}
        ) | (
            {"held_back": own(request), "openness": request.facts.openness}
            if request.purpose == "line_client" and request.facts.openness is not None
            else {}
        )
        if thought.get("assessment"):
            thought |= {key: own(request) for key in ("assessment", "client_state", "strategy")}
        end = "。" if marks.language == "zh" else "."
        say = f"{words} {draw.randrange(10**6)}{end}"
        return json.dumps({"say": say, "wish": "go on", **FEELING, **thought})

    def fill(**fields: Any) -> Callable[[Question[Any], Random], str]:
        return lambda request, draw: json.dumps(
            {key: value(request) if callable(value) else value for key, value in fields.items()}
        )

    doing = "做着手边的事" if marks.language == "zh" else "does what is at hand"
    return {
        "line_client": line,
        "line_counselor": line,
        "line_layperson": line,
        "persona": fill(characteristic=own, recent_feeling=own),
        "questions": fill(questions=lambda r: [own(r)]),
        "insights": fill(insights=lambda r: [{"text": own(r), "evidence": [1], **FEELING}]),
        "summarize": fill(summary=own, closeness="closer", **FEELING),
        "plan_day": fill(
            strokes=lambda r: [{"at": f"{8 + n:02d}:00", "do": own(r)} for n in range(5)]
        ),
        "plan_slots": fill(
            slots=lambda r: [
                {
                    "activity": f"{doing} {n}",
                    "kind": "chore",
                    "place": "Counseling Center" if r.who == "Omar" else r.facts.places[0].name,
                    **FEELING,
                }
                for n, _ in enumerate(r.facts.minutes)
            ]
        ),
        "skipped_days": fill(days=lambda r: [{"day": own(r), **FEELING} for _ in r.facts.days]),
        "interview": lambda request, draw: own(request),
        "note": lambda request, draw: own(request),
    }


def world_of(
    policy: str, condition: str, language: str, marks: Marks, state: str, words: str
) -> World:
    """Three people, two sessions on a day and one on the next, with questionnaires and judges; all
    that is in their files is marked. words: the set of prompts."""
    base = three()
    residents = []
    for one in base.residents:
        persona = one.persona.model_copy(
            update={
                field: marks.marked(getattr(one.persona, field), one.name, field)
                for field in type(one.persona).model_fields
                if field not in KEPT
            }
        )
        policy = "socratic" if policy == "danger" else policy
        told = {"persona": True} if policy == "unguided" else {}
        own = PolicySpec(name=policy, settings=told)
        given = own if one.name == "Miriam" and policy != "course" else None
        residents.append(one.model_copy(update={"persona": persona, "policy": given}))
    meet = {"who": ("Ines", "Miriam"), "place": "Counseling Center"}
    names = {one.name for one in base.residents}
    there = {
        "client_only": {"Ines"},
        "client_layperson": {"Ines", "Omar"},
        "client_counselor": {"Ines", "Miriam"},
    }.get(condition, names)
    appointments = (
        Appointment(**meet, days=(0,), at="09:00", max_turns=24),
        Appointment(**meet, days=(0,), at="12:00", max_turns=12),
        *(one for one in base.appointments if "Omar" in one.who),
    )
    scales = ("phq9", "empathy", "persona_change", "safety_audit")
    return changed(
        base,
        residents=tuple(residents),
        condition=condition,
        appointments=tuple(one for one in appointments if set(one.who) <= there),
        measurements=tuple(MeasurementSpec(instrument=name, when="end") for name in scales)
        if condition != "client_only"
        else (MeasurementSpec(instrument="phq9", when="end"),),
        language=language,
        client_state=state,
        fallbacks=NEVER,
        prompts=None if words == USUAL else prompts_named(words, ROOT),
    )


@cache
def recorded(
    policy: str,
    condition: str = "everyone",
    language: str = "en",
    state: str = "moves",
    words: str = USUAL,
) -> Recorded:
    """A run of it, and an interview with everybody at its end. words: the set of prompts."""
    marks = Marks(language)
    made = world_of(policy, condition, language, marks, state, words)
    scripts: dict[str, Any] = private(marks, danger=policy == "danger")
    if policy == "course":
        made = held.world(5, base=made, lines=10).model_copy(
            update={"language": language, "measurements": made.measurements}
        )
        scripts = held.SCRIPTS | scripts
    spy = Listening(scripts)
    with TemporaryDirectory() as folder:
        run = live(Path(folder), made, models=switchboard(spy))
        last = run.world.ticks - 1
        for one in run.world.present():
            sitting = Interview.begin(run, one.name, last)
            for question in (
                ("你好吗？", "为什么？") if language == "zh" else ("How is it?", "Why?")
            ):
                sitting.ask(question, switchboard(spy))
        said = frozenset(event.text for event in happened(run, Said))
    return Recorded(run=run, questions=tuple(spy.requests), secrets=marks.of, said=said)


def sent(question: Question[Any]) -> str:
    """All that a model reads of it."""
    return "\n\n".join(message["content"] for message in question.messages)


def marks_in(text: str) -> set[str]:
    """The marks in a text."""
    return set(re.findall(r"7\d{7}", text))
