"""Which exercises may be offered: by day, stage, what was heard and what was done; and what is asked of a model."""

from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import SpecError
from simcounsel.policies.staged.exercises import WIDER, cues_in, fitting, library, stage_of
from simcounsel.specs.exercises import load_exercises

KNOWN = library("en")
NOTHING: dict[str, Any] = {"against": (), "earlier": (), "here": (), "danger": None}


@pytest.mark.parametrize(
    ("day", "stage"),
    [
        (1, "beginning"),
        (3, "beginning"),
        (4, "intermediate"),
        (6, "intermediate"),
        (7, "advanced"),
        (8, "advanced"),
        (30, "advanced"),
    ],
)
def test_stage_of_a_day(day: int, stage: str) -> None:
    assert stage_of(day) == stage


@pytest.mark.parametrize("day", range(1, 9))
def test_only_what_is_for_the_day_and_of_a_stage_reached_is_kept(day: int) -> None:
    fit = fitting(KNOWN, day=day, **NOTHING)
    order = ("beginning", "intermediate", "advanced")
    assert len(fit.kept) >= 4
    assert fit.wider == 0
    assert all(one.days[0] <= day <= one.days[1] for one in fit.kept)
    assert all(order.index(one.stage) <= order.index(stage_of(day)) for one in fit.kept)
    assert [c.id for c in fit.candidates] == [one.id for one in KNOWN.exercises]
    assert {c.id for c in fit.candidates if c.kept} == {one.id for one in fit.kept}
    assert all(c.why for c in fit.candidates)


def test_what_speaks_against_it_is_left_out_and_said() -> None:
    fit = fitting(KNOWN, day=8, **{**NOTHING, "against": ("breathing_trouble",)})
    assert not any("breathing_trouble" in one.not_when for one in fit.kept)
    why = {c.id: c.why for c in fit.candidates}
    assert why["longer_breath_out"] == "not with breathing_trouble"


def test_danger_leaves_none() -> None:
    fit = fitting(KNOWN, day=3, **{**NOTHING, "danger": "high"})
    assert fit.kept == ()
    assert {c.why for c in fit.candidates} == {"danger assessed as high: people first, no exercise"}


def test_it_widens_in_the_stated_order_and_never_further() -> None:
    day_one = [one.id for one in fitting(KNOWN, day=1, **NOTHING).kept]
    again = fitting(KNOWN, day=1, **{**NOTHING, "earlier": day_one})
    assert again.wider == 1
    assert {one.id for one in again.kept} == set(day_one)
    assert WIDER[1] in next(c.why for c in again.candidates if c.kept)
    other_days = fitting(KNOWN, day=1, **{**NOTHING, "here": day_one})
    assert other_days.wider == 2
    assert {one.stage for one in other_days.kept} == {"beginning"}
    assert not {one.id for one in other_days.kept} & set(day_one)
    everything = [one.id for one in KNOWN.exercises]
    assert fitting(KNOWN, day=8, **{**NOTHING, "here": everything}).kept == ()
    every_reason = tuple(one.id for one in KNOWN.contraindications)
    barred = fitting(KNOWN, day=8, **{**NOTHING, "against": every_reason})
    assert all(not one.not_when for one in barred.kept)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I have had asthma since I was a child.", ["breathing_trouble"]),
        ("I don't have asthma.", []),
        ("I have no asthma or anything like it.", []),
        ("I never had a panic attack.", []),
        ("I can't breathe when it comes.", ["breathing_trouble"]),
        ("It isn't asthma. But I had a heart attack in May.", ["heart_trouble"]),
        ("Nothing feels real then, I'm spaced out.", ["dissociation"]),
        ("I don't sleep. I have epilepsy.", ["unsafe_nights"]),
        ("The asthmatic cat sleeps.", []),
        ("I've never had a heart attack or asthma.", []),
        ("I haven't really got any history of asthma", []),
        ("I have neither asthma nor epilepsy.", []),
        ("I'm not joking I have epilepsy or asthma.", ["breathing_trouble", "unsafe_nights"]),
        ("It's never a panic attack, and he never threatens me.", []),
    ],
)
def test_cues_mind_negation(text: str, found: list[str]) -> None:
    assert [name for name, _ in cues_in(text, KNOWN, "en")] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("No, I have asthma", "breathing_trouble"),
        ("No I have asthma", "breathing_trouble"),
        ("I'm not lying, I hear voices", "psychosis"),
        ("Not really, but he hits me", "unsafe_home"),
        ("It is not easy, I have epilepsy", "unsafe_nights"),
        ("It is not only asthma but much else", "breathing_trouble"),
        ("not just asthma", "breathing_trouble"),
        ("I can't control my asthma", "breathing_trouble"),
        ("I never told anyone he hits me", "unsafe_home"),
        ("No one knows I have epilepsy", "unsafe_nights"),
        ("I won't go out without my inhaler", "breathing_trouble"),
        ("I'm not sure, maybe asthma", "breathing_trouble"),
    ],
)
def test_a_no_that_denies_something_else_denies_no_cue(text: str, found: str) -> None:
    assert [name for name, _ in cues_in(text, KNOWN, "en")] == [found]


@pytest.mark.parametrize(
    "text",
    [
        "没想到我有哮喘",
        "没想到有哮喘",
        "不是，我有哮喘",
        "不只是哮喘",
        "不仅有哮喘",
        "没告诉你哮喘的事",
        "没控制住哮喘",
        "没有人知道我有哮喘",
        "是不是哮喘",
        "有没有哮喘我也不知道",
        "不是没有哮喘",
        "没什么，但哮喘又犯了",
    ],
)
def test_nor_in_chinese(text: str) -> None:
    assert [name for name, _ in cues_in(text, library("zh"), "zh")] == ["breathing_trouble"]


@pytest.mark.parametrize(
    "text",
    [
        "没有哮喘",
        "没得过哮喘",
        "从来没有得过什么哮喘",
        "不是哮喘",
        "没有心脏病和哮喘",
        "我并没有哮喘",
        "无哮喘",
    ],
)
def test_a_denial_in_chinese(text: str) -> None:
    assert cues_in(text, library("zh"), "zh") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我有哮喘", ["breathing_trouble"]),
        ("我没有哮喘", []),
        ("最近老是喘不过气", ["breathing_trouble"]),
    ],
)
def test_cues_in_chinese(text: str, found: list[str]) -> None:
    assert [name for name, _ in cues_in(text, library("zh"), "zh")] == found


def test_a_librarys_problems_have_lines(tmp_path: Path) -> None:
    text = """contraindications:
  - {id: asthma, what: breath, cues: [asthma]}
exercises:
  - id: one
    name: One
    kind: breathing
    goal: Rest.
    days: [5, 2]
    stage: beginning
    minutes: 3
    suits: [fear]
    not_when: [asthmaa]
    steps: [Sit.]
    afterwards: How was it?
"""
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as wrong:
        load_exercises(file)
    assert wrong.value.problems == [
        f"{file}:8: exercises.0.days: the first day, 5, comes after the last, 2",
        f"{file}:12: exercises.0.not_when: no contraindication 'asthmaa'; there are asthma",
    ]
