"""Dialogues out of a run: every finished conversation of a client with a counselor or a
layperson.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from statistics import fmean
from typing import Any

from simcounsel.corpus.courses import session_of, with_earlier
from simcounsel.corpus.dialogues import CourseSession, Dialogue, Origin, Turn, written
from simcounsel.danger.hearing.in_file import dangers_in_file
from simcounsel.events import Reasoned, SessionPlanned
from simcounsel.instruments.record import sessions_of
from simcounsel.intake import whole_characters
from simcounsel.runs.conversation import Conversation, Line
from simcounsel.runs.counts import PROTOCOL
from simcounsel.runs.history import History
from simcounsel.runs.measurements import Measurement
from simcounsel.runs.record import Record
from simcounsel.runs.run import Run
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.residents import ResidentSpec
from simcounsel.therapies.specs.course import course_of

NO_REASONS = frozenset({"drawn", "chosen by the model"})
"""What a policy writes as its reason when it has none in words."""
_SESSION = re.compile(r"after session (\d+)")
Ratings = dict[str, dict[str, float | None]]


def dialogues_of_run(run: Run, *, arm: str | None = None) -> tuple[Dialogue, ...]:
    """In the order in which they began. arm: what the experiment calls the run's condition; else it
    is the world's.

    A conversation that is not over (the run goes on) is left out, and so is one
    between two clients. RunError when the log is damaged.
    """
    history = History.of(run)
    conversations = list(history.conversations())
    residents = {resident.name: resident for resident in run.world.residents}
    measured = list(history.measurements())
    sessions = sessions_of(
        conversations, {resident.name: resident.role for resident in run.world.residents}
    )
    rated = _ratings(measured, sessions)
    origin = Origin(file=run.name, hash=hash_of(run), models=_models(run, measured))
    made = []
    for one in conversations:
        client = _client(one, residents)
        if one.started and one.ended and client is not None:
            ratings = rated.get(one.id, {})
            made.append(
                _dialogue(run, one, history.authors(one), client, residents, ratings, origin, arm)
            )
    return with_earlier(made)


def _client(talk: Conversation, residents: dict[str, ResidentSpec]) -> ResidentSpec | None:
    """The one client of a talk with somebody who is none; None otherwise."""
    clients = [
        residents[who] for who in talk.who if who in residents and residents[who].role == "client"
    ]
    return clients[0] if len(clients) == 1 and talk.lines else None


def _dialogue(
    run: Run,
    talk: Conversation,
    authors: Mapping[int, str],
    client: ResidentSpec,
    residents: dict[str, ResidentSpec],
    ratings: Ratings,
    origin: Origin,
    arm: str | None,
) -> Dialogue:
    persona = client.persona
    assert isinstance(persona, ClientPersona)
    known = [*residents, *(one.name for one in persona.people)]
    session, plan = _session(run, talk, residents)
    turns = tuple(_turn(line, authors[line.message], residents) for line in talk.lines)
    protected = (turn.protocol for turn in turns)
    return Dialogue(
        sessions=(session,) if session else (),
        plan=plan if session else (),
        id=f"{run.name}/{talk.id}",
        client=persona.name,
        turns=turns,
        objectives=tuple(
            point
            for event in talk.course
            if isinstance(event, SessionPlanned)
            for point in event.objective
        ),
        theme=persona.theme,
        situation=situation_of(persona),
        dangers=dangers_in_file(persona, run.world.language) if any(protected) else (),
        condition=arm or run.world.condition,
        origin=origin.model_copy(update={"chat": talk.id}),
        ratings=ratings,
        names=tuple(dict.fromkeys(known)),
        places=tuple(place.name for top in run.world.places for _, place in top.walk()),
    )


def _session(
    run: Run, talk: Conversation, residents: dict[str, ResidentSpec]
) -> tuple[CourseSession | None, tuple[str, ...]]:
    """What was planned and kept of a session of a course, and the plan of the course."""
    policies = (residents[who].policy for who in talk.who if who in residents)
    given = (policy.given() for policy in policies if policy)
    told: dict[str, Any] = next((one for one in given if one.get("therapy")), {})
    therapy = told.get("therapy")
    made = session_of(
        f"{run.name}/{' and '.join(sorted(talk.who))}", talk.course, therapy.id if therapy else None
    )
    if made is None or therapy is None:
        return made, ()
    plan = course_of(therapy, told.get("sessions"), told.get("plan"))
    return made, tuple(one.theme for one in plan.sessions)


def _turn(line: Line, author: str, residents: dict[str, ResidentSpec]) -> Turn:
    said, decided = line.event, line.decided
    role = residents[said.who].role
    move = decided.move if decided else None
    reason = decided.reason if decided and decided.reason not in NO_REASONS else None
    text = whole_characters(said.text)
    by_protocol = decided is not None and decided.policy == PROTOCOL
    protected = by_protocol and role == "counselor" and said.source != "human"
    thought = [event for event in line.practice if isinstance(event, Reasoned)]
    return Turn(
        speaker=role,
        text=text,
        stage=move if role == "client" else None,
        skill=move if role != "client" else None,
        skills=tuple(one for event in thought for one in event.skills),
        reasoning=reason if role != "client" else None,
        assessment=thought[-1].assessment or None if thought else None,
        client_state=thought[-1].client_state or None if thought else None,
        emotion=said.emotion,
        intensity=said.intensity,
        source=written(said.source, author),
        protocol=PROTOCOL if protected else None,
    )


def situation_of(persona: ClientPersona) -> str:
    """A client's file in words: who it is, what it has been through, what it believes and does,
    whom it knows.
    """
    people = " ".join(f"{one.name}: {one.relation}. {one.note}".strip() for one in persona.people)
    parts = (
        f"{persona.name}, {persona.age}, {persona.gender}, {persona.occupation}.",
        persona.background,
        persona.history,
        " ".join(persona.inner),
        " ".join(persona.coping_strategies),
        " ".join(f"{one.situation} {one.thought}" for one in persona.situations),
        people,
    )
    return "\n".join(part.strip() for part in parts if part.strip())


def _ratings(measured: list[Measurement], sessions: Mapping[str, list[str]]) -> dict[str, Ratings]:
    """By conversation, instrument and score: the mean of what judges gave. What the embedded or the
    scripted model gave counts only where nobody else measured, since it measures nothing.
    """
    found: dict[tuple[str, str], list[Measurement]] = {}
    for one in measured:
        for chat in _about(one, sessions):
            found.setdefault((chat, one.measured.instrument), []).append(one)
    rated: dict[str, Ratings] = {}
    for (chat, instrument), given in found.items():
        counted = [one for one in given if not one.trial] or given
        rated.setdefault(chat, {})[instrument] = _scores(counted)
    return rated


def _about(one: Measurement, sessions: Mapping[str, list[str]]) -> Iterator[str]:
    """The conversations that a measurement is about: those it names; for a self-report after a
    session, that session.
    """
    yield from one.measured.chats
    session = _SESSION.fullmatch(one.measured.point)
    had = sessions.get(one.measured.who, [])
    if not one.measured.chats and session and 1 <= int(session.group(1)) <= len(had):
        yield had[int(session.group(1)) - 1]


def _scores(given: list[Measurement]) -> dict[str, float | None]:
    values: dict[str, list[float]] = {}
    for one in given:
        for score in one.measured.scores:
            values.setdefault(score.name, []).extend(() if score.value is None else (score.value,))
    return {name: fmean(listed) if listed else None for name, listed in values.items()}


def _models(run: Run, measured: list[Measurement]) -> dict[str, str]:
    """Which model did what; `judge` names all who rated."""
    judges = sorted(
        {one.judge for one in measured if one.judge} | {run.manifest.models["judge"]} - {""}
    )
    return dict(run.manifest.models) | {"judge": ", ".join(judges)}


def hash_of(run: Record[Any]) -> str:
    """SHA-256 (hex) of a run's log; '' when nothing was logged yet."""
    file = run.folder / "events.jsonl"
    return sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
