"""What the scripted model answers to questions of courses."""

import json
from typing import Any

from simcounsel.chance import chance
from simcounsel.llm.question import Question
from simcounsel.scripted import ScriptedAnswers, drawn_answer
from simcounsel.scripted.registry import Given, StandIns
from simcounsel.therapies import case_answers
from simcounsel.therapies.course.facts import PreparationFacts


def prepared(facts: PreparationFacts, question: Question[Any]) -> Given[Any]:
    """Drawn, the skills out of the intentions that were drawn."""
    rng, of = chance(question.seed, question.purpose), facts.library
    assert question.schema is not None
    fields = json.loads(drawn_answer(question, rng))
    if of is not None and "skills" in fields:
        most = rng.randint(of.fewest, min(of.most, of.fewest + 3))
        below = of.of(fields.get("intentions", of.metas))
        fields["skills"] = rng.sample(below, min(most, len(below)))
    return Given(value=question.schema.model_validate(fields))


def _register(standins: StandIns) -> None:
    standins.add(PreparationFacts, prepared)
    case_answers.register(standins)


ANSWERS = ScriptedAnswers(register=_register)
