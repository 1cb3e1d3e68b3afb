"""A free-text case report into a client's file, a plan and features of the talk.

Nothing is known before it was told: each fact carries the session in which its words stand, or a
later one, no session builds on a later fact, and hindsight is used for nothing.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from simcounsel.agents.tasks import Answer
from simcounsel.chance import seed_of
from simcounsel.errors import SpecError
from simcounsel.llm.question import Ask, Question, ask
from simcounsel.policies.course.report import Report
from simcounsel.policies.course.withholding import foretells, untold
from simcounsel.prompts import render
from simcounsel.specs.course import (
    MOST_SESSIONS,
    CoursePlan,
    PlannedFact,
    PlannedSession,
    PlannedStage,
    default_plan,
)
from simcounsel.specs.patient_psi import PLAIN_DAY, PLAIN_ROUTINES
from simcounsel.specs.persona import Acquaintance, Belief, ClientPersona, Situation
from simcounsel.specs.therapy import COURSE_STAGES, CourseStage, Therapy

Theme = Literal[
    "insomnia", "anxiety", "grief", "work stress", "depression", "family conflict", "loneliness"
]
Short = Annotated[str, Field(min_length=2, max_length=500)]


class ClientAnswer(Answer):
    """A client as they were before the first session."""

    name: Annotated[
        str,
        Field(
            max_length=60,
            pattern=r"^[^\W\d_][\w .'’-]*$",
            description="first and last name, invented if the report has none",
        ),
    ]
    age: Annotated[int, Field(ge=16, le=110)]
    gender: Short
    pronouns: Literal["she/her", "he/him", "they/them"]
    culture: Short
    occupation: Short
    theme: Theme
    background: Annotated[str, Field(min_length=10, max_length=2000)]
    history: Annotated[str, Field(min_length=10, max_length=2500)]
    style: Annotated[str, Field(min_length=5, max_length=1000, description="how the client speaks")]
    habits: Annotated[tuple[Short, ...], Field(min_length=1, max_length=8)]
    people: Annotated[tuple[Acquaintance, ...], Field(max_length=8)] = ()
    characteristic: Annotated[str, Field(min_length=10, max_length=1500)]
    recent_feeling: Annotated[str, Field(min_length=10, max_length=1000)]
    core_beliefs: Annotated[tuple[Belief, ...], Field(min_length=1, max_length=5)]
    intermediate_beliefs: Annotated[tuple[Belief, ...], Field(min_length=1, max_length=6)]
    coping_strategies: Annotated[tuple[Short, ...], Field(min_length=1, max_length=6)]
    situations: Annotated[tuple[Situation, ...], Field(min_length=4, max_length=8)]


class ToldAnswer(Answer):
    """A fact, words of the report that say it, and the session in which the client told it."""

    text: Short
    quote: Short
    told: Annotated[int, Field(ge=1, le=MOST_SESSIONS)]


class ToldAnswers(Answer):
    """What the client told, in order."""

    facts: Annotated[tuple[ToldAnswer, ...], Field(min_length=1, max_length=40)]


class SessionAnswer(Answer):
    """One session of the plan."""

    stage: CourseStage
    theme: Short
    links: Annotated[tuple[Short, ...], Field(max_length=6)] = ()
    uses: Annotated[tuple[str, ...], Field(max_length=12)] = ()
    material: Annotated[tuple[Short, ...], Field(max_length=6)] = ()
    rationale: Annotated[str, Field(max_length=600)] = ""
    psychoeducation: Annotated[tuple[Short, ...], Field(max_length=4)] = ()


class PlanAnswer(Answer):
    """The whole course."""

    sessions: Annotated[tuple[SessionAnswer, ...], Field(min_length=5, max_length=MOST_SESSIONS)]


class TurnAnswer(Answer):
    """A line of the report's own dialogue."""

    who: Literal["client", "counselor"]
    text: Short


class FeatureAnswer(Answer):
    """A stretch of dialogue that stands in the report. style: what it shows of wording, sentences
    and taking turns.
    """

    context: Short
    turns: Annotated[tuple[TurnAnswer, ...], Field(min_length=1, max_length=10)]
    style: Short


class FeaturesAnswer(Answer):
    """Stretches of dialogue; none where the report quotes none."""

    features: Annotated[tuple[FeatureAnswer, ...], Field(max_length=8)] = ()


@dataclass(frozen=True, kw_only=True)
class CaseReading:
    """What a report came to. notes: what of a model's answers could not be taken, and why."""

    client: dict[str, Any]
    plan: CoursePlan
    talk: tuple[FeatureAnswer, ...]
    notes: tuple[str, ...]


def read_case(report: Report, therapy: Therapy, seed: int = 1) -> Ask[CaseReading]:
    """Four questions: the client, the facts, the plan, the talk. SpecError when one of them could
    not be answered.
    """
    notes = [
        f"left out as hindsight, since its heading belongs to no session: {heading}"
        for heading in report.hindsight
    ]
    rough = _Rough(report, therapy)
    client: ClientAnswer = yield from _asked(
        report, "case_client", ClientAnswer, rough.client(), seed, case=report.before
    )
    told: ToldAnswers = yield from _asked(
        report, "case_facts", ToldAnswers, rough.facts(), seed, case=report.usable
    )
    facts = _facts(report, told, notes)
    goals = "\n".join(
        f"{stage.id} ({stage.name}): " + " ".join(stage.goals) for stage in therapy.stages
    )
    planned: PlanAnswer = yield from _asked(
        report,
        "case_plan",
        PlanAnswer,
        rough.plan(facts),
        seed,
        case=report.usable,
        therapy=therapy.name,
        goals=goals,
        facts="\n".join(f"{fact.id} (told in session {fact.told}): {fact.text}" for fact in facts),
        check=_order_problem,
    )
    plan = _plan(report, therapy, planned, facts, notes)
    talk: FeaturesAnswer = yield from _asked(
        report, "case_talk", FeaturesAnswer, rough.talk(), seed, case=report.usable
    )
    features = _features(report, talk, notes)
    return CaseReading(
        client=_client(report, client, features), plan=plan, talk=features, notes=tuple(notes)
    )


def _asked(
    report: Report,
    purpose: str,
    model: type[Answer],
    rough: Answer,
    seed: int,
    *,
    check: Any = None,
    **slots: str,
) -> Ask[Any]:
    system, prompt = render(purpose, **slots)
    reply = yield from ask(
        Question(
            verb="fill",
            purpose=purpose,
            who="case",
            system=system,
            prompt=prompt,
            schema=model,
            check=check,
            fallback=None,
            temperature=0.2,
            max_tokens=6000,
            seed=seed_of(seed, report.text, purpose),
            hints={"rough": rough},
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


def _facts(report: Report, told: ToldAnswers, notes: list[str]) -> tuple[PlannedFact, ...]:
    """Facts whose words stand in the report, each told where they stand, or later where the answer
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


def _order_problem(answer: PlanAnswer) -> str | None:
    order = [COURSE_STAGES.index(session.stage) for session in answer.sessions]
    right = order == sorted(order) and set(order) == {0, 1, 2}
    return (
        None
        if right
        else f"the stages are {', '.join(COURSE_STAGES)}, in this order, each at least once"
    )


def _plan(
    report: Report,
    therapy: Therapy,
    planned: PlanAnswer,
    facts: tuple[PlannedFact, ...],
    notes: list[str],
) -> CoursePlan:
    """The plan, rid of what it could not yet know."""
    sessions: list[tuple[str, PlannedSession]] = []
    for number, session in enumerate(planned.sessions, 1):
        later = untold(
            (fact for fact in facts if fact.told > number), (report.until(number),), therapy
        )
        known = {fact.id for fact in facts if fact.told <= number}
        for one in session.uses:
            if one not in known:
                notes.append(
                    f"session {number} does not use {one!r}: it is told later, or is no fact"
                )
        fields = {}
        for key in ("links", "material", "psychoeducation"):
            texts = getattr(session, key)
            fields[key] = tuple(text for text in texts if not foretells(text, later))
            notes += [
                f"session {number}, {key}: left out, since it is told later: {text}"
                for text in texts
                if text not in fields[key]
            ]
        theme, rationale = (
            "" if foretells(text, later) else text for text in (session.theme, session.rationale)
        )
        notes += [
            f"session {number}, {key}: left out, since it is told later: {text}"
            for key, text, kept in (
                ("theme", session.theme, theme),
                ("rationale", session.rationale, rationale),
            )
            if text != kept
        ]
        sessions.append(
            (
                session.stage,
                PlannedSession(
                    theme=theme or therapy.stage(session.stage).name,
                    rationale=rationale,
                    uses=tuple(one for one in session.uses if one in known),
                    **fields,
                ),
            )
        )
    by_stage = {
        stage.id: tuple(session for one, session in sessions if one == stage.id)
        for stage in therapy.stages
    }
    stages = tuple(
        PlannedStage(id=stage.id, goals=stage.goals, sessions=by_stage[stage.id])
        for stage in therapy.stages
    )
    return CoursePlan(
        therapy=therapy.id,
        about=f"From the case report {report.path.name}.",
        stages=stages,
        facts=facts,
    )


def _features(report: Report, talk: FeaturesAnswer, notes: list[str]) -> tuple[FeatureAnswer, ...]:
    """Only lines that stand in the report, and only where some are left."""
    found = []
    for feature in talk.features:
        turns = tuple(turn for turn in feature.turns if report.told_in(turn.text) is not None)
        notes += [
            f"left out of the talk, since it does not stand in the report: “{turn.text}”"
            for turn in feature.turns
            if turn not in turns
        ]
        if turns:
            found.append(feature.model_copy(update={"turns": turns}))
    return tuple(found)


def _client(
    report: Report, answer: ClientAnswer, talk: tuple[FeatureAnswer, ...]
) -> dict[str, Any]:
    """The client's file as data. Of the talk it has the style, and as samples only what the client
    says in the first session.
    """
    early = [
        turn.text
        for feature in talk
        for turn in feature.turns
        if turn.who == "client" and report.told_in(turn.text) == 1
    ]
    style = " ".join(
        [
            answer.style,
            *(feature.style for feature in talk[:3]),
            *(f"Sentences of theirs: “{text}”" for text in early[:4]),
        ]
    )
    data = answer.model_dump(mode="json", exclude={"characteristic", "recent_feeling"}) | {
        "role": "client",
        "style": style[:3900],
        "portrait": {
            "characteristic": answer.characteristic,
            "recent_feeling": answer.recent_feeling,
        },
        "days": [[{"at": at, "do": do} for at, do in PLAIN_DAY]],
        "routines": [
            {"since": s, "until": u, "place": p, "kind": k, "do": d}
            for s, u, p, k, d in PLAIN_ROUTINES
        ],
    }
    ClientPersona.model_validate(data)
    return data


class _Rough:
    """Answers by rule, for the scripted model: sentences as they stand, in their sessions. Not for
    use.
    """

    def __init__(self, report: Report, therapy: Therapy) -> None:
        self.report, self.therapy = report, therapy

    def client(self) -> ClientAnswer:
        """A file in which nothing is stated."""
        situation = Situation(
            situation="not stated",
            thought="not stated",
            emotion="neutral",
            intensity=5,
            behavior="not stated",
        )
        return ClientAnswer(
            name="Alex Rough",
            age=40,
            gender="not stated",
            pronouns="they/them",
            culture="not stated",
            occupation="not stated",
            theme="depression",
            background=self._sentences(0)[0][:900],
            history="What came before is not stated.",
            style="plain words",
            habits=("not stated",),
            characteristic="Nothing is stated.",
            recent_feeling="Nothing is stated.",
            core_beliefs=(Belief(kind="helpless", belief="not stated"),),
            intermediate_beliefs=(Belief(kind="rule", belief="not stated"),),
            coping_strategies=("not stated",),
            situations=(situation,) * 4,
        )

    def facts(self) -> ToldAnswers:
        """The first two sentences of each session."""
        numbers = [number for number, _ in self.report.parts if number and number <= MOST_SESSIONS]
        return ToldAnswers(
            facts=tuple(
                ToldAnswer(text=text[:480], quote=text[:480], told=number)
                for number in numbers
                for text in self._sentences(number)[:2]
            )[:40]
        )

    def plan(self, facts: tuple[PlannedFact, ...]) -> PlanAnswer:
        """The therapy's own plan, as many sessions as the report has, each with what is told in
        it.
        """
        count = min(
            MOST_SESSIONS, max(5, len({number for number, _ in self.report.parts if number}))
        )
        stages = [
            (stage.id, session)
            for stage in default_plan(self.therapy, count).stages
            for session in stage.sessions
        ]
        return PlanAnswer(
            sessions=tuple(
                SessionAnswer(
                    stage=stage,
                    theme=session.theme,
                    uses=tuple(fact.id for fact in facts if fact.told == number),
                )
                for number, (stage, session) in enumerate(stages, 1)
            )
        )

    def talk(self) -> FeaturesAnswer:
        """What stands in quotation marks."""
        quotes = [
            quote
            for quote in re.findall(r"[“\"]([^”\"]{12,300})[”\"]", self.report.usable)
            if self.report.told_in(quote)
        ]
        features = [
            FeatureAnswer(
                context="not stated",
                turns=(TurnAnswer(who="client", text=quote),),
                style="not stated",
            )
            for quote in quotes[:4]
        ]
        return FeaturesAnswer(features=tuple(features))

    def _sentences(self, number: int) -> list[str]:
        text = " ".join(part for one, part in self.report.parts if one == number)
        text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
        return [" ".join(one.split()) for one in re.findall(r"[^.!?]{12,}[.!?]", text)] or [
            "not stated at all"
        ]
