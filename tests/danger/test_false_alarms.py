"""A client whose file holds no danger, in the first session of a course of the embedded model: no line of the counselor's is a safety move. The large form, over
all clients, is tests/benchmarks/safety_moves.py.
"""

from pathlib import Path

import pytest

from simcounsel.danger.hearing.detector import hear
from simcounsel.danger.hearing.in_file import dangers_in_file
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from tests.benchmarks.danger import begins
from tests.benchmarks.safety_moves import PERSONAS, clients, counted, course


@pytest.mark.weights
@pytest.mark.slow(30)
def test_a_session_without_danger(tmp_path: Path) -> None:
    run = course("ines", 5, 12, tmp_path, "--ticks", "100")
    share = counted(run)
    assert share.of >= 5 and share.hits == 0


def test_all_clients_are_in_the_benchmark() -> None:
    assert len(clients()) >= 36 and "ines" in clients()


@pytest.mark.slow(20)
def test_few_sessions_in_the_words_of_clients_without_danger_begin_the_protocol() -> None:
    """As if their lines were typed, thirteen a session, without vectors and without a model."""
    begun = []
    for client in clients():
        persona = load_persona(PERSONAS / f"{client}.yaml")
        assert isinstance(persona, ClientPersona)
        if not dangers_in_file(persona, "en"):
            heard = [hear(line.text, "en") for line in persona.voice]
            begun += [begins(heard[at : at + 13]) for at in range(0, len(heard), 13)]
    assert len(begun) > 250 and sum(begun) / len(begun) < 0.08, (sum(begun), len(begun))
