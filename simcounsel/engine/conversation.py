"""Turns between two minds until a stop rule: somebody takes leave, or the turn limit is reached."""

from typing import Literal

from simcounsel.agents.talk import Decision, TalkLine
from simcounsel.engine.aftermath import Talked, take_away
from simcounsel.engine.encounters import SESSION_MINUTES
from simcounsel.engine.listening import Assess, around
from simcounsel.engine.talk import OpenTalk, Side
from simcounsel.events import (
    PRACTICE,
    Answered,
    Assessed,
    ConversationEnded,
    ConversationStarted,
    Decided,
    Event,
    Recalled,
    Said,
    as_event,
)
from simcounsel.llm.question import Ask
from simcounsel.policies.policy import Holding
from simcounsel.safety.in_file import dangers_in_file
from simcounsel.specs.persona import ClientPersona


def converse(
    first: Side,
    second: Side,
    started: ConversationStarted,
    max_turns: int,
    assess: Assess | None = None,
    minutes: int = SESSION_MINUTES,
    *,
    at_once: bool = False,
) -> Ask[Talked]:
    """Talk, `first` beginning; then each takes away its own. assess: what is done with each
    client's line after it was said; None: nothing. minutes: how long it lasts for the two. at_once:
    whether the detector tells at the end what was left open where nothing was done on the way.

    When somebody takes leave the other still answers, and it ends; the last line that the limit
    allows is a leave-taking as well. A policy may hold a conversation that must not end. Where a
    human who takes part says nothing in time it ends there, and nothing is said in their name.
    """
    names = (first.name, second.name)
    talk = OpenTalk(
        started=started,
        max_turns=max_turns,
        minutes=minutes,
        minute=first.scene.minute,
        assess=assess,
        at_once=at_once,
        moves={name: [] for name in names},
        own={name: [] for name in names},
    )
    events: list[Event] = [started]
    speaker, listener = first, second
    while len(talk.lines) < talk.limit:
        events += yield from _turn(talk, speaker, listener)
        if talk.silent or talk.leaver not in (None, speaker.name):
            break
        speaker, listener = listener, speaker
    talk.over = True
    events.append(_ended(talk, first, second))
    if not talk.lines:  # the one who was to begin said nothing: there is nothing to take away
        return Talked(events=tuple(events), drafts=dict.fromkeys(names, ()))
    return (yield from take_away(talk, first, second, events))


def _ended(talk: OpenTalk, first: Side, second: Side) -> ConversationEnded:
    cause: Literal["goodbye", "limit", "left"] = "goodbye" if talk.leaver else "limit"
    if talk.silent:
        cause = "left"
    open_ = talk.left_open(first, second).and_also(talk.left_open(second, first))
    return ConversationEnded(
        chat=talk.started.chat,
        cause=cause,
        by=talk.silent or talk.leaver,
        messages=len(talk.lines),
        open_danger=open_.level,
        open_kinds=open_.kinds,
        until=talk.until,
    )


def _turn(talk: OpenTalk, speaker: Side, listener: Side) -> Ask[list[Event]]:
    """One line: decide, recall, speak; and what is heard of danger in it."""
    view = talk.view(speaker, listener)
    decision = yield from speaker.policy.decide(view)
    spoken = yield from speaker.mind.speak(speaker.scene, view, decision)
    if spoken.silent:
        talk.silent = speaker.name
        return []
    decision = spoken.decision or decision
    line, chat = spoken.line, talk.started.chat
    said = Said(
        chat=chat,
        message=len(talk.lines) + 1,
        who=speaker.name,
        to=listener.name,
        text=line.say,
        emphasis=spoken.emphasis,
        emotion=line.emotion,
        intensity=line.intensity,
        poignancy=line.poignancy,
        source=spoken.source,
        calls=spoken.calls,
        fallback=spoken.fallback,
    )
    kept = tuple(as_event(event) for event in decision.events)
    decided = _decided(talk, speaker, decision, kept)
    lived = tuple(as_event(event) for event in spoken.events)
    talk.said.append(said)
    talk.own[speaker.name] += (event for event in kept if isinstance(event, PRACTICE))
    talk.own[speaker.name] += (event for event in lived if isinstance(event, PRACTICE))
    talk.came_to_mind.setdefault(speaker.name, []).append(
        frozenset(hit.id for event in lived if isinstance(event, Recalled) for hit in event.hits)
    )
    talk.asked[speaker.name] = decision.asks
    if decision.holds:
        talk.hold(speaker.name)
    talk.moves[speaker.name].append((decision.move, decision.policy))
    talk.lines.append(
        TalkLine(
            who=speaker.name,
            text=line.say,
            emphasis=spoken.emphasis,
            emotion=line.emotion,
            intensity=line.intensity,
        )
    )
    heard = yield from _assess(talk, speaker, listener, said)
    if line.wish == "say goodbye" and talk.leaver is None:
        talk.leaver = speaker.name
    return [*kept, decided, *lived, said, *heard]


def _decided(talk: OpenTalk, speaker: Side, decision: Decision, kept: tuple[Event, ...]) -> Decided:
    """The decision rests on its own calls and on those of what was written on the way to it."""
    written = [event for event in kept if isinstance(event, Answered)]
    calls = (*decision.calls, *(key for event in written for key in event.calls))
    return Decided(
        who=speaker.name,
        chat=talk.started.chat,
        policy=decision.policy or speaker.policy.name,
        move=decision.move,
        options=decision.options,
        reason=decision.reason,
        calls=tuple(dict.fromkeys(calls)),
        fallback=decision.fallback or any(event.fallback for event in written),
    )


def _assess(talk: OpenTalk, speaker: Side, listener: Side, said: Said) -> Ask[tuple[Assessed, ...]]:
    """Danger in a client's line. A listener whose policy has to answer it gets another line in any
    case.
    """
    if talk.assess is None or speaker.mind.resident.spec.role != "client":
        return ()
    view = talk.view(listener, speaker)
    key = (speaker.scene.seed, speaker.scene.tick, said.chat, said.message)
    persona = speaker.mind.resident.persona
    file = None
    if said.source == "chosen" and isinstance(persona, ClientPersona):
        file = dangers_in_file(persona, view.language)
    surround = around(view, listener.policy, key, talk.asked.get(listener.name), file)
    heard = yield from talk.assess(said, surround)
    if heard is None:
        return ()
    talk.own[listener.name].append(heard)
    if isinstance(listener.policy, Holding) and listener.policy.holds(talk.view(listener, speaker)):
        talk.wait_for(listener.name)
    return (heard,)
