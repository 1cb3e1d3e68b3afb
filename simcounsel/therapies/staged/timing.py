"""The clock of a session: the way out when time is nearly up, and before it a question, what the
rest of the time is for, since nobody is cut off in the middle of what they tell.
"""

from itertools import pairwise

from simcounsel.events import Judged, PracticeEvent, Transitioned
from simcounsel.llm.question import Ask, Reply, ask, traced
from simcounsel.therapies.specs.manual import State
from simcounsel.therapies.staged import machine, questions
from simcounsel.therapies.staged.intents import intent_in
from simcounsel.therapies.staged.session import ASKED, GOES_ON, TIME, Session

AN_EXERCISE = 5
"""Own lines that it takes to offer an exercise, to lead through it and to ask how it was."""
LAST_TWO = 2
"""Own lines left, the next one included, from which on the end may be called near."""
STOPS = ("done", "no")
"""Answers that end the session; whatever else they say, they are heard out while there is time."""
NO_TIME = "too little time for an exercise"
NEARLY_UP = "time is nearly up"


def cut_short(now: Session, origin: str, to: str, why: str) -> Transitioned:
    """A transition to the close, or on it, that no verdict led to."""
    return Transitioned(
        who=now.view.me,
        chat=now.view.chat,
        protocol=now.manual.name,
        origin=origin,
        state=to,
        reason=f"broken off: {why}",
        forced=True,
    )


def hurried(now: Session, state: State) -> bool:
    """Whether the rest of the lines is only just enough for the close: the last line where the
    client was not asked yet what the time is for, else the whole way out.
    """
    way, own = machine.way_out(now.manual, state.id), now.view.own_lines_left
    concluding = now.manual.phase_of[state.id] == "conclusion"
    whole = concluding or now.time_for == GOES_ON or not now.heard
    return bool(way) and own <= (min(len(way), LAST_TWO) if whole and now.view.moves else 1)


def left(now: Session, state: State) -> tuple[Transitioned, ...]:
    """Along the way out, as far as it takes to end with the last own line."""
    if not hurried(now, state):
        return ()
    why = "they are taking leave" if now.view.parting else NEARLY_UP
    way = machine.way_out(now.manual, state.id)
    steps = (state.id, *way[: len(way) - now.view.own_lines_left + 1])
    return tuple(cut_short(now, a, machine.move(now.manual, a, b), why) for a, b in pairwise(steps))


def last_chance(now: Session, state: State) -> bool:
    """Whether this is the last own line but one, something was told, and nobody has asked yet what
    the time is for.
    """
    return (
        now.manual.phase_of[state.id] != "conclusion"
        and now.time_for is None
        and bool(now.heard)
        and now.view.own_lines_left == LAST_TWO
    )


def too_late(now: Session) -> tuple[PracticeEvent, ...]:
    """Asked, where an exercise would be offered next and there is no time to go through one."""
    state = now.state
    assert state is not None
    entered = now.events and isinstance(now.events[-1], Transitioned)
    offers = any(now.manual.states[name].exercise == "suggest" for name in (state.id, *state.next))
    enough = len(machine.way_out(now.manual, state.id)) + AN_EXERCISE
    if not entered or not offers or now.view.own_lines_left >= enough:
        return ()
    return (judged(now, state, ASKED, NO_TIME),)


def answered(now: Session, state: State) -> Ask[Session]:
    """What the rest of the time is for, by the client's answer: to the close, or on with it."""
    text = now.heard[-1].text if now.heard else ""
    wish: str | None = intent_in(text, now.view.language)
    reply = None
    if wish is None:
        objective = questions.words(now.view.language)["time_is_for"]
        reply = yield from ask(questions.intent(now, state, ("tell_more", *STOPS), objective))
        wish = reply.value
    if wish not in STOPS:
        return now.with_events((judged(now, state, GOES_ON, f"“{text}”", reply),))
    closing = machine.move(now.manual, state.id, now.manual.closing)
    why = next(e.reason for e in now.here if isinstance(e, Judged) and e.question == TIME)
    return now.with_events(
        (
            judged(now, state, "closes", f"“{text}”", reply),
            cut_short(now, state.id, closing, f"{why}, and they were asked"),
        )
    )


def judged(
    now: Session, state: State, verdict: str, reason: str, reply: Reply[str] | None = None
) -> Judged:
    """What the rest of the time is for, as an event."""
    return Judged(
        who=now.view.me,
        chat=now.view.chat,
        state=state.id,
        question=TIME,
        verdict=verdict,
        by="model" if reply else "rule" if verdict == ASKED else "words",
        reason=reason,
        **(traced(reply) if reply else traced()),
    )
