"""A trial for tests: a folder, a clock that is moved, the scripted model, and a browser's steps."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from simcounsel.llm.prices import Prices
from simcounsel.llm.switchboard import Switchboard
from simcounsel.trial.opening import begin, open_models, opened
from simcounsel.trial.plan import Trial, load_trial
from simcounsel.trial.running import Running
from simcounsel.trial.sealing import read_secrets
from simcounsel.trial.site import make_site

BASE = "http://127.0.0.1:8000"
FILLED = {
    "TODO the university or clinic that is responsible": "Example University",
    "TODO who answers participants": "Dr Ada Example",
    "todo@example.org": "ada@example.org",
    "TODO who looks at alerts of danger, at what times, and what they do then": (
        "Dr Example looks at alerts from 8 to 22 h and calls back within an hour."
    ),
    "TODO whose help lines participants see, such as en-GB, fa-IR, zh-CN, en-US": "en-GB",
    "{reason: embedded}": "{reason: scripted, embed: scripted}",
}


class Clock:
    """Goes on by itself, and by leaps."""

    def __init__(self, at: datetime | None = None) -> None:
        self.ahead = timedelta()
        self._fixed = at

    def __call__(self) -> datetime:
        return (self._fixed or datetime.now(UTC)) + self.ahead

    def days(self, count: float) -> None:
        self.ahead += timedelta(days=count)


def written(
    folder: Path,
    people: int = 6,
    *,
    open_link: bool = False,
    design: str = "structure_matters",
    **changes: str,
) -> str:
    """A filled-in trial; changes: other words for parts of its file, `days="days: 2"`. The password."""
    password = begin(folder, people, open_link=open_link, design=design)
    file = folder / "trial.yaml"
    text = file.read_text(encoding="utf-8")
    for old, new in FILLED.items():
        assert old in text, old
        text = text.replace(old, new)
    usual = {"days": "days: 2", "talks": "talks: {a_day: 1, lines: 8}"}
    for key, line in (usual | changes).items():
        text, count = re.subn(rf"(?m)^{key}:.*$", lambda _, line=line: line, text)
        text += "" if count else f"{line}\n"
    file.write_text(text, encoding="utf-8")
    return password


def until(holds: Callable[[], object], seconds: float = 30) -> None:
    """Wait for what another thread does; a failure where it never comes."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited {seconds:g} s"
        time.sleep(0.01)


@contextmanager
def running(
    folder: Path,
    clock: Clock | None = None,
    models: Switchboard | None = None,
    amend: str | None = None,
) -> Iterator[Running]:
    plan = load_trial(folder)
    boards = open_models(plan, folder, Prices.load(), 64).open()
    if models is not None:
        boards = dict.fromkeys(boards, models)
    with opened(plan, folder, boards, clock=clock, amend=amend) as found:
        yield found


def links(folder: Path) -> list[str]:
    rows = (folder / "private" / "links.csv").read_text(encoding="utf-8").splitlines()[1:]
    return [row.split(",")[2] for row in rows]


@contextmanager
def site(found: Running) -> Iterator[TestClient]:
    kept = read_secrets(found.folder)
    code = kept["code"] if found.trial.entrance.links == "open" else None
    app = make_site(found, base=BASE, code=code, password=(kept["salt"], kept["password"]))
    with TestClient(app, base_url=BASE, headers={"x-simcounsel": "1"}) as client:
        yield client


class Browser:
    """A participant at their page."""

    def __init__(self, client: TestClient, link: str) -> None:
        self.client = client
        client.cookies.clear()
        answer = client.get(link, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        self.cookies = dict(client.cookies)

    def _mine(self) -> None:
        self.client.cookies.clear()
        for name, value in self.cookies.items():
            self.client.cookies.set(name, value)

    def state(self) -> dict[str, Any]:
        self._mine()
        found: dict[str, Any] = self.client.get("/api/state").json()
        return found

    def do(self, what: str, *, code: int = 200, **body: Any) -> dict[str, Any]:
        self._mine()
        answer = self.client.post("/api/do", json={"do": what, **body})
        assert answer.status_code == code, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def say(self, text: str, id: str | None = None, code: int = 200) -> dict[str, Any]:
        self._mine()
        answer = self.client.post("/api/say", json={"id": id or f"id {text}", "text": text})
        assert answer.status_code == code, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def talk(self, after: int = 0) -> dict[str, Any]:
        self._mine()
        found: dict[str, Any] = self.client.get(f"/api/talk?after={after}").json()
        return found

    def heard(self, after: int = 0) -> dict[str, Any]:
        """The talk once it is the participant's turn, or over."""
        found: dict[str, Any] = {}

        def waits() -> bool:
            found.clear()
            found.update(self.talk(after))
            return bool(found.get("awaiting") or found.get("over"))

        until(waits)
        return found

    def enter(
        self, name: str = "Robin", language: str | None = None, **other: Any
    ) -> dict[str, Any]:
        """Up to the first talk, or to wherever they are sent."""
        if language:
            self.do("language", language=language)
        state = self.do("information")
        ticked = [id for id, _ in state["page"]["items"]]
        self.do("consent", agree=True, ticked=ticked, version=state["page"]["version"])
        return self.answer(
            self.do("about_you", name=name, zone="Europe/Berlin", offset_min=60), other
        )

    def answer(
        self, state: dict[str, Any], other: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """All questionnaires that are due, with the lowest answers but for `other`, by item."""
        while state["stage"] == "questions":
            page = state["page"]
            given = {item["id"]: lowest(item) for item in page["items"]}
            given |= {key: value for key, value in (other or {}).items() if key in given}
            state = self.do("answers", id=page["id"], point=page["point"], answers=given, seconds=5)
        return state


def lowest(item: Mapping[str, Any]) -> Any:
    if item["kind"] == "choice":
        return item["choices"][0][0]
    if item["kind"] == "several":
        return [item["choices"][0][0]]
    return "It was good." if item["kind"] == "text" else item["low"]


def trial_of(folder: Path) -> Trial:
    return load_trial(folder)
