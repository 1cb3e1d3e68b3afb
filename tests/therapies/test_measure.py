"""How rich a session is, by its length."""

from typing import Any, Literal

import pytest

from simcounsel.therapies.course.measure import measure_of
from simcounsel.therapies.course.schemas import AfterAnswer, SkillsAnswer, narrowed, some_of
from tests.each import each


@each(
    ("lines", "objectives", "skills"),
    [(6, 2, 6), (16, 3, 8), (24, 4, 12), (44, 7, 22), (59, 10, 29), (200, 12, 60)],
)
def test_a_longer_session_has_room_for_more(lines: int, objectives: int, skills: int) -> None:
    measure = measure_of(lines)
    assert (measure.objectives, measure.skills) == (objectives, skills)
    assert measure.fewest(3) * 2 == skills - skills % 2
    assert measure.metas >= measure.fewest(2)


def test_what_is_said_stands() -> None:
    measure = measure_of(24, objectives=9, skills=3)
    assert (measure.objectives, measure.skills) == (9, 3)
    assert measure.fewest(3) <= 3


@pytest.mark.parametrize("ids", [("advance", "repeat"), ("repeat", "advance")])
def test_a_schema_names_its_ids_in_their_order_whatever_was_asked_before(
    ids: tuple[str, ...],
) -> None:
    def shown(schema: Any, field: str) -> Any:
        return schema.model_json_schema()["properties"][field]

    assert shown(narrowed(AfterAnswer, step=Literal[ids]), "step")["enum"] == list(ids)
    skills = shown(narrowed(SkillsAnswer, skills=some_of(ids, 1, 2)), "skills")
    assert skills["items"]["enum"] == list(ids)
