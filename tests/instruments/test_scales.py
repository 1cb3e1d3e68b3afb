"""The scales that come with simcounsel, and what is said about wrong ones."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from simcounsel.cli.check import check_file
from simcounsel.engine.measures import scales_of
from simcounsel.errors import SpecError
from simcounsel.instruments.scale import find_scale, read_scale, shipped_names
from simcounsel.specs.items import Range
from simcounsel.specs.scale import Scale
from simcounsel.specs.world_file import load_world
from tests.each import each
from tests.instruments.stage import scale, shipped
from tests.specs.files import line_with, world_file
from tests.stage import ROOT

FOLDER = ROOT / "simcounsel" / "instruments" / "scales"
WANTED = set(
    (
        "session_alliance working_alliance real_relationship helping_skills empathy cognitive_therapy_competence psychodynamic_competence "
        "emotion_focused_work motivational_interviewing perception intervention depth ethics_and_safety general_distress affect phq9 low_mood gad7 "
        "state_anxiety insomnia_severity personality_organization self_acceptance solution_talk persona_change persona_consistency dialogue_quality "
        "conversation_experience safety_audit crisis_handling session_alliance_observed chatbot_survey persona_fidelity self_portrait"
    ).split()
)


def test_all_are_there() -> None:
    assert set(shipped_names()) == WANTED


@each("name", sorted(WANTED))
def test_loads_and_comes_back_the_same(name: str, tmp_path: Path) -> None:
    one = shipped(name)
    assert one.id == name
    assert check_file(FOLDER / f"{name}.yaml") == []
    copy = tmp_path / "copy.yaml"
    copy.write_text(
        yaml.safe_dump(one.model_dump(mode="json"), allow_unicode=True), encoding="utf-8"
    )
    assert read_scale(copy) == one
    assert find_scale(str(copy)).hash == one.hash
    assert Scale.model_validate_json(one.model_dump_json()) == one


@each("name", sorted(WANTED))
def test_says_where_it_comes_from(name: str) -> None:
    one = shipped(name)
    assert (one.stands_in_for is None) == (name in ("phq9", "gad7"))
    if one.stands_in_for:
        assert one.licence == "Apache-2.0"
        assert "not" in one.stands_in_for.note
    else:
        assert one.licence == "public domain"
    assert len({item.text for item in one.items}) == len(one.items)
    assert {band.score for band in one.bands} <= {
        "total",
        *(s.id for s in one.subscales),
        *(r.id for r in one.ratios),
    }


def test_symptoms_and_faults_are_better_when_lower() -> None:
    lower = {name for name in WANTED if shipped(name).direction == "lower_is_better"}
    assert lower == {
        "safety_audit",
        "phq9",
        "gad7",
        "low_mood",
        "state_anxiety",
        "insomnia_severity",
        "general_distress",
        "personality_organization",
    }


def test_structure_as_published() -> None:
    sizes = {name: len(shipped(name).items) for name in WANTED}
    assert {
        name: sizes[name]
        for name in (
            "phq9",
            "gad7",
            "session_alliance",
            "working_alliance",
            "empathy",
            "cognitive_therapy_competence",
            "psychodynamic_competence",
            "emotion_focused_work",
            "motivational_interviewing",
            "insomnia_severity",
            "affect",
            "persona_consistency",
        )
    } == {
        "phq9": 9,
        "gad7": 7,
        "session_alliance": 4,
        "working_alliance": 12,
        "empathy": 9,
        "cognitive_therapy_competence": 11,
        "psychodynamic_competence": 7,
        "emotion_focused_work": 13,
        "motivational_interviewing": 14,
        "insomnia_severity": 7,
        "affect": 20,
        "persona_consistency": 4,
    }
    per = {
        s.id: sum(i.subscale == s.id for i in shipped("working_alliance").items)
        for s in shipped("working_alliance").subscales
    }
    assert per == {"task": 4, "goal": 4, "bond": 4}


@each(
    "key",
    [
        "source",
        "licence",
        "direction",
        "stands_in_for",
        "instruction",
        "range",
        "scoring",
        "version",
        "level",
        "respondent",
    ],
)
def test_check_refuses_a_scale_without(key: str, tmp_path: Path) -> None:
    data = yaml.safe_load((FOLDER / "empathy.yaml").read_text(encoding="utf-8"))
    del data[key]
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    assert any(
        problem.startswith(f"{path}:1: {key}: missing; add `{key}: ...`")
        for problem in check_file(path)
    )


@each(
    ("change", "what"),
    [
        ({"sees": None}, "`sees:` is given when"),
        ({"scope": "specific"}, "`therapy:` is given when"),
        (
            {"items": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "subscales": []},
            "a second item or score has the id 'a'",
        ),
        (
            {"items": [{"id": "a", "text": "x", "subscale": "nine"}], "subscales": []},
            "no subscale 'nine'",
        ),
        ({"subscales": [{"id": "three", "name": "x"}]}, "no subscale 'one'"),
        ({"labels": {9: "x"}}, "label 9: not an answer"),
        ({"bands": [{"score": "nine", "name": "x", "at_least": 1}]}, "no score 'nine'"),
        ({"anchors": {9: "x"}}, "anchor 9: not an answer"),
        (
            {
                "items": [{"id": "a", "text": "x", "coded": True, "range": {"min": 1, "max": 9}}],
                "subscales": [],
            },
            "a count of turns begins at 0",
        ),
        (
            {
                "items": [{"id": "a", "text": "x", "coded": True}],
                "subscales": [],
                "respondent": "self",
                "sees": None,
            },
            "`coded:` is for what a judge of a transcript counts",
        ),
        ({"flags": [{"name": "x", "of": "nine", "below": 1}]}, "no score or item 'nine'"),
        ({"flags": [{"name": "x", "below": 1, "above": 2}]}, "give one of below, above, at_least"),
        ({"scoring": None, "subscales": []}, "subscale"),
        ({"range": {"min": 0, "max": 1, "step": 0.3}}, "a whole number of steps"),
        ({"range": {"min": 2, "max": 1}}, "a whole number of steps"),
        ({"stands_in_for": {"instrument": "X", "note": "It is X."}}, "say plainly that it is not"),
        ({"licens": "x"}, "licens"),
        ({"ratios": [{"id": "r", "name": "x", "over": ["z"], "under": ["a"]}]}, "no item 'z'"),
    ],
)
def test_wrong_scales(change: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what.replace("(", r"\(")):
        scale(**change)


def test_range() -> None:
    halves = Range(min=0, max=2, step=0.5)
    assert [
        value for value in (0, 0.5, 0.7, 2, 2.5, -0.5, float("nan")) if halves.allows(value)
    ] == [0, 0.5, 2]


def test_an_id_that_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = (FOLDER / "depth.yaml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert check_file(path) == []
    path.write_text(text.replace("Hard subjects", "Soft subjects"), encoding="utf-8")
    assert check_file(path) == [
        f"{path}:1: 'depth' is the id of another scale, which comes with simcounsel; choose another"
    ]
    with pytest.raises(SpecError, match="is the id of another scale"):
        scales_of(load_world(measured(tmp_path, "  - {instrument: mine.yaml, when: start}\n")))


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no instrument 'phq-9'; did you mean 'phq9'"):
        find_scale("phq-9")
    with pytest.raises(SpecError, match="there are affect, chatbot_survey, cognitive"):
        find_scale("zzzz")
    with pytest.raises(SpecError, match="no such file"):
        find_scale(str(tmp_path / "mine.yaml"))


# in a world


def measured(folder: Path, lines: str) -> Path:
    return world_file(folder, "plan_slots: 4", f"plan_slots: 4\nmeasurements:\n{lines}")


def test_world_with_measurements(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        (FOLDER / "empathy.yaml").read_text(encoding="utf-8").replace("id: empathy", "id: own"),
        encoding="utf-8",
    )
    path = measured(
        tmp_path,
        "  - {instrument: phq9, when: start}\n  - {instrument: own.yaml, when: after every session, who: Ines}\n"
        "  - {instrument: talk_measures, when: 'every day at 21:00'}\n",
    )
    assert check_file(path) == []
    world = load_world(path)
    assert world.measurements[0].scale is None
    assert world.measurements[1].who == ("Ines",)
    assert world.measurements[1].scale is not None
    assert world.measurements[1].scale.id == "own"
    assert type(world).model_validate_json(world.model_dump_json()) == world


@each(
    ("line", "what"),
    [
        ("{instrument: phq8, when: start}", "no instrument 'phq8'; did you mean 'phq9'?"),
        (
            "{instrument: phq9, when: sometimes}",
            "'sometimes' is not a time to measure; write `start`",
        ),
        ("{instrument: phq9, when: 'every day at 25:00'}", "not a time of day between"),
        ("{instrument: phq9, when: tick 12}", "'tick 12' is never run; the ticks are 0 to 11"),
        (
            "{instrument: phq9, when: start, who: Inez}",
            "no resident 'Inez' in this world; did you mean \"Ines\"?",
        ),
        ("{instrument: nowhere.yaml, when: start}", "nowhere.yaml: no such file"),
        ("{instrument: phq9, whenn: start}", "unknown key; did you mean 'when'?"),
    ],
)
def test_wrong_measurements(tmp_path: Path, line: str, what: str) -> None:
    path = measured(tmp_path, f"  - {line}\n")
    problem = next(problem for problem in check_file(path) if what in problem)
    assert problem.startswith(f"{path}:{line_with(path, line)}: ")


def test_a_judge_is_asked_twenty_items_at_a_time_and_a_person_twelve() -> None:
    items = [{"id": f"i{n}", "text": f"Text {n}."} for n in range(22)]
    shape = {"items": items, "subscales": []}
    judge, person = scale(**shape), scale(**shape, respondent="self", sees=None)
    assert [len(one) for one in judge.blocks()] == [20, 2]
    assert [len(one) for one in person.blocks()] == [12, 10]
    assert [len(one) for one in scale(**shape, block=11).blocks()] == [11, 11]
    assert scale(**shape, block=20).hash == judge.hash, "said or not, it is asked alike"


def test_points_one_three_and_five_are_anchored_where_helping_and_intervening_is_rated() -> None:
    for name in ("helping_skills", "intervention"):
        one = shipped(name)
        assert all(list(one.anchors_of(item)) == [1, 3, 5] for item in one.items), name
    parts = {part.id: part.anchors for part in shipped("helping_skills").subscales}
    assert parts["attitudes"] != parts["interventions"]


def test_which_faults_should_lower_an_item_changes_nothing_that_is_asked() -> None:
    items = [{"id": "a", "text": "x", "falls_with": ["advice"]}]
    plain = [{"id": "a", "text": "x"}]
    assert scale(items=items, subscales=[]).hash == scale(items=plain, subscales=[]).hash
