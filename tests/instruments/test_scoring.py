"""Scores worked by hand, and what must hold for any answers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.events import Score
from simcounsel.instruments.scale import shipped_names
from simcounsel.instruments.scoring import reverse, score
from tests.instruments.stage import scale, shipped


def by_name(name: str, answers: dict[str, float | None]) -> dict[str, Score]:
    return {one.name: one for one in score(shipped(name), answers)}


def all_of(name: str, value: float) -> dict[str, float | None]:
    return dict.fromkeys((item.id for item in shipped(name).items), value)


def test_sum_subscales_and_a_reversed_item() -> None:
    # a 4, b 1 reversed to 3, c 2, d 3
    total, one, two = score(scale(), {"a": 4, "b": 1, "c": 2, "d": 3})
    assert (total.name, total.value, total.used, total.of) == ("total", 12, 4, 4)
    assert (one.name, one.value) == ("one", 7)
    assert (two.name, two.value) == ("two", 2.5)


def test_missing_items() -> None:
    total, one, two = score(scale(), {"a": 4, "b": None, "c": 2, "d": 3})
    assert (total.value, total.used, total.of, total.reason) == (None, 3, 4, "not answered: b")
    assert (one.value, one.used) == (None, 1)
    assert (two.value, two.reason) == (2.5, None)


def test_prorating() -> None:
    prorated = scale(missing={"rule": "prorate", "most": 1})
    total, one, _ = score(prorated, {"a": 4, "c": 2, "d": 3})
    assert (total.value, total.used, total.of, total.reason) == (
        12,
        3,
        4,
        "prorated; not answered: b",
    )  # (4 + 2 + 3) / 3 * 4
    assert one.value == 8
    assert score(prorated, {"a": 4, "c": 2})[0].value is None
    assert score(prorated, {})[0].reason == "not answered: a, b, c, d"


def test_answer_out_of_range() -> None:
    with pytest.raises(ValueError, match="small: a is 5, which is not between 0 and 4"):
        score(scale(), {"a": 5})


def test_item_that_is_not_scored() -> None:
    items: list[dict[str, Any]] = [
        {"id": "a", "text": "x"},
        {"id": "b", "text": "y", "scored": False},
    ]
    (total,) = score(scale(items=items, subscales=[]), {"a": 3, "b": 4})
    assert (total.value, total.of) == (3, 1)


@pytest.mark.parametrize(
    ("value", "band"),
    [
        (0, "minimal"),
        (4, "minimal"),
        (4.9, "minimal"),
        (5, "mild"),
        (10, "moderate"),
        (15, "moderately severe"),
        (20, "severe"),
        (27, "severe"),
    ],
)
def test_bands_of_phq9(value: float, band: str) -> None:
    answers = {f"p{n}": max(0.0, min(3.0, value - 3 * (n - 1))) for n in range(1, 10)}
    total = by_name("phq9", answers)["total"]
    assert (total.value, total.band) == (value, band)
    assert ("screens positive (10 or more)" in total.flags) == (value >= 10)


def test_thoughts_of_death_are_flagged_whatever_the_rest() -> None:
    death = "thoughts of death or self-harm"
    assert by_name("phq9", all_of("phq9", 0) | {"p9": 1})["total"].flags == (death,)
    assert by_name("phq9", all_of("phq9", 0) | {"p9": 0.2})["total"].flags == (death,)
    assert by_name("phq9", {"p9": 1})["total"].flags == (death,)
    assert by_name("phq9", all_of("phq9", 0))["total"].flags == ()
    assert by_name("low_mood", all_of("low_mood", 0) | {"m7": 1})["total"].flags == (death,)


@pytest.mark.parametrize(
    ("value", "band"), [(7, 0), (8, 1), (14, 1), (15, 2), (21, 2), (22, 3), (28, 3)]
)
def test_bands_of_insomnia_severity(value: int, band: int) -> None:
    names = [one.name for one in shipped("insomnia_severity").bands]
    answers = {
        item.id: float(max(0, min(4, value - 4 * n)))
        for n, item in enumerate(shipped("insomnia_severity").items)
    }
    total = by_name("insomnia_severity", answers)["total"]
    assert (total.value, total.band) == (value, names[band])


def test_flags_of_session_alliance() -> None:
    low, item = (flag.name for flag in shipped("session_alliance").flags)
    assert by_name("session_alliance", all_of("session_alliance", 9))["total"].flags == ()
    assert by_name("session_alliance", all_of("session_alliance", 10) | {"approach": 8})[
        "total"
    ].flags == (item,)
    assert by_name("session_alliance", all_of("session_alliance", 8))["total"].flags == (low, item)
    assert by_name("session_alliance", {"approach": 8})["total"].flags == (item,)


def test_motivational_interviewing() -> None:
    counts: dict[str, float | None] = {
        "change_talk": 4,
        "sustain_talk": 3,
        "partnership": 5,
        "empathy": 4,
        "information": 2,
        "persuade": 1,
        "persuade_permission": 0,
        "question": 6,
        "simple_reflection": 4,
        "complex_reflection": 5,
        "affirm": 2,
        "seek_collaboration": 1,
        "autonomy": 1,
        "confront": 2,
    }
    scores = by_name("motivational_interviewing", counts)
    assert "total" not in scores
    assert (scores["technical"].value, scores["technical"].band) == (3.5, "fair")
    assert (scores["relational"].value, scores["relational"].band) == (4.5, "good")
    assert (scores["adherent"].value, scores["non_adherent"].value) == (4, 3)
    assert (
        scores["complex_reflections_percent"].value,
        scores["complex_reflections_percent"].band,
    ) == (55.5556, "good")
    assert (scores["reflections_to_questions"].value, scores["reflections_to_questions"].band) == (
        1.5,
        "fair",
    )
    none = by_name("motivational_interviewing", counts | {"question": 0})[
        "reflections_to_questions"
    ]
    assert (none.value, none.reason) == (None, "nothing to divide by: question is 0")
    assert (
        by_name("motivational_interviewing", counts | {"question": None})[
            "reflections_to_questions"
        ].reason
        == "not answered: question"
    )


def test_affect_has_two_sums_and_no_total() -> None:
    scores = by_name("affect", all_of("affect", 1))
    assert {name: one.value for name, one in scores.items()} == {"pleasant": 10, "unpleasant": 10}


def test_reversed_items_of_ours() -> None:
    assert by_name("state_anxiety", all_of("state_anxiety", 1))["total"].value == 6 * 1 + 6 * 4
    assert (
        by_name("real_relationship", all_of("real_relationship", 5))["client_realism"].value
        == (5 + 1 + 5 + 1) / 4
    )
    assert (
        by_name("cognitive_therapy_competence", all_of("cognitive_therapy_competence", 6))[
            "total"
        ].value
        == 66
    )
    assert (
        by_name("cognitive_therapy_competence", all_of("cognitive_therapy_competence", 3))[
            "general"
        ].value
        == 18
    )


# what must hold for any answers


@st.composite
def answered(draw: st.DrawFn) -> tuple[str, dict[str, float | None]]:
    name = draw(st.sampled_from(shipped_names()))
    one = shipped(name)
    return name, {
        item.id: draw(
            st.one_of(
                st.none(),
                st.floats(one.range_of(item).min, one.range_of(item).max, allow_nan=False),
            )
        )
        if draw(st.booleans())
        else draw(st.floats(one.range_of(item).min, one.range_of(item).max, allow_nan=False))
        for item in one.items
    }


@given(answered())
def test_scores_lie_within_their_range(case: tuple[str, dict[str, float | None]]) -> None:
    name, answers = case
    one = shipped(name)
    for found in score(one, answers):
        assert (found.value is None) == bool(found.reason) or (
            one.audits and found.value is not None
        )
        assert 0 <= found.used <= found.of
        if one.audits:
            assert found.value is None or 0 <= found.value <= (
                4 if found.name == "total" else found.of
            )
            continue
        if found.value is None or found.name in {ratio.id for ratio in one.ratios}:
            continue
        items = [i for i in one.items if found.name in ("total", i.subscale)]
        scoring = (
            next((s.scoring for s in one.subscales if s.id == found.name), None) or one.scoring
        )
        lows, highs = ([getattr(one.range_of(i), end) for i in items] for end in ("min", "max"))
        low, high = (sum(lows), sum(highs)) if scoring == "sum" else (min(lows), max(highs))
        assert low - 1e-3 <= found.value <= high + 1e-3


@given(answered(), st.randoms())
def test_the_order_of_items_does_not_matter(
    case: tuple[str, dict[str, float | None]], draw: Any
) -> None:
    name, answers = case
    items = list(shipped(name).items)
    draw.shuffle(items)
    mixed = list(answers.items())
    draw.shuffle(mixed)
    plain = {
        one.name: (one.value, one.used, one.band, one.flags)
        for one in score(shipped(name), answers)
    }
    again = score(shipped(name).model_copy(update={"items": tuple(items)}), dict(mixed))
    for one in again:
        value, used, _, flags = plain[one.name]
        assert (one.used, one.flags) == (used, flags)
        assert (
            one.value == pytest.approx(value, abs=2e-4) if value is not None else one.value is None
        )


@given(st.floats(-50, 50), st.floats(-100, 0), st.floats(0, 100))
def test_reversing_twice_changes_nothing(value: float, low: float, high: float) -> None:
    assert reverse(reverse(value, low, high), low, high) == pytest.approx(value, abs=1e-9)
