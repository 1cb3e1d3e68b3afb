"""What a conversation leaves behind."""

from typing import Any

import pytest

from simcounsel.agents.relations import take_away
from simcounsel.agents.tasks import CLOSENESS_STEP, SummaryAnswer
from simcounsel.events import Appraised, RelationChanged
from simcounsel.llm.driving import play
from simcounsel.llm.question import Question
from tests.each import each
from tests.stage import Alone, noting, said, scene, view

TALK = view(said("Miriam", "How are you?"), said("Ines", "Tired."), closeness=4.0)


def summary(**more: Any) -> SummaryAnswer:
    fields = {
        "summary": "Ines told Miriam that she is tired.",
        "closeness": "closer",
        "emotion": "trust",
        "intensity": 4,
        "poignancy": 6,
    }
    return SummaryAnswer(**(fields | more))


def test_summary_feeling_and_score() -> None:
    seen: list[Question] = []
    lived = play(noting(take_away(Alone().resident, scene(), TALK), seen), summary())
    assert "Miriam: How are you?\nInes: Tired." in seen[0].prompt
    assert lived.events == (
        Appraised(
            who="Ines",
            about="Ines told Miriam that she is tired.",
            emotion="trust",
            intensity=4,
            poignancy=6,
            calls=(seen[0].key,),
        ),
        RelationChanged(
            who="Ines", other="Miriam", before=4.0, after=4.3, why="closer", calls=(seen[0].key,)
        ),
    )
    (thought,) = lived.drafts
    assert thought.calls == (seen[0].key,)
    assert (thought.type, thought.origin, thought.chat, thought.present, thought.poignancy) == (
        "thought",
        "summary",
        TALK.chat,
        ("Miriam",),
        6,
    )


@each("before", [0.0, 0.3, 5.0, 9.6, 10.0])
@each("closeness", CLOSENESS_STEP)
def test_score_stays_between_0_and_10(before: float, closeness: str) -> None:
    lived = play(
        take_away(Alone().resident, scene(), view(*TALK.lines, closeness=before)),
        summary(closeness=closeness),
    )
    moved = lived.events[1]
    assert isinstance(moved, RelationChanged)
    step = CLOSENESS_STEP[closeness]
    won = step * (10 - before) / 10  # the nearer two are, the less is won
    assert moved.after == pytest.approx(max(0, before + (won if step > 0 else step)), abs=0.006)


def test_fallback_changes_nothing() -> None:
    seen: list[Question] = []
    play(noting(take_away(Alone().resident, scene(), TALK), seen), summary())
    assert seen[0].fallback.closeness == "as before"
    assert CLOSENESS_STEP["as before"] == 0
    assert seen[0].fallback.summary == "Ines talked with Miriam at Counseling Center."
