"""Therapies as data: what ships is whole, what is wrong is said, PsychEval's skills can be brought in."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simcounsel.cli import app
from simcounsel.corpus.checks.shingles import near_duplicates
from simcounsel.errors import SpecError
from simcounsel.therapies.course.schemas import ReviewAnswer
from simcounsel.therapies.specs.psycheval import import_skills
from simcounsel.therapies.specs.therapy import (
    COURSE_STAGES,
    Skill,
    Therapy,
    find_therapy,
    shipped_therapies,
    shipped_therapy,
)
from simcounsel.therapies.specs.therapy_words import in_language
from tests.each import each


@each("name", shipped_therapies())
def test_what_ships_is_whole(name: str) -> None:
    therapy = shipped_therapy(name)
    assert therapy.id == name
    atomic = [skill for meta in therapy.skills for skill in meta.skills]
    assert len(therapy.skills) >= 12
    assert len(atomic) >= 60
    assert tuple(stage.id for stage in therapy.stages) == COURSE_STAGES
    ids = [skill.id for meta in therapy.skills for skill in (meta, *meta.skills)]
    assert len(ids) == len(set(ids))
    for stage in therapy.stages:
        served = therapy.metas(stage.id)
        assert len(served) >= 4
        assert sum(len(meta.skills) for meta in served) >= 15
        assert 4 <= len(stage.goals) <= 7
    assert all(
        skill.when and skill.cue for meta in therapy.skills for skill in (meta, *meta.skills)
    )
    assert all(skill.parent == meta.id for meta in therapy.skills for skill in meta.skills)
    assert therapy.problems() == []


@each("name", shipped_therapies())
def test_a_review_has_room_for_every_goal_of_a_course(name: str) -> None:
    """In the last session all may be open; a note on each broke the form at the seventeenth."""
    goals = [goal for stage in shipped_therapy(name).stages for goal in stage.goals]
    noted = [{"number": at, "met": at in (3, 19)} for at, _ in enumerate(goals, 1)]
    told = {"summary": "They talked.", "client_state": "calm", "alliance": 3, "goals": noted}
    assert len(goals) > 16
    assert [one.number for one in ReviewAnswer.model_validate(told).goals] == [3, 19]
    few = ReviewAnswer.model_validate({**told, "goals": noted[:16]})
    assert len(few.goals) == 16, "where there is room all are kept"


def test_there_are_six() -> None:
    assert shipped_therapies() == (
        "behavioral",
        "cbt",
        "humanistic_existential",
        "integrative",
        "postmodern",
        "psychodynamic",
    )


def test_integrative_holds_the_five_that_it_draws_on() -> None:
    therapy = shipped_therapy("integrative")
    assert [other.id for other in therapy.drawn] == list(therapy.draws_on)
    assert isinstance(therapy.library()["cbt.pin_down_a_moment"], Skill)
    again = Therapy.model_validate_json(therapy.model_dump_json())
    assert again == therapy


def changed(**changes: Any) -> dict[str, Any]:
    return shipped_therapy("cbt").model_dump(mode="json") | changes


@each(
    ("changes", "words"),
    [
        ({"stages": changed()["stages"][::-1]}, "in this order"),
        ({"skills": changed()["skills"] * 2}, "a second skill has the id"),
        (
            {"skills": [meta | {"stages": ["consolidation"]} for meta in changed()["skills"]]},
            "no meta skill serves case_conceptualization",
        ),
        ({"conceptualization": changed()["conceptualization"] * 2}, "a second field has the id"),
        (
            {"conceptualization": [{"id": "a", "name": "A", "what": "w", "holds": "table"}]},
            "a table has `columns:`",
        ),
        ({"draws_on": ["freud"]}, "no therapy 'freud'"),
    ],
)
def test_what_does_not_hold_together_is_said(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(json.dumps(changed(**changes)), encoding="utf-8")
    with pytest.raises(SpecError, match=words) as caught:
        find_therapy(str(file))
    assert "t.yaml:1" in str(caught.value)


def test_a_therapy_that_there_is_not() -> None:
    with pytest.raises(SpecError, match="no therapy 'gestalt'; there are behavioral, cbt"):
        find_therapy("gestalt")


# bringing in

META = {
    "Skill ID": 3,
    "Skill Name": "Being a steady presence",
    "Skill Description": "Stay calm and near.",
    "Parent IDs": [1, 3],
}
ATOMIC = {
    "Skill ID": 33,
    "Skill Name": "Wait",
    "Skill Description": "Leave a pause.",
    "When to Use": "early on",
    "Trigger": "The client halts.",
    "Parent IDs": [1, 3, 33],
}
CHINESE = [
    {"技能ID": "7", "技能名称": "陪伴", "技能描述": "安静地在场。", "父级ID": ["7"]},
    {
        "技能ID": "71",
        "技能名称": "停顿",
        "技能描述": "留出停顿。",
        "使用时机": "初期",
        "触发条件": "来访者停下来。",
        "父级ID": "[7, 71]",
    },
]
NESTED = {
    "suggest_skills": [
        {
            "meta_skill": "Opening:how one begins\nPresence:stay near",
            "atomic_skills": [
                {
                    "skill_id": "114",
                    "skill_name": "Wait",
                    "skill_description": "Leave a pause.",
                    "when_to_use": "early",
                    "trigger": "They halt.",
                    "sect": "het",
                }
            ],
        }
    ]
}


def imported(tmp_path: Path, data: Any, **more: Any) -> Therapy:
    file = tmp_path / "skills.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    import_skills(file, tmp_path / "my_therapy.yaml", **more)
    return find_therapy(str(tmp_path / "my_therapy.yaml"))


@pytest.mark.parametrize(
    "data", [[META, ATOMIC], {"meta_skills": [META], "atomic_skills": [ATOMIC]}]
)
def test_flat_entries(tmp_path: Path, data: Any) -> None:
    therapy = imported(tmp_path, data, like="behavioral")
    (meta,) = therapy.skills
    assert (meta.id, meta.name, meta.stages) == ("3", "Being a steady presence", COURSE_STAGES)
    assert meta.skills == (
        Skill(
            id="33",
            name="Wait",
            description="Leave a pause.",
            when="early on",
            cue="The client halts.",
            parent="3",
        ),
    )
    assert therapy.stages == shipped_therapy("behavioral").stages
    assert therapy.conceptualization == shipped_therapy("behavioral").conceptualization


def test_chinese_keys(tmp_path: Path) -> None:
    (meta,) = imported(tmp_path, CHINESE).skills
    assert (meta.name, meta.skills[0].name, meta.skills[0].cue) == (
        "陪伴",
        "停顿",
        "来访者停下来。",
    )


def test_nested_entries_and_their_school(tmp_path: Path) -> None:
    therapy = imported(tmp_path, NESTED)
    (meta,) = therapy.skills
    assert (meta.name, meta.description, meta.skills[0].id) == ("Presence", "stay near", "114")
    assert therapy.stages == shipped_therapy("humanistic_existential").stages


@each(
    ("data", "words"),
    [
        (
            [META, ATOMIC | {"Parent IDs": [1, 9, 33]}],
            "skill 33 .*no meta skill '9' in the file; its Parent IDs end",
        ),
        (
            [META, {k: v for k, v in ATOMIC.items() if k != "Skill Name"}],
            "no name; add it to the entry",
        ),
        ([META, ATOMIC, ATOMIC], "the id 33 is that of 'Wait' too"),
        ([META], "no atomic skill in it has a meta skill"),
        ({"a": 1}, "no list of skills in it"),
        (5, "no list of skills in it"),
        ([], "no list of skills in it"),
        ({"meta_skills": "abc"}, "skills.json: meta_skills: 'abc': a list of entries is needed"),
        (
            [META, ATOMIC, 5],
            "skills.json:1: entry 3: 5: an entry with a name and a description is needed",
        ),
        (
            {"meta_skills": [META, META], "atomic_skills": [ATOMIC]},
            "meta_skills, entry 2: the id 3 is that of 'Being a steady presence' too",
        ),
        (
            [META, ATOMIC | {"When to Use": [1]}],
            r"entry 2: when: \[1\]: a text is needed; put it in quotes",
        ),
        (
            [META, ATOMIC | {"Skill ID": {"a": 1}}],
            "entry 2: id: {'a': 1}: a number or a text is needed",
        ),
        (
            [META, ATOMIC | {"Parent IDs": [[1]]}],
            r"entry 2: parents: \[\[1\]\]: a list of ids is needed, such as",
        ),
        (
            [META, ATOMIC | {"Skill ID": "***", "Parent IDs": [3]}],
            r"entry 2 \('Wait'\): id: '\*\*\*': has no letter or digit",
        ),
        (
            [META, ATOMIC | {"Skill ID": "a" * 81, "Parent IDs": [3]}],
            "entry 2 .*id: 'aaa.*at most 80 characters; change it in the entry",
        ),
        (
            [META | {"Skill Description": "a" * 4001}, ATOMIC],
            "entry 1 .*description: 'aaa.*at most 4000 characters; change it in the entry",
        ),
        (
            [META, ATOMIC | {"Trigger": "a\x07b"}],
            r"entry 2: cue: 'a\\x07b': holds the control character #x07",
        ),
        (
            [META, ATOMIC | {"Skill Name": "\ud800"}],
            "entry 2: name: .*holds the control character #xd800",
        ),
        (
            [{"meta_skill": "A", "atomic_skills": "abc"}],
            "entry 1: skills: 'abc': a list of skills is needed",
        ),
        (
            [{"meta_skill": "A", "atomic_skills": {"a": 1}}],
            "entry 1: skills: {'a': 1}: a list of skills is needed",
        ),
        (
            [{"meta_skill": "\n", "atomic_skills": [ATOMIC]}],
            r"entry 1 \('meta_1'\): no name and no description; add it",
        ),
        (
            [{"meta_skill": "A", "atomic_skills": [ATOMIC, 5]}],
            "entry 1, skill 2: 5: an entry with a name",
        ),
    ],
)
def test_what_cannot_be_brought_in(tmp_path: Path, data: Any, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        imported(tmp_path, data)
    assert not (tmp_path / "my_therapy.yaml").exists()


def test_deep_nesting_and_a_byte_order_mark(tmp_path: Path) -> None:
    file, out = tmp_path / "s.json", tmp_path / "mine.yaml"
    for depth in (100, 100_000):
        file.write_text("[" * depth + "]" * depth, encoding="utf-8")
        with pytest.raises(SpecError, match="nested too deeply"):
            import_skills(file, out)
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps([META, ATOMIC]).encode())
    assert len(import_skills(file, out)["skills"]) == 1
    with pytest.raises(SpecError, match=r"mine\.txt: a therapy's file ends in \.yaml"):
        import_skills(file, tmp_path / "mine.txt")
    assert not (tmp_path / "mine.txt").exists()


def test_the_commands(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert "34 meta skills, 210 atomic ones" in run(app, ["library", "skills", "list"]).output
    listed = run(app, ["library", "skills", "list", "cbt"]).output
    assert "    pin_down_a_moment: Pin down one moment" in listed
    shown = run(app, ["library", "skills", "show", "cbt", "pin_down_a_moment"]).output
    assert "part of  situation_analysis" in shown
    assert "always" in shown
    near = run(app, ["library", "skills", "show", "cbt", "pin_down_moment"])
    assert isinstance(near.exception, SpecError)
    assert 'did you mean "pin_down_a_moment"?' in str(near.exception)
    file = tmp_path / "s.json"
    file.write_text(json.dumps([META, ATOMIC]), encoding="utf-8")
    done = run(app, ["library", "skills", "import", str(file), "-o", str(tmp_path / "mine.yaml")])
    assert "1 meta skills, 1 atomic ones" in done.output
    assert "33: Wait" in run(app, ["library", "skills", "list", str(tmp_path / "mine.yaml")]).output


@each("name", shipped_therapies())
def test_no_two_skills_are_worded_alike(name: str) -> None:
    """By the corpus tools' near-duplicates, descriptions and lines apart, in both languages."""
    for language in ("en", "zh"):
        therapy = in_language(shipped_therapy(name), language)
        skills = [skill for meta in therapy.skills for skill in meta.skills]
        texts = [f"{skill.name}. {skill.description}" for skill in skills]
        lines = [line for skill in skills for line in skill.examples]
        assert len({skill.name for skill in skills}) == len(skills)
        assert not list(near_duplicates(texts, 0.5)) and not list(near_duplicates(lines, 0.5))
    assert all(len(skill.examples) in (0, 2) for skill in skills)
