"""What a staged session asks, and what its agents are told, byte for byte; see tests/prompts/test_golden.py."""

import re

import pytest

from simcounsel.agents.talk import Decision
from simcounsel.events import Assessed
from simcounsel.llm.driving import play
from simcounsel.policies import policy_for
from simcounsel.prompts import prompt_text
from simcounsel.therapies.staged.manuals import shipped
from simcounsel.therapies.staged.policy import Staged
from tests.each import each
from tests.prompts.test_golden import GUIDED, PROMPTS, compare, shown
from tests.stage import said, view
from tests.therapies.sessions import Course
from tests.therapies.test_staged import FEELS, to_consent


@pytest.fixture(scope="module")
def sent() -> dict[str, str]:
    """The last request of each kind of a session on day 2, and the briefs beside."""
    course = Course()
    to_consent(course)
    course.end()
    course.begin(1)
    to_consent(course)
    begun = course.decided[0]
    course.heard("Perhaps I could do something like that after all these weeks.")
    course.heard("Yes.")
    explained = course.decided[-1]
    found = {r.purpose: shown(r.system, r.prompt) for r in course.requests}
    found["staged_brief"] = shown("", begun.wording.brief)
    found["staged_exercise"] = shown("", explained.wording.brief)
    found["staged_no_exercise"] = shown("", _without_exercise().wording.brief)
    for name in ("single", "unguided"):
        talk = view(said("Ines", FEELS), me="Miriam", other="Ines", moves=("greet",))
        found[f"{name}_brief"] = shown("", _told(play(policy_for("counselor", name).decide(talk))))
    return found


def _told(decision: Decision) -> str:
    """What a counselor is told for a line, or before all lines of a session."""
    return decision.wording.brief or decision.wording.background


def _without_exercise() -> Decision:
    course = Course()
    to_consent(course)
    course.own.append(
        Assessed(
            who="Ines",
            chat="c",
            message=9,
            level="high",
            kinds=("suicide",),
            by="model",
            evidence=("…",),
            why="active",
        )
    )
    return course.heard("Yes, please.")


@each("kind", GUIDED)
def test_prompt(sent: dict[str, str], kind: str) -> None:
    compare(kind, sent[kind])
    assert "$" not in sent[kind]
    assert "None" not in sent[kind]


@each(
    "name",
    [
        *GUIDED,
        "intents",
        "staged_words",
        "manner_exercise",
        "manner_unguided",
        "move",
        "line_counselor",
        "manner_counselor",
    ],
)
def test_the_chinese_prompt_has_the_same_slots(name: str) -> None:
    english, chinese = prompt_text(name), prompt_text(name, "zh")
    assert (PROMPTS / "zh" / f"{name}.txt").is_file()
    assert re.search("[一-鿿]", chinese)
    assert set(re.findall(r"\$\w+", english)) == set(re.findall(r"\$\w+", chinese))
    assert english.count("\n---\n") == chinese.count("\n---\n")
    if name in ("intents", "staged_words"):
        keys = [line.split(":", 1)[0] for line in english.splitlines()]
        assert keys == [line.split(":", 1)[0] for line in chinese.splitlines()]


def test_a_brief_speaks_of_nothing_that_is_not_there() -> None:
    unnoted = Course()
    unnoted.policy = Staged(shipped("attachment_selfcare", "en"), notes=False)
    for day in (0, 1):
        unnoted.begin(day)
        to_consent(unnoted)
        assert not any("notes say" in decided.wording.brief for decided in unnoted.decided), day
        unnoted.end()
    assert "They have met before; greet them again." in unnoted.decided[0].wording.brief
    nothing = _without_exercise()
    assert (
        "Offer" not in nothing.wording.brief and nothing.aim == "Say that no exercise fits today."
    )
