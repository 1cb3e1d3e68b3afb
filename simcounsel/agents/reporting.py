"""A person answers questions about itself, from its persona and what comes to its mind now.

Nothing of it is remembered: a self-report changes nobody (in this version), so a world that is
measured is lived like one that is not.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from simcounsel.agents.mind import Scene
from simcounsel.agents.recollection import recollect
from simcounsel.agents.resident import Resident
from simcounsel.agents.views import bullets, feeling, whoami
from simcounsel.chance import seed_of
from simcounsel.clock import date_text
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import render

TOPIC_CHARACTERS = 600


@dataclass(frozen=True, kw_only=True)
class FormItem:
    """One item as a respondent gets it: its id, its words, the lowest and highest answer and the
    step.
    """

    id: str
    text: str
    low: float
    high: float
    step: float


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A block of questions. scale: what the numbers mean, in words. answers: the model of the
    reply, a field for each id. sample: which of several samples, from 0. again: what was wrong with
    the first answers; '' the first time. temperature: of the model.
    """

    instrument: str
    instruction: str
    scale: str
    questions: tuple[FormItem, ...]
    answers: type[BaseModel]
    sample: int = 0
    again: str = ""
    temperature: float = 0.0

    def listed(self) -> str:
        """The questions, one a line, each with its id."""
        return "\n".join(f"{question.id}. {question.text}" for question in self.questions)


def report(resident: Resident, scene: Scene, sheet: Sheet) -> Ask[Reply[Any]]:
    """The person's answers to one block; `value` is None when no reply could be used."""
    topic = " ".join((sheet.instruction, *(question.text for question in sheet.questions)))[
        :TOPIC_CHARACTERS
    ]
    recalled = yield from recollect(resident, scene, "self_report", topic)
    memories = resident.memory.texts(recalled.hits)
    system, prompt = render(
        "self_report",
        whoami=whoami(resident),
        name=resident.name,
        now=date_text(scene.minute, scene.start),
        feeling=feeling(resident.emotion, resident.intensity),
        memories=bullets(memories),
        instruction=sheet.instruction,
        scale=sheet.scale,
        items=sheet.listed(),
        again=sheet.again,
    )
    return (
        yield from ask(
            Question(
                verb="fill",
                purpose="self_report",
                who=resident.name,
                system=system,
                prompt=prompt,
                schema=sheet.answers,
                fallback=None,
                temperature=sheet.temperature,
                max_tokens=40 + 16 * len(sheet.questions),
                seed=seed_of(
                    scene.seed,
                    scene.tick,
                    resident.name,
                    "self_report",
                    sheet.instrument,
                    sheet.questions[0].id,
                    sheet.sample,
                    bool(sheet.again),
                ),
                hints={
                    "instrument": sheet.instrument,
                    "questions": sheet.questions,
                    "resident": resident,
                    "memories": memories,
                    "tick": scene.tick,
                    "minute": scene.minute,
                    "seed": scene.seed,
                },
            )
        )
    )
