"""A vendor's server for tests: it keeps each talk itself, and can be made to fail."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Self

from aiohttp import web

Lines = list[str]


class Vendor:
    """POST /talks, POST /talks/ID/lines, DELETE /talks/ID; use it with `with`.

    says: the bot's messages for the client's lines of a talk so far. fails: the HTTP status for the n-th
    line (from 0), 0 for none. Seen from outside: url, talks (the client's lines by talk), users, ended, keys.
    """

    def __init__(
        self,
        says: Callable[[Lines], list[Any]] = lambda lines: [f"{len(lines)} heard"],
        fails: Callable[[int], int] = lambda number: 0,
    ) -> None:
        self.says, self.fails = says, fails
        self.url = ""
        self.talks: dict[str, Lines] = {}
        self.users: dict[str, str] = {}
        self.ended: list[str] = []
        self.keys: set[str | None] = set()
        self.asked = 0
        self._ready = threading.Event()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application()
        app.add_routes(
            [
                web.post("/talks", self._begin),
                web.post("/talks/{id}/lines", self._line),
                web.delete("/talks/{id}", self._over),
            ]
        )
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._end.wait()
        await runner.cleanup()

    async def _begin(self, request: web.Request) -> web.Response:
        self.keys.add(request.headers.get("X-Key"))
        body = await request.json()
        id = f"talk {len(self.talks)}"
        self.talks[id], self.users[id] = [], body.get("user", "")
        return web.json_response({"talk": {"id": id}, "hello": "Hi, I am Ada."})

    async def _line(self, request: web.Request) -> web.Response:
        number, self.asked = self.asked, self.asked + 1
        if status := self.fails(number):
            return web.json_response({"error": "no"}, status=status)
        lines = self.talks[request.match_info["id"]]
        lines.append((await request.json())["text"])
        said = [{"text": one} for one in self.says(lines)]
        return web.json_response({"messages": said, "tools": [{"name": "look"}]})

    async def _over(self, request: web.Request) -> web.Response:
        self.ended.append(request.match_info["id"])
        return web.Response()


def bot_file(url: str, more: str = "", start: str = "") -> str:
    """The YAML of a bot behind a `Vendor`."""
    return f"""
name: Ada 2.1
endpoint:
  headers: {{X-Key: "${{ADA_KEY}}"}}
  start: {{url: {url}/talks, body: {{user: "{{user}}"}}, conversation: talk.id{start}}}
  turn: {{url: "{url}/talks/{{conversation}}/lines", body: {{text: "{{text}}"}}, replies: "messages[].text", tools: "tools[]"}}
  end: {{url: "{url}/talks/{{conversation}}", method: DELETE}}
{more}
"""
