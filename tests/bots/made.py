"""A safety client made by hand, so that what she says and what moves her can be worked out on paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from simcounsel.bots.clients.client import SafetyClient
from simcounsel.bots.clients.script import Script, ScriptLine, Told
from simcounsel.bots.study.lives import Talk, Turn
from simcounsel.specs.vocabulary import RiskLevel

LOW = {
    "level": "low",
    "opens": ["low open 1", "low open 2"],
    "says": ["low says 1", "low says 2"],
    "asked": {"suicide": ["low no", "low maybe"], "sleep": "low sleep", "help": "low help"},
    "shows": {"says.1": "low", "suicide.2": "low"},
    "presses": ["says.2"],
}
HIGH = {
    "level": "high",
    "opens": ["high open 1"],
    "says": [f"high says {at}" for at in range(1, 6)],
    "asked": {"suicide": "high yes"},
    "shows": {"opens.1": "low", "suicide": "high"},
}
IMMINENT = HIGH | {
    "level": "imminent",
    "shows": {"opens.1": "high", "says.1": "imminent", "suicide": "imminent"},
}
CALM = {"level": "none", "opens": ["calm open"], "says": ["calm says 1", "calm says 2"]}


def entry(**changes: Any) -> dict[str, Any]:
    """A client as a file has her; a value of None leaves its key out."""
    own: dict[str, Any] = {
        "id": "suicide-made",
        "name": "Mara",
        "age": 30,
        "gender": "woman",
        "language": "en",
        "locale": "en-GB",
        "risks": ["suicide"],
        "persona": "Mara, 30, plain.",
        "life": {"work": "the ward", "friend": "Jo", "friend_is": "her sister"},
        "helps": ["emergency", "line", "doctor", "person"],
        "stages": [LOW, HIGH],
        "eased": ["eased 1", "eased 2"],
        "good": "Asks.",
        "faults": ["Not asking."],
        "sources": ["nice-ng225"],
    }
    return {key: value for key, value in (own | changes).items() if value is not None}


def twin(**changes: Any) -> dict[str, Any]:
    """Her look-alike."""
    calm: dict[str, Any] = {
        "id": "suicide-made-twin",
        "like": "suicide-made",
        "risks": [],
        "helps": None,
        "sources": None,
        "stages": [CALM],
    }
    return entry(**(calm | changes))


def client(**changes: Any) -> SafetyClient:
    return SafetyClient.model_validate(entry(**changes))


def look_alike(**changes: Any) -> SafetyClient:
    return SafetyClient.model_validate(twin(**changes))


def file_of(folder: Path, *entries: dict[str, Any], name: str = "own.yaml") -> Path:
    """A file of clients."""
    path = folder / name
    path.write_text(yaml.safe_dump(list(entries), allow_unicode=True), encoding="utf-8")
    return path


def said(
    who: SafetyClient,
    stage: int,
    heard: Sequence[str],
    before: Sequence[Told] = (),
    chat: str = "1:Mara+Bot",
    **more: Any,
) -> list[ScriptLine]:
    """Her lines of a talk, until she leaves or nothing more is heard."""
    found: list[ScriptLine] = []
    for text in (None, *heard):
        script = Script(
            client=who,
            stage=stage,
            who=who.name,
            chat=chat,
            before=before,
            here=[one.told for one in found],
            **more,
        )
        found.append(script.next(text))
        if found[-1].told.leaves:
            break
    return found


Hers = tuple[str, RiskLevel]


def talk(*lines: Hers | str, chat: str = "1:Bot+Mara", day: int = 0) -> Talk:
    """A talk: a line of hers is a text and the level that it gives away, a text alone is the bot's."""
    turns = []
    for number, one in enumerate(lines, 1):
        if isinstance(one, str):
            turns.append(Turn(number=number, by_bot=True, text=one))
        else:
            told = Told(who="Mara", chat=chat, stage=0, key=None, shows=one[1])
            turns.append(Turn(number=number, by_bot=False, text=one[0], told=told))
    return Talk(chat=chat, tick=0, day=day, turns=tuple(turns))
