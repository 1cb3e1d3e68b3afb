"""The prompts of a course in Chinese: the same slots as the English ones, and really sent."""

import re
from pathlib import Path

import pytest

from simcounsel.llm.driving import play
from simcounsel.policies import policy_for
from simcounsel.policies.manual import acts, aims
from simcounsel.specs.vocabulary import Role
from simcounsel.therapies.course.reasoning import act_of
from simcounsel.therapies.specs.therapy import Skill
from tests.each import each
from tests.stage import changed, said, view
from tests.therapies.held import held, world


@pytest.mark.parametrize("name", ["client", "supportive", "simcounsel.therapies:course"])
def test_the_same_moves_and_acts(name: str) -> None:
    assert list(aims(name, "zh")) == list(aims(name))
    assert list(acts(name, "zh")) == list(acts(name))
    assert all(
        re.search(r"[\u4e00-\u9fff]", text)
        for text in (*aims(name, "zh").values(), *acts(name, "zh").values())
    )


@pytest.mark.parametrize(
    ("role", "policy"),
    [("client", "client"), ("layperson", "supportive"), ("counselor", "socratic")],
)
def test_what_a_policy_decides_is_told_in_chinese(role: Role, policy: str) -> None:
    for left in (1, 10):
        seen = view(said("Miriam", "你好。"), language="zh", turns_left=left, appointment=False)
        assert not re.search(r"[a-zA-Z]{3}", play(policy_for(role, policy, "zh").decide(seen)).aim)


@each(
    ("name", "description", "act"),
    [
        ("朋友的眼光", "问朋友会怎么说。", "viewpoint"),
        ("看证据", "问支持它的事实。", "evidence"),
        ("说具体", "问那一刻发生了什么。", "clarify"),
        ("沉默", "等一等。", "ask"),
        ("Look at evidence", "Ask for facts.", "evidence"),
    ],
)
def test_a_skill_in_chinese_has_its_forms(name: str, description: str, act: str) -> None:
    assert act_of(Skill(id="one", name=name, description=description), "zh") == act


def test_they_are_sent(tmp_path: Path) -> None:
    _, requests = held(tmp_path, changed(world(5, lines=8), language="zh"))
    for purpose in ("course_objective", "line_counselor", "course_after", "skipped_days"):
        prompt = next(request.prompt for request in requests if request.purpose == purpose)
        assert re.search(r"[\u4e00-\u9fff]", prompt), purpose
