"""What tests of practice set up: a client who is moved as a test wants, a judge who says what it wants, a folder that is served."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from starlette.testclient import TestClient

from simcounsel.llm.question import Question
from simcounsel.practice.clients import setting_of
from simcounsel.practice.group import Held, Practice, begin_folder
from simcounsel.practice.session import PracticeSession
from simcounsel.practice.site import make_practice_app
from simcounsel.scripted import Script, Scripted
from simcounsel.specs.world import World
from tests.stage import changed, switchboard, tiny

BASE = "http://127.0.0.1:8780"
MOVED, CLOSED = "count the hours", "go to bed earlier"


def speaking(*lines: str) -> Script:
    """A client who says these lines in turn, then something plain; `count the hours` opens her by 0.5, `go to bed earlier` closes her by 1."""

    def script(request: Question[Any], draw: Random) -> str:
        heard, before = request.facts.heard.text, request.facts.openness or 0.0
        turn = sum(line.who == request.who for line in request.facts.lines)
        quote = next((one for one in (MOVED, CLOSED) if one in heard), "")
        step = {MOVED: 0.5, CLOSED: -1.0}.get(quote, 0.0)
        return json.dumps(
            {
                "say": lines[turn] if turn < len(lines) else f"The nights are long. {turn}.",
                "emotion": "sadness",
                "intensity": 5,
                "poignancy": 5,
                "wish": "go on",
                "quote": quote,
                "touched": "R1" if quote == MOVED else "",
                "openness": before + step,
                "held_back": "That I am ashamed." if quote else "",
            }
        )

    return script


def model(scripts: Mapping[str, Script] | None = None) -> Scripted:
    return Scripted({"line_client": speaking(), **(scripts or {})})


@contextmanager
def session(
    world: World | None = None, *, scripts: Mapping[str, Script] | None = None, **kind: Any
) -> Iterator[PracticeSession]:
    models = switchboard(model(scripts))
    found = PracticeSession(setting_of(world or tiny(), "Ines", 5), models, **kind)
    try:
        yield found
    finally:
        found.close()
        models.close()


def folder_of(folder: Path, *names: str) -> Path:
    settings = {"world": "tiny", "language": None, "model": "scripted", "judge": None}
    begin_folder(folder, names or ("Ada", "Ben"), settings)
    return folder


@contextmanager
def practicing(
    folder: Path, scripts: Mapping[str, Script] | None = None, language: str = "en"
) -> Iterator[Practice]:
    world = changed(tiny(), language=language) if language != "en" else tiny()
    found = Practice(folder, world, switchboard(model(scripts)))
    try:
        yield found
    finally:
        found.close()


def settled(held: Held, seconds: float = 20) -> Held:
    """Once nothing is owed any more."""
    until = time.monotonic() + seconds
    while held.todo:
        assert time.monotonic() < until, (held.todo, held.trouble)
        time.sleep(0.01)
    return held


class Page:
    """Somebody's page, over HTTP."""

    def __init__(self, practice: Practice, name: str) -> None:
        self.practice = practice
        self.address = f"/api/{practice.links[name]}"
        self.client = TestClient(make_practice_app(practice), base_url=BASE)

    def home(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(self.address).json()
        return found

    def look(self, number: int = 1) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"{self.address}?session={number}").json()
        return found

    def do(self, do: str, code: int = 200, **body: Any) -> dict[str, Any]:
        answer = self.client.post(self.address, json={"do": do, **body})
        assert answer.status_code == code, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def say(self, text: str, number: int = 1, **more: Any) -> dict[str, Any]:
        self.do("say", session=number, text=text, **({"id": text} | more))
        settled(self.practice.sessions[number])
        return self.look(number)

    def begin_refused(self, client: str) -> str:
        error: str = self.do("begin", 422, client=client, feedback="line")["error"]
        return error

    def begin(self, client: str = "Ines", feedback: str = "line", **more: Any) -> dict[str, Any]:
        return self.do("begin", client=client, feedback=feedback, **more)
