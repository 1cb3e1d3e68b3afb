"""Which exercises may be offered: by day, stage, what was heard and what was done; and what is asked of a model."""

from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import SpecError
from simcounsel.events import Judged
from simcounsel.llm.driving import play
from simcounsel.policies import policy_for
from simcounsel.specs.policy_file import policy_named
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.world_file import load_world
from simcounsel.therapies.specs.exercises import Contraindication, load_exercises
from simcounsel.therapies.staged.exercises import (
    WIDER,
    cues_in,
    fitting,
    library,
    schedule,
    stage_of,
)
from simcounsel.therapies.staged.policy import choose_exercise
from simcounsel.therapies.staged.session import Session
from tests.each import each
from tests.stage import said, view

ROOT = Path(__file__).parents[2]
KNOWN = library("en")
NOTHING: dict[str, Any] = {"against": (), "earlier": (), "here": (), "danger": None}


@each(
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


@each("day", range(1, 9))
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


@each(
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


@each(
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


@each(
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


@each(
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
        f"{file}:12: exercises.0.not_when: no contraindication 'asthmaa'; did you mean \"asthma\"?",
    ]


OWN = """denials: [kein, nie]
contraindications:
  - {id: asthma, what: Der Atem wird eng., cues: [asthma, atemnot]}
exercises:
  - id: fenster
    name: Am Fenster stehen
    kind: attention
    goal: Den Tag hereinlassen.
    days: [1, 8]
    stage: beginning
    minutes: 3
    suits: [fear, sadness]
    not_when: [asthma]
    steps: [Öffnen Sie das Fenster., Zählen Sie drei Dinge.]
    afterwards: Wie war das?
"""
FEELS = "It feels dull and heavy today."


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "heard"),
    [("Ich habe Asthma.", True), ("Ich habe kein Asthma.", False), ("Nie Atemnot.", False)],
)
def test_a_catalogue_denies_in_its_own_language(own: Path, text: str, heard: bool) -> None:
    assert bool(cues_in(text, load_exercises(own), "en")) is heard


def test_a_script_without_spaces_is_heard_within_a_sentence() -> None:
    known = KNOWN.model_copy(
        update={"contraindications": (Contraindication(id="zensoku", what="息", cues=("喘息",)),)}
    )
    assert cues_in("昔から喘息があります", known, "en") == [("zensoku", "喘息")]


def test_a_world_names_a_catalogue_and_its_policies_choose_from_it(own: Path) -> None:
    for name in ("staged", "single"):
        change = {"residents.Miriam.policy": {"name": name, "exercises": str(own)}}
        spec = load_world(ROOT / "worlds" / "tiny.yaml", **change).residents[1].policy
        policy: Any = policy_for("counselor", spec)
        seen = view(said("Ines", FEELS), me="Miriam", other="Ines", moves=("greet",))
        if name == "single":
            brief = play(policy.decide(seen)).wording.background
            assert "Am Fenster stehen" in brief
            assert not any(one.name in brief for one in KNOWN.exercises)
        else:
            now = Session(manual=policy.manual, view=seen, catalogue=policy.exercises)
            (chosen,) = play(choose_exercise(now))
            assert chosen.chosen == ("fenster",)
            assert [one.id for one in chosen.candidates] == ["fenster"]
            seen = view(said("Ines", "Ich habe Atemnot."), me="Miriam", other="Ines", moves=())
            heard = [one for one in play(policy.decide(seen)).events if isinstance(one, Judged)]
            assert [one.verdict for one in heard] == ["asthma"]


def test_a_contraindication_that_a_manual_needs_must_be_in_the_catalogue(own: Path) -> None:
    spec = policy_named("staged:insomnia_cbt").model_copy(update={"exercises": load_exercises(own)})
    with pytest.raises(SpecError) as wrong:
        policy_for("counselor", spec)
    assert "no contraindication 'sleep_driving'" in wrong.value.problems[0]
    assert "add it to the catalogue of exercises" in wrong.value.problems[0]


def test_a_wrong_catalogue_is_named_by_file_and_line(own: Path) -> None:
    own.write_text(OWN.replace("stage: beginning", "stage: first"), encoding="utf-8")
    change = {"residents.Miriam.policy": {"name": "staged", "exercises": str(own)}}
    with pytest.raises(SpecError) as wrong:
        load_world(ROOT / "worlds" / "tiny.yaml", **change)
    at = f"{own}:10: exercises.0.stage"
    assert f"{at}: 'first' is not one of beginning, intermediate, advanced" in str(wrong.value)
    assert "at least 1 item" not in str(wrong.value), "what is wrong is said once"


def test_a_schedule_of_few_exercises_repeats_none_and_takes_none_before_its_stage(
    own: Path,
) -> None:
    few = load_exercises(own)
    assert [one.id for one in schedule(5, few)] == ["fenster"], "of the stage before"
    late = few.model_copy(
        update={"exercises": (few.exercises[0].model_copy(update={"stage": "advanced"}),)}
    )
    assert schedule(1, late) == ()
    policy = policy_for("counselor", PolicySpec(name="single", exercises=late))
    seen = view(said("Ines", FEELS), me="Miriam", other="Ines", moves=("greet",))
    decision = play(policy.decide(seen))
    slots = ("{exercise}", "{steps}")
    assert decision.wording.lines
    assert not any(slot in one.text for slot in slots for one in decision.wording.lines)
