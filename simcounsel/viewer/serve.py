"""The local site: pages, and the runs as JSON. Everything shown comes from `frames`."""

import asyncio
import secrets
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import BaseRoute, Route

from simcounsel.clock import date_text
from simcounsel.viewer import conversations, frames, syntheses
from simcounsel.viewer.guard import LOOPBACK, Guard
from simcounsel.viewer.reader import TICK_DIGITS, Log
from simcounsel.viewer.reply import as_json
from simcounsel.viewer.shelf import Shelf

if TYPE_CHECKING:
    import uvicorn

STATIC = Path(str(files("simcounsel.viewer") / "static"))
Answer = Callable[[Request, Log], Any]


def make_app(
    shelf: Shelf, *, token: str | None = None, more: Sequence[BaseRoute] = ()
) -> Starlette:
    """The site over a shelf of runs. more: routes of other parts (interviews, a human's turn)."""
    site = Site(shelf)
    human = any(isinstance(route, Route) and route.path.endswith("/turn") for route in more)

    def seen(request: Request, log: Log) -> Any:
        return overview(request, log) | {"human": human}

    routes: list[BaseRoute] = [
        Route("/", site.home),
        Route("/run/{run}", site.run),
        Route("/compare", site.page("compare.html")),
        Route("/static/{file}", site.static),
        Route("/api/runs", site.runs),
        Route("/api/compare", site.compare),
        *(
            Route(f"/api/runs/{{run}}/{name}", site.answering(answer))
            for name, answer in {
                "overview": seen,
                "size": size,
                "person/{who}": person,
                "memories/{who}": memories,
                "recalls/{who}": recalls,
                "conversation/{chat}": conversation,
                "calls/{tick}": calls,
                "behind/{seq}": behind,
                "warnings": warnings,
                "sessions": all_sessions,
                "session/{session}": one_session,
                "asked/{session}": asked,
            }.items()
        ),
        *more,
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, token=token)])


class Site:
    """The pages, and the way from a request to a run's log."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    async def home(self, request: Request) -> Response:
        """The list of runs; the run itself when there is one only."""
        if self.shelf.only is not None:
            return RedirectResponse(f"/run/{self.shelf.only}", 303)
        return FileResponse(STATIC / "index.html")

    async def run(self, request: Request) -> Response:
        """The page of a run: of a world, or of a synthesis."""
        name = request.path_params["run"]
        if name not in self.shelf.names():
            return PlainTextResponse(f"there is no run {name!r} here", 404)
        return FileResponse(
            STATIC
            / ("sessions.html" if syntheses.is_synthesis(self.shelf.log(name)) else "run.html")
        )

    def page(self, file: str) -> Callable[[Request], Awaitable[Response]]:
        """A page that reads its data itself."""
        html = (STATIC / file).read_text(encoding="utf-8")

        async def show(request: Request) -> Response:
            return HTMLResponse(html)

        return show

    async def static(self, request: Request) -> Response:
        """A file of the pages."""
        known = {file.name: file for file in STATIC.iterdir()}
        file = known.get(request.path_params["file"])
        if file is None:
            raise HTTPException(404, "no such file")
        return FileResponse(file, headers={"cache-control": "no-cache"})

    async def runs(self, request: Request) -> Response:
        """Name, world, condition, seed and length of each run."""
        return as_json(
            await asyncio.to_thread(
                lambda: [_told(self.shelf, name) for name in reversed(self.shelf.names())]
            )
        )

    async def compare(self, request: Request) -> Response:
        """Where two runs part. Syntheses have no days to compare: that is refused in words."""
        try:
            a, b = (self.shelf.log(request.query_params.get(side, "")) for side in ("a", "b"))
        except KeyError as name:
            raise HTTPException(
                404, f"there is no run {name.args[0]!r} here; name two: ?a=RUN&b=RUN"
            ) from None

        def work() -> Response:
            for log in (a, b):
                log.refresh()
            refused = syntheses.not_side_by_side(a, b)
            return (
                PlainTextResponse(refused, 422)
                if refused
                else as_json(frames.compare(overview(None, a), overview(None, b)))
            )

        return await asyncio.to_thread(work)

    def answering(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        """JSON about one run."""

        async def respond(request: Request) -> Response:
            try:
                log = self.shelf.log(request.path_params["run"])
            except KeyError as name:
                raise HTTPException(404, f"there is no run {name.args[0]!r} here") from None
            found = await asyncio.to_thread(partial(_fresh, answer, request, log))
            return found if isinstance(found, Response) else as_json(found)

        return respond


def _fresh(answer: Answer, request: Request, log: Log) -> Any:
    """The answer over the log as it is now. What another version wrote, or half of it, may lack
    what we look for.
    """
    log.refresh()
    try:
        return answer(request, log)
    except (KeyError, TypeError, AttributeError) as error:
        why = "; ".join(log.problems()) or f"an event lacks {error}"
        return PlainTextResponse(f"this part of the run cannot be shown: {why}", 422)


def _told(shelf: Shelf, name: str) -> dict[str, Any]:
    """What the list says of a run; one that cannot be read at all is named with its trouble."""
    try:
        return _summed(shelf.log(name))
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        return {
            "name": name,
            "ticks": 0,
            "problems": [f"cannot be read ({type(error).__name__}: {error})"],
        }


def _summed(log: Log) -> dict[str, Any]:
    log.refresh()
    manifest = log.manifest
    world = manifest.get("world") or {}
    if syntheses.is_synthesis(log):
        return syntheses.summed(log)
    return {
        "name": log.name,
        "world": world.get("name"),
        "condition": world.get("condition"),
        "seed": world.get("seed"),
        "model": (manifest.get("models") or {}).get("reason"),
        "created": manifest.get("created"),
        "ticks": log.ticks,
        "ticks_planned": world.get("ticks"),
        "parent": (manifest.get("parent") or {}).get("run"),
        "problems": log.problems(),
    }


# what is asked about one run


def overview(request: Request | None, log: Log) -> Any:
    """The run at a glance."""
    found = frames.overview(log.manifest, log.entries(frames.OVERVIEW), log.ticks)
    return found | {"run": log.name, "problems": log.problems(), "size": log.size}


def size(request: Request, log: Log) -> Any:
    """Whether there is more than before."""
    return {"size": log.size, "ticks": log.ticks}


def person(request: Request, log: Log) -> Any:
    """One person's histories."""
    return frames.person(log.manifest, log.entries(frames.PERSON), request.path_params["who"])


def memories(request: Request, log: Log) -> Any:
    """All memories of one person."""
    who = request.path_params["who"]
    return frames.memories(log.entries(("remembered",), subject=who), who)


def recalls(request: Request, log: Log) -> Any:
    """All recalls of one person."""
    who = request.path_params["who"]
    return frames.recalls(log.entries(("recalled",), subject=who), who)


def conversation(request: Request, log: Log) -> Any:
    """One conversation."""
    found = talk(log, request.path_params["chat"])
    if found is None:
        raise HTTPException(404, "no such conversation")
    return found


def talk(log: Log, chat: str) -> dict[str, Any] | None:
    """A conversation with its transcript as `text` and as `markdown`; None when there is none."""
    tick = chat.split(":", 1)[0]
    if not tick.isdecimal() or len(tick) > 9:
        return None
    found = conversations.conversation(
        log.entries(since_tick=int(tick), until_tick=int(tick) + 1), chat
    )
    if found is None:
        return None
    text, marked = conversations.transcript(found, when(log, found["minute"]))
    return found | {"text": text, "markdown": marked}


def when(log: Log, minute: int) -> str:
    """A minute of this run in words; the number where the start is not known."""
    from datetime import datetime

    try:
        return date_text(minute, datetime.fromisoformat(log.manifest["world"]["start"]))
    except (KeyError, ValueError, TypeError):
        return f"minute {minute}"


def calls(request: Request, log: Log) -> Any:
    """Every request of a tick, of one person if `who` is given."""
    tick = request.path_params["tick"]
    if not tick.isdecimal() or len(tick) >= TICK_DIGITS:
        raise HTTPException(404, "no such tick")
    return list(log.calls(int(tick), request.query_params.get("who")))


def behind(request: Request, log: Log) -> Any:
    """One event, by its number and tick, and the keys of the requests behind it."""
    asked = request.query_params.get("tick", "")
    tick = int(asked) if asked.isdecimal() and len(asked) < TICK_DIGITS else -1
    seq = request.path_params["seq"]
    entry = next(
        (e for e in log.entries(since_tick=tick, until_tick=tick + 1) if str(e["seq"]) == seq), None
    )
    if entry is None:
        raise HTTPException(404, "no such event in that tick")
    return {"event": entry, "keys": frames.keys_behind(entry, log.calls(tick))}


def all_sessions(request: Request, log: Log) -> Any:
    """A synthesis at a glance."""
    if not syntheses.is_synthesis(log):
        raise HTTPException(
            404, f"{log.name} is no synthesis: it has people and days, not sessions"
        )
    return syntheses.overview(log)


def one_session(request: Request, log: Log) -> Any:
    """One session of a synthesis."""
    return _there(syntheses.session(log, request.path_params["session"]))


def asked(request: Request, log: Log) -> Any:
    """The requests behind a session, by line."""
    return _there(syntheses.asked(log, request.path_params["session"]))


def _there(found: Any) -> Any:
    if found is None:
        raise HTTPException(404, "no such session")
    return found


def warnings(request: Request, log: Log) -> Any:
    """Every warning of the run."""
    return frames.warnings(log.entries(("warned",)))


# the server


def serve(
    shelf: Shelf,
    *,
    host: str,
    port: int,
    say: Callable[[str], None],
    more: Sequence[BaseRoute] = (),
    path: str = "/",
) -> None:
    """Serve until Ctrl-C. On an address that others can reach a token is demanded, as Jupyter
    does.
    """
    token = None if host in LOOPBACK else secrets.token_urlsafe(24)

    def opened(base: str) -> None:
        say(f"{base}{path}?token={token}" if token else f"{base}{path}")

    listen(make_app(shelf, token=token, more=more), host=host, port=port, opened=opened)


def listen(app: Starlette, *, host: str, port: int, opened: Callable[[str], None]) -> None:
    """Serve a site until Ctrl-C. opened: is told the address, without a slash at its end, once it
    is certain.
    """
    import uvicorn

    server = uvicorn.Server(_config(app, host=host, port=port))
    sock = _bind(host, port)
    opened(f"http://{'[' + host + ']' if ':' in host else host}:{sock.getsockname()[1]}")
    server.run(sockets=[sock])


@contextmanager
def serving(shelf: Shelf, *, host: str, port: int, more: Sequence[BaseRoute] = ()) -> Iterator[str]:
    """Serve from a thread for as long as the block lasts; yields the site's address on this
    machine.
    """
    import uvicorn

    sock = _bind(host, port)
    server = uvicorn.Server(
        _config(make_app(shelf, more=more), host=host, port=port, timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [sock]}, name="simcounsel-site", daemon=True
    )
    thread.start()
    try:
        yield f"http://{host}:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=5)
        sock.close()


def _config(app: Starlette, **more: Any) -> "uvicorn.Config":
    """Without uvicorn's own logging: setting it up closes every handler of the process, and absl's
    (which dp-accounting brings) then closes the stream that was sys.stderr when it was imported.
    Warnings go to the handlers that are there. And without websockets, which no page uses, and
    whose library warns older uvicorns.
    """
    import uvicorn

    return uvicorn.Config(
        app, ws="none", log_config=None, log_level="warning", access_log=False, **more
    )


def _bind(host: str, port: int) -> Any:
    import socket

    from simcounsel.errors import SimcounselError

    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen()  # from here on nobody is turned away, even before the site has started
    except OSError as error:
        sock.close()
        raise SimcounselError(
            f"{host}:{port} cannot be opened ({error.strerror}); choose another --port, or 0 for"
            " any that is free"
        ) from None
    return sock
