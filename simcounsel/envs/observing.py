"""What a counselor can know: who and when, what was said, what it kept. It is made of names, times
and what was said, and of nothing else.
"""

from collections.abc import Sequence
from typing import Any

from gymnasium import spaces

from simcounsel.agents.talk import TalkView
from simcounsel.clock import date_text
from simcounsel.engine.talk import MORE_WHILE_HELD
from simcounsel.envs.episode import Episode
from simcounsel.envs.past_session import Session
from simcounsel.envs.setting import Setting
from simcounsel.envs.spaces import (
    HEARD_CHARACTERS,
    HISTORY_CHARACTERS,
    KNOWN_CHARACTERS,
    NAME_CHARACTERS,
    fit,
    writing,
)

Observation = dict[str, Any]
Pairs = Sequence[tuple[str, str]]


def observation_space(sessions: int, max_turns: int) -> spaces.Dict:
    """client: the name. session: from 1. turn: lines said in it so far. turns_left: lines that may
    still be said, the next one included. parting: 1 when somebody has taken leave. heard: the
    client's last line. history: all lines of this session. known: the rest of what the counselor
    knows.
    """
    most = max_turns + MORE_WHILE_HELD + 1
    return spaces.Dict(
        {
            "client": writing(NAME_CHARACTERS),
            "session": spaces.Discrete(sessions, start=1),
            "turn": spaces.Discrete(most),
            "turns_left": spaces.Discrete(most),
            "parting": spaces.Discrete(2),
            "heard": writing(HEARD_CHARACTERS),
            "history": writing(HISTORY_CHARACTERS),
            "known": writing(KNOWN_CHARACTERS),
        }
    )


def observe(episode: Episode) -> tuple[Observation, dict[str, int]]:
    """The observation of now, and how many characters were cut off each text."""
    view, setting = episode.view, episode.setting
    said = lines_of(episode)
    earlier = episode.past if view else episode.past[:-1]
    texts = {
        "client": fit(setting.client.name, NAME_CHARACTERS),
        "heard": fit(
            next((text for who, text in reversed(said) if who == setting.client.name), ""),
            HEARD_CHARACTERS,
        ),
        "history": fit(as_lines(said), HISTORY_CHARACTERS),
        "known": fit(_all_known(episode, earlier), KNOWN_CHARACTERS),
    }
    left, parting = (view.turns_left, view.parting) if view else (0, True)
    counts = {
        "session": len(earlier) + 1,
        "turn": len(said),
        "turns_left": left,
        "parting": int(parting),
    }
    return {**{name: text.text for name, text in texts.items()}, **counts}, {
        name: text.cut for name, text in texts.items()
    }


def _all_known(episode: Episode, earlier: Sequence[Session]) -> str:
    """What is known from the frame and the sessions; last what a case's plan has opened."""
    told = known(episode.setting, earlier, len(earlier) + 1)
    return f"{told}\n\n{episode.following.known}" if episode.following else told


def lines_of(episode: Episode) -> tuple[tuple[str, str], ...]:
    """The lines of the present session, or of the last one when all are over, as (who, text)."""
    return (
        pairs_of(episode.view) if episode.view else episode.past[-1].pairs if episode.past else ()
    )


def pairs_of(view: TalkView) -> tuple[tuple[str, str], ...]:
    """The lines of a view as (who, text)."""
    return tuple((line.who, line.text) for line in view.lines)


def known(setting: Setting, earlier: Sequence[Session], session: int) -> str:
    """Who is who, which session it is and where; then the earlier sessions, each with its note if
    one was kept.
    """
    head = (
        f"Counselor: {setting.counselor.name}. Client: {setting.client.name}."
        f" {_title(setting, session)}, {setting.place}."
    )
    return "\n\n".join((head, *(_retold(setting, one) for one in earlier)))


def transcript(setting: Setting, sessions: Sequence[Session], now: Pairs) -> str:
    """All sessions as text; now: the lines of the one under way."""
    parts = [_retold(setting, one) for one in sessions]
    return "\n\n".join(
        [*parts, *([f"{_title(setting, len(sessions) + 1)}:\n{as_lines(now)}"] if now else [])]
    )


def as_lines(lines: Pairs) -> str:
    """Lines, each with who says it."""
    return "\n".join(f"{who}: {text}" for who, text in lines)


def _retold(setting: Setting, session: Session) -> str:
    note = f"\nNote: {session.note}" if session.note else ""
    return f"{_title(setting, session.number)}:\n{as_lines(session.pairs)}{note}"


def _title(setting: Setting, session: int) -> str:
    return (
        f"Session {session} of {setting.sessions},"
        f" {date_text(setting.minute(session), setting.world.start)}"
    )
