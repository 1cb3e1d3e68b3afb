"""What all tests share: one run of the tiny world that nobody changes, and calm Hypothesis settings."""


import pytest
from hypothesis import HealthCheck, settings

from simcounsel.runs import Run
from tests.stage import live

settings.register_profile("calm", deadline=None, max_examples=60, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All twelve ticks of worlds/tiny.yaml with the scripted model; read only."""
    return live(tmp_path_factory.mktemp("lived"))


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test can spend money."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SIMCOUNSEL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
