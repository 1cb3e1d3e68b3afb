"""Near-duplicates and leaks between splits, against datasketch and by hand."""

import random
from typing import Any

import pytest
from datasketch import MinHash
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.corpus.checks import shingles as shingling
from simcounsel.corpus.checks.shingles import (
    SHINGLE,
    SKETCH,
    jaccard,
    near_duplicates,
    shingles,
    sketches,
)
from tests.corpus.talks import FILLER, found, talk

WORDS = ["".join(random.Random(n).choices("abcdefghijklmnop", k=3 + n % 6)) for n in range(3000)]


def text(seed: int, words: int = 200) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def plain_shingles(written: str) -> set[str]:
    letters = "".join(filter(str.isalnum, written.lower()))
    return (
        {letters[at : at + SHINGLE] for at in range(max(1, len(letters) - SHINGLE + 1))}
        if letters
        else set()
    )


@given(st.text(max_size=60), st.text(max_size=60))
def test_jaccard_is_that_of_plain_sets(one: str, other: str) -> None:
    a, b = plain_shingles(one), plain_shingles(other)
    assert len(shingles(one)) == len(a)
    assert jaccard(shingles(one), shingles(other)) == pytest.approx(
        len(a & b) / len(a | b) if a & b else 0.0
    )


def test_by_hand() -> None:
    """abcdefghij has 3 shingles of 8, bcdefghijk 3 more; two of them are shared, of four in all."""
    assert jaccard(shingles("abcde fghij"), shingles("BCDEFGHIJK!")) == pytest.approx(2 / 4)


def test_estimates_are_as_good_as_datasketch() -> None:
    """128 numbers: a standard error of sqrt(0.25/128) = 0.044 at most, for both."""
    pairs = [(text(seed), text(seed, 200)[:800] + text(seed + 999, 60)) for seed in range(40)]
    ours, theirs = [], []
    for one, other in pairs:
        exact = jaccard(shingles(one), shingles(other))
        sketched = sketches([one, other])
        ours.append(abs(float((sketched[0] == sketched[1]).mean()) - exact))
        hashes = [MinHash(num_perm=SKETCH), MinHash(num_perm=SKETCH)]
        for sketch, written in zip(hashes, (one, other), strict=True):
            sketch.update_batch([shingle.encode() for shingle in plain_shingles(written)])
        theirs.append(abs(hashes[0].jaccard(hashes[1]) - exact))
    assert sum(ours) / len(ours) < 0.05 and sum(ours) < 1.5 * sum(theirs)


def test_what_is_planted_is_found_and_nothing_else() -> None:
    texts = (
        [text(seed) for seed in range(300)]
        + [text(seed)[:-90] + text(seed + 5000, 15) for seed in range(30)]
        + [text(0), text(0)]
    )
    found_there = list(near_duplicates(texts, 0.7))
    assert [(alike.later, alike.earlier) for alike in found_there] == [
        *((300 + seed, seed) for seed in range(30)),
        (330, 0),
        (331, 0),
    ]
    assert all(
        alike.exact >= 0.7 and abs(alike.exact - alike.estimated) < 0.2 for alike in found_there
    )


def test_ten_thousand_copies_take_no_longer_than_others() -> None:
    assert sum(1 for _ in near_duplicates([text(1, 20)] * 10_000, 0.7)) == 9_999


def test_a_crowd_of_texts_that_are_alike_makes_few_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Alike, but no near-duplicates: each is compared with a bounded number of earlier ones, not with all."""
    asked: list[int] = []
    most_alike = shingling._most_alike

    def counted(number: int, candidates: list[int], *more: Any) -> Any:
        asked.append(len(candidates))
        return most_alike(number, candidates, *more)

    monkeypatch.setattr(shingling, "_most_alike", counted)
    monkeypatch.setattr(shingling, "CROWD", 2)
    texts = [text(1, 60) + text(number + 2, 40) for number in range(400)]
    assert list(near_duplicates(texts, 0.7)) == []
    assert 2 < max(asked) <= 2 * SKETCH // shingling.ROWS


def test_texts_without_letters_are_no_duplicates() -> None:
    assert (
        list(near_duplicates(["", "...", "?!", "…"], 0.7)) == []
        and list(near_duplicates([], 0.7)) == []
    )


def test_near_duplicate_names_partner_and_likeness() -> None:
    lines = ("C: " + text(1, 60), "T: " + text(2, 60), "C: " + text(3, 60), "T: " + text(4, 30))
    copy = talk(*lines[:3], "T: " + text(4, 24), id="copy", split="test")
    (finding,) = found("near_duplicate", talk(*lines, id="original", split="train"), copy)
    assert finding.dialogue == "original", "the test set stays whole"
    assert (
        "“copy”, in another split (train, test): Jaccard 0.9" in finding.what
        and "estimated" in finding.what
    )
    (within,) = found(
        "near_duplicate", talk(*lines, id="original", split="train"), copy, splits_known=False
    )
    assert within.dialogue == "copy" and "another split" not in within.what
    assert (
        found(
            "near_duplicate",
            talk(*lines, id="a"),
            talk(lines[0], "T: " + text(9, 60), "C: " + text(8, 60), "T: " + text(7, 30), id="b"),
        )
        == ()
    )


def test_a_client_in_two_splits() -> None:
    corpus = [
        talk(*FILLER, id="a", client="Marit", split="train"),
        talk("C: Another talk.", id="b", client="Marit", split="test"),
        talk("C: Bye.", id="c", split="test"),
    ]
    assert [(f.dialogue, f.what) for f in found("split_leak", *corpus)] == [
        ("a", "the client “Marit” is in train and in test"),
        ("b", "the client “Marit” is in test and in train"),
    ]
    assert found("split_leak", *corpus, splits_known=False) == ()


def test_long_stretches_in_two_splits() -> None:
    stretch = "the kettle sang and nobody came down for it until the milk had turned"
    train = talk(f"C: Well, {stretch}, you see.", id="a", client="x", split="train")
    (finding,) = found(
        "split_leak", train, talk(f"C: {stretch.upper()}!", id="b", client="y", split="test")
    )
    assert finding.dialogue == "a" and "13 words that are in “b”" in finding.what
    assert (
        found(
            "split_leak",
            train,
            talk(
                "C: the kettle sang and nobody came down for it", id="b", client="y", split="test"
            ),
        )
        == ()
    )
    assert (
        found("split_leak", train, talk(f"C: {stretch}", id="b", client="y", split="train")) == ()
    )


def test_what_many_clients_hear_is_a_formula() -> None:
    said = "T: If you are in danger right now, please call your local emergency number or go to the nearest hospital."
    many = [
        talk(f"C: {text(n, 9)}", said, id=f"d{n}", client=f"c{n}", split="train" if n else "test")
        for n in range(4)
    ]
    assert found("split_leak", *many) == ()
    assert [f.dialogue for f in found("split_leak", *many[:3])] == ["d1", "d2"], (
        "three clients are few"
    )
    one = [
        dialogue.model_copy(update={"client": "c1" if dialogue.split == "train" else "c0"})
        for dialogue in many
    ]
    assert len(found("split_leak", *one)) == 3, "four dialogues of two clients are no formula"


def test_one_situation_in_two_splits() -> None:
    told = "I lost my job in March and my wife does not know that I leave the house for nothing."
    corpus = [
        talk("C: It's the job.", id="a", client="x", split="train", situation=told),
        talk("C: Nights are bad.", id="b", client="y", split="test", situation=told),
    ]
    (finding,) = found("split_leak", *corpus)
    assert (finding.dialogue, finding.turn) == ("a", None) and "of its situation" in finding.what


def test_long_chinese_stretches() -> None:
    said = "我每天晚上都坐在厨房的桌子旁边等他回来可是他从来没有在十二点之前回来过一次"
    corpus = (
        talk(f"C: {said}。", id="a", client="x", split="train"),
        talk(f"C: 是的，{said}", id="b", client="y", split="validation"),
    )
    assert [f.dialogue for f in found("split_leak", *corpus)] == ["a"]
