"""Plans: lengths, stages, and time."""

import json
from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import SpecError
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world
from simcounsel.therapies.specs.course import CoursePlan, default_plan, find_plan
from simcounsel.therapies.specs.therapy import shipped_therapies, shipped_therapy
from tests.each import each
from tests.stage import TINY


@each("name", shipped_therapies())
@each("sessions", range(5, 11))
def test_a_plan_without_a_case(name: str, sessions: int) -> None:
    therapy = shipped_therapy(name)
    plan = default_plan(therapy, sessions)
    assert plan.length == sessions
    counts = [len(stage.sessions) for stage in plan.stages]
    assert min(counts) >= 1
    assert counts[1] >= max(counts[0], counts[2])
    assert [stage.aims for stage in plan.stages] == [stage.goals for stage in therapy.stages]


@pytest.mark.parametrize("sessions", [0, 4, 11])
def test_too_short_and_too_long(sessions: int) -> None:
    with pytest.raises(ValueError, match="5 to 10"):
        default_plan(shipped_therapy("cbt"), sessions)


def with_facts(used_in: int, told: int, known: str = "f1") -> dict[str, Any]:
    plan = default_plan(shipped_therapy("cbt"), 6).model_dump(mode="json")
    numbered = [session for stage in plan["stages"] for session in stage["sessions"]]
    numbered[used_in - 1]["uses"] = ["f1"]
    plan["facts"] = [{"id": known, "text": "Her brother left.", "told": told}]
    return plan


@pytest.mark.parametrize(("used", "told"), [(1, 1), (3, 2), (6, 6)])
def test_what_was_told_may_be_used(used: int, told: int) -> None:
    assert CoursePlan.model_validate(with_facts(used, told)).problems() == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (with_facts(2, 3), "session 2 uses 'f1', which is told in session 3 only"),
        (with_facts(2, 1, "f9"), "session 2 uses 'f1', which is no fact"),
    ],
)
def test_nothing_is_used_before_it_was_told(
    tmp_path: Path, data: dict[str, Any], words: str
) -> None:
    (tmp_path / "plan.yaml").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(SpecError, match=words):
        find_plan(tmp_path / "plan.yaml")


# in a world


def world_with(folder: Path, policy: str) -> World:
    text = TINY.read_text(encoding="utf-8").replace(
        "../personas", str(TINY.parents[1] / "personas")
    )
    text = text.replace(
        'starts_in: "Miriam\'s Kitchen"}', f'starts_in: "Miriam\'s Kitchen", policy: {policy}}}'
    )
    (folder / "world.yaml").write_text(text, encoding="utf-8")
    return load_world(folder / "world.yaml")


def policy_of(world: World) -> PolicySpec:
    policy = next(resident.policy for resident in world.residents if resident.name == "Miriam")
    assert policy is not None
    return policy


def test_a_world_holds_therapy_and_plan_in_full(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(
        json.dumps(with_facts(3, 2) | {"therapy": "behavioral"}), encoding="utf-8"
    )
    (tmp_path / "mine.yaml").write_text(
        shipped_therapy("behavioral").model_dump_json(), encoding="utf-8"
    )
    policy = policy_of(world_with(tmp_path, "{name: course, therapy: mine.yaml, plan: plan.yaml}"))
    assert policy.therapy == shipped_therapy("behavioral")
    assert policy.plan is not None
    assert policy.plan.facts[0].told == 2
    again = World.model_validate_json(
        world_with(tmp_path, "{name: course, therapy: postmodern, sessions: 6}").model_dump_json()
    )
    assert policy_of(again).therapy == shipped_therapy("postmodern")
    assert policy_of(again).sessions == 6


def test_a_plan_brings_its_therapy(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(
        default_plan(shipped_therapy("postmodern"), 7).model_dump_json(), encoding="utf-8"
    )
    assert policy_of(
        world_with(tmp_path, "{name: course, plan: plan.yaml}")
    ).therapy == shipped_therapy("postmodern")
    for wrong, words in (
        ("sessions: 6", "the plan has 7"),
        ("therapy: cbt", "the plan is one of postmodern"),
    ):
        with pytest.raises(SpecError, match=words):
            world_with(tmp_path, f"{{name: course, plan: plan.yaml, {wrong}}}")


def test_a_course_without_a_therapy_is_cbt(tmp_path: Path) -> None:
    assert policy_of(world_with(tmp_path, "course")).therapy == shipped_therapy("cbt")
    assert policy_of(world_with(tmp_path, "socratic")).given() == {}


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("{name: course, therapy: gestalt}", "no therapy 'gestalt'"),
        ("{name: course, sessions: 12}", "sessions"),
        ("{name: course, plan: none.yaml}", "none.yaml: no such file"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, policy: str, words: str) -> None:
    with pytest.raises(SpecError, match=words) as caught:
        world_with(tmp_path, policy)
    assert "world.yaml:19: residents.1.policy" in str(caught.value)
