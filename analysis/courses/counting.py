"""What the log of a course holds, counted: one row a run, and one row a session."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

from analysis.sample import Member, Sample
from simcounsel.events import (
    Formulated,
    MaterialOpened,
    Reasoned,
    Said,
    SessionPlanned,
    SessionReviewed,
)
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.instruments.talk import TALK
from simcounsel.runs.history import History
from simcounsel.texts.quotes import units
from simcounsel.therapies.specs.course import CoursePlan, PlannedStage
from simcounsel.therapies.specs.therapy import Therapy

SAID = {
    "reflections_per_turn": "reflections for a line of the counselor",
    "open_question_share": "of the questions, open ones",
    "advice_per_turn": "advice for a line of the counselor",
    "talk_share": "the counselor's share of the words",
}
"""What is counted in the lines, of `talk_measures`, in words."""


def said_in(lines: Sequence[tuple[str, str]]) -> dict[str, float | None]:
    """These counts of a session. lines: (`Client` or `Counselor`, text)."""
    counted = {item.id: item.value for item in TALK.measure(lines)}
    return {name: counted[name] for name in SAID}


def words(text: str) -> int:
    """Words; of Chinese, characters."""
    return len(units(text))


def sessions_of(sample: Sample) -> pd.DataFrame:
    """One row a session: who, its length, its words with and without thoughts, what it was for."""
    return pd.DataFrame([row for member in sample.members for row in _sessions(member)])


def _sessions(member: Member) -> Iterator[dict[str, Any]]:
    talks = _by_chat(member.log.entries())
    for number, (_chat, events) in enumerate(talks.items(), 1):
        said = [event for event in events if isinstance(event, Said)]
        thoughts = [event for event in events if isinstance(event, Reasoned)]
        planned = next((event for event in events if isinstance(event, SessionPlanned)), None)
        reviewed = next((event for event in events if isinstance(event, SessionReviewed)), None)
        opened = [event for event in events if isinstance(event, MaterialOpened)]
        yield {
            "run": member.name,
            "arm": member.arm,
            "client": member.clients[0] if member.clients else "",
            "session": number,
            "stage": planned.stage if planned else None,
            "lines": len(said),
            "words": sum(words(one.text) for one in said),
            "thought": sum(
                words(f"{one.assessment} {one.client_state} {one.strategy}") for one in thoughts
            ),
            "skilled": sum(bool(one.skills) for one in thoughts),
            "objectives": len(planned.objective) if planned else None,
            "links": sum(one.of == "link" for one in opened) if planned else None,
            "material": sum(one.of == "material" for one in opened) if planned else None,
            "goals_met": sum(goal.met for goal in reviewed.goals) if reviewed else None,
            "formulated": sum(isinstance(event, Formulated) for event in events)
            if planned
            else None,
            **said_in(
                [(CLIENT if one.who in member.clients else COUNSELOR, one.text) for one in said]
            ),
        }


def _by_chat(entries: Iterable[Any]) -> dict[str, list[Any]]:
    """Events by conversation, of those in which somebody spoke."""
    found: dict[str, list[Any]] = {}
    for entry in entries:
        chat = getattr(entry.event, "chat", None)
        if isinstance(chat, str):
            found.setdefault(chat, []).append(entry.event)
    return {
        chat: events
        for chat, events in found.items()
        if any(isinstance(event, Said) for event in events)
    }


def courses_of(sample: Sample, therapy: Therapy) -> pd.DataFrame:
    """One row a run: shares of goals that were met (the plan's, else the therapy's), of fields of
    the formulation that were filled, of a case's facts that were told, of its plan's parts that
    opened, and of the counselor's lines that the safety protocol decided; requests and cost.
    """
    return pd.DataFrame([_course(member, therapy) for member in sample.members])


def _course(member: Member, therapy: Therapy) -> dict[str, Any]:
    events = [entry.event for entry in member.log.entries()]
    sessions = len(_by_chat(member.log.entries()))
    course = any(isinstance(event, SessionPlanned) for event in events)
    plan = _plan(member)
    goals = {goal for stage in (plan or therapy).stages for goal in _aims(stage)}
    met = {
        goal.goal
        for event in events
        if isinstance(event, SessionReviewed)
        for goal in event.goals
        if goal.met
    }
    filled = {event.field for event in events if isinstance(event, Formulated)}
    opened = [event for event in events if isinstance(event, MaterialOpened)]
    parts = {part.text for one in plan.sessions for _, part in one.parts} if plan else set()
    counts = History(member.log).counts()
    asked = 0
    cost: float | None = 0.0
    for call in member.log.all_calls():
        asked += call.get("verb") != "embed"
        spent = call.get("cost_usd")
        cost = None if cost is None or spent is None else cost + float(spent)
    return {
        "run": member.name,
        "arm": member.arm,
        "client": member.clients[0] if member.clients else "",
        "sessions": sessions,
        "goals_met": len(met & goals) / len(goals) if course and goals else None,
        "fields_filled": len(filled) / len(therapy.conceptualization) if course else None,
        "facts_told": len({one.rests_on for one in opened if one.of == "fact"}) / len(plan.facts)
        if course and plan and plan.facts
        else None,
        "material_opened": len(parts & {one.text for one in opened if one.of != "fact"})
        / len(parts)
        if course and parts
        else None,
        "safety_moves": counts.safety_moves / counts.counselor_lines
        if counts.counselor_lines
        else None,
        "open_danger": len(member.open_ends()) / sessions if sessions else None,
        "questions_a_session": asked / sessions if sessions else None,
        "cost_usd": cost,
    }


def _plan(member: Member) -> CoursePlan | None:
    """The case's plan that the run's counselor follows; None without one."""
    policies = (one.get("policy") for one in member.manifest["world"]["residents"])
    plans = (one.get("plan") for one in policies if isinstance(one, dict))
    return next((CoursePlan.model_validate(plan) for plan in plans if plan), None)


def _aims(stage: Any) -> Iterable[str]:
    """The texts of a stage's goals, of a plan's or a therapy's."""
    return stage.aims if isinstance(stage, PlannedStage) else stage.goals
