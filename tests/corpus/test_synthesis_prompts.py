"""Every prompt of the six roles as it is sent, byte for byte; see tests/prompts."""

from pathlib import Path

import pytest

from simcounsel.llm.question import Question
from simcounsel.prompts import render
from tests.corpus.bench import judges, roles, settings, written
from tests.each import each
from tests.prompts.test_golden import compare, shown
from tests.stage import Listening

ROLES = ("extract", "seek", "support", "evaluate", "correct", "distil")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Question]:
    """The second request of each kind: by then something was said, and told."""
    listening = Listening(roles(evaluate=judges(revise=True)))
    written(
        tmp_path_factory.mktemp("golden"),
        settings(1, strategies=("Ask one thing at a time.",)),
        listening,
    )
    found: dict[str, Question] = {}
    counts: dict[str, int] = {}
    for request in listening.requests:
        counts[request.purpose] = counts.get(request.purpose, 0) + 1
        if counts[request.purpose] <= 2:
            found[request.purpose] = request
    return found


@each("kind", ROLES)
def test_prompt(asked: dict[str, Question], kind: str) -> None:
    compare(kind, shown(asked[kind].system, asked[kind].prompt))


def test_parts() -> None:
    compare("seek_offer", shown(*render("seek_offer", most=2, facts="F1: I am a ferryman.")))
    compare("seek_holds_back", shown(*render("seek_holds_back")))
    compare(
        "support_strategies",
        shown(*render("support_strategies", strategies="K001: Ask one thing at a time.")),
    )


@each("kind", ROLES)
def test_nobody_is_told_to_be_an_assistant_and_all_know_that_it_is_a_simulation(
    asked: dict[str, Question], kind: str, tmp_path: Path
) -> None:
    assert "simulation used in counseling research" in asked[kind].system


@pytest.mark.parametrize("language", ["English", "Chinese"])
@pytest.mark.parametrize("informed", [False, True])
def test_supporter_and_evaluator_know_the_file_where_the_settings_say_so(
    informed: bool, language: str, tmp_path: Path
) -> None:
    listening = Listening(roles(evaluate=judges(revise=True)))
    one = settings(1, informed=informed, language=language)
    written(tmp_path, one, listening)
    assert one.condition == ("informed" if informed else "full")
    first = {}
    for request in listening.requests:
        first.setdefault(request.purpose, request)
    offered = [fact.text for fact in first["seek"].facts.offered]  # type: ignore[attr-defined]
    assert offered
    for kind in ROLES[1:]:
        knows = informed and kind in ("support", "evaluate")
        text = first[kind].system + first[kind].prompt
        rule = "registration" if language == "English" else "登记表"
        assert (rule in text) is knows
        if kind in ("support", "evaluate"):
            assert all(fact in text for fact in offered) or not knows
