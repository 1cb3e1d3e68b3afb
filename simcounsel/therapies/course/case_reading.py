"""A free-text case report into a client's file, a plan and features of the talk.

Nothing is known before it was told: each fact carries the session in which its words stand, or a
later one, no session builds on a later fact, and hindsight is used for nothing.

The facts and the plan of a case report, rid of what could not be known yet.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from simcounsel.agents.tasks import Answer
from simcounsel.chance import seed_of
from simcounsel.errors import SpecError
from simcounsel.llm.question import Ask, Facts, Question, ask
from simcounsel.llm.schemas import Limits
from simcounsel.prompts import phrase, render
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.plain_days import plain_routines
from simcounsel.texts.quotes import content
from simcounsel.therapies.course.case_report import CaseReport
from simcounsel.therapies.course.case_schemas import (
    MOST_HISTORY,
    STAGE_BY_STAGE,
    ClientAnswer,
    FeatureAnswer,
    FeaturesAnswer,
    PartAnswer,
    PlanAnswer,
    SessionAnswer,
    ToldAnswers,
)
from simcounsel.therapies.course.withholding import leaks_undisclosed, untold
from simcounsel.therapies.specs.course import (
    MOST_SESSIONS,
    CoursePlan,
    PlannedFact,
    PlannedPart,
    PlannedSession,
    PlannedStage,
)
from simcounsel.therapies.specs.therapy import COURSE_STAGES, Therapy
from simcounsel.therapies.specs.therapy_words import in_language

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
    stages, last = [], 0
    for stage in therapy.stages:
        of = tuple(session for one, session in sessions if one == stage.id)
        last += len(of)
        wanted: tuple[PartAnswer, ...] = getattr(planned.goals, stage.id)
        keep = _kept(report, therapy, facts, last, f"goals of {stage.id}", notes)
        goals = keep(wanted) or tuple(PlannedPart(text=goal) for goal in stage.goals)
        stages.append(PlannedStage(id=stage.id, goals=goals, sessions=of))
    return CoursePlan(
        therapy=therapy.id,
        about=f"From the case report {report.path.name}.",
        stages=tuple(stages),
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
    known = {fact.id for fact in facts if fact.told <= number}
    notes += [
        f"session {number} does not use {one!r}: it is told later, or is no fact"
        for one in session.uses
        if one not in known
    ]

    def kept(key: str, *parts: PartAnswer) -> tuple[PlannedPart, ...]:
        return _kept(report, therapy, facts, number, f"session {number}, {key}", notes)(parts)

    theme = kept("theme", PartAnswer(text=session.theme))
    return PlannedSession(
        objectives=kept("objectives", *session.objectives),
        links=kept("links", *session.links),
        material=kept("material", *session.material),
        psychoeducation=kept("psychoeducation", *session.psychoeducation),
        theme=theme[0].text if theme else therapy.stage(session.stage).name,
        rationale=next(iter(kept("rationale", *filter(None, [session.rationale]))), None),
        uses=tuple(one for one in session.uses if one in known),
    )


def _kept(
    report: CaseReport,
    therapy: Therapy,
    facts: tuple[PlannedFact, ...],
    number: int,
    where: str,
    notes: list[str],
) -> Callable[[tuple[PartAnswer, ...]], tuple[PlannedPart, ...]]:
    """What of some parts may be planned for a session: nothing that is told after it."""
    told = {fact.id: fact.told for fact in facts}
    later = untold((fact for fact in facts if fact.told > number), (report.until(number),), therapy)

    def keep(parts: tuple[PartAnswer, ...]) -> tuple[PlannedPart, ...]:
        found = []
        for part in parts:
            ids = tuple(one for one in dict.fromkeys(part.rests_on or ()) if one in told)
            if any(told[one] > number for one in ids) or leaks_undisclosed(part.text, later):
                notes.append(f"{where}: left out, since it is told later: {part.text}")
            else:
                by = None if part.rests_on is None else ids
                found.append(PlannedPart(text=part.text, rests_on=by))
        return tuple(found)

    return keep


A = TypeVar("A", bound=Answer)
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, kw_only=True)
class CaseClientFacts(Facts):
    """Who the client of a case report is."""

    opening: str
    """What is above the first session; '' when nothing does."""


@dataclass(frozen=True, kw_only=True)
class CaseToldFacts(Facts):
    """What the client of a case report told, and in which session."""

    sessions: tuple[tuple[int, str], ...]
    """Number and text of each session."""


@dataclass(frozen=True, kw_only=True)
class CasePlanFacts(Facts):
    """The course that a case report tells."""

    sessions: int
    """How many the report has."""
    therapy: Therapy
    facts: tuple[PlannedFact, ...]
    """What was told in them."""

    @property
    def limits(self) -> Limits:
        """Each stage, in their order."""
        return STAGE_BY_STAGE


@dataclass(frozen=True, kw_only=True)
class CaseTalkFacts(Facts):
    """The dialogue that a case report quotes."""

    parts: tuple[str, ...]
    """The report without hindsight: what is above the first session, and each session."""


@dataclass(frozen=True, kw_only=True)
class CaseReading:
    """What a report came to."""

    client: dict[str, Any]
    """The client's file as data."""
    plan: CoursePlan
    talk: tuple[FeatureAnswer, ...]
    notes: tuple[str, ...]
    """What of a model's answers could not be taken, and why."""


def read_case(report: CaseReport, therapy: Therapy, seed: int = 1) -> Ask[CaseReading]:
    """Four questions: the client, the facts, the plan, the talk. SpecError when one of them could
    not be answered. A shipped therapy speaks the report's language.
    """
    therapy = in_language(therapy, language_of(report.text))
    notes = [
        f"left out as hindsight, since its heading belongs to no session: {heading}"
        for heading in report.hindsight
    ]
    told_parts = [(number, text) for number, text in report.parts if number is not None]
    sessions = tuple((number, text) for number, text in told_parts if number)
    client = yield from _asked(
        report,
        "case_client",
        ClientAnswer,
        CaseClientFacts(opening=" ".join(text for number, text in told_parts if number == 0)),
        seed,
        case=report.usable,
    )
    told = yield from _asked(
        report,
        "case_facts",
        ToldAnswers,
        CaseToldFacts(sessions=sessions),
        seed,
        case=report.usable,
    )
    facts = facts_of(report, told, notes)
    plan = yield from _planned(report, therapy, facts, seed, notes)
    talk = yield from _asked(
        report,
        "case_talk",
        FeaturesAnswer,
        CaseTalkFacts(parts=tuple(text for _, text in told_parts)),
        seed,
        case=report.usable,
    )
    features = _features(report, talk, notes)
    return CaseReading(
        client=_client(report, client, features, lived(told, facts, client, notes)),
        plan=plan,
        talk=features,
        notes=tuple(notes),
    )


def _planned(
    report: CaseReport,
    therapy: Therapy,
    facts: tuple[PlannedFact, ...],
    seed: int,
    notes: list[str],
) -> Ask[CoursePlan]:
    language = language_of(report.text)
    goals = "\n".join(
        f"{stage.id} ({stage.name}): " + " ".join(stage.goals) for stage in therapy.stages
    )
    planned = yield from _asked(
        report,
        "case_plan",
        PlanAnswer,
        CasePlanFacts(
            sessions=len({number for number, _ in report.parts if number}),
            therapy=therapy,
            facts=facts,
        ),
        seed,
        order_problem,
        case=report.usable,
        therapy=therapy.name,
        goals=goals,
        facts="\n".join(
            phrase("case_words", "told", language, id=one.id, session=one.told, text=one.text)
            for one in facts
        ),
    )
    return plan_of(report, therapy, planned, facts, notes)


def language_of(text: str) -> str:
    """The language in which a report is asked about: Chinese where it holds Chinese characters."""
    return "zh" if CHINESE.search(text) else "en"


def _asked(
    report: CaseReport,
    purpose: str,
    schema: type[A],
    about: Facts,
    seed: int,
    check: Callable[[A | None], str | None] | None = None,
    **slots: str,
) -> Ask[A]:
    """One of the questions. SpecError when it could not be answered."""
    language = language_of(report.text)
    system, prompt = render(purpose, language, **slots)
    reply = yield from ask(
        Question[A | None](
            verb="fill",
            purpose=purpose,
            who="case",
            system=system,
            prompt=prompt,
            language=language,
            schema=schema,
            check=check,
            fallback=None,
            temperature=0.2,
            max_tokens=6000,
            seed=seed_of(seed, report.text, purpose),
            facts=about,
        )
    )
    if reply.value is None:
        raise SpecError(
            [
                f"{report.path}: the model's answer to `{purpose}` could not be used"
                f" ({reply.problem}); try again, or a more capable model"
            ]
        )
    return reply.value


def _features(
    report: CaseReport, talk: FeaturesAnswer, notes: list[str]
) -> tuple[FeatureAnswer, ...]:
    """Only lines that are in the report, and only where some are left."""
    found = []
    for feature in talk.features:
        turns = tuple(turn for turn in feature.turns if report.told_in(turn.text) is not None)
        notes += [
            f"left out of the talk, since it is not in the report: “{turn.text}”"
            for turn in feature.turns
            if turn not in turns
        ]
        if turns:
            found.append(feature.model_copy(update={"turns": turns}))
    return tuple(found)


def _client(
    report: CaseReport, answer: ClientAnswer, talk: tuple[FeatureAnswer, ...], history: str
) -> dict[str, Any]:
    """The client's file as data. history: all that was lived through before the first session. Of
    the talk it has the style, and as samples only what the client says in that session.
    """
    early = [
        turn.text
        for feature in talk
        for turn in feature.turns
        if turn.who == "client" and report.told_in(turn.text) == 1
    ]
    language = language_of(answer.style)
    stop = "。" if language == "zh" else "."

    def ended(text: str) -> str:
        return text if text.endswith(tuple(".!?。！？”")) else text + stop

    style = ("" if language == "zh" else " ").join(
        [
            ended(answer.style),
            *(ended(feature.style) for feature in talk[:3]),
            *(phrase("course_words", "theirs", language, text=text) for text in early[:4]),
        ]
    )
    data = answer.model_dump(mode="json", exclude={"characteristic", "recent_feeling"}) | {
        "role": "client",
        "history": history,
        "style": style[:3900],
        "portrait": {
            "characteristic": answer.characteristic,
            "recent_feeling": answer.recent_feeling,
        },
        "routines": plain_routines(answer.theme),
    }
    ClientPersona.model_validate(data)
    return data
