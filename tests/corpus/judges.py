"""Judges for tests: scripted models that read the transcript they are given."""

import json
from random import Random

from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.question import Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.scripted import Scripted
from tests.instruments.stage import items_of

BAD = "Pull yourself together"


def preferring(bad: int = 3, good: int = 8) -> Scripted:
    """Gives low numbers to dialogues in which the counselor says the marked words, high ones to others; one point of noise by item."""

    def block(request: Question, draw: Random) -> str:
        level = bad if BAD in request.prompt else good
        return json.dumps(
            {question.id: level + draw.choice((-1, 0, 1)) for question in items_of(request)}
        )

    return Scripted(
        {
            "judge_block": block,
            "judge_item": lambda request, draw: str(bad if BAD in request.prompt else good),
        }
    )


def switchboard(chat: Scripted, in_flight: int = 8) -> Switchboard:
    """A switchboard whose every role is this model."""
    return Switchboard(
        {"reason": chat, "quick": chat, "judge": chat}, HashEmbeddings(), in_flight=in_flight
    )
