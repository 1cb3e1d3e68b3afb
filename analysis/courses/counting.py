"""What the log of a course holds, counted: one row a run, and one row a session."""

from collections.abc import Iterable, Iterator
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
from simcounsel.texts.quotes import units
from simcounsel.therapies.specs.therapy import Therapy


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
            "objectives": len(planned.objective) if planned else None,
            "links": sum(one.of == "link" for one in opened) if planned else None,
            "material": sum(one.of == "material" for one in opened) if planned else None,
            "goals_met": sum(goal.met for goal in reviewed.goals) if reviewed else None,
            "formulated": sum(isinstance(event, Formulated) for event in events)
            if planned
            else None,
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
    """One row a run: goals met of the therapy's, fields of the formulation that were filled,
    requests and cost a session, lines that the safety protocol decided.
    """
    return pd.DataFrame([_course(member, therapy) for member in sample.members])


def _course(member: Member, therapy: Therapy) -> dict[str, Any]:
    events = [entry.event for entry in member.log.entries()]
    sessions = len(_by_chat(member.log.entries()))
    course = any(isinstance(event, SessionPlanned) for event in events)
    goals = {goal for stage in therapy.stages for goal in stage.goals}
    met = {
        goal.goal
        for event in events
        if isinstance(event, SessionReviewed)
        for goal in event.goals
        if goal.met
    }
    filled = {event.field for event in events if isinstance(event, Formulated)}
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
        "questions_a_session": asked / sessions if sessions else None,
        "cost_usd": cost,
    }
