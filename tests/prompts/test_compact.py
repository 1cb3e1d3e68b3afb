"""Every prompt of the set `compact` as it is sent, in both languages, in days and in a course, byte for byte; see test_golden.py."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from simcounsel.engine.simulation import Limits
from simcounsel.prompts import blocks_of, render, replaced
from simcounsel.prompts.sets import FOR_SMALL_MODELS, shipped_set
from simcounsel.specs.prompt_set import prompts_named
from tests.each import each
from tests.prompts.test_golden import GOLDEN, compare, shown
from tests.stage import ROOT, Listening, changed, live, switchboard, three
from tests.therapies import held

LANGUAGES = ("en", "zh")
TEXTS = shipped_set(FOR_SMALL_MODELS)
NAMES = sorted(name for name in TEXTS if "/" not in name)
DAYS = (
    "appraise",
    "insights",
    "line_client",
    "line_counselor",
    "line_layperson",
    "persona",
    "plan_day",
    "plan_slots",
    "questions",
    "replan_day",
    "summarize",
)
COURSE = ("course_after", "course_objective", "course_skills", "skipped_days")
LINES = ("line_client", "line_counselor")
"""Asked in a course as well, where more is in them."""
ALONE = {
    "course_said": {
        "other": "Ines",
        "said": "“I wake at three.”\n“My brother says I should come home.”",
        "facts": "1. Ines wakes at night.\n2. Ines has a brother.",
    },
    "exercise": {
        "notes": "Notes on Ines:\n- wakes at three",
        "talk": "Ines: I count the hours.",
        "other": "Ines",
        "feeling": "afraid",
        "candidates": "1. breathing_out: a longer breath out\n2. worry_hour: a time for worries",
        "before": "",
    },
}
"""Asked where neither run comes to it, by the slots."""
PARTS = {
    "course_brief",
    "course_manner",
    "course_words",
    "manner_counselor",
    "manner_shared",
    "moment",
    "person",
}
"""Part of another prompt; its golden file has them."""


@cache
def sent(language: str) -> dict[str, str]:
    """The first request of each kind in days, Ines's where she is asked, and the second in a
    course, as `course/KIND`."""
    words: Any = {"language": language, "prompts": prompts_named(FOR_SMALL_MODELS, ROOT)}
    found: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        spy = Listening()
        live(
            Path(folder) / "days",
            changed(three(), **words),
            models=switchboard(spy),
            limits=Limits(in_flight=1),
        )
        course = held.held(Path(folder) / "course", changed(held.world(5, lines=20), **words))[1]
    for one in sorted(spy.requests, key=lambda request: request.who != "Ines"):
        kind = "replan_day" if getattr(one.facts, "why", None) else one.purpose
        found.setdefault(kind, shown(one.system, one.prompt))
    for kind in (*COURSE, *LINES):
        asked = [one for one in course if one.purpose == kind]
        late = asked[-3 if kind in LINES else min(len(asked), 2) - 1]
        found[f"course/{kind}"] = shown(late.system, late.prompt)
    with replaced(TEXTS):
        for kind, slots in ALONE.items():
            found[kind] = shown(*render(kind, language, **slots))
    return found


def golden(language: str, kind: str) -> str:
    """Where its golden file is."""
    return f"compact/{'' if language == 'en' else f'{language}/'}{kind}"


@each("language", LANGUAGES)
@each("kind", [*DAYS, *ALONE, *(f"course/{kind}" for kind in (*COURSE, *LINES))])
def test_prompt(language: str, kind: str) -> None:
    text = sent(language)[kind]
    compare(golden(language, kind), text)
    assert "$" not in text and "None" not in text and "\n\n\n" not in text


def test_every_prompt_of_the_set_is_here() -> None:
    assert set(NAMES) == {*DAYS, *COURSE, *ALONE, *PARTS}
    there = {path.relative_to(GOLDEN).as_posix() for path in (GOLDEN / "compact").rglob("*.txt")}
    assert there == {
        f"{golden(language, kind)}.txt"
        for language in LANGUAGES
        for kind in sent("en")
        if kind in {*DAYS, *ALONE} or "/" in kind
    }


def test_both_languages_have_the_same_prompts() -> None:
    assert {f"zh/{name}" for name in NAMES} == set(TEXTS) - set(NAMES)


@each("name", NAMES)
def test_what_is_shortened_in_one_language_is_so_in_the_other(name: str) -> None:
    """A Chinese character says about as much as three letters."""
    english, chinese = (blocks_of(TEXTS[key]) for key in (name, f"zh/{name}"))
    assert list(english) == list(chinese)
    assert len(TEXTS[f"zh/{name}"]) < 0.75 * len(TEXTS[name])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_in_a_course_has_what_a_course_needs(language: str) -> None:
    """Stage and aim, skills with when not to use them, what was agreed, danger, what is not to be said."""
    text = sent(language)["course/line_counselor"]
    needed = {
        "en": (
            "Session 5 of 5, the last.",
            "never said aloud",
            "Where this leads",
            "Agreed last time",
            "Skills of today",
            "Not: ",
            "think of ending their life",
            "no diagnosis",
            "If Ines pulls back",
        ),
        "zh": (
            "第 5 次，共 5 次，是最后一次。",
            "不说出口",
            "要走到哪里",
            "上次约好的",
            "今天的技能",
            "不用于：",
            "想过结束生命",
            "不下诊断",
            "Ines 往后退",
        ),
    }
    assert [words for words in needed[language] if words not in text] == []
