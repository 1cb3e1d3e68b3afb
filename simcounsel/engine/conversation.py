"""Turns between two minds until a stop rule: somebody takes leave, or the turn limit is reached."""

from typing import Literal

from simcounsel.agents.talk import Decision, OwnTurn, TalkLine
from simcounsel.engine.aftermath import Talked, take_away
from simcounsel.engine.encounters import SESSION_MINUTES
from simcounsel.engine.talk import OpenTalk, Side
from simcounsel.events import (
    PRACTICE,
    Answered,
    ConversationEnded,
    ConversationStarted,
    Decided,
    Event,
    Recalled,
    Said,
    as_event,
)
from simcounsel.llm.question import Ask
from simcounsel.policies.listening import HeardLine


def converse(
    first: Side,
    second: Side,
    started: ConversationStarted,
    max_turns: int,
    minutes: int = SESSION_MINUTES,
) -> Ask[Talked]:
    """Talk, `first` beginning; then each takes away its own. minutes: how long it lasts for the
    two.

    When somebody takes leave the other still answers, and it ends; the last line that the limit
    allows is a leave-taking as well. A listener may hold a conversation that must not end. Where a
    human who takes part says nothing in time it ends there, and nothing is said in their name.
    """
    names = (first.name, second.name)
    talk = OpenTalk(
        started=started,
        max_turns=max_turns,
        minutes=minutes,
        minute=first.scene.minute,
        turns={name: [] for name in names},
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
    """One line: decide, recall, speak; and what the listeners note of it."""
    view = talk.view(speaker, listener)
    decision = yield from speaker.policy.decide(view)
    spoken = yield from speaker.mind.speak(speaker.scene, view, decision)
    if spoken.silent or spoken.waits:
        nobody = spoken.silent or talk.waited or bool(talk.lines)
        talk.silent, talk.waited = speaker.name if nobody else None, True
        return list(map(as_event, spoken.events))
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
    talk.asked[speaker.name] = decision.wording.asks
    hits = (hit.id for event in lived if isinstance(event, Recalled) for hit in event.hits)
    talk.turns[speaker.name].append(
        OwnTurn(move=decision.move, decider=decision.policy, came_to_mind=frozenset(hits))
    )
    talk.lines.append(
        TalkLine(
            who=speaker.name,
            text=line.say,
            emphasis=spoken.emphasis,
            emotion=line.emotion,
            intensity=line.intensity,
        )
    )
    if _holds(talk, speaker, listener):
        talk.hold(speaker.name)
    heard = yield from _heard(talk, speaker, listener, said)
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


def _heard(talk: OpenTalk, speaker: Side, listener: Side, said: Said) -> Ask[tuple[Event, ...]]:
    """What `listener`'s listeners note of a line. Where one holds the conversation, `listener` gets
    another line in any case.
    """
    if not listener.listeners:
        return ()
    view, scene = talk.view(listener, speaker), speaker.scene
    line = HeardLine(
        said=said,
        key=(scene.seed, scene.tick, said.chat, said.message),
        asked=talk.asked.get(listener.name),
        file=speaker.mind.resident.persona,
    )
    noted: list[Event] = []
    for one in listener.listeners:
        noted += map(as_event, (yield from one.hear(view, line)))
    talk.own[listener.name] += (event for event in noted if isinstance(event, PRACTICE))
    if _holds(talk, listener, speaker):
        talk.wait_for(listener.name)
    return tuple(noted)


def _holds(talk: OpenTalk, me: Side, other: Side) -> bool:
    """Whether a listener of `me` holds the conversation as of its last line."""
    if not me.listeners:
        return False
    view = talk.view(me, other)
    return any(one.holds(view) for one in me.listeners)
