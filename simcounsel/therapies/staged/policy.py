"""`staged`: each turn, what was heard is judged, the manual moves on or stays, and the agent of the
state that is reached speaks.

The verdict on the client's last message: may the session move on, and where to.
"""

import math
from typing import ClassVar, Literal

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.events import Candidate, Judged, Noted, PracticeEvent, Retrieved, Transitioned
from simcounsel.llm.question import Ask, Reply, ask, traced
from simcounsel.policies.prompt_scope import PromptScope
from simcounsel.therapies.specs.exercises import Exercises
from simcounsel.therapies.specs.manual import Manual, State
from simcounsel.therapies.staged import machine, questions, timing
from simcounsel.therapies.staged.exercises import WIDER, cues_in, fitting
from simcounsel.therapies.staged.intents import intent_in
from simcounsel.therapies.staged.session import ASKED, CONTRAINDICATION, Session
from simcounsel.therapies.staged.speaking import decision_of

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


NOTE_EVERY = 3
"""Client messages after which the notes are brought up to date."""


class Staged:
    """Leads a session through a manual's states. It keeps nothing: where a session stands is what
    its events say.
    """

    name: ClassVar[str] = "staged"

    def __init__(
        self,
        manual: Manual,
        told: PromptScope | None = None,
        *,
        notes: bool = True,
        exercises: Exercises | None = None,
    ) -> None:
        self.manual = manual
        self.told = told or PromptScope()
        self.notes = notes
        self.exercises = exercises

    def decide(self, view: TalkView) -> Ask[Decision]:
        """Notes first, then what the last message changes, then an exercise where one is to be
        suggested.
        """
        now = Session(manual=self.manual, view=view, catalogue=self.exercises)
        now = now.with_events(heard_against(now))
        if self.notes:
            now = now.with_events((yield from _noted(now, NOTE_EVERY)))
        now = yield from _moved(now)
        now = yield from _routed(now)
        if now.time_for is None:
            now = now.with_events(timing.too_late(now))
        state = now.state
        assert state is not None
        if now.time_for is None and state.exercise and _wants_choice(now, state):
            now = now.with_events((yield from choose_exercise(now)))
        return self.told.of(decision_of(now, state), view.language)

    def conclude(self, view: TalkView) -> Ask[tuple[PracticeEvent, ...]]:
        """The notes of what was said after the last ones."""
        if not self.notes:
            return ()
        now = Session(manual=self.manual, view=view, catalogue=self.exercises)
        return (yield from _noted(now, 1))


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
    """The session begun, one verdict further, asked what its last lines are for, or on its way
    out.
    """
    state = now.state
    if state is None:
        now = now.with_events((_begun(now),))
        state = now.state
        assert state is not None
    elif not timing.hurried(now, state):
        if now.time_for is not None:
            return (yield from timing.answered(now, state))
        if timing.last_chance(now, state):
            return now.with_events((timing.judged(now, state, ASKED, timing.NEARLY_UP),))
        return (yield from _judged(now, state))
    return now.with_events(timing.left(now, state))


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
    now: Session, origin: str | None, to: str, reason: str, *, resumed: bool = False
) -> Transitioned:
    return Transitioned(
        who=now.view.me,
        chat=now.view.chat,
        protocol=now.manual.name,
        origin=origin,
        state=to,
        reason=reason,
        resumed=resumed,
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


def heard_against(now: Session) -> tuple[Judged, ...]:
    """Contraindications in the client's lines and in the notes that were not heard before, each
    with the words that suggest it.

    They are events, so that they hold in every later session, where the lines themselves are no
    longer known.
    """
    view = now.view
    known, before = now.exercises, set(now.against)
    state = now.state.id if now.state else now.manual.start.id
    found: dict[str, str] = {}
    for text in (*(line.text for line in view.lines if line.who != view.me), now.notes):
        found |= {
            name: cue
            for name, cue in cues_in(text, known, view.language)
            if name not in before | set(found)
        }
    return tuple(
        Judged(
            who=view.me,
            chat=view.chat,
            state=state,
            question=CONTRAINDICATION,
            verdict=name,
            by="words",
            reason=f"“{cue}”",
        )
        for name, cue in found.items()
    )


def choose_exercise(now: Session) -> Ask[tuple[PracticeEvent, ...]]:
    """Filtered by day, stage, contraindications and what was done; of what is left the model takes
    one. Of nothing, none.
    """
    fit = fitting(
        now.exercises,
        day=now.day,
        against=tuple(now.against),
        earlier=now.offered_before,
        here=now.offered_here,
        danger=now.danger,
    )
    if not fit.kept:
        reason = (
            f"danger was assessed as {now.danger}"
            if now.danger
            else "nothing is left that may be offered"
        )
        return (_retrieved(now, fit.candidates, (), reason),)
    if len(fit.kept) == 1:
        return (
            _retrieved(now, fit.candidates, (fit.kept[0].id,), "the only one that may be offered"),
        )
    reply = yield from ask(questions.exercise(now, fit.kept))
    reason = (
        reply.notes.get("why")
        or reply.problem
        or "chosen by the model, by what the client feels and the notes"
    )
    return (
        _retrieved(
            now,
            fit.candidates,
            (reply.value,),
            f"{reason}; {WIDER[fit.wider]}" if fit.wider else reason,
            reply,
        ),
    )


def _retrieved(
    now: Session,
    candidates: tuple[Candidate, ...],
    chosen: tuple[str, ...],
    reason: str,
    *replies: Reply[str],
) -> Retrieved:
    return Retrieved(
        who=now.view.me,
        chat=now.view.chat,
        of="exercise",
        candidates=candidates,
        chosen=chosen,
        reason=reason,
        **traced(*replies),
    )
