"""Chance deals, the lists are balanced and fixed before the first person, and nobody can choose."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.trial.allocation import places, seal_of, strata, stratum_of
from simcounsel.trial.plan import Allocation, Entrance, Trial
from simcounsel.trial.running import questionnaires_of
from tests.trial.stage import trial_of, written


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    folder = tmp_path_factory.mktemp("trial")
    written(folder, 60)
    return trial_of(folder)


def with_allocation(trial: Trial, people: int, **fields: object) -> Trial:
    return trial.model_copy(
        update={
            "allocation": Allocation.model_validate(fields),
            "entrance": Entrance(people=people),
        }
    )


@given(
    seed=st.text(min_size=1, max_size=8),
    blocks=st.sets(st.integers(1, 3), min_size=1),
    n=st.integers(1, 80),
)
def test_arms_stay_within_half_a_block_of_each_other(
    trial: Trial, seed: str, blocks: set[int], n: int
) -> None:
    found = places(with_allocation(trial, n, blocks=sorted(blocks)), seed, "all")
    assert len(found) == n
    for upto in range(1, n + 1):
        counts = Counter({arm.name: 0 for arm in trial.arms}) + Counter()
        counts = {arm.name: found[:upto].count(arm.name) for arm in trial.arms}
        assert max(counts.values()) - min(counts.values()) <= max(blocks)


def test_the_length_of_a_block_is_drawn(trial: Trial) -> None:
    """Of three arms once each the first three differ, of twice each in 2/5 (6 x 4 x 2 of 6 x 5 x 4):
    with both lengths alike likely in 7/10.
    """
    some = with_allocation(trial, 3, blocks=[1, 2])
    differ = sum(len({*places(some, str(seed), "all")}) == 3 for seed in range(600))
    assert abs(differ - 420) < 3 * (600 * 0.7 * 0.3) ** 0.5


def test_the_list_is_the_same_for_a_seed_and_another_for_another(trial: Trial) -> None:
    assert places(trial, "a", "all") == places(trial, "a", "all")
    assert places(trial, "a", "all") != places(trial, "b", "all")
    assert places(trial, "a", "women") != places(trial, "a", "men")


def test_simple_allocation_is_chance_alone(trial: Trial) -> None:
    many = with_allocation(trial, 3000, method="simple")
    counts = Counter(places(many, "seed", "all"))
    # three standard deviations of a binomial with n = 3000, p = 1/3: 77
    assert all(abs(count - 1000) < 3 * (3000 * 1 / 3 * 2 / 3) ** 0.5 for count in counts.values())


def test_strata_are_the_combinations_of_choices(tmp_path: Path) -> None:
    written(tmp_path, 10, allocation="allocation: {by: [demographics.gender]}")
    trial = trial_of(tmp_path)
    asked = questionnaires_of(trial, tmp_path)
    choices = next(i for i in asked["demographics"].of("en").items if i.id == "gender").choices
    assert set(strata(trial, asked)) == {*(str(value) for value, _ in choices), "none"}
    answers = {("demographics", "baseline"): {"gender": choices[0][0]}}
    assert stratum_of(trial, answers) == str(choices[0][0])
    assert stratum_of(trial, {("demographics", "baseline"): {"gender": None}}) == "none"
    seal = seal_of(trial, "seed", asked)
    assert seal == seal_of(trial, "seed", asked) != seal_of(trial, "other", asked)
