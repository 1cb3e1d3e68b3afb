"""How fast the viewer shows a large run: 25 residents over 10 simulated days, at least 200,000 events.

    python tests/benchmarks/viewer.py [--residents 25] [--days 10] [--run FOLDER] [--keep FOLDER]

The run is made with the scripted model (some minutes) unless --run names one. Prints where the time
of the first view goes (the index, the overview, its transfer, the drawing), how long a seek takes in
Chromium for each panel, the memory of the page, and beside it what loading the whole log would take.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from simcounsel.engine.simulation import Simulation
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.specs.residents import Appointment, Place, Relationship, ResidentSpec
from simcounsel.specs.world import World
from simcounsel.specs.world_settings import ModelRoles
from simcounsel.viewer import parts, routes
from simcounsel.viewer.run_list import RunList
from tests.benchmarks.towns import persona

CLIENTS = (
    "aisha",
    "daniela",
    "elif",
    "henrik",
    "ines",
    "kofi",
    "leila",
    "mei",
    "priya",
    "rowan",
    "samuel",
    "tomasz",
    "walter",
)
OTHERS = ("miriam", "jonas", "yuki", "omar", "grace", "ben")
ROOMS = (("Bedroom", "bedroom"), ("Kitchen", "kitchen"), ("Living Room", "living room"))
FIRST_VIEW_MS, SEEK_MS, PAGE_MB = 2000, 100, 300
PANELS = ("days", "person", "memory", "talks", "hood")


def large_town(residents: int, days: int) -> World:
    """Some of the personas several times over, a house for each, four public places, sessions every day."""
    files = [(CLIENTS + OTHERS)[number % 19] for number in range(residents)]
    names = [f"{persona(file).name.split()[0]} {number + 1}" for number, file in enumerate(files)]
    roles = {name: persona(file).role for name, file in zip(names, files, strict=True)}
    counselors = [name for name in names if roles[name] == "counselor"]
    clients = [name for name in names if roles[name] == "client"]
    houses = tuple(
        Place(
            name=f"House {name}",
            places=tuple(
                Place.model_validate({"name": f"{room} {name}", "kind": kind})
                for room, kind in ROOMS
            ),
        )
        for name in names
    )
    public = (
        Place(name="Park", kind="park"),
        Place(name="Market", kind="market"),
        Place(name="Cafe", kind="cafe"),
        Place(name="Center", kind="counseling center"),
    )
    appointments = (
        tuple(
            Appointment(
                who=(client, counselors[number % len(counselors)]),
                days=tuple(range(days)),
                at=f"{9 + number // len(counselors)}:00",
                place="Center",
            )
            for number, client in enumerate(clients)
        )
        if counselors
        else ()
    )
    return World(
        name="Large town",
        start=datetime(2026, 3, 2, 6, 0),
        ticks=96 * days,
        places=(*houses, *public),
        appointments=appointments,
        residents=tuple(
            ResidentSpec(
                name=name, persona=persona(file), home=f"House {name}", starts_in=f"Bedroom {name}"
            )
            for name, file in zip(names, files, strict=True)
        ),
        relationships=tuple(
            Relationship(between=(a, b), score=6) for a, b in zip(names, names[1:], strict=False)
        ),
        models=ModelRoles(reason="scripted", embed="scripted"),
    )


def made(residents: int, days: int, out: Path) -> Run:
    """Live through the large town."""
    simulation = Simulation(large_town(residents, days), out=out)

    def tell(entry: Any) -> None:
        if entry.event.kind == "tick_ended" and entry.tick % 96 == 95:
            print(f"made day {entry.tick // 96 + 1} of {days}", flush=True)

    simulation.on_event = tell
    return simulation.run()


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """The site over one run, in a thread."""
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(
            routes.make_app(RunList(folder)),
            host="127.0.0.1",
            port=0,
            log_config=None,
            log_level="warning",
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)


def on_the_server(folder: Path) -> dict[str, float]:
    """Where the time goes before anything is sent, in ms; and the whole log read as JSON, to compare."""
    began = time.perf_counter()
    log = Log(folder)
    log.refresh()
    indexed = time.perf_counter()
    overview = parts.overview(History(log))
    built = time.perf_counter()
    text = json.dumps(overview, ensure_ascii=False, separators=(",", ":"))
    written = time.perf_counter()
    with (folder / "events.jsonl").open("rb") as lines:
        events = sum(1 for line in lines if json.loads(line))
    whole = time.perf_counter()
    return {
        "events": events,
        "log_mb": log.size / 1e6,
        "index_ms": (indexed - began) * 1e3,
        "overview_ms": (built - indexed) * 1e3,
        "json_ms": (written - built) * 1e3,
        "overview_mb": len(text) / 1e6,
        "whole_log_ms": (whole - written) * 1e3,
    }


def in_the_browser(folder: Path, repeats: int) -> dict[str, Any]:
    """First view and seeks in Chromium, in ms; memory of the page in MB."""
    from playwright.sync_api import sync_playwright

    flags = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run --enable-precise-memory-info"
    drawn = "() => document.querySelector('.figure') && document.querySelector('.lanes svg')"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=flags.split()
        )
        firsts: list[float] = []
        for _ in range(3):
            with site(folder) as url:
                page = browser.new_page()
                began = time.perf_counter()
                page.goto(f"{url}/run/{folder.name}")
                page.wait_for_function(drawn)
                firsts.append((time.perf_counter() - began) * 1e3)
                page.close()
        with site(folder) as url:
            page = browser.new_page()
            page.goto(f"{url}/run/{folder.name}")
            page.wait_for_function(drawn)
            seeks = {panel: page.evaluate(SEEK, [panel, repeats]) for panel in PANELS}
            memory = page.evaluate("() => performance.memory.usedJSHeapSize / 1e6")
        browser.close()
    return {"first_view_ms": firsts, "seeks_ms": seeks, "page_mb": memory}


SEEK = """async ([panel, repeats]) => {
  const { show, state } = await import("/static/state.js");
  const settled = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const main = document.getElementById("main");
  show({ panel });
  await new Promise((done) => setTimeout(done, 1500));
  const ticks = Number(document.querySelector(".scrub").max);
  const taken = [];
  for (let n = 0; n < repeats; n += 1) {
    const tick = Math.floor((((n * 7919) % 1000) / 1000) * ticks);
    const began = performance.now();
    show({ tick }, true);
    while (main.dataset.drawn !== `${tick}:${panel}`) await settled();
    taken.push(performance.now() - began);
  }
  return taken;
}"""


def main() -> None:
    """Make the run, measure, print, judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--residents", type=int, default=25)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--run", type=Path, help="a run that is there already")
    parser.add_argument("--keep", type=Path, help="make the run here and keep it")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = told.run or made(told.residents, told.days, told.keep or Path(scratch)).folder
        server, browser = on_the_server(folder), in_the_browser(folder, told.repeats)
    print(
        f"{server['events']:.0f} events, {server['log_mb']:.0f} MB of log; overview {server['overview_mb']:.1f} MB"
    )
    print(
        f"on the server: index {server['index_ms']:.0f} ms, overview {server['overview_ms']:.0f} ms, its JSON {server['json_ms']:.0f} ms; "
        f"beside it, reading the whole log: {server['whole_log_ms']:.0f} ms"
    )
    first = statistics.median(browser["first_view_ms"])
    print(
        f"first view, site just started: {first:.0f} ms (median of {len(browser['first_view_ms'])})"
    )
    worst = 0.0
    for panel, taken in browser["seeks_ms"].items():
        print(
            f"seek, {panel:7s}: median {statistics.median(taken):5.0f} ms, 95% {statistics.quantiles(taken, n=20)[-1]:5.0f} ms, slowest {max(taken):5.0f} ms"
        )
        worst = max(worst, statistics.quantiles(taken, n=20)[-1])
    print(f"memory of the page's heap at the end: {browser['page_mb']:.0f} MB")
    for reached, what in (
        (first <= FIRST_VIEW_MS, f"first view under {FIRST_VIEW_MS} ms: {first:.0f} ms"),
        (worst <= SEEK_MS, f"95% of seeks in every panel under {SEEK_MS} ms: {worst:.0f} ms"),
        (browser["page_mb"] <= PAGE_MB, f"page under {PAGE_MB} MB: {browser['page_mb']:.0f} MB"),
    ):
        print(f"{'reached' if reached else 'NOT reached':>12s}  {what}")


if __name__ == "__main__":
    main()
