"""The page as a reader meets it: on a desk, on a phone, dark, in print; for screen readers too."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from analysis.report import Options, make
from analysis.writing import write
from tests.viewer.conftest import browser, chromium

pytestmark = pytest.mark.slow

__all__ = ["browser", "chromium"]


@pytest.fixture(scope="module")
def page_file(planted_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Made before any browser is open."""
    yield write(
        make([planted_study], Options(shuffles=99)),
        tmp_path_factory.mktemp("page"),
        "python -m analysis report planted",
    )


def test_it_fits_reads_and_asks_nobody(page_file: Path, browser: Browser) -> None:
    for width, scheme in ((1440, "light"), (390, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        asked: list[str] = []
        complaints: list[str] = []
        page.on("request", lambda request, seen=asked: seen.append(request.url))  # type: ignore[misc]
        page.on("console", lambda message, seen=complaints: seen.append(message.text))  # type: ignore[misc]
        page.goto(page_file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
        assert not [url for url in asked if not url.startswith(("file:", "data:"))]
        assert not complaints
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        if width == 1440:
            page.emulate_media(media="print")
            assert (
                page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
            )
        context.close()
