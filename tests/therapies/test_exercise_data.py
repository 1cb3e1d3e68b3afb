"""The exercises that come with simcounsel: what every language file must hold, read as plain data."""

import re
from itertools import pairwise
from typing import Any

import pytest
import yaml

from simcounsel.specs.vocabulary import EMOTIONS
from tests.each import each
from tests.stage import ROOT

FOLDER = ROOT / "simcounsel" / "therapies" / "exercises"
LANGUAGES = ("en", "zh")
STAGE_DAYS = {"beginning": range(1, 4), "intermediate": range(4, 7), "advanced": range(7, 9)}
KINDS = set(
    "self_compassion younger_self grounding breathing sleep worry activation values humor body thoughts connection".split()
)
TEXTS = ("name", "goal", "afterwards")
FIELDS = {
    "id",
    "name",
    "kind",
    "goal",
    "days",
    "stage",
    "minutes",
    "suits",
    "not_when",
    "steps",
    "afterwards",
}
SNAKE = re.compile(r"[a-z]+(_[a-z]+)*")
HAN = re.compile(r"[\u4e00-\u9fff]")
LATIN = re.compile(r"[A-Za-z]")
SENTENCE = {"en": re.compile(r'[.!?]"?(?= |$)'), "zh": re.compile(r"[。！？]”?")}
IMAGERY = {"safe_place", "luggage_belt", "young_face", "young_company", "young_trouble"}
HARM = {
    "en": re.compile(
        r"\b(hold your breath|hold it in|stay up|stay awake|go without|calor\w*|diet|fasting|medic\w*|pills?|tablets?|dose|alcohol|wine|beer)\b"
    ),
    "zh": re.compile(
        "憋气|憋住|屏住|屏气|熬夜|通宵|节食|减肥|卡路里|热量|吃药|服药|停药|剂量|喝酒|一杯酒"
    ),
}
"""Words of what no exercise may ask for: a held breath, less sleep, food counted, drugs or drink."""


def read(language: str) -> dict[str, Any]:
    found = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


BOTH = {language: read(language) for language in LANGUAGES}
EXERCISES: list[dict[str, Any]] = BOTH["en"]["exercises"]
AVOIDED = [one["id"] for one in BOTH["en"]["contraindications"]]


def said(exercise: dict[str, Any]) -> list[str]:
    return [exercise["name"], exercise["goal"], *exercise["steps"], exercise["afterwards"]]


def offered(day: int) -> list[dict[str, Any]]:
    """The exercises of the stage of that day that are open on it."""
    stage = next(name for name, days in STAGE_DAYS.items() if day in days)
    return [
        one
        for one in EXERCISES
        if one["stage"] == stage and one["days"][0] <= day <= one["days"][1]
    ]


def test_no_other_file_lies_there() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {
        f"{language}.yaml" for language in LANGUAGES
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_comment_line_heads_the_file(language: str) -> None:
    lines = (FOLDER / f"{language}.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert "simcounsel" in lines[0]
    assert not any(line.lstrip().startswith("#") for line in lines[1:])


@pytest.mark.parametrize("language", LANGUAGES)
def test_27_exercises_with_their_fields(language: str) -> None:
    assert set(BOTH[language]) == {"contraindications", "exercises"}
    exercises = BOTH[language]["exercises"]
    assert len(exercises) == 27
    for one in exercises:
        assert set(one) == FIELDS, one["id"]
        assert SNAKE.fullmatch(one["id"])
        assert one["kind"] in KINDS
        assert one["stage"] in STAGE_DAYS
        assert isinstance(one["minutes"], int)
        assert 1 <= one["minutes"] <= 30
    for field in ("id", "name", "goal", "afterwards"):
        assert len({one[field] for one in exercises}) == 27, field
    assert len({step for one in exercises for step in one["steps"]}) == sum(
        len(one["steps"]) for one in exercises
    )


def test_languages_differ_in_their_words_only() -> None:
    def bones(language: str) -> list[Any]:
        return [
            {
                **{field: value for field, value in one.items() if field not in (*TEXTS, "steps")},
                "steps": len(one["steps"]),
            }
            for one in BOTH[language]["exercises"]
        ]

    assert bones("zh") == bones("en")
    assert [one["id"] for one in BOTH["zh"]["contraindications"]] == AVOIDED


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_are_whole_and_in_their_language(language: str) -> None:
    alien, own = (HAN, LATIN) if language == "en" else (LATIN, HAN)
    warnings = [
        text for one in BOTH[language]["contraindications"] for text in (one["what"], *one["cues"])
    ]
    for text in [text for one in BOTH[language]["exercises"] for text in said(one)] + warnings:
        assert isinstance(text, str)
        assert text == " ".join(text.split())
        assert own.search(text)
        assert not alien.search(text), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_steps_are_three_to_six_of_one_or_two_sentences(language: str) -> None:
    end = SENTENCE[language]
    for one in BOTH[language]["exercises"]:
        assert 3 <= len(one["steps"]) <= 6, one["id"]
        for step in one["steps"]:
            assert end.search(step[-2:]), step
            assert 1 <= len(end.findall(step)) <= 2, step
        for field in ("goal", "afterwards"):
            assert len(end.findall(one[field])) == 1, one[field]
        assert one["afterwards"][-1] in "?？"
        assert one["goal"][-1] in ".。"


@pytest.mark.parametrize("language", LANGUAGES)
def test_contraindications_are_closed_used_and_have_cues(language: str) -> None:
    avoided = BOTH[language]["contraindications"]
    ids = [one["id"] for one in avoided]
    assert len(set(ids)) == len(ids)
    assert all(set(one) == {"id", "what", "cues"} and SNAKE.fullmatch(one["id"]) for one in avoided)
    assert {name for one in EXERCISES for name in one["not_when"]} == set(ids)
    assert all(len(set(one["not_when"])) == len(one["not_when"]) for one in EXERCISES)
    for one in avoided:
        assert 4 <= len(one["cues"]) <= 12, one["id"]
        assert all(cue == cue.lower() and len(cue) >= 2 for cue in one["cues"])
    cues = [cue for one in avoided for cue in one["cues"]]
    assert len(set(cues)) == len(cues)


@pytest.mark.parametrize("stage", STAGE_DAYS)
def test_a_stage_has_seven(stage: str) -> None:
    assert len([one for one in EXERCISES if one["stage"] == stage]) >= 7


def test_exercises_open_in_their_stage_in_order() -> None:
    for one in EXERCISES:
        first, last = one["days"]
        assert first in STAGE_DAYS[one["stage"]], one["id"]
        assert first <= last <= 8
    order = [(list(STAGE_DAYS).index(one["stage"]), one["days"][0]) for one in EXERCISES]
    assert all(a <= b for a, b in pairwise(order))


@each("day", range(1, 9))
def test_every_day_has_four_of_its_stage_and_one_for_every_emotion(day: int) -> None:
    assert len(offered(day)) >= 4
    assert {feeling for one in offered(day) for feeling in one["suits"]} == set(EMOTIONS)


@each("day", range(1, 9))
@each("avoided", AVOIDED)
def test_every_day_leaves_two_of_its_stage_to_whoever_must_avoid_one_thing(
    day: int, avoided: str
) -> None:
    assert len([one for one in offered(day) if avoided not in one["not_when"]]) >= 2


@each("day", range(1, 9))
def test_every_day_has_four_that_nothing_speaks_against(day: int) -> None:
    """Also of earlier stages: for a client of whom all at once is feared."""
    assert (
        len(
            [
                one
                for one in EXERCISES
                if one["days"][0] <= day <= one["days"][1] and not one["not_when"]
            ]
        )
        >= 4
    )


@each("emotion", EMOTIONS)
def test_every_emotion_is_suited_by_two(emotion: str) -> None:
    assert len([one for one in EXERCISES if emotion in one["suits"]]) >= 2


def test_only_known_emotions_are_suited_each_once() -> None:
    for one in EXERCISES:
        assert one["suits"]
        assert set(one["suits"]) <= set(EMOTIONS)
        assert len(set(one["suits"])) == len(one["suits"])


def test_every_kind_is_there() -> None:
    assert {one["kind"] for one in EXERCISES} == KINDS


def test_pictures_are_kept_from_those_whom_they_can_harm() -> None:
    inward = {
        one["id"]: set(one["not_when"])
        for one in EXERCISES
        if one["kind"] == "younger_self" or one["id"] in IMAGERY
    }
    assert set(inward) == IMAGERY
    for name, avoided in inward.items():
        assert {"dissociation", "recent_trauma", "acute_risk", "psychosis"} <= avoided, name
    for one in EXERCISES:
        assert one["kind"] != "breathing" or "breathing_trouble" in one["not_when"]
        assert one["kind"] != "humor" or {"recent_loss", "acute_risk", "psychosis"} <= set(
            one["not_when"]
        )
    asleep = next(set(one["not_when"]) for one in EXERCISES if one["id"] == "bed_for_sleep")
    assert {"sleep_driving", "racing_mood", "unsafe_nights", "acute_risk"} <= asleep


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_exercise_asks_for_what_harms(language: str) -> None:
    for one in BOTH[language]["exercises"]:
        for text in said(one):
            assert not HARM[language].search(text.lower()), text
