"""Arms of the shipped experiments differ in what they name and in nothing else: their first prompts, beside each other.

SIMCOUNSEL_GOLDEN=write rewrites tests/golden/arms; look at the difference before you commit it: each file is what a reader of
`sweep --show-prompts` sees, for clients and counselors.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from simcounsel.lab.first_prompts import First, first_prompts, prompt_lines
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment_file import load_experiment
from tests.each import each
from tests.prompts.test_golden import compare
from tests.stage import ROOT

pytestmark = pytest.mark.slow(8)
COMPARED = ("architectures", "counseling_effect", "emotion_memory", "planted_effect", "policies")


def cells_of(name: str) -> tuple[Cell, ...]:
    file = ROOT / "experiments" / f"{name}.yaml"
    return load_experiment(file, {"reason": "scripted", "embed": "scripted"})[1]


@pytest.fixture(scope="module")
def architectures() -> dict[str, list[First]]:
    return first_prompts(cells_of("architectures"))


def lines_of(several: list[First]) -> list[str]:
    """The counselor's first line's prompt."""
    return next(one.text for one in several if one.purpose == "line_counselor").splitlines()


OWN = re.compile(
    r"What Miriam does now|The part of the session|It is day|begin\. Do not announce|"
    r"Miriam leads .* through|^\d+\. |^- [A-Z].* (panic|alone|somebody)?\]?$|Of other days|friendly companion"
)
"""Of a prompt, what is a structure's own: its aim, its brief, its exercises."""


def told_to_all(several: list[First]) -> Iterator[str]:
    exercises = False
    for line in lines_of(several):
        exercises = (exercises or "Exercises for today" in line) and line != ""
        if not exercises and not OWN.search(line):
            yield line


def test_architectures_differ_in_their_structure_alone(
    architectures: dict[str, list[First]],
) -> None:
    assert list(architectures) == ["staged", "staged_notes", "single", "unguided"]
    shared = {arm: list(told_to_all(several)) for arm, several in architectures.items()}
    assert len({tuple(lines) for lines in shared.values()}) == 1, shared
    text = "\n".join(shared["unguided"])
    assert "as long as the moment needs" in text and "What comes to Miriam's mind" in text
    for several in architectures.values():
        whole = "\n".join(lines_of(several))
        assert "Way of speaking" not in whole and "1 to 3 sentences" not in whole


def test_each_structure_has_what_it_names(architectures: dict[str, list[First]]) -> None:
    purposes = {arm: {one.purpose for one in several} for arm, several in architectures.items()}
    assert "sufficient" in purposes["staged"] and "sufficient" not in purposes["single"]
    assert "note" in purposes["staged_notes"] and "note" not in purposes["staged"]
    assert any("Exercises for today" in line for line in lines_of(architectures["single"]))
    assert any("friendly companion" in line for line in lines_of(architectures["unguided"]))


@each("name", COMPARED)
def test_what_is_other_in_each_arm(name: str) -> None:
    said = prompt_lines(cells_of(name), ("client", "counselor"), whole=False)
    compare(f"arms/{name}", "\n".join(said) + "\n")


def test_memory_is_a_factor_of_its_own() -> None:
    """Recall of one's own, and notes: each can be had without the other."""
    from simcounsel.policies import policy_for
    from simcounsel.specs.practice import PolicySpec
    from simcounsel.testing.views import talk_view

    for settings, mind in (({"recall": True}, True), ({"recall": False}, False)):
        policy = policy_for("counselor", PolicySpec(name="unguided", settings=settings))
        decided = policy.decide(talk_view())
        with pytest.raises(StopIteration) as ended:
            next(decided)  # type: ignore[call-overload]
        wording = ended.value.value.wording
        assert wording.recalls is mind and wording.bare


def test_a_line_without_a_persona(architectures: dict[str, list[First]]) -> None:
    compare("line_bare", "\n".join(lines_of(architectures["unguided"])) + "\n")


def test_the_printed_difference(tmp_path: Path) -> None:
    said = "\n".join(prompt_lines(cells_of("architectures")))
    assert "--- the same in all conditions: plan_day, plan_slots" in said
    assert "--- unguided against staged: Miriam (counselor), line_counselor" in said
    assert "\n+Miriam is a friendly companion" in said
