"""How much processor time each test takes, its own processes included: `pytest --cpu-durations 30`.

On a machine that others use as well, wall times say little; these say where a suite's time goes.
"""

import os
import time
from collections import Counter
from collections.abc import Generator
from pathlib import PurePosixPath

import psutil
import pytest

_last_s = 0.0


def _cpu_s() -> float:
    """Seconds of this process, of what it has waited for, and of what still runs below it."""
    times = os.times()
    spent_s = time.process_time() + times.children_user + times.children_system
    for child in psutil.Process().children(recursive=True):
        try:
            spent = child.cpu_times()
        except psutil.Error:
            continue
        spent_s += spent.user + spent.system + spent.children_user + spent.children_system
    return spent_s


class CpuDurations:
    """Writes into each report what its phase took, and at the end the longest tests and the folders."""

    def __init__(self, shown: int) -> None:
        self.shown = shown
        self.by_test: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        global _last_s
        _last_s = _cpu_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        global _last_s
        report = yield
        now_s = _cpu_s()
        report.cpu_s = now_s - _last_s
        _last_s = now_s
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.by_test[report.nodeid] += getattr(report, "cpu_s", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        by_folder: Counter[str] = Counter()
        cases: Counter[str] = Counter()
        for test, cpu_s in self.by_test.items():
            folder = str(PurePosixPath(*PurePosixPath(test.split("::")[0]).parts[:2]))
            by_folder[folder] += cpu_s
            cases[folder] += 1
        terminalreporter.section(f"processor time: {by_folder.total():.0f} s")
        for folder, cpu_s in by_folder.most_common():
            terminalreporter.line(f"{cpu_s:8.1f} s  {cases[folder]:5d} cases  {folder}")
        for test, cpu_s in self.by_test.most_common(self.shown):
            terminalreporter.line(f"{cpu_s:8.1f} s  {test}")
