"""The pages' pictures, made again: of the viewer with the runs of the gallery, into docs/pictures/.

python -m tests.pictures
"""

import shutil
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import FloatRect, Page, sync_playwright

from simcounsel.gallery import exhibits, folder_of
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.stage import ROOT
from tests.viewer.conftest import FLAGS, serving

PICTURES = ROOT / "docs" / "pictures"


class Shot(NamedTuple):
    """A picture of a page."""

    address: str
    height: int = 800
    part: str | None = None
    """What to show of the page, by a CSS selector; None: all."""
    scheme: Literal["light", "dark"] = "light"


INES = "#tick=110&who=Ines"
SHOTS = {
    "talk": Shot("/run/first-days#tick=12&who=Ines&panel=talks&tour=1", height=900),
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
    "several": Shot("/several?run=first-days&run=first-days-alone", height=760),
    "synthesis": Shot("/run/synthesis#S0001", height=1120),
}


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


if __name__ == "__main__":
    photograph()
