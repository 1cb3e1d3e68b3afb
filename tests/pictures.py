"""The pages' pictures of the viewer, made anew from a run of the default world, a fork of it, and a synthesis.

    python -m tests.pictures [--runs FOLDER]

Lives through worlds/insomnia.yaml with the embedded model (a minute or two) unless --runs names a
folder that holds the run, its fork and the synthesis already. Writes docs/pictures/viewer-*.png.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from simcounsel.corpus.synthesis import Workshop
from simcounsel.engine.forking import fork
from simcounsel.engine.simulation import Simulation
from simcounsel.runs.run import Run
from simcounsel.specs.synthesis import settings_from
from simcounsel.viewer.serve import make_app
from simcounsel.viewer.shelf import Shelf
from tests.stage import ROOT
from tests.viewer.conftest import FLAGS, serving

SHOTS = {
    "day": ("/run/{run}#tick=12&who=Ines&panel=days", 1280, 800, None),
    "memory": ("/run/{run}#tick=108&who=Ines&panel=memory", 1280, 800, ".panel-side"),
    "compare": ("/compare?a={run}&b={fork}#tick=112", 1280, 800, None),
    "synthesis": ("/run/{synthesis}#S0007", 1280, 1120, None),
}


def make_runs(folder: Path) -> None:
    """The default world, the same past without the counselor from the second day on, and twelve sessions in waves of four."""
    run = Simulation(ROOT / "worlds" / "insomnia.yaml", out=folder).run()
    new = fork(Run.open(run.folder), 96, {"condition": "client_layperson"}, folder)
    Simulation(new.world, run=new).run(60)
    Workshop(settings_from([], {"sessions": 12, "wave": 4}), out=folder).run()


def draw(folder: Path) -> None:
    """Open each page at its moment and write what it looks like."""
    runs = {name: Run.open(folder / name) for name in Shelf(folder).names()}
    child = next(name for name, run in runs.items() if run.manifest.parent)
    synthesis = next(name for name, run in runs.items() if run.manifest.synthesis)
    names = {
        "run": next(name for name in runs if name not in (child, synthesis)),
        "fork": child,
        "synthesis": synthesis,
    }
    with serving(make_app(Shelf(folder))) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for shot, (address, width, height, part) in SHOTS.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme="light"
            )
            page.goto(url + address.format(**names))
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(500)
            file = ROOT / "docs" / "pictures" / f"viewer-{shot}.png"
            if part:
                box = page.locator(part).bounding_box()
                assert box is not None
                page.screenshot(
                    path=file,
                    clip={
                        "x": box["x"] - 8,
                        "y": box["y"] - 8,
                        "width": box["width"] + 16,
                        "height": height - box["y"] - 110,
                    },
                )
            else:
                page.screenshot(path=file)
            page.close()
            print(f"wrote {file}")
        browser.close()


def main() -> None:
    """Make the runs if none are named, then the pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=Path)
    told = parser.parse_args()
    if told.runs:
        return draw(told.runs)
    with tempfile.TemporaryDirectory() as folder:
        make_runs(Path(folder))
        return draw(Path(folder))


if __name__ == "__main__":
    main()
