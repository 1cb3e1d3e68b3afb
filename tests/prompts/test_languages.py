"""Prompts in other languages than English."""

import re
from pathlib import Path

import pytest

from simcounsel.agents.handwritten import LEAVE, SILENCE
from simcounsel.engine.opening import check_models
from simcounsel.engine.simulation import Limits
from simcounsel.errors import ModelError
from simcounsel.events import Said
from simcounsel.llm.answers import speech_problem
from simcounsel.prompts import NOTE, phrases, prompt_text, render
from simcounsel.specs.world import World
from simcounsel.standins.scripted import Scripted
from tests.stage import NEVER, ROOT, Listening, changed, happened, live, switchboard, three, tiny

CHINESE = ROOT / "simcounsel" / "prompts" / "zh"
NAMES = sorted(path.stem for path in CHINESE.glob("*.txt") if path.stem != NOTE)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_slots_and_parts(name: str) -> None:
    chinese, english = prompt_text(name, "zh"), prompt_text(name)
    assert set(re.findall(r"\$\w+", chinese)) == set(re.findall(r"\$\w+", english))
    assert ("\n---\n" in chinese) == ("\n---\n" in english)
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    if name.endswith("_words"):
        assert list(phrases(name, "zh")) == list(phrases(name))


@pytest.mark.parametrize("start", ["course_", "client_", "skipped_"])
def test_a_course_has_all_its_prompts_in_chinese(start: str) -> None:
    assert {path.stem for path in CHINESE.parent.glob(f"{start}*.txt")} <= set(NAMES)


def test_where_there_is_none_the_english_one_asks_for_an_answer_in_chinese() -> None:
    slots = {"name": "Ines", "memories": "- a walk"}
    assert "questions" not in NAMES
    system, prompt = render("questions", "zh", **slots)
    assert (system, prompt) == (
        render("questions", **slots)[0],
        f"{render('questions', **slots)[1]}\n\n{prompt_text(NOTE, 'zh')}",
    )


def test_all_that_a_resident_writes_in_a_chinese_world_is_asked_for_in_chinese(
    tmp_path: Path,
) -> None:
    spy = Listening()
    live(
        tmp_path,
        changed(three(), language="zh", fallbacks=NEVER),
        models=switchboard(spy),
        limits=Limits(in_flight=1),
    )
    written = [request for request in spy.requests if request.verb in ("fill", "write")]
    assert {
        "plan_slots",
        "appraise",
        "line_client",
        "line_layperson",
        "line_counselor",
        "summarize",
    } <= {request.purpose for request in written}
    assert not [
        request.purpose
        for request in written
        if "中文" not in request.system + request.prompt
        and not re.search(r"[\u4e00-\u9fff]{6}", request.prompt)
    ]


def test_where_a_model_says_nothing_of_use_they_are_silent_in_chinese(tmp_path: Path) -> None:
    nonsense = Scripted(
        {
            "line_client": lambda request, draw: "no JSON",
            "line_counselor": lambda request, draw: "no JSON",
        }
    )
    world = changed(tiny(), language="zh", fallbacks=NEVER)
    run = live(tmp_path, world, models=switchboard(nonsense))
    said = happened(run, Said)
    assert said and not [one.text for one in said if speech_problem(one.text, "zh")]
    assert {text for texts in (SILENCE, LEAVE) for text in texts["zh"].values()} >= {
        one.text for one in said if one.who == "Ines"
    }


def test_the_embedded_model_is_refused_where_another_language_is_spoken() -> None:
    def world(quick: str) -> World:
        told = tiny()
        return changed(
            told,
            language="zh",
            models=told.models.model_copy(
                update={"reason": "scripted", "quick": quick, "judge": "scripted"}
            ),
        )

    with pytest.raises(
        ModelError,
        match="models.quick: the embedded model knows English only, and `language: zh` is another",
    ):
        check_models(world("embedded"))
    check_models(world("scripted"))
