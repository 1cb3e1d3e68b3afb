"""A client whose file holds no danger, in the first session of a course of the embedded model: no line of the counselor's is a safety move. The large form, over
all clients, is tests/benchmarks/safety_moves.py.
"""

from pathlib import Path

import pytest

from tests.benchmarks.safety_moves import clients, counted, course


@pytest.mark.weights
@pytest.mark.slow(30)
def test_a_session_without_danger(tmp_path: Path) -> None:
    run = course("ines", 5, 12, tmp_path, "--ticks", "100")
    share = counted(run)
    assert share.of >= 5 and share.hits == 0


def test_all_clients_are_in_the_benchmark() -> None:
    assert len(clients()) >= 36 and "ines" in clients()
