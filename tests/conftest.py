"""What all tests share: one run of the tiny world that nobody changes, and calm Hypothesis settings."""

import gc
import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import mesa
import pytest
from hypothesis import HealthCheck, settings

from simcounsel import cli
from simcounsel.runs.run import Run
from tests.commands import Command, in_process
from tests.durations import CpuDurations
from tests.stage import live

# Hundreds of processes start below this one: each would compile everything for itself.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile(
    "calm",
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("calm")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cpu-durations", type=int, metavar="N", help="the N tests that take most processor time"
    )


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, since many tests wait for processes, browsers and clocks."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    if (shown := config.getoption("--cpu-durations")) is not None:
        config.pluginmanager.register(CpuDurations(shown))


ALL_SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.(slow|weights)", re.MULTILINE)
ANY_SLOW = re.compile(r"mark\.(slow|weights)|\b(browser|chromium)\b")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Does not import a file that has no test of the kind that is asked for: torch alone takes seconds."""
    asked = config.getoption("markexpr")
    if asked not in ("slow", "not slow") or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    return bool(ALL_SLOW.search(text) if asked == "not slow" else not ANY_SLOW.search(text)) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What opens a browser or loads weights is slow; the slowest files come first, so that all
    workers end together."""
    seconds: Counter[Path] = Counter()
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()) or item.get_closest_marker("weights"):
            item.add_marker("slow")
        if marked := item.get_closest_marker("slow"):
            seconds[item.path] += sum(marked.args) or 1
    items.sort(key=lambda item: -seconds[item.path])


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All twelve ticks of worlds/tiny.yaml with the scripted model; read only."""
    return live(tmp_path_factory.mktemp("lived"))


@pytest.fixture(autouse=True, scope="module")
def small_heap() -> None:
    """What earlier modules left in memory is not searched for garbage again: with torch, pandas and 4,000 tests' results each search takes
    seconds, and statsmodels asks for one in every correction for several tests. Mesa keeps every model for its agents' numbers."""
    mesa.Agent._ids.clear()
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test can spend money."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "SIMCOUNSEL_API_KEY",
        "SIMCOUNSEL_HOSTS",
        "SIMCOUNSEL_CODE",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def simcounsel(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Iterator[Command]:
    """Runs the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    handlers = logging.getLogger().handlers[:]
    yield in_process("simcounsel", cli.main, monkeypatch, capsys)
    logging.getLogger().handlers[:] = handlers


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a test looks at numbers and words alone, charts are empty: they take most of the time."""
    from analysis import style

    monkeypatch.setattr(style, "_drawn", lambda *_: b"<svg></svg>")
