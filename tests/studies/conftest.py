"""Pages of studies are looked at in the same browser as the viewer's."""

from tests.viewer.conftest import browser, chromium

__all__ = ["browser", "chromium"]
