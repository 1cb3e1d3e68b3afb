"""200 people at once in a trial: `python -m tests.benchmarks.trial` (two minutes, three processes).

A model that answers after 1 s, real HTTP clients, and in the middle a `kill -9` of the server, which is started again.
Counted: lines that were lost (none may be), and our own share of what a participant waits for: the time from sending a
line until the answer is there, less the whole seconds that the model took. Beside it, in the same run and under the same
load, a bare Starlette application that writes each line into SQLite: the ratio says what all else costs.
"""

import argparse
import asyncio
import os
import random
import signal
import socket
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from tests.trial.stage import links, lowest, written

PEOPLE, LINES = 200, 6
THINKS_S = (6.0, 14.0)
"""Between an answer and the next line; people take longer."""
OUTAGE_S = 1.0
HEADERS = {"x-simcounsel": "1"}
SERVE = """
import sys
from pathlib import Path
from simcounsel.llm.prices import Prices
from simcounsel.trial.opening import open_models, opened, serve_until_stopped
from simcounsel.trial.plan import load_trial
folder = Path(sys.argv[1])
plan = load_trial(folder)
models = open_models(plan, folder, Prices.load(), 512)
with opened(plan, folder, models.open(), amend="files may change beside a benchmark") as running:
    serve_until_stopped(running, None, int(sys.argv[2]), print)
"""
BARE = """
import sqlite3, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
db = sqlite3.connect(sys.argv[1], check_same_thread=False, isolation_level=None)
db.execute("pragma journal_mode=wal")
db.execute("pragma synchronous=full")
db.execute("create table line (id integer primary key, text text)")
async def say(request):
    db.execute("insert into line(text) values(?)", ((await request.body()).decode(),))
    return JSONResponse({"kept": True})
uvicorn.run(Starlette(routes=[Route("/api/say", say, methods=["POST"])]), port=int(sys.argv[2]), log_level="warning")
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Person:
    """A participant with an HTTP client of their own; goes on where the connection was cut."""

    def __init__(self, base: str, link: str, number: int) -> None:
        self.base, self.link, self.number = base, link, number
        self.name = f"Guest{'abcdefghij'[number // 100]}{'abcdefghij'[number // 10 % 10]}{'abcdefghij'[number % 10]}"
        self.random = random.Random(number)
        self.kept_s: list[float] = []
        self.waits: list[tuple[float, float]] = []
        """When a line was sent, and how long its answer took."""
        self.said: list[str] = []

    async def ask(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        while True:
            try:
                async with self.client.request(
                    method, self.base + path, headers=HEADERS, **more
                ) as answer:
                    if answer.status < 500:
                        return await answer.json()
            except (aiohttp.ClientError, TimeoutError, OSError):
                pass
            await asyncio.sleep(0.3)

    async def do(self, what: str, **body: Any) -> dict[str, Any]:
        return await self.ask("POST", "/api/do", json={"do": what, **body})

    async def take_part(self) -> None:
        timeout = aiohttp.ClientTimeout(total=40)
        async with aiohttp.ClientSession(
            cookie_jar=aiohttp.CookieJar(unsafe=True), timeout=timeout
        ) as self.client:
            await asyncio.sleep(self.random.uniform(0, 10))
            async with self.client.get(self.base + self.link):
                pass
            state = await self.do("information")
            ticked = [id for id, _ in state["page"]["items"]]
            await self.do("consent", agree=True, ticked=ticked, version=state["page"]["version"])
            state = await self.do("about_you", name=self.name, zone="UTC", offset_min=0)
            while state["stage"] == "questions":
                page = state["page"]
                given = {item["id"]: lowest(item) for item in page["items"]}
                state = await self.do(
                    "answers", id=page["id"], point=page["point"], answers=given, seconds=9
                )
            await self.talk()

    async def talk(self) -> None:
        after = 0
        for number in range(LINES):
            after, over = await self.turn(after)
            if over:
                return
            await asyncio.sleep(self.random.uniform(*THINKS_S))
            text = f"{self.name} says line {number}"
            begun = time.perf_counter()
            await self.ask("POST", "/api/say", json={"id": text, "text": text})
            self.kept_s.append(time.perf_counter() - begun)
            self.said.append(text)
            after, _ = await self.turn(after)
            self.waits.append((begun, time.perf_counter() - begun))

    async def turn(self, after: int) -> tuple[int, bool]:
        """Until it is their turn: the last line that they saw, and whether the talk is over."""
        while True:
            found = await self.ask("GET", f"/api/talk?after={after}")
            after = max([after, *(line["n"] for line in found["lines"])])
            if found.get("awaiting") or found.get("over"):
                return after, bool(found.get("over"))


async def started(script: str, *words: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, *words, stdout=asyncio.subprocess.DEVNULL
    )
    port = int(words[-1])
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return process
        except OSError:
            await asyncio.sleep(0.1)
    raise SystemExit("the server did not start")


async def measured(people: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, port, model_port = Path(place) / "trial", free_port(), free_port()
        model = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.benchmarks.served", "--latency-ms", "1000", "--port", str(model_port),
            stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        arms = "arms: [{name: unguided, set: {residents.Miriam.policy: {name: unguided, settings: {recall: false}}}}]"
        written(folder, people, talks="talks: {a_day: 1, lines: 40}")
        text = (folder / "trial.yaml").read_text()
        head, tail = (
            text.split("arms:\n")[0],
            text[text.index("questions:") :].split("hypotheses:")[0],
        )
        text = f"{head}{arms}\n{tail}".replace(
            "reason: scripted", f"reason: http://127.0.0.1:{model_port}/v1/m"
        )
        (folder / "trial.yaml").write_text(text)
        server = await started(SERVE, str(folder), str(port))
        crowd = [
            Person(f"http://127.0.0.1:{port}", link, n) for n, link in enumerate(links(folder))
        ]
        tasks = [asyncio.create_task(one.take_part()) for one in crowd]
        while sum(len(one.said) for one in crowd) < people * LINES // 3:
            await asyncio.sleep(0.2)
        killed = time.perf_counter()
        server.send_signal(signal.SIGKILL)
        await server.wait()
        await asyncio.sleep(OUTAGE_S)
        server = await started(SERVE, str(folder), str(port))
        back = time.perf_counter()
        await asyncio.gather(*tasks)
        server.kill()
        model.kill()
        bare = await bare_posts(Path(place), people)
        told(crowd, folder, killed, back, bare)


async def bare_posts(place: Path, people: int) -> list[float]:
    """The same lines at the same pace to an application that only writes them down."""
    port = free_port()
    server = await started(BARE, str(place / "bare.db"), str(port))
    took: list[float] = []

    async def one(number: int, client: aiohttp.ClientSession) -> None:
        drawn = random.Random(number)
        for line in range(LINES):
            await asyncio.sleep(drawn.uniform(0, 10 if line == 0 else THINKS_S[1] - THINKS_S[0]))
            begun = time.perf_counter()
            async with client.post(
                f"http://127.0.0.1:{port}/api/say", data=f"line {line}" * 3
            ) as answer:
                await answer.read()
            took.append(time.perf_counter() - begun)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        await asyncio.gather(*(one(n, client) for n in range(people)))
    server.kill()
    return took


def told(crowd: list[Person], folder: Path, killed: float, back: float, bare: list[float]) -> None:
    with sqlite3.connect(folder / "trial.db") as db:
        kept = [
            row[0]
            for row in db.execute("select json from body join chain using(seq) where kind = 'said'")
        ]
        replied = db.execute("select count(*) from chain where kind = 'replied'").fetchone()[0]
    lost = sum(
        not any(f'"{text}"' in one for one in kept) for person in crowd for text in person.said
    )
    waits = [(sent, took) for one in crowd for sent, took in one.waits]
    quiet = [took for sent, took in waits if not killed - 5 < sent < back + 15]
    own = sorted(took % 1.0 for took in quiet)
    posts = sorted(s for one in crowd for s in one.kept_s)
    print(
        f"{len(crowd)} people, {len(waits)} lines answered, {replied} replies in the store, lost {lost}"
    )
    print(
        f"the server was gone for {back - killed:.1f} s; lines sent meanwhile were answered within "
        f"{max((t for s, t in waits if killed - 5 < s < back + 15), default=0):.1f} s"
    )
    print(
        f"our own share of a wait: median {1000 * at(own, 0.5):.0f} ms, p95 {1000 * at(own, 0.95):.0f} ms ({len(own)} lines)"
    )
    print(
        f"a line is on the disk: median {1000 * at(posts, 0.5):.1f} ms, p95 {1000 * at(posts, 0.95):.1f} ms"
    )
    print(f"  the bare application: median {1000 * at(sorted(bare), 0.5):.1f} ms, p95 {1000 * at(sorted(bare), 0.95):.1f} ms;"
          f" ratio of medians {at(posts, 0.5) / at(sorted(bare), 0.5):.1f}")  # fmt: skip


def at(some: list[float], share: float) -> float:
    return some[min(len(some) - 1, int(share * len(some)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=PEOPLE)
    asyncio.run(measured(parser.parse_args().people))


if __name__ == "__main__":
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    main()
