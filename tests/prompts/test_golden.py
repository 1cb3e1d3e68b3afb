"""Every prompt as it is sent, byte for byte. A changed prompt shows as a changed file in tests/golden.

SIMCOUNSEL_GOLDEN=write rewrites the files; look at the diff before you commit it.
"""

import os
from pathlib import Path

import pytest

from simcounsel.agents.tasks import FeelingAnswer
from simcounsel.engine.simulation import Limits
from simcounsel.llm.chat import messages
from simcounsel.llm.question import Question
from simcounsel.measuring.interview import Interview
from simcounsel.prompts import render
from tests.each import each
from tests.stage import ROOT, Listening, live, switchboard, three

GOLDEN = ROOT / "tests" / "golden"
PROMPTS = ROOT / "simcounsel" / "prompts"
KINDS = (
    "plan_day",
    "plan_slots",
    "appraise",
    "line_client",
    "line_counselor",
    "line_layperson",
    "move",
    "summarize",
    "questions",
    "insights",
    "persona",
    "replan_day",
    "interview",
)
PARTS = {
    "manner_counselor",
    "manner_safety",
    "manner_exercise",
    "manner_unguided",
    "manner_shared",
    "intents",
    "staged_words",
    "own_name",
    "synthesis_words",
    "course_manner",
    "case_words",
    "course_words",
    "bench_words",
    "scale_words",
    "export_words",
    "activities_words",
    "person",
    "moment",
    "lived",
    "practice_words",
}
"""Part of another prompt; its golden file has them."""
MEASURED = (
    "self_report",
    "judge_block",
    "judge_item",
    "judge_again",
    "judge_transcript",
    "judge_profile",
    "judge_personas",
    "judge_pair",
    "judge_audit",
    "judge_codes",
    "judge_probe",
)
"""Compared in tests/instruments/test_prompts.py."""
VALIDATED = ("client_codes",)
"""Compared in tests/analysis/validity/test_coding.py."""
ANALYSED = ("name_activities", "name_themes")
"""Compared in tests/analysis/test_patterns.py."""
EXPORTED = ("export_client", "export_counselor", "export_layperson", "export_opening")
"""Stand in training data; compared in tests/corpus/test_formats.py."""
SYNTHESIZED = (
    "extract",
    "seek",
    "seek_offer",
    "seek_holds_back",
    "support",
    "support_strategies",
    "evaluate",
    "correct",
    "distil",
)
"""Compared in tests/corpus/test_synthesis_prompts.py."""
BENCHED = ("bench_answer", "bench_crisis", "bench_guided", "bench_judge")
"""Compared in tests/bench/test_benchmark.py, test_following.py and test_protocol.py."""
COMPARED = ("line_bare",)
"""Of arms of a study; see tests/test_arms.py."""
GUIDED = (
    "sufficient",
    "intent",
    "valence",
    "note",
    "exercise",
    "staged_brief",
    "staged_exercise",
    "staged_no_exercise",
    "single_brief",
    "unguided_brief",
)
"""Compared in tests/policies/test_prompts.py."""
HELD = (
    "case_client",
    "case_facts",
    "case_plan",
    "case_talk",
    "course_after",
    "course_brief",
    "course_objective",
    "course_skills",
    "skipped_days",
)
"""Compared in tests/therapies/test_prompts.py and test_case.py."""
LISTENED = ("course_said",)
"""Compared in tests/therapies/test_walls.py."""
SAFETY = ("safety_answer",)
"""Compared in tests/danger/test_protocol.py."""
ASSESSED = ("risk",)
"""Compared in tests/danger/test_assessing.py."""
PRACTICED = ("practice_feedback", "practice_report")
"""Compared in tests/practice/test_prompts.py."""
RUBRIC = ("judge_rubric",)
"""Compared in tests/bots/test_vera.py."""
READ = ("bot_marks",)
"""Compared in tests/bots/test_judged.py."""
WRAPPED = ("complaint", "options", "schema")


def shown(system: str, user: str) -> str:
    return f"{system}\n---\n{user}\n" if system else f"{user}\n"


@pytest.fixture(scope="module")
def first_of_each(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The first request of each kind: Ines's where she is asked, in the tiny world with three."""
    spy = Listening()
    run = live(
        tmp_path_factory.mktemp("golden"),
        three(),
        models=switchboard(spy),
        limits=Limits(in_flight=1),
    )
    interview, models = Interview.begin(run, "Ines", 5), switchboard(spy)
    interview.ask("How are you?", models)
    spy.requests = [request for request in spy.requests if request.purpose != "interview"]
    interview.ask("Why is that so, would you say?", models)
    models.close()
    found: dict[str, str] = {}
    for request in sorted(spy.requests, key=lambda r: r.who != "Ines"):
        kind = "replan_day" if getattr(request.facts, "why", None) else request.purpose
        found.setdefault(kind, shown(request.system, request.prompt))
    return found


def compare(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("SIMCOUNSEL_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path} is missing; SIMCOUNSEL_GOLDEN=write makes it"
    assert text.encode() == path.read_bytes(), (
        f"{path} differs; if you meant it, rewrite it with SIMCOUNSEL_GOLDEN=write"
    )


@each("kind", KINDS)
def test_prompt(first_of_each: dict[str, str], kind: str) -> None:
    compare(kind, first_of_each[kind])


@pytest.mark.parametrize("kind", WRAPPED)
def test_what_a_chat_model_gets_around_it(kind: str) -> None:
    requests = {
        "schema": Question(
            verb="fill",
            purpose="p",
            who="Ines",
            system="The system text.",
            prompt="The prompt.",
            schema=FeelingAnswer,
            fallback=None,
        ),
        "options": Question(
            verb="choose",
            purpose="p",
            who="Ines",
            system="The system text.",
            prompt="The prompt.",
            options=("ask", "close"),
            fallback=None,
        ),
        "complaint": Question(
            verb="write",
            purpose="p",
            who="Ines",
            system="The system text.",
            prompt="The prompt.",
            fallback=None,
        ),
    }
    sent = messages(requests[kind], "the line was a list" if kind == "complaint" else None)
    compare(kind, "".join(f"[{message['role']}]\n{message['content']}\n" for message in sent))


def test_every_kind_is_here(first_of_each: dict[str, str]) -> None:
    assert set(first_of_each) == set(KINDS)
    files = {
        path.stem for path in PROMPTS.glob("*.txt") if not path.stem.startswith("embedded_")
    } - PARTS
    assert files == {
        *KINDS,
        *WRAPPED,
        *MEASURED,
        *ANALYSED,
        *VALIDATED,
        *EXPORTED,
        *SYNTHESIZED,
        *BENCHED,
        *GUIDED,
        *COMPARED,
        *HELD,
        *LISTENED,
        *SAFETY,
        *ASSESSED,
        *PRACTICED,
        *RUBRIC,
        *READ,
    }
    assert {path.stem for path in GOLDEN.glob("*.txt")} >= files


@each(
    "path",
    [path for path in sorted(PROMPTS.glob("*.txt")) if "$" in path.read_text(encoding="utf-8")],
)
def test_a_slot_that_is_not_given_is_an_error(path: Path) -> None:
    with pytest.raises(KeyError):
        render(path.stem)


def test_nothing_is_left_unfilled(first_of_each: dict[str, str]) -> None:
    for kind, text in first_of_each.items():
        assert "$" not in text, kind
        assert "None" not in text, kind
        assert "\n\n\n" not in text, kind


def test_slots_may_hold_anything() -> None:
    system, user = render(
        "appraise",
        whoami="$name ---\n---\n",
        name="$$x",
        today="today",
        place="here",
        now="now",
        feeling="$$x feels f.",
        news="${news}",
    )
    assert "$name ---\n---" in system
    assert "You name what events feel like to $$x" in system
    assert "$$x is here.\n$$x feels f." in user
    assert "${news}" in user
