"""`staged`: each turn, what was heard is judged, the manual moves on or stays, and the agent of the
state that is reached speaks.
"""

from itertools import pairwise
from typing import ClassVar

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.events import Judged, Noted, PracticeEvent, Retrieved, Transitioned
from simcounsel.llm.question import Ask, ask, traced
from simcounsel.policies.staged import machine, questions
from simcounsel.policies.staged.choosing import choose_exercise, heard_against
from simcounsel.policies.staged.session import Session
from simcounsel.policies.staged.speaking import decision_of
from simcounsel.policies.staged.verdicts import judge
from simcounsel.specs.manual import Manual, State

NOTE_EVERY = 3
"""Client messages after which the notes are brought up to date."""

AN_EXERCISE = 5
"""Own lines that it takes to offer an exercise, to lead through it and to ask how it was."""


class Staged:
    """Leads a session through a manual's states. It keeps nothing: where a session stands is what
    its events say.
    """

    name: ClassVar[str] = "staged"

    def __init__(self, manual: Manual) -> None:
        self.manual = manual

    def decide(self, view: TalkView) -> Ask[Decision]:
        """Notes first, then what the last message changes, then an exercise where one is to be
        suggested.
        """
        now = Session(manual=self.manual, view=view)
        now = now.with_events(heard_against(now))
        now = now.with_events((yield from _noted(now, NOTE_EVERY)))
        now = yield from _moved(now)
        now = yield from _routed(now)
        now = now.with_events(_too_late(now))
        state = now.state
        assert state is not None
        if state.exercise and _wants_choice(now, state):
            now = now.with_events((yield from choose_exercise(now)))
        return decision_of(now, state)

    def conclude(self, view: TalkView) -> Ask[tuple[PracticeEvent, ...]]:
        """The notes of what was said after the last ones."""
        return (yield from _noted(Session(manual=self.manual, view=view), 1))


def _noted(now: Session, least: int) -> Ask[tuple[PracticeEvent, ...]]:
    """Notes, if the client has said so many lines since the last ones."""
    view, first = now.view, now.noted_until + 1
    lines = view.lines[first - 1 :]
    if sum(line.who != view.me for line in lines) < least:
        return ()
    reply = yield from ask(questions.note(now, lines))
    return (
        Noted(
            who=view.me,
            chat=view.chat,
            about=view.other,
            text=" ".join(reply.value.split()),
            first=first,
            last=len(view.lines),
            **traced(reply),
        ),
    )


def _moved(now: Session) -> Ask[Session]:
    """The session begun, or one verdict further, or on its way out."""
    state = now.state
    if state is None:
        now = now.with_events((_begun(now),))
        state = now.state
        assert state is not None
    elif not _hurried(now, state):
        return (yield from _judged(now, state))
    return now.with_events(_left(now, state))


def _begun(now: Session) -> Transitioned:
    cut_off = now.cut_off
    reason = "taken up again where it was broken off" if cut_off else "the session begins"
    return _transition(
        now,
        None,
        (cut_off or now.manual.start).id,
        f"{reason}; day {now.day} of {now.manual.days.cap}",
        resumed=cut_off is not None,
    )


def _transition(
    now: Session,
    origin: str | None,
    to: str,
    reason: str,
    *,
    forced: bool = False,
    resumed: bool = False,
) -> Transitioned:
    return Transitioned(
        who=now.view.me,
        chat=now.view.chat,
        protocol=now.manual.name,
        origin=origin,
        state=to,
        reason=reason,
        forced=forced,
        resumed=resumed,
    )


def _cut_short(now: Session, origin: str, to: str, why: str) -> Transitioned:
    """A transition to the close, or on it, that no verdict led to."""
    return _transition(now, origin, to, f"broken off: {why}", forced=True)


# the way out, by the clock


def _hurried(now: Session, state: State) -> bool:
    """Whether the rest of the lines is only just enough for the close."""
    way = machine.way_out(now.manual, state.id)
    return bool(way) and now.view.own_lines_left <= len(way)


def _left(now: Session, state: State) -> tuple[Transitioned, ...]:
    """Along the way out, as far as it takes to end with the last own line."""
    if not _hurried(now, state):
        return ()
    why = "they are taking leave" if now.view.parting else "time is nearly up"
    way = machine.way_out(now.manual, state.id)
    steps = (state.id, *way[: len(way) - now.view.own_lines_left + 1])
    return tuple(
        _cut_short(now, a, machine.move(now.manual, a, b), why) for a, b in pairwise(steps)
    )


# by what was heard


def _judged(now: Session, state: State) -> Ask[Session]:
    verdict, events = yield from judge(now, state)
    now = now.with_events(events)
    target = machine.step(now.manual, state.id, verdict, len(now.heard))
    if target == state.id:
        return now
    reason = next(
        (event.reason for event in reversed(events) if isinstance(event, Judged)),
        "its line was said",
    )
    return now.with_events(
        (
            _transition(
                now,
                state.id,
                target,
                f"{verdict}: {reason}" if verdict != "said" else "its line was said",
            ),
        )
    )


def _too_late(now: Session) -> tuple[Transitioned, ...]:
    """To the close, where an exercise would be offered next and there is no time to go through
    one.
    """
    state = now.state
    assert state is not None
    entered = now.events and isinstance(now.events[-1], Transitioned)
    offers = any(now.manual.states[name].exercise == "suggest" for name in (state.id, *state.next))
    if (
        not entered
        or not offers
        or now.view.own_lines_left >= len(machine.way_out(now.manual, state.id)) + AN_EXERCISE
    ):
        return ()
    closing = machine.move(now.manual, state.id, now.manual.closing)
    return (_cut_short(now, state.id, closing, "too little time for an exercise"),)


def _routed(now: Session) -> Ask[Session]:
    """Past all states in which nothing is said, and those that must be passed by with this
    client.
    """
    while (state := now.state) is not None and (state.internal or barred(now, state)):
        if not state.internal:
            why = f"passed by with {', '.join(barred(now, state))}"
            now = now.with_events(
                (
                    _transition(
                        now,
                        state.id,
                        machine.move(now.manual, state.id, str(state.exit.otherwise)),
                        why,
                    ),
                )
            )
            continue
        reply = yield from ask(questions.valence(now, state))
        mood = reply.value
        reason = reply.notes.get("why") or reply.problem or "judged from the client's last lines"
        now = now.with_events(
            (
                Judged(
                    who=now.view.me,
                    chat=now.view.chat,
                    state=state.id,
                    question="valence",
                    verdict=mood,
                    by="model",
                    reason=reason,
                    **traced(reply),
                ),
            )
        )
        now = now.with_events(
            (
                _transition(
                    now,
                    state.id,
                    machine.step(now.manual, state.id, mood, 0),
                    f"the mood is {mood}",
                ),
            )
        )
    return now


def barred(now: Session, state: State) -> tuple[str, ...]:
    """The contraindications heard from this client for which a state must be passed by."""
    return tuple(name for name in state.not_when if name in now.against)


def _wants_choice(now: Session, state: State) -> bool:
    """Whether an exercise must be chosen: on the way into a suggestion, or where there is none to
    speak of.
    """
    entered = any(
        isinstance(event, Transitioned) and event.state == state.id for event in now.events
    )
    chosen = any(isinstance(event, Retrieved) for event in now.retrieved)
    return (
        (entered or not chosen)
        if state.exercise == "suggest"
        else now.exercise_id is None and not chosen
    )
