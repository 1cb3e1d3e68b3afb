"""The site of a trial: participants' pages behind links of their own, and the coordinator's behind
a password.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from simcounsel.intake import json_data
from simcounsel.trial.gate import (
    MOST_LOGINS,
    MOST_MISSES,
    TAKE,
    WATCH,
    Gate,
    Often,
    address_of,
    cookie_name,
    is_password,
    set_session,
)
from simcounsel.trial.person import Participant
from simcounsel.trial.running import Running, Wrong
from simcounsel.trial.stages import stage_of, state_of, talk_of, watch_of
from simcounsel.trial.steps import coordinate, do
from simcounsel.trial.store import Known, hash_of
from simcounsel.trial.texts import direction, page_texts

T = TypeVar("T")
STATIC = Path(str(files("simcounsel.trial"))) / "static"
POLL_S = 20.0
WATCHER = "watch"
"""In place of a participant's code: whoever watches."""
PANEL = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
"""A panel's parameters that are kept."""
WAIT_S = 1.0
"""After a wrong password."""
Handler = Callable[[Request], Awaitable[Response]]


class Site:
    """The handlers. password: its hash and salt."""

    def __init__(
        self, running: Running, *, secure: bool, code: str | None, password: tuple[str, str]
    ) -> None:
        """secure: people reach it by TLS. code: of the open link; None: there is none."""
        self.running, self.secure, self._code, self._password = running, secure, code, password
        self._sessions = running.store.sessions()
        self._links = {
            hash_of(known.token): known.code for known in running.store.people() if known.token
        }
        self._panel = {
            pid: known.code
            for known in running.store.people()
            if known.panel and (pid := known.panel.get(PANEL[0]))
        }
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = False
        self._misses, self._logins = Often(MOST_MISSES), Often(MOST_LOGINS)
        self._pool = ThreadPoolExecutor(32, thread_name_prefix="site")
        running.ring = self._ring

    # waiting for news

    def _ring(self, code: str) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, code)

    def _wake(self, code: str) -> None:
        everybody = tuple(self._waiting) if not code else (code, WATCHER)
        for one in everybody:
            for event in self._waiting.get(one, ()):
                event.set()

    def stop(self) -> None:
        """Nobody waits for news any more: the site is about to end."""
        self._ending = True
        self._ring("")

    async def _news(self, code: str, seconds: float = POLL_S) -> None:
        """Until something happened to somebody, or the time is up."""
        if self._ending:
            return
        event = asyncio.Event()
        self._waiting[code].add(event)
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self._waiting[code].discard(event)

    async def _in_thread(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        self._loop = asyncio.get_running_loop()
        return await self._loop.run_in_executor(self._pool, partial(work, *args, **named))

    # participants

    def _who(self, request: Request) -> Participant | None:
        secret = request.cookies.get(cookie_name(TAKE, secure=self.secure), "")
        code = self._sessions.get(hash_of(secret)) if secret else None
        return self.running.people.get(code) if code else None

    async def link(self, request: Request) -> Response:
        """A personal link: a session begins."""
        address = address_of(request)
        if self._misses.blocked(address):
            return _error("too many at once; wait a minute", 429)
        code = self._links.get(hash_of(request.path_params["token"]))
        if code is None or code not in self.running.people:
            self._misses.count(address)
            return FileResponse(STATIC / "take.html", 404)
        return await self._enter(code, RedirectResponse("/take", 303))

    async def _enter(self, code: str, response: Response) -> Response:
        secret = await self._in_thread(self.running.store.begin_session, code)
        self._sessions[hash_of(secret)] = code
        set_session(response, TAKE, secret, secure=self.secure)
        return response

    async def join(self, request: Request) -> Response:
        """Somebody comes by the open link."""
        body = await _body(request)
        given = dict(parse_qsl(str(body.get("query", "")).lstrip("?")))
        texts = page_texts(self.running.trial.languages[0])
        address = address_of(request)
        if self._misses.blocked(address):
            return _error(texts["too_often"], 429)
        if self._code is None or given.get("code") != self._code:
            self._misses.count(address)
            return _error(texts["link_unknown"], 404)
        panel = {key: given[key][:80] for key in PANEL if given.get(key)}
        known = self._panel.get(panel.get(PANEL[0], ""))
        if known is None:
            if self.running.full:
                return _error(texts["full"], 409)
            person = await self._in_thread(self.running.invite, panel=panel or None)
            known = self._met(person)
        return await self._enter(known, JSONResponse({"ok": True}))

    def _met(self, person: Known) -> str:
        if person.panel and person.panel.get(PANEL[0]):
            self._panel[person.panel[PANEL[0]]] = person.code
        if person.token:
            self._links[hash_of(person.token)] = person.code
        return person.code

    async def texts(self, request: Request) -> Response:
        """All texts of the pages in a language."""
        language = request.query_params.get("language", "")
        if language not in self.running.trial.languages:
            language = self.running.trial.languages[0]
        return JSONResponse(
            {"language": language, "dir": direction(language), "texts": page_texts(language)}
        )

    async def state(self, request: Request) -> Response:
        """Where the participant is."""
        who = self._who(request)
        if who is None:
            return self._unknown()
        await self._in_thread(self.running.settle, who)
        return JSONResponse(state_of(self.running, self.running.people[who.code]))

    def _unknown(self) -> Response:
        return _error(page_texts(self.running.trial.languages[0])["open_link_again"], 401)

    async def do(self, request: Request) -> Response:
        """A step."""
        who = self._who(request)
        if who is None:
            return self._unknown()
        body = await _body(request)
        try:
            await self._in_thread(do, self.running, who.code, body)
        except Wrong as why:
            return _error(str(why), 409 if why.late else 422)
        return JSONResponse(state_of(self.running, self.running.people[who.code]))

    async def say(self, request: Request) -> Response:
        """A line."""
        who = self._who(request)
        if who is None:
            return self._unknown()
        body = await _body(request)
        id, text = body.get("id"), body.get("text")
        if not isinstance(id, str) or not isinstance(text, str):
            return _error("'id' and 'text' are texts", 422)
        try:
            await self._in_thread(self.running.say, who.code, id, text)
        except Wrong as why:
            state = state_of(self.running, who)
            return JSONResponse({"error": str(why), "state": state}, 409 if why.late else 422)
        return JSONResponse({"kept": True})

    async def talk(self, request: Request) -> Response:
        """What was said since, once there is something."""
        who = self._who(request)
        if who is None:
            return self._unknown()
        self._loop = asyncio.get_running_loop()
        after = _whole(request.query_params.get("after"))
        before = self._sight(who, after)
        if not before["lines"] and not before.get("over") and not before.get("note"):
            await self._news(who.code)
        return JSONResponse(self._sight(self.running.people[who.code], after))

    def _sight(self, who: Participant, after: int) -> dict[str, Any]:
        stage, _ = stage_of(self.running, who)
        talk = who.talk
        if stage != "chat" or talk is None:
            return {"stage": stage, "lines": [], "over": True}
        return {"stage": stage} | talk_of(self.running, who, talk, after)

    # whoever watches

    def _watches(self, request: Request) -> bool:
        secret = request.cookies.get(cookie_name(WATCH, secure=self.secure), "")
        return bool(secret) and self._sessions.get(hash_of(secret)) == WATCHER

    async def login(self, request: Request) -> Response:
        """The password opens the coordinator's page."""
        body, address = await _body(request), address_of(request)
        if self._logins.blocked(address):
            return _error("too many wrong passwords; wait a minute", 429)
        salt, known = self._password
        if not await self._in_thread(is_password, str(body.get("password", ""))[:200], salt, known):
            self._logins.count(address)
            await asyncio.sleep(WAIT_S)
            return _error("this is not the password", 403)
        secret = await self._in_thread(self.running.store.begin_session, WATCHER)
        self._sessions[hash_of(secret)] = WATCHER
        await self._in_thread(self.running.happen, "", "watched")
        response = JSONResponse({"ok": True})
        set_session(response, WATCH, secret, secure=self.secure)
        return response

    async def logout(self, request: Request) -> Response:
        """The session ends."""
        secret = request.cookies.get(cookie_name(WATCH, secure=self.secure), "")
        self._sessions.pop(hash_of(secret), None)
        await self._in_thread(self.running.store.end_session, secret)
        return JSONResponse({"ok": True})

    async def watch(self, request: Request) -> Response:
        """All that the coordinator sees, once something happened since."""
        after = _whole(request.query_params.get("after"))
        if after and after >= max((one.seq for one in self.running.people.values()), default=0):
            self._loop = asyncio.get_running_loop()
            await self._news(WATCHER)
        return JSONResponse(watch_of(self.running))

    async def act(self, request: Request) -> Response:
        """What the coordinator does."""
        body = await _body(request)
        try:
            await self._in_thread(coordinate, self.running, body)
        except Wrong as why:
            return _error(str(why), 422)
        return JSONResponse(watch_of(self.running))

    async def contact(self, request: Request) -> Response:
        """Who somebody is; that it was asked is written down."""
        code = request.path_params["code"]
        if code not in self.running.people:
            return _error("nobody has this code", 404)
        await self._in_thread(self.running.happen, "", "looked_up", code=code)
        people = await self._in_thread(lambda: list(self.running.store.people()))
        known = next((one for one in people if one.code == code), Known(code=code))
        panel = ", ".join((known.panel or {}).values())
        link = f"/t/{known.token}" if known.token else None
        return JSONResponse({"code": code, "contact": known.contact or panel or None, "link": link})

    async def reading(self, request: Request) -> Response:
        """Somebody's talks; that they were read is written down."""
        who = self.running.people.get(request.path_params["code"])
        if who is None:
            return _error("nobody has this code", 404)
        await self._in_thread(self.running.happen, "", "read", code=who.code)
        days = [
            {"day": talk.day, "lines": [line.shown() for line in talk.lines]} for talk in who.talks
        ]
        return JSONResponse({"code": who.code, "days": days})

    def only_watcher(self, handler: Handler) -> Handler:
        """A handler for whoever gave the password."""

        async def guarded(request: Request) -> Response:
            if not self._watches(request):
                return _error("log in first", 401)
            return await handler(request)

        return guarded


def make_site(
    running: Running, *, base: str, code: str | None, password: tuple[str, str]
) -> Starlette:
    """The whole site. base: the address by which people reach it. code: of the open link."""
    site = Site(running, secure=base.startswith("https:"), code=code, password=password)
    watched = site.only_watcher
    app = Starlette(
        routes=[
            *(Route(path, _page(name)) for path, name in PAGES.items()),
            Route("/static/{file}", static),
            Route("/t/{token}", site.link),
            Route("/api/join", site.join, methods=["POST"]),
            Route("/api/texts", site.texts),
            Route("/api/state", site.state),
            Route("/api/do", site.do, methods=["POST"]),
            Route("/api/say", site.say, methods=["POST"]),
            Route("/api/talk", site.talk),
            Route("/api/watch/login", site.login, methods=["POST"]),
            Route("/api/watch/logout", site.logout, methods=["POST"]),
            Route("/api/watch", watched(site.watch)),
            Route("/api/watch/do", watched(site.act), methods=["POST"]),
            Route("/api/watch/contact/{code}", watched(site.contact)),
            Route("/api/watch/talk/{code}", watched(site.reading)),
        ],
        middleware=[Middleware(Gate, base=base)],
    )
    app.state.stop = site.stop
    return app


PAGES = {"/": "take.html", "/take": "take.html", "/join": "take.html", "/watch": "watch.html"}


def _page(name: str) -> Handler:
    async def page(request: Request) -> Response:
        return FileResponse(STATIC / name)

    return page


async def static(request: Request) -> Response:
    """A script or a style."""
    file = STATIC / request.path_params["file"]
    if file.parent != STATIC or file.suffix not in (".js", ".css") or not file.is_file():
        return _error("no such file", 404)
    return FileResponse(file, headers={"cache-control": "no-cache"})


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = json_data(await request.body())
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _whole(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 12 else 0


def _error(text: str, status: int) -> Response:
    return JSONResponse({"error": text}, status)
