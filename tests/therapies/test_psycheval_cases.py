"""Courses as PsychEval publishes them become cases that are played, from the first session or a later one."""

import json
from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import SpecError
from simcounsel.events import Said, SessionPlanned
from simcounsel.therapies.specs.case_folder import read_case_folder
from simcounsel.therapies.specs.psycheval_course import import_courses
from tests.commands import Command
from tests.each import each
from tests.stage import ROOT, Listening, happened, live, switchboard, tiny

FIGURES = ROOT / "tests" / "data" / "foreign" / "psycheval_figures.json"
FACT = "他高三那年偷偷撕掉了体育学院的录取通知书"


def chinese(sessions: int = 6) -> dict[str, Any]:
    """A course of psychodynamic therapy in the published shape, our own words."""
    content = {
        f"第{n}次_session_content": {
            "theme": f"第{n}次的主题",
            "persona_links": ["static_traits.name: 陈川", f"growth_experiences: {FACT}"]
            if n == 2
            else ["main_problem: 一进操场就喘不上气"],
            "case_material": [f"任务：写下第{n}周的一个梦", f"谈谈{FACT}以后的事"],
            "rationale": ["先稳住关系"],
        }
        for n in range(1, sessions + 1)
    }
    numbers = list(content)
    held = [
        {
            "session_number": n,
            "session_goals": {"session_focus": {"stage_title": "t", "objective": [f"目标{n}"]}},
            "suggest_skills": [
                {
                    "meta_skill": "评估:了解。\\n倾听:先听完。",
                    "micro_skills" if n % 2 else "atomic_skills": [
                        {
                            "skill_id": f"{n}01",
                            "skill_name": f"听第{n}遍",
                            "skill_description": "不打断地听。",
                            "when_to_use": "开头",
                            "trigger": "来访者在讲",
                        }
                    ],
                }
            ],
            "session_dialogue": [
                {"role": "Counselor", "text": "<think>先问候</think>你好，川。"},
                {"role": "Client", "text": "我一进操场就喘不上气。"},
            ],
            "session_summary": {
                "session_summary_abstract": f"第{n}次谈了操场。",
                "goal_assessment": {"completion_status": f"目标{n}：完全达成"},
                "client_state_analysis": {
                    "affective_state": "紧张",
                    "unresolved_points_or_tensions": ["父亲的沉默"],
                },
                "homework": ["写下一个梦"],
            },
        }
        for n in range(1, sessions + 1)
    ]
    stages = [("一", numbers[:1]), ("二", numbers[1:-1]), ("三", numbers[-1:])]
    return {
        "theoretical": "pdt",
        "client_id": 7,
        "client_info": {
            "static_traits": {"name": "陈川", "age": "24岁", "gender": "男", "occupation": "护士"},
            "main_problem": "一进操场就喘不上气",
            "topic": "个人成长",
            "core_demands": "想重新跑步",
            "growth_experiences": [FACT],
            "core_conflict": {"wish": "被父亲看见", "fear": "被嘲笑", "defense_goal": ["压住难过"]},
            "object_relations": [
                {"self_representation": "不够好的儿子", "object_representation": "沉默的父亲"}
            ],
            "nobody_knows": "x",
        },
        "global_plan": [
            {
                "stage_number": at,
                "stage_name": name,
                "content": {number: content[number] for number in own},
            }
            for at, (name, own) in enumerate(stages, 1)
        ],
        "sessions": held,
    }


@pytest.fixture
def published(tmp_path: Path) -> Path:
    file = tmp_path / "7.json"
    file.write_text(json.dumps(chinese(), ensure_ascii=False), encoding="utf-8")
    return file


def test_a_course_becomes_a_client_a_plan_and_a_therapy(published: Path, tmp_path: Path) -> None:
    (made,) = import_courses(published, tmp_path / "cases")
    case = read_case_folder(tmp_path / "cases" / "pdt_7")
    assert (case.client.name, case.client.age, case.client.pronouns) == ("陈川", 24, "he/him")
    assert case.language == "zh" and FACT in case.client.history
    assert "想重新跑步" in case.client.background
    parts = {(part.kind, part.text) for part in case.client.case}
    assert {("core_conflict", "被父亲看见 / 被嘲笑"), ("defenses", "压住难过")} <= parts
    assert ("object_relations", "不够好的儿子 / 沉默的父亲") in parts
    plan = case.plan
    assert plan is not None and plan.length == 6
    facts = {fact.text: fact for fact in plan.facts}
    assert {text: fact.told for text, fact in facts.items()} == {
        "一进操场就喘不上气": 1,
        FACT: 2,
    }, "as links name them first; a name is known from the start"
    first = plan.sessions[0]
    assert [part.rests_on for part in first.material] == [(), (facts[FACT].id,)]
    assert [part.text for part in first.objectives] == ["目标1"]
    assert first.rationale is not None and first.rationale.text == "先稳住关系"
    assert case.therapy is not None and case.therapy.id == plan.therapy == "psychodynamic_pdt_7"
    (group,) = case.therapy.skills
    assert (group.name, group.description) == ("倾听", "先听完。")
    assert [skill.id for skill in group.skills] == [f"{n}01" for n in range(1, 7)]
    assert [held.summary for held in plan.held][:1] == ["第1次谈了操场。\n目标1：完全达成"]
    assert plan.held[0].unresolved == ("父亲的沉默",)
    assert "only course.json has: client_info nobody_knows" in made.notes


def test_the_same_file_comes_back(published: Path, tmp_path: Path) -> None:
    """Import, export, import: nothing is lost on the way."""
    import_courses(published, tmp_path / "a")
    exported = tmp_path / "a" / "pdt_7" / "course.json"
    assert json.loads(exported.read_text("utf-8")) == chinese()
    import_courses(exported, tmp_path / "b")
    files = sorted(file.name for file in exported.parent.iterdir())
    assert files == ["client.yaml", "course.json", "plan.yaml", "therapy.yaml"]
    for name in files:
        assert (tmp_path / "a/pdt_7" / name).read_bytes() == (
            tmp_path / "b/pdt_7" / name
        ).read_bytes()


@pytest.mark.slow
def test_it_is_played_and_gone_on_with_from_a_later_session(
    published: Path, tmp_path: Path
) -> None:
    from simcounsel.therapies.clinic import clinic_world

    import_courses(published, tmp_path)
    case = read_case_folder(tmp_path / "pdt_7")
    for number, sessions in ((1, 6), (4, 3)):
        made = clinic_world(
            tiny().model_copy(update={"language": "zh"}),
            therapy=case.therapy,
            plan=case.from_session(number),
            persona=case.client,
            lines=8,
        )
        heard = Listening()
        run = live(tmp_path / f"run{number}", made, models=switchboard(heard))
        planned = happened(run, SessionPlanned)
        assert [event.session for event in planned] == list(range(number, 7))
        assert {event.who for event in happened(run, Said)} == {"陈川", "Miriam"}
        assert len({event.chat for event in happened(run, Said)}) == sessions
        asked = next(one for one in heard.requests if one.purpose == "course_objective")
        assert ("第3次谈了操场" in asked.prompt) == (number == 4)
        assert (FACT in asked.prompt) == (number == 4), "told in session 2"
        assert "写下一个梦" in asked.prompt or number == 1
        client = next(one for one in heard.requests if one.purpose == "line_client")
        told = client.system + client.prompt
        assert ("第2次谈了操场" in told) == (number == 4)
        assert "P1: 核心冲突：被父亲看见" in told and "P1 80；P4 80" in told
    with pytest.raises(SpecError, match="--from-session 8: the case holds 6 sessions of 6"):
        case.from_session(8)


@each(
    ("data", "words"),
    [
        ("[1, 2]", "no course of PsychEval's in it"),
        ("{", "cannot be read as JSON"),
        (json.dumps(chinese() | {"theoretical": "magic"}), "theoretical: 'magic'; expected one of"),
    ],
)
def test_what_is_no_course(tmp_path: Path, data: str, words: str) -> None:
    (tmp_path / "x.json").write_text(data, encoding="utf-8")
    with pytest.raises(SpecError, match=words):
        import_courses(tmp_path / "x.json", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command(simcounsel: Command, published: Path, tmp_path: Path) -> None:
    done = simcounsel("library", "import", published, FIGURES, "-o", tmp_path / "cases")
    assert (
        f"wrote {tmp_path / 'cases' / 'pdt_7'}: 陈川, 6 sessions, 2 facts, 6 held, 6 skills"
        in done.out
    )
    wen = read_case_folder(tmp_path / "cases" / "integrative_3")
    assert wen.client.core_beliefs[0].belief == "I overlook what matters."
    assert wen.plan is not None
    assert wen.plan.sessions[0].schools == ("humanistic_existential", "cbt")
    assert wen.therapy is not None and wen.therapy.draws_on
    assert {"114", "32"} <= set(wen.therapy.library())
