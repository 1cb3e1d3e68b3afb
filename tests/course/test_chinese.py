"""The prompts of a course in Chinese: the same slots as the English ones, and really sent."""

import re
from pathlib import Path

import pytest

from simcounsel.events import ClientShifted, Entry, Remembered
from simcounsel.llm.driving import play
from simcounsel.policies import policy_for
from simcounsel.policies.course.reasoning import act_of
from simcounsel.policies.manual import acts, aims
from simcounsel.specs.therapy import Skill
from simcounsel.specs.vocabulary import Role
from tests.course.held import held, world
from tests.stage import changed, happened, said, view


@pytest.mark.parametrize("name", ["changing", "disclosing", "supportive", "course"])
def test_the_same_moves_and_acts(name: str) -> None:
    assert list(aims(name, "zh")) == list(aims(name))
    assert list(acts(name, "zh")) == list(acts(name))
    assert all(
        re.search(r"[\u4e00-\u9fff]", text)
        for text in (*aims(name, "zh").values(), *acts(name, "zh").values())
    )


@pytest.mark.parametrize(
    ("role", "policy"),
    [
        ("client", "changing"),
        ("client", "disclosing"),
        ("layperson", "supportive"),
        ("counselor", "socratic"),
    ],
)
def test_what_a_policy_decides_is_told_in_chinese(role: Role, policy: str) -> None:
    for left in (1, 10):
        seen = view(
            said("Miriam", "你好。"),
            language="zh",
            defenses=("开玩笑",),
            turns_left=left,
            appointment=False,
        )
        assert not re.search(r"[a-zA-Z]{3}", play(policy_for(role, policy, "zh").decide(seen)).aim)


def test_all_that_a_client_is_told_of_itself_is_chinese() -> None:
    last = ClientShifted(
        who="Ines",
        chat="b",
        resistance=7,
        mood=3,
        softened=(3,),
        agreed="写日记",
        insight="我总是开玩笑。",
    )
    kept = (Entry(0, 0, 0, last),)
    aims_told = []
    for key in range(40):
        policy = policy_for("client", "changing", "zh")
        seen = view(
            said("Miriam", "你好。"),
            language="zh",
            defenses=("开玩笑",),
            kept=kept,
            key=(1, key, "c"),
        )
        aims_told.append(play(policy.decide(seen), "none").aim)
    assert any("写日记" in aim for aim in aims_told)
    assert all("我总是开玩笑。" in aim and not re.search("[a-zA-Z]", aim) for aim in aims_told)


@pytest.mark.parametrize(
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


def test_an_insight_is_remembered_in_chinese(tmp_path: Path) -> None:
    run, _ = held(
        tmp_path,
        changed(world(5, lines=8), language="zh"),
        {"client_touched": lambda request, draw: "defense 1"},
        2,
    )
    insights = [
        event.memory.text
        for event in happened(run, Remembered)
        if event.memory.origin == "insight" and event.who == "Ines" and event.memory.chat
    ]
    assert insights
    assert all(text.startswith("和 Miriam 谈过以后，Ines 看明白了：") for text in insights)


def test_they_are_sent(tmp_path: Path) -> None:
    _, requests = held(tmp_path, changed(world(5, lines=8), language="zh"))
    for purpose in (
        "course_objective",
        "course_reason",
        "course_review",
        "client_touched",
        "skipped_days",
    ):
        prompt = next(request.prompt for request in requests if request.purpose == purpose)
        assert re.search(r"[\u4e00-\u9fff]", prompt), purpose
