"""The browser of the viewer's tests."""

from tests.viewer.conftest import browser, chromium

__all__ = ["browser", "chromium"]
