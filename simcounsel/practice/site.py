"""The pages of a practice folder: each link opens what is its own, a trainee's or the
supervisor's.
"""

import asyncio
import secrets
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from simcounsel.errors import SpecError
from simcounsel.policies.listening import word_to_human
from simcounsel.practice.clients import cast_of, levels
from simcounsel.practice.group import NOTE_CHARACTERS, Held, Practice, Refused
from simcounsel.practice.report import practice_words
from simcounsel.practice.skills import helping_skills
from simcounsel.safety.help import notice
from simcounsel.therapies.specs.therapy import shipped_therapies
from simcounsel.viewer.guard import Guard
from simcounsel.viewer.pages import STATIC
from simcounsel.viewer.posts import read_object
from simcounsel.viewer.reply import as_json

OWN = Path(str(files("simcounsel.practice"))) / "static"
SHOWN = {"dom.js": STATIC, "style.css": STATIC, "practice.js": OWN, "practice.css": OWN}
SUPERVISOR = "supervisor"
SHOWN_OF_A_SESSION = ("number", "trainee", "focus", "over", "stopped", "trouble", "comments")


class PracticeSite:
    """The handlers."""

    def __init__(self, practice: Practice) -> None:
        self.practice = practice
        self.language = practice.world.language
        self._names = {token: name for name, token in practice.links.items()}
        self._levels: dict[str, int] = {}

    async def page(self, request: Request) -> Response:
        """The page behind a link."""
        if request.path_params["token"] not in self._names:
            return PlainTextResponse(practice_words(self.language)["page"]["unknown_link"], 404)
        return FileResponse(OWN / "practice.html")

    async def static(self, request: Request) -> Response:
        """A script or a style."""
        name = request.path_params["file"]
        if name not in SHOWN:
            return PlainTextResponse("no such file", 404)
        return FileResponse(SHOWN[name] / name, headers={"cache-control": "no-cache"})

    async def api(self, request: Request) -> Response:
        """GET: all that is behind a link, or with `?session=N` one session. POST: a step."""
        name = self._names.get(request.path_params["token"])
        if name is None:
            return as_json({"error": practice_words(self.language)["page"]["unknown_link"]}, 404)
        try:
            if request.method == "POST":
                found = await asyncio.to_thread(self._do, name, await read_object(request))
            elif number := request.query_params.get("session"):
                found = self.shown(self._held(name, number), name)
            else:
                found = await asyncio.to_thread(self._home, name)
        except (Refused, SpecError) as why:
            return as_json({"error": str(why)}, 422)
        return as_json(found)

    def _held(self, name: str, number: object) -> Held:
        held = self.practice.sessions.get(int(str(number)) if str(number).isdecimal() else 0)
        if held is None or name not in (SUPERVISOR, held.trainee):
            raise Refused(f"no session {number!r}")
        return held

    def _do(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        do, practice = body.get("do"), self.practice
        given = {
            key: str(body.get(key) or "") for key in ("client", "feedback", "focus", "therapy")
        }
        text = str(body.get("text", ""))
        if do == "begin" and name != SUPERVISOR:
            return self.shown(practice.begin(name, **given), name)
        if do == "assign" and name == SUPERVISOR:
            if given["client"]:
                cast_of(practice.world, given["client"])
            practice.happen("assigned", None, to=str(body.get("to") or ""), **given)
            return self._home(name)
        held = self._held(name, body.get("session"))
        if name == SUPERVISOR:
            if do != "comment" or not text.strip() or not isinstance(body.get("line"), int):
                raise Refused("a supervisor comments on a line, or assigns")
            line = {"line": body["line"], "text": text.strip()[:NOTE_CHARACTERS]}
            practice.happen("commented", held.number, **line)
            return self.shown(held, name)
        heard = [*held.exchanges[-1].answers] if held.exchanges else []
        practice.step(held, do, body)
        locale = practice.world.safety.locale
        told = word_to_human(text, "".join(heard[-1:]), self.language, locale)
        return self.shown(held, name) | ({"danger": told} if do == "say" and told else {})

    def _home(self, name: str) -> dict[str, Any]:
        practice, language = self.practice, self.language
        self._levels = self._levels or dict(levels(practice.world))
        boss, model = name == SUPERVISOR, practice.world.model_names()["reason"]
        mine = [one for one in practice.sessions.values() if boss or one.trainee == name]
        skills = helping_skills(language)
        return {
            "name": name,
            "supervisor": boss,
            "language": language,
            "texts": practice_words(language)["page"],
            "notice": notice("before", language, practice.world.safety.locale),
            "small": model if model in ("embedded", "scripted") else None,
            "clients": self._levels,
            "therapies": shipped_therapies(),
            "skills": {id: one.name for id, one in skills.items()},
            "people": [one for one in practice.links if one != SUPERVISOR] if boss else [],
            "assigned": [one for one in practice.assigned if boss or one["to"] in ("", name)],
            "sessions": [
                {key: getattr(one, key) for key in ("number", "trainee", "client", "at", "focus")}
                | {"lines": len(one.exchanges), "ended": one.report is not None}
                for one in reversed(mine)
            ],
            "record": list(practice.record(None if boss else name)),
        }

    def shown(self, held: Held, name: str) -> dict[str, Any]:
        """A session as a page needs it: what the trainee may see by now, or all."""
        ended, boss = held.report is not None, name == SUPERVISOR
        sees = boss or (ended and held.feedback != "none")

        def line(one: Any) -> dict[str, Any]:
            told = asdict(one)
            if not sees and (held.feedback not in ("line", "request") or one.feedback is None):
                told |= {"feedback": None, "shift": None}
            if not sees and told["shift"]:
                told["shift"]["held_back"] = None
            return told

        return {
            **{key: getattr(held, key) for key in SHOWN_OF_A_SESSION},
            "client": cast_of(self.practice.world, held.client).client.name,
            "mode": held.feedback,
            "lines": [line(one) for one in held.exchanges],
            "taken_back": [line(one) for one in held.taken_back],
            "owed": [list(one) for one in held.todo],
            "ids": [*held.ids],
            "report": held.report if sees else None,
            "ended": ended,
        }


def make_practice_app(practice: Practice, *, public: bool = False) -> Starlette:
    """The site. public: others can reach it, so that only links open anything."""
    site = PracticeSite(practice)
    token = secrets.token_urlsafe(24) if public else None
    return Starlette(
        routes=[
            Route("/p/{token}", site.page),
            Route("/api/{token}", site.api, methods=["GET", "POST"]),
            Route("/static/{file}", site.static),
        ],
        middleware=[Middleware(Guard, token=token, own=("/p/", "/api/", "/static/"))],
    )
