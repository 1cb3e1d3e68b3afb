"""What tests of the analysis share: three scripted runs, and a study with a planted effect."""

from pathlib import Path

import pytest

from analysis.__main__ import main
from tests.analysis.made import CLIENTS, CONDITIONS, plan, study
from tests.commands import Command, in_process

PLANTED = {"client_only": 0.0, "client_layperson": -1.0, "client_counselor": -6.0}
NOISE = (-1.5, -0.5, 0.5, 1.5, -1.0, 1.0)
OWN = {
    "client_only": (0.0, 0.3, 0.1, 0.2, 0.4, 0.1),
    "client_layperson": (0.2, 0.0, 0.4, 0.1, 0.3, 0.2),
    "client_counselor": (0.1, 0.4, 0.0, 0.3, 0.2, 0.0),
}
HYPOTHESES = [
    {
        "id": "sleep",
        "instrument": "insomnia_severity",
        "score": "total",
        "contrast": ["client_counselor", "client_only"],
        "test": "paired_t",
        "direction": "lower",
        "family": "primary",
    },
    {
        "id": "friend",
        "instrument": "insomnia_severity",
        "score": "total",
        "contrast": ["client_layperson", "client_only"],
        "test": "welch",
        "direction": "higher",
    },
    {
        "id": "any_arm",
        "instrument": "insomnia_severity",
        "score": "total",
        "contrast": list(CONDITIONS),
        "test": "permutation",
    },
    {
        "id": "never_measured",
        "instrument": "gad7",
        "score": "total",
        "contrast": ["client_counselor", "client_only"],
        "test": "mixed",
    },
]


@pytest.fixture(scope="session")
def three_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of each condition, nothing measured; read only."""
    from simcounsel.engine.opening import begin_run
    from tests.stage import go_on, tiny

    out = tmp_path_factory.mktemp("three")
    for arm in CONDITIONS:
        go_on(begin_run(tiny(condition=arm), out, name=arm))
    return out


def planted(arm: str, client: str) -> float:
    """The change that is put in: the arm's effect, noise that is the client's in every arm, and a little of its own."""
    number = CLIENTS.index(client)
    return PLANTED[arm] + NOISE[number] + OWN[arm][number]


@pytest.fixture(scope="session")
def planted_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three arms, six clients, a counselor who lowers insomnia by 6 points; read only."""
    out = tmp_path_factory.mktemp("planted")
    plan(out, study(out, planted), HYPOTHESES)
    return out


@pytest.fixture
def analysis(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Runs the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return in_process("analysis", main, monkeypatch, capsys)
