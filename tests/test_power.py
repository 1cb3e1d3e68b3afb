"""What a dry run says about power agrees with the exact one, by an independent library."""

import pytest
from statsmodels.stats.power import TTestIndPower, TTestPower

from simcounsel.lab.power import clients_needed, power_lines, power_of
from simcounsel.specs.experiment import Experiment
from tests.each import each


@each("alpha", [0.05, 0.01])
@each("effect", [0.3, 0.5, 0.8, 1.2])
def test_clients_needed_are_those_of_the_exact_test(alpha: float, effect: float) -> None:
    exact = TTestPower().solve_power(effect_size=effect, alpha=alpha, power=0.8)
    assert clients_needed(alpha, effect=effect) == pytest.approx(exact + 0.5, abs=1)


@pytest.mark.parametrize("clients", [8, 22, 64])
def test_groups_need_more(clients: int) -> None:
    exact = TTestIndPower()
    wanted = exact.solve_power(effect_size=0.5, alpha=0.05, power=0.8)
    assert clients_needed(0.05, groups=True) == pytest.approx(wanted + 0.5, abs=1)
    power = float(exact.power(0.5, clients, 0.05))
    assert power_of(clients, 0.05, groups=True) == pytest.approx(power, abs=0.02)


@each("clients", [6, 8, 12, 36, 66])
def test_power_is_that_of_the_exact_test(clients: int) -> None:
    exact = float(TTestPower().power(0.5, clients, 0.05))
    assert power_of(clients, 0.05) == pytest.approx(exact, abs=0.02)


def said(clients: int, **more: object) -> str:
    planned = {"id": "h", "instrument": "affect", "contrast": ("a", "b")} | more
    experiment = Experiment.model_validate(
        {
            "name": "E",
            "worlds": ["w.yaml"],
            "conditions": [{"name": "a"}, {"name": "b"}],
            "hypotheses": [planned],
            "repetitions": 3,
        }
    )
    return "\n".join(power_lines(experiment, clients))


def test_too_few_clients_are_told_before_anything_is_lived() -> None:
    assert "none: 3 clients, each measured with 3 seeds" in said(3)
    assert "without p" in said(3) and "34 clients are needed for 80%" in said(3)
    assert "needed" not in said(40) and "for g = 0.5 at 0.05" in said(40)
    assert "at 0.01" in said(40, alpha=0.01)
