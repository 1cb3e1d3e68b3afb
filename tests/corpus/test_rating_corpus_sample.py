"""The draw by theme, and blind transcripts."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from simcounsel.corpus.blind import blind_lines, hides_names
from simcounsel.corpus.dialogues import Origin
from simcounsel.corpus.sampling import draw, share_out
from tests.corpus.made import dialogue
from tests.each import each


def test_shares_by_hand() -> None:
    assert share_out(10, {"a": 50, "b": 30, "c": 20}) == {"a": 5, "b": 3, "c": 2}
    assert share_out(5, {"a": 96, "b": 2, "c": 2}) == {"a": 3, "b": 1, "c": 1}, "none is left out"
    assert share_out(2, {"a": 5, "b": 9, "c": 5}) == {"b": 1, "a": 1, "c": 0}
    assert share_out(9, {"a": 2, "b": 2}) == {"a": 2, "b": 2}


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 40), min_size=1),
    st.integers(1, 120),
)
def test_shares_hold_what_they_promise(sizes: dict[str, int], size: int) -> None:
    places, more = share_out(size, sizes), share_out(size + 1, sizes)
    assert sum(places.values()) == min(size, sum(sizes.values()))
    assert all(places[name] <= sizes[name] for name in sizes)
    assert size < len(sizes) or all(places.values())
    assert all(more[name] >= places[name] for name in sizes), "a place is never taken away"


def corpus(condition: str | None = None) -> list:
    sizes = {"sleep": 12, "work": 6, "grief": 2}
    made = [(theme, number) for theme, count in sizes.items() for number in range(count)]
    return [
        dialogue(
            f"{condition or 'x'}-{theme}-{n}",
            "a",
            "b",
            theme=theme,
            client=f"{theme}-{n}",
            condition=condition,
        )
        for theme, n in made
    ]


def test_the_draw_is_stratified_and_the_same_again() -> None:
    some = corpus()
    drawn = draw(some, 10, seed=3)
    assert drawn.themes == {"grief": (1, 2), "sleep": (6, 12), "work": (3, 6)}
    assert Counter(one.theme for one in drawn.dialogues) == {"sleep": 6, "work": 3, "grief": 1}
    assert draw(some[::-1], 10, seed=3).dialogues[::-1] == drawn.dialogues
    assert {one.id for one in drawn.dialogues} < {
        one.id for one in draw(some, 15, seed=3).dialogues
    }
    assert {one.id for one in draw(some, 10, seed=4).dialogues} != {
        one.id for one in drawn.dialogues
    }
    assert len(draw(some, None).dialogues) == len(draw(some, 99).dialogues) == 20


def test_too_few_places_are_said() -> None:
    drawn = draw(corpus(), 2)
    assert drawn.left_out == ("grief",)
    assert len(drawn.dialogues) == 2


def test_arms_with_the_same_clients_are_rated_on_the_same_ones() -> None:
    both = [*corpus("full"), *corpus("no_evaluator")]
    drawn = draw(both, 8)
    arms = {
        arm: {one.client for one in drawn.dialogues if one.condition == arm}
        for arm in ("full", "no_evaluator")
    }
    assert arms["full"] == arms["no_evaluator"]
    assert len(drawn.dialogues) == 16
    assert drawn.themes["sleep"][1] == 24


def test_nothing_tells_where_it_comes_from() -> None:
    one = dialogue(
        "1",
        "I'm Marit, and Jon left for Oslo.",
        "Marit, gpt-4o here. What did Jon say in Oslo?",
        client="Marit",
        names=("Jon",),
        places=("Oslo",),
        condition="no_evaluator",
        origin=Origin(file="f", models={"supporter": "openai:gpt-4o"}),
    )
    said = blind_lines(one, "Client", "Counselor")
    assert said == (
        ("Client", "I'm [client], and [person 1] left for [place 1]."),
        ("Counselor", "[client], […] here. What did [person 1] say in [place 1]?"),
    )


def test_chinese_names_are_taken_out() -> None:
    one = dialogue(
        "1",
        "晓雯，谢谢沈老师",
        "小雯，下次再谈，医生也这么说。",
        client="林晓雯",
        names=("沈医生",),
    )
    assert [text for _, text in blind_lines(one, "Client", "Counselor")] == [
        "[client]，谢谢[person 1]",
        "[client]，下次再谈，医生也这么说。",
    ]
    assert hides_names(one)
    about = dialogue("2", "我的睡眠不好", "睡眠？", client="睡眠", theme="睡眠")
    assert blind_lines(about, "Client", "Counselor")[0][1] == "我的睡眠不好"
    assert not hides_names(about)
    assert not hides_names(dialogue("3", "嗯", "好", client="来访者"))


@each("client", ["client", "User", "sleep-01", "17", "marit"])
def test_an_id_that_is_no_name_takes_nothing_out(client: str) -> None:
    said = "My client is 17, a User of marit since sleep-01."
    assert blind_lines(dialogue("1", said, "b", client=client), "Client", "Counselor")[0][1] == said
