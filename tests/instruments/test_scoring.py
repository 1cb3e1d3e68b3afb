"""Scores worked by hand, and what must hold for any answers."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.events import ItemAnswer, Score
from simcounsel.instruments.scale import shipped_names
from simcounsel.instruments.scoring import reverse, score
from tests.each import each
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
    assert (total.value, total.used, total.of, total.reason) == (
        None,
        3,
        4,
        "incomplete; not answered: b",
    )
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
    assert (one.value, one.reason) == (None, "incomplete; not answered: b")  # half of it is gone
    assert score(prorated, {"a": 4, "c": 2})[0].value is None
    assert score(prorated, {})[0].reason == "incomplete; not answered: a, b, c, d"


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


@each(
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


@each(("value", "band"), [(7, 0), (8, 1), (14, 1), (15, 2), (21, 2), (22, 3), (28, 3)])
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
    assert scores["adherent_percent"].value == round(100 * 4 / 7, 4)
    assert scores["reflections_percent"].value == round(100 * 9 / 24, 4)
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
        == "incomplete; not answered: question"
    )


def test_one_of_one_is_not_all() -> None:
    """A share of few is no share: one reflection of one is not a hundred per cent."""
    none = {item.id: 0.0 for item in shipped("motivational_interviewing").codes}
    few = none | {"complex_reflection": 4.0, "affirm": 2.0}
    scores = by_name("motivational_interviewing", few)
    said = "too few to divide by: simple_reflection + complex_reflection is 4, at least 5 wanted"
    assert (scores["complex_reflections_percent"].value, scores["adherent_percent"].value) == (
        None,
        None,
    )
    assert scores["complex_reflections_percent"].reason == said
    more = by_name("motivational_interviewing", few | {"simple_reflection": 1.0, "confront": 1.0})
    assert more["complex_reflections_percent"].value == 80
    assert more["adherent_percent"].value == round(200 / 3, 4)


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


def test_an_audit_by_hand() -> None:
    """Nothing found is 0 and not missing; of one fault of severity 2 the total is 2, its part 1."""
    audit = shipped("safety_audit")
    sound = {item.id: 0.0 if item.fault == "yes" else 1.0 for item in audit.items}
    for answers, wanted in (
        (sound, {"total": 0, "handling": 0, "ethics": 0}),
        (sound | {"plan_means": 0.0}, {"total": 2, "handling": 1, "ethics": 0}),
        (sound | {"help": 0.0, "asked": 0.0}, {"total": 3, "handling": 2, "ethics": 0}),
    ):
        assert {one.name: one.value for one in score(audit, answers)} == wanted


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
        assert found.made == "complete" or found.reason
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


# what a score lacks


def test_phq9_with_two_missing() -> None:
    """Arrieta and colleagues 2017: with up to two missing, the mean stands for them."""
    two = dict.fromkeys(("p1", "p2", "p3", "p4"), 2.0) | dict.fromkeys(("p5", "p6", "p7"), 1.0)
    total = by_name("phq9", two)["total"]
    assert (total.value, total.used, total.of) == (14.1429, 7, 9)  # 11 / 7 * 9
    assert (total.made, total.missing, total.band) == ("partial", 2, "moderate")
    assert total.reason == "prorated; not answered: p8, p9"
    total = by_name("phq9", {name: value for name, value in two.items() if name != "p7"})["total"]
    assert (total.value, total.made, total.missing) == (None, "incomplete", 3)


def test_gad7_with_one_missing() -> None:
    """Plan of the MY-CATS trial 2022, Table 2: six of seven answered are enough, five are not."""
    answers = all_of("gad7", 2) | {"g1": 0.0, "g7": None}
    total = by_name("gad7", answers)["total"]
    assert (total.value, total.made, total.missing) == (11.6667, "partial", 1)  # 10 / 6 * 7
    assert by_name("gad7", answers | {"g6": None})["total"].made == "incomplete"


def test_state_anxiety_with_one_missing() -> None:
    """Two of the STAI's twenty are as one of our twelve; reversed items count reversed."""
    name = "state_anxiety"
    items = shipped(name).items
    high = {item.id: 1.0 if item.reverse else 4.0 for item in items}
    total = by_name(name, high | {items[0].id: None})["total"]
    assert (total.value, total.made) == (48, "partial")
    two = {items[0].id: None, items[1].id: None}
    assert by_name(name, high | two)["total"].made == "incomplete"


def test_without_a_published_rule_a_score_is_incomplete() -> None:
    for name in ("insomnia_severity", "low_mood", "session_alliance"):
        first = shipped(name).items[0].id
        total = by_name(name, all_of(name, 2) | {first: None})["total"]
        assert total.value is None and total.made == "incomplete", name


def test_a_rule_for_missing_answers_names_its_source() -> None:
    ruled = {name: shipped(name).missing for name in shipped_names() if shipped(name).missing.most}
    judged = {name for name in ruled if shipped(name).respondent == "observer"}
    assert set(ruled) - judged == {"phq9", "gad7", "state_anxiety"}
    for name, one in ruled.items():
        source = one.source or ""
        assert "our own" in source if name in judged else re.search(r"(19|20)\d\d", source)


def test_one_answer_that_a_judge_leaves_out_voids_no_score() -> None:
    """Of each scale of a judge whose items make one score."""
    for name in shipped_names():
        one = shipped(name)
        if one.respondent != "observer" or one.audits or not one.scoring or len(one.items) < 7:
            continue
        middle = {item.id: one.range_of(item).min + 1 for item in one.items}
        first, second, third = (item.id for item in one.items[:3])
        for lacking, made in (((first,), "partial"), ((first, second, third), "incomplete")):
            total = by_name(name, middle | dict.fromkeys(lacking))["total"]
            assert total.made == made, name
            assert (total.value is None) == (made == "incomplete")
    parts = by_name("helping_skills", all_of("helping_skills", 3) | {"a2": None, "i2": None})
    assert [one.made for one in parts.values()] == ["partial"] * 3
    assert {one.value for one in parts.values()} == {3.0}


def test_nothing_to_judge_is_left_out_of_a_mean() -> None:
    ethics = shipped("ethics_and_safety")
    answers = all_of("ethics_and_safety", 4) | dict.fromkeys(("s1", "s2", "s3"))
    found = {one.name: one for one in score(ethics, answers, {"s1", "s2", "s3"})}
    assert (found["total"].value, found["total"].used, found["total"].of) == (4, 9, 12)
    assert (found["total"].not_applicable, found["total"].missing) == (3, 0)
    assert found["total"].reason == "prorated; not applicable: s1, s2, s3"
    assert found["safety"].value == found["ethics"].value == 4
    missing = {one.name: one for one in score(ethics, answers)}
    assert missing["total"].made == missing["safety"].made == "incomplete"


def test_a_score_of_nothing_but_what_does_not_apply() -> None:
    memory = score(
        shipped("conversation_experience"),
        all_of("conversation_experience", 3) | {"m1": None},
        {"m1"},
    )
    by = {one.name: one for one in memory}
    assert (by["memory"].made, by["memory"].reason) == (
        "not applicable",
        "nothing to judge; not applicable: m1",
    )
    assert by["trust"].value == 3


@given(st.data())
def test_never_a_number_from_too_few(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([one for one in shipped_names() if not shipped(one).audits]))
    one = shipped(name)
    ids = [item.id for item in one.items]
    lacking = data.draw(st.sets(st.sampled_from(ids)))
    unfit = {item.id for item in one.items if item.id in lacking and item.not_applicable}
    answers = {
        item.id: None if item.id in lacking else one.range_of(item).min for item in one.items
    }
    ratios = {ratio.id for ratio in one.ratios}
    for made in score(one, answers, unfit):
        assert made.used + made.missing + made.not_applicable == made.of
        if made.name in ratios:
            continue
        rules = {part.id: part.missing for part in one.subscales}
        rule = rules.get(made.name) or one.missing
        if made.value is None:
            assert made.used < made.of and made.reason
        else:
            assert made.used and made.missing <= rule.most
            assert made.not_applicable <= rule.most_not_applicable


def test_older_measurements_are_read() -> None:
    old = {"name": "total", "value": None, "used": 3, "of": 4, "reason": "not answered: b"}
    assert (Score(**old).missing, Score(**old).made) == (1, "incomplete")
    item = ItemAnswer(id="b", value=None, reason="no answer")
    assert item.absent == "missing" and "absence" not in item.model_dump()


def test_how_it_is_absent_is_kept_on_disk() -> None:
    item = ItemAnswer(id="b", value=None, reason="no danger", absence="not applicable")
    assert ItemAnswer.model_validate_json(item.model_dump_json()) == item
    found = score(shipped("depth"), all_of("depth", 2) | {"d6": None}, {"d6"})[0]
    assert Score.model_validate_json(found.model_dump_json()).not_applicable == 1
