"""Interviews: questions to one resident as of a moment of a run, kept beside the run, which never
changes.

RUN/interviews/TIMESTAMP-NAME-TICK.jsonl    a head, then each question's calls and its answer
"""

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from simcounsel.agents.answering import Answered, Exchange, answer_question
from simcounsel.agents.past import Past
from simcounsel.agents.views import feeling
from simcounsel.clock import date_text
from simcounsel.engine.revisit import revisit
from simcounsel.errors import RunError
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.interview_files import interview_files, new_file, read_interview
from simcounsel.measuring.models import answering_model, may_cost, spoke
from simcounsel.prompts import replaced
from simcounsel.runs.jsonl import keep_line
from simcounsel.runs.run import Run
from simcounsel.runs.spending import is_by_hand

QUESTION_CHARACTERS = 2000
SIMULATED = (
    "This is a simulation, not care: the person is invented, and nobody reads along. If you need"
    " help now, turn to local emergency services."
)
WAS_BY_HAND = "the run's own lines were written by hand"
Fields = dict[str, Any]


class Interview:
    """One sitting with one resident. `Interview.begin` starts one, `Interview.reopen` goes on with
    a stored one.

    past: the resident as it was. exchanges: what was asked and answered so far.
    """

    def __init__(
        self,
        run: Run,
        past: Past,
        head: Fields,
        file: Path | None,
        exchanges: tuple[Exchange, ...] = (),
    ) -> None:
        self.run = run
        self.past = past
        self.head = head
        self.file = file
        self.exchanges = exchanges

    @classmethod
    def begin(
        cls, run: Run, who: str, tick: int | None = None, model: str | None = None
    ) -> "Interview":
        """Sit down with a resident at the end of a tick (the last complete one if None). The file
        is made with the first answer. RunError when there is no such person or tick.
        """
        known = tick is not None and not run.damaged
        past = _past(run.folder.resolve(), who, tick) if known else revisit(run, who, tick)
        head = {
            "kind": "interview",
            "run": run.name,
            "who": past.resident.name,
            "tick": past.scene.tick,
            "minute": past.scene.minute,
            "model": model or answering_model(run, past.resident.name),
            "created": f"{datetime.now():%Y-%m-%d %H:%M:%S}",
        } | run.damage_mark()
        return cls(run, past, head, None)

    @classmethod
    def reopen(cls, run: Run, name: str) -> "Interview":
        """Go on with the stored interview of that name. RunError when there is none."""
        file = next((file for file in interview_files(run.folder) if file.stem == name), None)
        head, answers = read_interview(file) if file else ({}, [])
        if not head:
            raise RunError(f"{run.folder}: no interview {name!r}; begin a new one")
        exchanges = tuple(
            Exchange(question=one["question"], answer=one["answer"]) for one in answers
        )
        return cls(
            run, _past(run.folder.resolve(), head["who"], head["tick"]), head, file, exchanges
        )

    @property
    def name(self) -> str | None:
        """Under which it is stored; None before the first answer."""
        return self.file.stem if self.file else None

    def ask(self, question: str, models: Switchboard) -> Fields:
        """Ask, store and return the answer with what came to mind. ValueError when the question is
        empty or too long.
        """
        question = checked(question)
        if self.file is None:
            self.file = new_file(self.run.folder, self.head)
            self._append(self.head)
        models.recorder = self
        models.begin_tick(self.head["tick"])
        with replaced(self.run.world.other_prompts):
            asked = answer_question(self.past, question, self.exchanges)
            answered = models.ask({"interview": asked})["interview"].value
        line = {"kind": "answer", "question": question} | _stored(answered, self.past)
        self._append(line)
        self.exchanges += (Exchange(question=question, answer=answered.text),)
        return line

    def append_call(self, call: Fields) -> None:
        """Keep a call: the interview is its own recording."""
        self._append({"kind": "call"} | call)

    def _append(self, line: Fields) -> None:
        assert self.file is not None
        keep_line(self.file, line)


def introduction(sitting: Interview) -> Iterator[str]:
    """Who is asked, when, in what state, who answers; and what this is not."""
    resident, scene = sitting.past.resident, sitting.past.scene
    persona = resident.persona
    yield f"{persona.name}, {persona.age}, {persona.occupation} ({persona.role})"
    doing = f"{resident.name} {resident.activity}" if resident.activity else "has just come"
    yield (
        f"{date_text(scene.minute, scene.start)}, the end of tick {scene.tick}, {resident.place}:"
        f" {doing}"
    )
    yield (
        f"feels {feeling(resident.emotion, resident.intensity)} ({resident.emotion}"
        f" {resident.intensity}/10)"
    )
    own = sitting.run.manifest.model_of("reason", resident.name)
    model = sitting.head["model"]
    replays = (
        f"; the run replays {own.removeprefix('recorded:')}" if own.startswith("recorded:") else ""
    )
    if is_by_hand(spoke(sitting.run, resident.name)):
        replays += f"; {WAS_BY_HAND}"
    yield f"answers come from {model}{replays}" + (
        "; that may cost money" if may_cost(sitting.run, model) else ""
    )
    if told := not_theirs(sitting.past):
        yield told
    yield SIMULATED


def not_theirs(past: Past) -> str:
    """What has to be said where a person spoke for this resident; '' where none did."""
    own = (
        line.event
        for held in past.conversations
        for line in held.lines
        if line.who == past.resident.name
    )
    by_person = any(said.source == "human" for said in own)
    name = past.resident.name
    return (
        f"a person spoke for {name}; these answers are a model's, not theirs" if by_person else ""
    )


def checked(question: str) -> str:
    """A question that can be asked, on one line."""
    text = " ".join(question.encode("utf-8", "replace").decode("utf-8").split())
    if not text:
        raise ValueError("the question is empty; write what you want to know")
    if len(text) > QUESTION_CHARACTERS:
        raise ValueError(
            f"the question has {len(text)} characters; it may have {QUESTION_CHARACTERS}"
        )
    return text


@lru_cache(maxsize=8)
def _past(folder: Path, who: str, tick: int) -> Past:
    """A moment that was run stays as it is."""
    return revisit(Run.open(folder), who, tick)


def _stored(answered: Answered, past: Past) -> Fields:
    """An answer as it is stored and shown."""
    memory = past.resident.memory
    recalled = []
    for hit in sorted(answered.recalled.hits, key=lambda one: -one.score):
        found, (tick, minute) = memory.get(hit.id), past.remembered_at[hit.id]
        recalled.append(
            {
                **hit.model_dump(),
                "text": found.text,
                "type": found.type,
                "origin": found.origin,
                "store": "long" if found.long_term else "short",
                "tick": tick,
                "minute": minute,
            }
        )
    return {
        "answer": answered.text,
        "source": answered.source,
        "model": answered.model,
        "problem": answered.problem,
        "emotion": past.resident.emotion,
        "intensity": past.resident.intensity,
        "recalled": recalled,
    }
