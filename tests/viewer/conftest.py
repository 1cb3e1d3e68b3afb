"""What browser tests share: Chromium, and any site served on this machine for as long as a test lasts."""

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from starlette.types import ASGIApp

if TYPE_CHECKING:  # in [test-all]
    from playwright.sync_api import Browser, Page


FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    """Chromium, started once for a file.

    Not for the session: while Playwright is open its event loop counts as running in this thread, and
    tests of other files call asyncio.run.
    """
    pytest.importorskip("playwright", reason="pip install -e '.[test-all]'")
    from playwright.sync_api import Error, sync_playwright

    found = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    with sync_playwright() as playwright:
        try:
            opened = playwright.chromium.launch(executable_path=found, args=FLAGS)
        except Error as error:
            if found or "playwright install" not in error.message:
                raise
            pytest.skip("no Chromium on this machine; `playwright install chromium` fetches one")
        yield opened
        opened.close()


@pytest.fixture
def browser(chromium: "Browser") -> Iterator["Browser"]:
    """Chromium, in which nothing of a test before is left: neither pages nor what they stored."""
    yield chromium
    for context in chromium.contexts:
        context.close()


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """The site on a free port of 127.0.0.1, served from a thread; yields its address, without a slash at its end."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            ws="none",
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=1,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        sock.close()


@contextmanager
def sound_page(browser: "Browser", width: int = 1280, **context: Any) -> Iterator["Page"]:
    """A page that fails the test when anything goes wrong in it."""
    room = browser.new_context(viewport={"width": width, "height": 900}, **context)
    page = room.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console", lambda message: wrong.append(message.text) if message.type == "error" else None
    )
    yield page
    room.close()
    assert wrong == []


@contextmanager
def site(page: "Page", app: ASGIApp) -> Iterator[str]:
    """A site of its own, which the page leaves before it ends: else it asks in vain whether there is more."""
    with serving(app) as address:
        yield address
        page.goto("about:blank")
