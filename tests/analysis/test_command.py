"""`python -m analysis` where the extra is not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.stage import ROOT


@pytest.mark.slow
def test_a_missing_package_is_named_with_its_remedy(tmp_path: Path) -> None:
    script = "import sys\nsys.modules['sklearn'] = None\nsys.argv = ['analysis', 'report', 'runs']\nfrom analysis.__main__ import main\nmain()\n"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "the package sklearn is missing; pip install -e '.[analysis]'" in done.stderr
    assert "Traceback" not in done.stderr
