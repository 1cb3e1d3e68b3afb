"""The verdict on the client's last message: may the session move on, and where to."""

import math
from typing import Literal

from simcounsel.events import Judged, PracticeEvent
from simcounsel.llm.question import Ask, Reply, ask, traced
from simcounsel.therapies.specs.manual import State
from simcounsel.therapies.staged import machine, questions
from simcounsel.therapies.staged.intents import intent_in
from simcounsel.therapies.staged.session import Session

Verdict = tuple[str, tuple[PracticeEvent, ...]]
TAKEN_AS = {"done": "yes", "yes": "done"}
"""Where a state does not know the one, it is taken as the other: `I'll try it tonight` agrees,
`yes` to an explanation has understood it.
"""
AT_ONCE = ("no", "another", "tell_more")
"""What is heeded before all steps of an exercise were said."""


def judge(now: Session, state: State) -> Ask[Verdict]:
    """One of the machine's verdicts for this state, and how it came about as events."""
    heard = len(now.heard)
    if state.exercise and now.retrieved and not now.retrieved[-1].chosen:
        return _by(now, state, "exercise", machine.CLOSING, "rule", "no exercise fits today")
    if state.exit.when == "said":
        return ("said" if now.said_here else machine.STAY), ()
    if not heard or state.ends:
        return machine.STAY, ()
    if state.exit.when == "sufficient":
        return (yield from _sufficient(now, state, heard))
    return (yield from _intent(now, state, heard))


def _sufficient(now: Session, state: State, heard: int) -> Ask[Verdict]:
    if heard < state.at_least:
        return _by(
            now,
            state,
            "sufficient",
            machine.STAY,
            "rule",
            f"{heard} of at least {state.at_least} messages",
            said="no",
        )
    wish = intent_in(now.heard[-1].text, now.view.language)
    if wish in state.exit.intents:
        return _by(now, state, "intent", str(wish), "words", f"“{now.heard[-1].text}”")
    if heard >= now.most(state):
        return _by(
            now,
            state,
            "sufficient",
            "sufficient",
            "rule",
            f"{heard} messages are as many as it takes",
            said="yes",
        )
    reply = yield from ask(questions.sufficiency(now, state))
    answer = reply.value
    enough = answer.sufficient == "yes"
    verdict, events = _by(
        now,
        state,
        "sufficient",
        "sufficient" if enough else machine.STAY,
        "model",
        answer.reason or "no reason given",
        said=answer.sufficient,
        reply=reply,
    )
    if not enough or not state.exit.intents:
        return verdict, events
    also, more = yield from _asked(now, state)
    return (also if also != machine.STAY else verdict), (*events, *more)


def _intent(now: Session, state: State, heard: int) -> Ask[Verdict]:
    text = now.heard[-1].text
    wish = intent_in(text, now.view.language)
    known = wish if wish in state.exit.intents else TAKEN_AS.get(str(wish))
    needed = max(state.at_least, steps_left_for(now, state))
    if (
        heard >= state.at_least
        and known in state.exit.intents
        and (heard >= needed or known in AT_ONCE)
    ):
        return _by(now, state, "intent", str(known), "words", f"“{text}”")
    if heard < needed and heard < state.at_most:
        return _by(
            now,
            state,
            "intent",
            machine.STAY,
            "rule",
            f"{heard} of at least {needed} messages",
            said="not yet",
        )
    if heard >= state.at_most:
        return _by(
            now, state, "intent", machine.forced(state), "rule", f"unclear after {heard} messages"
        )
    return (yield from _asked(now, state))


def _asked(now: Session, state: State) -> Ask[Verdict]:
    """What the client wants, asked of a model; unclear changes nothing."""
    reply = yield from ask(questions.intent(now, state, state.exit.intents))
    wish = reply.value
    reason = reply.notes.get("why") or reply.problem or f"“{now.heard[-1].text}”"
    return _by(
        now,
        state,
        "intent",
        machine.STAY if wish == questions.UNCLEAR else wish,
        "model",
        reason,
        said=wish,
        reply=reply,
    )


def steps_left_for(now: Session, state: State) -> int:
    """The number of messages that it takes to say all steps of the exercise that is being
    explained; 0 elsewhere.
    """
    name = now.exercise_id
    exercise = (
        now.exercises.named(name) if name and state.exercise == "explain" and state.steps else None
    )
    return math.ceil(len(exercise.steps) / state.steps) if exercise and state.steps else 0


def _by(
    now: Session,
    state: State,
    question: str,
    verdict: str,
    by: Literal["model", "words", "rule"],
    reason: str,
    said: str | None = None,
    reply: Reply[str] | Reply[questions.SufficiencyAnswer] | None = None,
) -> Verdict:
    event = Judged(
        who=now.view.me,
        chat=now.view.chat,
        state=state.id,
        question=question,
        verdict=said or verdict,
        by=by,
        reason=reason,
        **(traced() if reply is None else traced(reply)),
    )
    return verdict, (event,)
