"""One run of the engine's benchmark in a process of its own: prints progress lines, and last its figures as JSON.

python -m tests.benchmarks.measured '{"workload": "W1", "url": "http://127.0.0.1:8000/v1", "n": 10, "ticks": 20}'
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import mesa

from simcounsel.agents.person import Person
from simcounsel.agents.views import whoami
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.errors import ModelUnreachable
from simcounsel.events import Entry, Remembered, TickEnded, Warned
from simcounsel.llm.catalog import open_chat, open_embed
from simcounsel.llm.driving import Outcome
from simcounsel.llm.question import Ask, Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.specs.world import World
from tests.benchmarks.towns import Plodder, crowd, plain_town, town_of_ten

T = TypeVar("T")
PEOPLE = ("W3", "crowd")
"""Workloads with the real minds."""
PAGE_KB = os.sysconf("SC_PAGE_SIZE") / 1024
Figures = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to measure. workload: W1, W2, W3, 'bare' (the loop without an engine), 'mesa' (Mesa without an engine),
    'crowd' or 'faults'. url: of the server; 'scripted' for the model in the process. in_flight_max: of the server;
    None for no limit. give_up_s: when 'faults' stops resuming."""

    workload: str
    url: str
    n: int
    ticks: int
    latency_s: float = 0.1
    in_flight_max: int | None = None
    give_up_s: float = 240.0

    def world(self) -> World:
        """The world to live through."""
        if self.workload == "crowd":
            return crowd(self.n, self.ticks)
        world = (
            town_of_ten(self.ticks)
            if self.workload == "W3"
            else plain_town(self.n, self.ticks, pairs=self.workload == "W2")
        )
        model = self.url if self.url == "scripted" else f"{self.url}/benchmark"
        return world.model_copy(
            update={"models": world.models.model_copy(update={"reason": model})}
        )


class Watched(Switchboard):
    """A switchboard that knows the critical path: of each batch of asks the longest chain of chat
    requests that wait for each other, or the rounds that the limit makes of them, if those are more."""

    critical_requests = 0
    limit: int | None = None

    def ask(self, asks: Mapping[str, Ask[T]]) -> dict[str, Outcome[T]]:
        chains: dict[str, int] = {}
        before = self._asked
        outcomes = super().ask(
            {name: self._chained(name, one, chains) for name, one in asks.items()}
        )
        rounds = -(-(self._asked - before) // self.limit) if self.limit else 0
        self.critical_requests += max(*chains.values(), rounds, 0) if chains else 0
        return outcomes

    _asked = 0

    def _chained(self, name: str, asking: Ask[T], chains: dict[str, int]) -> Ask[T]:
        reply: Any = None
        while True:
            try:
                wanted = asking.send(reply)
            except StopIteration as end:
                value: T = end.value
                return value
            chat = sum(
                request.verb != "embed"
                for request in ((wanted,) if isinstance(wanted, Question) else wanted)
            )
            if chat:
                chains[name] = chains.get(name, 0) + 1
                self._asked += chat
            reply = yield wanted


class Clocked(Simulation):
    """A simulation that notes CPU time and memory after each tick, and what the end of a tick takes."""

    def __init__(self, *given: Any, **kind: Any) -> None:
        self.cpu_s = [time.process_time()]
        self.resident_kb: list[float] = []
        self.ends_s: list[float] = []
        super().__init__(*given, **kind)
        self.cpu_s = [time.process_time()]

    def _commit(self) -> None:
        started = time.perf_counter()
        super()._commit()
        self.ends_s.append(time.perf_counter() - started)
        self.cpu_s.append(time.process_time())
        self.resident_kb.append(_resident_kb())


def measure(job: Job, out: Path) -> Figures:
    """Warm up, live through the workload, and tell what it took."""
    if job.workload == "bare":
        return asyncio.run(_bare(job))
    if job.workload == "mesa":
        return _mesa_alone(job)
    if job.workload == "faults":
        return _endured(job, out)
    _live(Job(workload="W1", url=job.url, n=2, ticks=2), out)
    world = job.world()
    started, cpu_s = time.perf_counter(), time.process_time()
    simulation, models = _live(job, out, world)
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu_s
    steps, usage = job.n * job.ticks, models.usage
    a_day = 24 * 60 // world.tick_minutes
    critical_s = models.critical_requests * job.latency_s
    each = [(after - before) * 1e3 / job.n for before, after in pairwise(simulation.cpu_s)]
    return {
        "wall_s": wall_s,
        "critical_s": critical_s,
        "ratio": wall_s / critical_s if critical_s else 0.0,
        "cpu_ms": cpu_s * 1e3 / steps,
        "cpu_early_ms": _mean(each[1:][: len(each) // 3]),
        "cpu_late_ms": _mean(each[-(len(each) // 3) :]),
        "requests": usage.calls / steps,
        "characters": usage.prompt_characters / steps,
        "requests_a_day": usage.calls / steps * a_day,
        "characters_a_day": usage.prompt_characters / steps * a_day,
        "peak": usage.peak_in_flight,
        "memory_mb": simulation.resident_kb[-1] / 1024,
        "memory_kb": _slope(simulation.resident_kb) / job.n,
        "disk_kb": sum(f.stat().st_size for f in simulation.record.folder.rglob("*") if f.is_file())
        / 1024
        / steps,
        "end_ms": _mean(simulation.ends_s) * 1e3,
        "fallbacks": usage.fallbacks,
        "second_tries": usage.second_tries,
        "purposes": _purposes(simulation.record),
    }


def _live(job: Job, out: Path, world: World | None = None) -> tuple[Clocked, Watched]:
    """From the making of the simulation to its close."""
    world = world or job.world()
    in_flight = max(64, job.n)
    chat = open_chat(world.models.reason)
    models = Watched(
        {"reason": chat, "quick": chat, "judge": chat}, open_embed("scripted"), in_flight=in_flight
    )
    models.limit = min(in_flight, job.in_flight_max or in_flight)
    simulation = Clocked(
        world, out=out, models=models, minds=Person if job.workload in PEOPLE else Plodder
    )
    simulation.run()
    return simulation, models


async def _bare(job: Job) -> Figures:
    """The same requests over aiohttp without anything around them; what the engine is held against."""
    person = plain_town(1, 1, pairs=False).residents[0]
    told = whoami(_Named(person.name, person.persona))  # type: ignore[arg-type]
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def once(tick: int, number: int) -> str:
            messages = [
                {"role": "system", "content": told},
                {"role": "user", "content": f"{tick} {number} " + "What comes to mind? " * 10},
            ]
            payload = json.dumps(
                {
                    "model": "benchmark",
                    "messages": messages,
                    "temperature": 0.7,
                    "seed": number,
                    "max_tokens": 60,
                }
            ).encode()
            headers = {"Content-Type": "application/json"}
            async with session.post(
                f"{job.url}/chat/completions", data=payload, headers=headers
            ) as response:
                text: str = json.loads(await response.read())["choices"][0]["message"]["content"]
                return text

        await asyncio.gather(*(once(-1, number) for number in range(2)))
        started, cpu_s = time.perf_counter(), time.process_time()
        for tick in range(job.ticks):
            await asyncio.gather(*(once(tick, number) for number in range(job.n)))
    wall_s, critical_s = time.perf_counter() - started, job.ticks * job.latency_s
    cpu_ms = (time.process_time() - cpu_s) * 1e3 / (job.n * job.ticks)
    return {
        "wall_s": wall_s,
        "critical_s": critical_s,
        "ratio": wall_s / critical_s,
        "cpu_ms": cpu_ms,
    }


class _Asking(mesa.Agent):  # type: ignore[misc]
    """Asks the scripted model once a tick, as the least mind does, and keeps the answer."""

    said = ""

    async def ask(self, told: str) -> None:
        question = Question[None](
            verb="write",
            purpose="appraise",
            who=str(self.unique_id),
            system=told,
            prompt=f"{self.said} What comes to mind? Say one sentence about it.",
            seed=int(self.unique_id) + 100_000 * int(self.model.steps),
            max_tokens=60,
            fallback=None,
        )
        self.said = (await self.model.chat.complete(question, None)).text


class _MesaAlone(mesa.Model):  # type: ignore[misc]
    """The same questions in a Mesa model of its own: nothing is recalled, checked or written."""

    def __init__(self, n: int) -> None:
        super().__init__(seed=1)
        self.chat = Scripted()
        person = plain_town(1, 1, pairs=False).residents[0]
        self.told = whoami(_Named(person.name, person.persona))  # type: ignore[arg-type]
        self.datacollector = mesa.DataCollector(agent_reporters={"said": "said"})
        _Asking.create_agents(self, n)

    def step(self) -> None:
        asyncio.run(self._ask())
        self.datacollector.collect(self)

    async def _ask(self) -> None:
        await asyncio.gather(*(agent.ask(self.told) for agent in self.agents))


def _mesa_alone(job: Job) -> Figures:
    model = _MesaAlone(job.n)
    started, cpu_s = time.perf_counter(), time.process_time()
    for _ in range(job.ticks):
        model.step()
    cpu_ms = (time.process_time() - cpu_s) * 1e3 / (job.n * job.ticks)
    wall_s = time.perf_counter() - started
    return {"wall_s": wall_s, "cpu_ms": cpu_ms, "requests": 1, "memory_mb": _resident_kb() / 1024}


@dataclass(frozen=True)
class _Named:
    """As much of a resident as `whoami` reads."""

    name: str
    persona: Any
    version: None = None


def _endured(job: Job, out: Path) -> Figures:
    """Live through faults as a user would: when the run stops for want of a model, resume it. Once it is stopped on purpose."""
    started, resumes, run, world = time.perf_counter(), 0, None, job.world()
    kind: dict[str, Any] = {
        "minds": Plodder,
        "limits": Limits(in_flight=max(64, job.n)),
        "on_event": _say_tick,
    }
    while time.perf_counter() - started < job.give_up_s:
        simulation = Simulation(world, out=out, run=run, **kind)
        try:
            simulation.run(job.ticks - 2 if run is None else None)
            if simulation.finished:
                break
        except ModelUnreachable as error:
            print(f"stopped: {error}", flush=True)
            time.sleep(min(1.0, 10 * job.latency_s))
        resumes += 1
        run = Run.open(simulation.record.folder)
    return {
        "wall_s": time.perf_counter() - started,
        "resumes": resumes,
        "finished": simulation.finished,
        **_losses(simulation.record, job),
    }


def _losses(run: Run, job: Job) -> Figures:
    """Of all resident-steps: which left a memory, which are lost with a cause in the log, which without a word."""
    done: set[tuple[int, str]] = set()
    said: set[tuple[int, str]] = set()
    twice = 0
    causes: dict[str, int] = {}
    for entry in run.entries():
        event = entry.event
        if isinstance(event, Remembered):
            twice += (entry.tick, event.who) in done
            done.add((entry.tick, event.who))
        elif isinstance(event, Warned):
            said.add((entry.tick, event.who))
            causes[event.cause] = causes.get(event.cause, 0) + 1
    steps = {(tick, resident.name) for tick in range(job.ticks) for resident in run.world.residents}
    return {
        "steps": len(steps),
        "completed": len(done & steps),
        "lost_with_cause": len((steps - done) & said),
        "lost_silently": len(steps - done - said),
        "twice": twice,
        "causes": causes,
    }


def _say_tick(entry: Entry) -> None:
    if isinstance(entry.event, TickEnded):
        print(f"tick {entry.tick}", flush=True)


def _purposes(run: Run) -> dict[str, int]:
    found: dict[str, int] = {}
    for call in run.calls():
        if call.get("verb") != "embed":
            found[call["purpose"]] = found.get(call["purpose"], 0) + 1
    return found


def _resident_kb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_KB


def _slope(values: list[float]) -> float:
    """By least squares over the second half, a tick."""
    late = values[len(values) // 2 :]
    if len(late) < 2:
        return 0.0
    x = [index - (len(late) - 1) / 2 for index in range(len(late))]
    return sum(a * b for a, b in zip(x, late, strict=True)) / sum(a * a for a in x)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def main() -> None:
    """Measure the job that the first argument describes."""
    job = Job(**json.loads(sys.argv[1]))
    with tempfile.TemporaryDirectory(prefix="simcounsel-benchmark-") as out:
        print(json.dumps(measure(job, Path(out))), flush=True)


if __name__ == "__main__":
    main()
