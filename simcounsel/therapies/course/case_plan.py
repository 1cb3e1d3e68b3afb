"""The facts and the plan of a case report, rid of what could not be known yet."""

from simcounsel.texts.quotes import content
from simcounsel.therapies.course.case_report import CaseReport
from simcounsel.therapies.course.case_schemas import (
    MOST_HISTORY,
    ClientAnswer,
    PlanAnswer,
    SessionAnswer,
    ToldAnswers,
)
from simcounsel.therapies.course.withholding import leaks_undisclosed, untold
from simcounsel.therapies.specs.course import (
    MOST_SESSIONS,
    CoursePlan,
    PlannedFact,
    PlannedSession,
    PlannedStage,
)
from simcounsel.therapies.specs.therapy import COURSE_STAGES, Therapy

IN_FILE = 0.75
"""So much of what a fact is about is in the client's file where the file has it."""


def facts_of(report: CaseReport, told: ToldAnswers, notes: list[str]) -> tuple[PlannedFact, ...]:
    """Facts whose words are in the report, each told where they are, or later where the answer
    says so.
    """
    last = max(number for number, _ in report.parts if number)
    found: list[PlannedFact] = []
    for fact in told.facts:
        session = report.told_in(fact.quote)
        if session is None or session > MOST_SESSIONS:
            notes.append(
                f"left out, since its words are told in no session of the report: {fact.text}"
                f" (“{fact.quote}”)"
            )
            continue
        if not report.covers(fact.text, session):
            notes.append(
                f"left out, since the report does not say so by session {session}, where its words"
                f" stand: {fact.text} (“{fact.quote}”)"
            )
            continue
        if fact.told < session:
            notes.append(
                f"told in session {session}, not {fact.told}, where its words stand: {fact.text}"
            )
        found.append(
            PlannedFact(
                id=f"f{len(found) + 1}",
                text=fact.text,
                quote=fact.quote,
                told=min(max(session, fact.told), last, MOST_SESSIONS),
            )
        )
    return tuple(found)


def lived(
    told: ToldAnswers, facts: tuple[PlannedFact, ...], client: ClientAnswer, notes: list[str]
) -> str:
    """The client's history, with the facts of the time before the first session that its file
    would lack, in the order in which they were told.
    """
    before = {fact.text for fact in told.facts if fact.before}
    history, file = client.history, client.model_dump_json()
    for fact in facts:
        wanted = content(fact.text)
        if fact.text not in before or len(wanted & content(file)) >= IN_FILE * len(wanted):
            continue
        if len(history) + len(fact.text) + 1 > MOST_HISTORY:
            notes.append(f"left out of the client's history, which is full: {fact.text}")
            continue
        history = f"{history} {fact.text}"
    return history


def order_problem(answer: PlanAnswer | None) -> str | None:
    order = [COURSE_STAGES.index(session.stage) for session in (answer.sessions if answer else ())]
    right = order == sorted(order) and set(order) == {0, 1, 2}
    return (
        None
        if right
        else f"the stages are {', '.join(COURSE_STAGES)}, in this order, each at least once"
    )


def plan_of(
    report: CaseReport,
    therapy: Therapy,
    planned: PlanAnswer,
    facts: tuple[PlannedFact, ...],
    notes: list[str],
) -> CoursePlan:
    """The plan, rid of what it could not yet know."""
    sessions = [
        (session.stage, _session(report, therapy, session, number, facts, notes))
        for number, session in enumerate(planned.sessions, 1)
    ]
    stages = tuple(
        PlannedStage(
            id=stage.id,
            goals=stage.goals,
            sessions=tuple(session for one, session in sessions if one == stage.id),
        )
        for stage in therapy.stages
    )
    return CoursePlan(
        therapy=therapy.id,
        about=f"From the case report {report.path.name}.",
        stages=stages,
        facts=facts,
    )


def _session(
    report: CaseReport,
    therapy: Therapy,
    session: SessionAnswer,
    number: int,
    facts: tuple[PlannedFact, ...],
    notes: list[str],
) -> PlannedSession:
    """One session, without what is told after it."""
    later = untold((fact for fact in facts if fact.told > number), (report.until(number),), therapy)
    known = {fact.id for fact in facts if fact.told <= number}
    notes += [
        f"session {number} does not use {one!r}: it is told later, or is no fact"
        for one in session.uses
        if one not in known
    ]

    def kept(key: str, *texts: str) -> tuple[str, ...]:
        left = tuple(text for text in texts if not leaks_undisclosed(text, later))
        notes.extend(
            f"session {number}, {key}: left out, since it is told later: {text}"
            for text in texts
            if text not in left
        )
        return left

    return PlannedSession(
        links=kept("links", *session.links),
        material=kept("material", *session.material),
        psychoeducation=kept("psychoeducation", *session.psychoeducation),
        theme="".join(kept("theme", session.theme)) or therapy.stage(session.stage).name,
        rationale="".join(kept("rationale", session.rationale)),
        uses=tuple(one for one in session.uses if one in known),
    )
