"""The pages' pictures, made again: of the viewer with the runs of the gallery, and with --terminal
of the terminal with a run of the default world.

    python -m tests.pictures [--terminal RUN]

Writes docs/pictures/. RUN: of worlds/insomnia.yaml with the embedded model; it is replayed.
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
from simcounsel.engine.simulation import Simulation
from simcounsel.gallery import exhibits, folder_of
from simcounsel.runs.run import Run
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


INES = "#tick=110&who=Ines"
SHOTS = {
    "day": Shot(f"/run/first-days{INES}&panel=days"),
    "day-dark": Shot(f"/run/first-days{INES}&panel=days&rows=people", scheme="dark"),
    "outcomes": Shot(f"/run/first-days{INES}&panel=outcomes", height=1060, part=".panel-side"),
    "evidence": Shot(
        f"/run/first-days{INES}&panel=outcomes&point=session_alliance_observed~Ines~108~observer~1"
        "~108%3AInes%2BMiriam",
        height=1250,
        part=".panel-side",
    ),
    "memory": Shot("/run/first-days#tick=109&who=Ines&panel=memory", part=".panel-side"),
    "compare": Shot("/compare?a=first-days&b=first-days-alone#tick=112", height=860),
    "runs": Shot("/#group=world", height=700),
    "several": Shot("/several?run=first-days&run=first-days-alone", height=760),
    "search": Shot(
        "/run/first-days#tick=12&who=Ines&panel=search&q=keep%20watch", part=".panel-side"
    ),
    "synthesis": Shot("/run/synthesis#S0001", height=1120),
}


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
    drawn = console.export_svg(title="simcounsel run worlds/insomnia.yaml")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    (PICTURES / "run.svg").write_text(drawn, encoding="utf-8")


def photograph() -> None:
    """Open each page at its moment and write what it looks like."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in exhibits():
            shutil.copytree(folder_of(name), folder / name)
        _photograph(folder)


def _photograph(folder: Path) -> None:
    with serving(make_app(RunList(folder))) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, shot in SHOTS.items():
            page = browser.new_page(
                viewport={"width": 1280, "height": shot.height}, color_scheme=shot.scheme
            )
            page.goto(url + shot.address)
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
    """The pictures, and on demand that of the terminal."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--terminal", type=Path)
    told = parser.parse_args()
    if told.terminal:
        draw_terminal(Run.open(told.terminal))
    photograph()


if __name__ == "__main__":
    main()
