"""The pages' pictures, made anew: of the terminal, and of the viewer with a run of the default world,
a fork of it, and a synthesis.

    python -m tests.pictures [--runs FOLDER]

Runs worlds/insomnia.yaml with the embedded model (some minutes) and keeps it in FOLDER; what is there
already is taken. Writes docs/pictures/.
"""

import argparse
import io
import re
import shutil
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import FloatRect, Page, sync_playwright
from rich.console import Console

from simcounsel.cli.run_display import LiveDisplay
from simcounsel.corpus.synthesis import Workshop
from simcounsel.engine.forking import fork
from simcounsel.engine.simulation import Simulation
from simcounsel.runs.run import Run
from simcounsel.specs.synthesis_file import settings_from
from simcounsel.specs.world_file import load_world
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.stage import ROOT
from tests.viewer.conftest import FLAGS, serving

PICTURES = ROOT / "docs" / "pictures"
TERMINAL_TICKS = 14
"""Until after the first session of the default world."""


class Shot(NamedTuple):
    """A picture of a page."""

    address: str
    height: int = 800
    part: str | None = None
    """What to show of the page, by a CSS selector; None: all."""
    scheme: Literal["light", "dark"] = "light"


SHOTS = {
    "day": Shot("/run/{run}#tick=12&who=Ines&panel=days"),
    "day-dark": Shot("/run/{run}#tick=12&who=Ines&panel=days", scheme="dark"),
    "memory": Shot("/run/{run}#tick=108&who=Ines&panel=memory", part=".panel-side"),
    "compare": Shot("/compare?a={run}&b={fork}#tick=112"),
    "synthesis": Shot("/run/{synthesis}#S0007", height=1120),
}


def make_runs(folder: Path) -> None:
    """The default world, the same past without the counselor from the second day on, and twelve sessions in waves of four."""
    run = Simulation(ROOT / "worlds" / "insomnia.yaml", out=folder).run()
    new = fork(Run.open(run.folder), 96, {"condition": "client_layperson"}, folder)
    Simulation(new.world, run=new).run(60)
    Workshop(settings_from([], {"sessions": 12, "wave": 4}), out=folder).run()


def draw_terminal(run: Run) -> None:
    """What `simcounsel run` shows after the first session, replayed, as a picture that needs no font from elsewhere."""
    console = Console(record=True, width=132, file=io.StringIO(), force_terminal=True)
    world = load_world(ROOT / "worlds" / "insomnia.yaml")
    with tempfile.TemporaryDirectory() as folder:
        display = LiveDisplay(console, world.ticks)
        replayed = f"recorded:{run.folder}"
        with Simulation(world, model=replayed, out=folder, on_event=display.on_event) as simulation:
            display.watch(simulation)
            for _ in range(TERMINAL_TICKS):
                simulation.step()
            console.print(display.now())
    drawn = console.export_svg(title="python -m simcounsel run worlds/insomnia.yaml")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    (PICTURES / "run.svg").write_text(drawn, encoding="utf-8")


def photograph(folder: Path) -> None:
    """Open each page at its moment and write what it looks like."""
    runs = {name: Run.open(folder / name) for name in RunList(folder).names()}
    child = next(name for name, run in runs.items() if run.manifest.parent)
    synthesis = next(name for name, run in runs.items() if run.manifest.synthesis)
    names = {
        "run": next(name for name in runs if name not in (child, synthesis)),
        "fork": child,
        "synthesis": synthesis,
    }
    draw_terminal(runs[names["run"]])
    with serving(make_app(RunList(folder))) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, shot in SHOTS.items():
            page = browser.new_page(
                viewport={"width": 1280, "height": shot.height}, color_scheme=shot.scheme
            )
            page.goto(url + shot.address.format(**names))
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(500)
            file = PICTURES / f"viewer-{name}.png"
            page.screenshot(path=file, clip=_clip(page, shot) if shot.part else None)
            page.close()
            print(f"wrote {file}")
        browser.close()


def _clip(page: Page, shot: Shot) -> FloatRect:
    """The part of a page, with a margin of 8 pixels."""
    assert shot.part is not None
    box = page.locator(shot.part).bounding_box()
    assert box is not None
    return {
        "x": box["x"] - 8,
        "y": box["y"] - 8,
        "width": box["width"] + 16,
        "height": shot.height - box["y"] - 110,
    }


def main() -> None:
    """Make the runs if they are not there, then the pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "pictures")
    told = parser.parse_args()
    if not told.runs.exists():
        make_runs(told.runs)
    photograph(told.runs)


if __name__ == "__main__":
    main()
