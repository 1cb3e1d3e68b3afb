"""The mind that residents have: its asks are spread over planning, appraisal, speech, relations,
reflection.
"""

from pydantic import BaseModel

from simcounsel.agents import (
    appraisal,
    planning,
    reflection,
    relations,
    reporting,
    skipping,
    speech,
)
from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.questionnaire import Sheet
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.llm.question import Ask, Reply


class Person:
    """A Mind in the shape of the paper's agent module: persona, memory, plan, talk, reflection."""

    def __init__(self, resident: Resident) -> None:
        self.resident = resident

    def arrive(self, scene: Scene) -> Ask[Effects]:
        """First memories and the first version of the persona's text."""
        return reflection.arrive(self.resident)
        yield  # an Ask that needs no model

    def plan(self, scene: Scene) -> Ask[Effects]:
        """The day's plan if there is none, and the next block of slots."""
        return planning.plan(self.resident, scene)

    def appraise(self, scene: Scene) -> Ask[Effects]:
        """Feelings about what is new."""
        return appraisal.appraise(self.resident, scene)

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """The next line."""
        return speech.speak(self.resident, scene, view, decision)

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """A summary of a conversation, and the new relationship score."""
        return relations.take_away(self.resident, scene, view)

    def reflect(self, scene: Scene, trigger: str) -> Ask[Effects]:
        """Questions, insights, a rewritten persona."""
        return reflection.reflect(self.resident, scene, trigger)

    def replan(self, scene: Scene, why: str) -> Ask[Effects]:
        """Revise the rest of the day."""
        return planning.replan(self.resident, scene, why)

    def account(self, scene: Scene, days: tuple[int, ...]) -> Ask[Effects]:
        """A short account of days that were skipped."""
        return skipping.account(self.resident, scene, days)

    def report(self, scene: Scene, sheet: Sheet) -> Ask[Reply[BaseModel | None]]:
        """Answers about oneself, from persona and memories."""
        return reporting.report(self.resident, scene, sheet)
