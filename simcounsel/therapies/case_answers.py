"""Case reports read by rule: sentences as they are, in their sessions. Not for use."""

import re

from simcounsel.agents.tasks import StrokeAnswer
from simcounsel.scripted.registry import Given, StandIns
from simcounsel.specs.persona import Belief, Situation
from simcounsel.specs.plain_days import plain_day
from simcounsel.texts.quotes import stands_in
from simcounsel.therapies.course.case_reading import (
    CaseClientFacts,
    CasePlanFacts,
    CaseTalkFacts,
    CaseToldFacts,
)
from simcounsel.therapies.course.case_schemas import (
    ClientAnswer,
    FeatureAnswer,
    FeaturesAnswer,
    PlanAnswer,
    SessionAnswer,
    ToldAnswer,
    ToldAnswers,
    TurnAnswer,
)
from simcounsel.therapies.specs.course import MOST_SESSIONS, default_plan

NOT_STATED = "not stated"


def register(standins: StandIns) -> None:
    """Answer what is asked of a case report."""
    standins.add(CaseClientFacts, lambda facts, question: Given(value=client(facts)))
    standins.add(CaseToldFacts, lambda facts, question: Given(value=told(facts)))
    standins.add(CasePlanFacts, lambda facts, question: Given(value=plan(facts)))
    standins.add(CaseTalkFacts, lambda facts, question: Given(value=talk(facts)))


def client(facts: CaseClientFacts) -> ClientAnswer:
    """A file in which nothing is stated."""
    situation = Situation(
        situation=NOT_STATED,
        thought=NOT_STATED,
        emotion="neutral",
        intensity=5,
        behavior=NOT_STATED,
    )
    return ClientAnswer(
        name="Alex Rough",
        age=40,
        gender=NOT_STATED,
        pronouns="they/them",
        culture=NOT_STATED,
        occupation=NOT_STATED,
        theme="depression",
        background=_sentences(facts.opening)[0][:900],
        history="What came before is not stated.",
        style="plain words",
        habits=(NOT_STATED,),
        characteristic="Nothing is stated.",
        recent_feeling="Nothing is stated.",
        core_beliefs=(Belief(kind="helpless", belief=NOT_STATED),),
        intermediate_beliefs=(Belief(kind="rule", belief=NOT_STATED),),
        coping_strategies=(NOT_STATED,),
        situations=(situation,) * 4,
        days=(tuple(StrokeAnswer.model_validate(one) for one in plain_day("")),),
    )


def told(facts: CaseToldFacts) -> ToldAnswers:
    """The first two sentences of each session."""
    return ToldAnswers(
        facts=tuple(
            ToldAnswer(text=text[:480], quote=text[:480], told=number)
            for number, session in facts.sessions
            if number <= MOST_SESSIONS
            for text in _sentences(session)[:2]
        )[:40]
    )


def plan(facts: CasePlanFacts) -> PlanAnswer:
    """The therapy's own plan, as many sessions as the report has, each with what is told in it."""
    count = min(MOST_SESSIONS, max(5, facts.sessions))
    stages = [
        (stage.id, session)
        for stage in default_plan(facts.therapy, count).stages
        for session in stage.sessions
    ]
    return PlanAnswer(
        sessions=tuple(
            SessionAnswer(
                stage=stage,
                theme=session.theme,
                uses=tuple(fact.id for fact in facts.facts if fact.told == number),
            )
            for number, (stage, session) in enumerate(stages, 1)
        )
    )


def talk(facts: CaseTalkFacts) -> FeaturesAnswer:
    """What is in quotation marks."""
    quotes = [
        quote
        for quote in re.findall(r"[“\"]([^”\"]{12,300})[”\"]", "\n\n".join(facts.parts).strip())
        if any(stands_in(quote, part) for part in facts.parts)
    ]
    return FeaturesAnswer(
        features=tuple(
            FeatureAnswer(
                context=NOT_STATED, turns=(TurnAnswer(who="client", text=quote),), style=NOT_STATED
            )
            for quote in quotes[:4]
        )
    )


def _sentences(text: str) -> list[str]:
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    return [" ".join(one.split()) for one in re.findall(r"[^.!?]{12,}[.!?]", text)] or [
        "not stated at all"
    ]
