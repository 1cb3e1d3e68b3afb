"""The classifier beside the words: its features, its numbers, and what it changes in what is heard."""

import zlib
from math import exp, log
from random import Random

import numpy as np
import pytest

from simcounsel.danger.hearing.assessing import assess
from simcounsel.danger.hearing.detector import hear, heard_by_words, said_by
from simcounsel.danger.hearing.features import BUCKETS, OF_WORDS, pieces_and_words, words_say
from simcounsel.danger.hearing.gate import (
    DIMENSIONS,
    HEADS,
    LEARNED,
    WITH_VECTORS,
    Gate,
    Kernel,
    gate_of,
    seen_together,
)
from simcounsel.danger.hearing.judging import LineContext, RiskAnswer
from simcounsel.llm.question import Question
from tests.each import each

QUIET = (
    "We had pasta and went to bed early.",
    "The bus was late, so I walked.",
    "I smoke ten a day, less at work.",
)
GRAVE = (
    "I'm going to hang myself tonight.",
    "he hits me every night",
    "i cut my arms again yesterday",
)


def crc(text: str) -> int:
    return zlib.crc32(text.encode()) % BUCKETS


def test_the_features_of_a_line() -> None:
    """By hand: `He's` is `hes`, framed ` hes `; pieces of 2 to 5 signs; words, pairs, threes."""
    pieces, words = pieces_and_words("He's no")
    framed = [" hes ", " no "]
    expected = {
        crc(one[at : at + length])
        for one in framed
        for length in (2, 3, 4, 5)
        for at in range(len(one) - length + 1)
    }
    assert set(pieces) == expected and list(pieces) == sorted(pieces)
    assert set(words) == {crc("hes"), crc("no"), crc("hes no")}


@each(
    ("one", "other"),
    [
        ("I DON'T KNOW", "i dont know"),
        ("sooooo tired", "soo tired"),
        ("I can’t.", "i cant"),
        ("a  b", "a b"),
        ("36 of 40", "3 of 512"),
    ],
)
def test_spellings_that_are_one(one: str, other: str) -> None:
    for mine, theirs in zip(pieces_and_words(one), pieces_and_words(other), strict=True):
        assert mine.tolist() == theirs.tolist()


def test_nothing_has_no_features() -> None:
    assert [len(block) for block in pieces_and_words(" ... ")] == [0, 0]
    gate = gate_of("en")
    assert gate is not None and gate.log_odds("?!").tolist() == [*gate.bias.tolist(), 0.0]


def test_a_chinese_character_is_a_word() -> None:
    """By hand: of a line of three, each, both pairs, and all three; a mark is none."""
    _, words = pieces_and_words("我，很累")
    assert set(words) == {crc(one) for one in ("我", "很", "累", "我 很", "很 累", "我 很 累")}
    assert set(pieces_and_words("卡拉OK")[1]) >= {crc("拉 ok"), crc("ok")}


def tiny_gate(seed: int, *, vectors: bool) -> Gate:
    draw = np.random.default_rng(seed)
    return Gate(
        rarity=(draw.random(BUCKETS), draw.random(BUCKETS)),
        weights=(draw.normal(size=(HEADS, BUCKETS)), draw.normal(size=(HEADS, BUCKETS))),
        ratio=(draw.normal(size=BUCKETS), draw.normal(size=BUCKETS)),
        kernel=Kernel(
            lines=np.eye(DIMENSIONS)[:3] * 0.9,
            weights=np.array([1.0, -2.0, 0.5]),
            bias=0.25,
            gamma=2.0,
        )
        if vectors
        else None,
        bias=draw.normal(size=HEADS),
        last=draw.normal(size=1 + HEADS + 1 + 1 + OF_WORDS + vectors),
        ask=0.4,
        flag=0.6,
    )


@each("vectors", [False, True])
def test_the_probability_is_that_of_the_parts_together(vectors: bool) -> None:
    """Against the same sums written out, feature by feature."""
    gate, text = tiny_gate(3, vectors=vectors), "I will go home, I will."
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[1] = 1.0
    said = words_say("low", clear=False, doubt=True, denied=False)
    odds = []
    for head in range(HEADS):
        total = gate.bias[head]
        for block, rarity, weights in zip(
            pieces_and_words(text), gate.rarity, gate.weights, strict=True
        ):
            length = sum(rarity[one] ** 2 for one in block) ** 0.5
            total += sum(weights[head][one] * rarity[one] / length for one in block)
        odds.append(total)
    ratio = sum(
        ratios[one]
        for block, ratios in zip(pieces_and_words(text), gate.ratio, strict=True)
        for one in block
    )
    row = [1.0, *odds, ratio, max(odds[1:]), 0, 1, 0, 0, 0, 1, 0, 0]
    if vectors:  # the line is 0.1 from the second, and as far from the two others as can be
        near, far = exp(-2 * 0.1**2), exp(-2 * (1 + 0.9**2))
        row.append(1.0 * far - 2.0 * near + 0.5 * far + 0.25)
    expected = 1 / (1 + exp(-sum(a * b for a, b in zip(gate.last, row, strict=True))))
    chance = gate.chance(text, said, vector if vectors else None)
    assert chance.danger == pytest.approx(expected, rel=1e-9)
    assert (chance.asks, chance.flags) == (expected >= 0.4, expected >= 0.6)


def test_what_the_last_regression_sees() -> None:
    odds = np.array([[5.0, 1.0, 3.0, 2.0, -1.0, 9.0]])
    said = words_say("none", clear=False, doubt=True, denied=True)
    expected = [5, 1, 3, 2, -1, 9, 3, 1, 0, 0, 0, 0, 1, 1, 1]
    assert seen_together(odds, said[None], None)[0].tolist() == expected
    assert seen_together(odds, said[None], np.array([7.0]))[0].tolist() == [*expected, 7]


@each("vectors", [False, True])
@each("language", LEARNED)
def test_the_shipped_numbers(language: str, vectors: bool) -> None:
    gate = gate_of(language, vectors=vectors)
    assert gate is not None and 0 < gate.ask < gate.flag < 1
    compares = vectors and language in WITH_VECTORS
    assert gate.last.shape == (1 + HEADS + 1 + 1 + OF_WORDS + compares,)
    assert (gate.kernel is not None) is compares and gate.bias.shape == (HEADS,)
    parts = (
        *gate.weights,
        *gate.rarity,
        *gate.ratio,
        *([gate.kernel.lines] if gate.kernel else ()),
    )
    assert all(np.isfinite(part).all() and part.any() for part in parts)
    assert gate_of("fr") is None


@each("language", LEARNED)
def test_the_numbers_were_learned_from_these_lines(language: str) -> None:
    """Who changes the lines learns again: python -m simcounsel.danger.hearing.learning.train."""
    from simcounsel.danger.hearing.learning import train

    with np.load(train.HERE / f"{language}.npz") as file:
        assert str(file["lines"]) == train.fingerprint(train.read(language))


def test_learning_finds_what_was_planted() -> None:
    """Lines whose danger hangs on one word, in two batches: the heads find the word and its kind."""
    from simcounsel.danger.hearing.learning import learners

    draw, texts, dangers = Random(2), [], []
    for number in range(200):
        danger = number % 3 if number % 3 < 2 else 0
        fill = " ".join(draw.sample(["table", "river", "green", "seven", "walks", "today"], 3))
        texts.append(f"{fill} zorgle" if danger else fill)
        dangers.append(danger)
    lines = learners.Lines(
        texts=texts,
        dangers=np.array([d * 2 for d in dangers]),
        everyday=np.ones(200, bool),
        batches=np.arange(200) % 2,
    )
    table = learners.Table(texts * 2)
    for kind in (1, 3, 4):  # every head wants both answers
        lines.dangers[np.flatnonzero(lines.dangers)[kind]] = kind
    heads = learners.heads_of(table, lines, np.arange(100))
    odds = heads.log_odds(table, np.arange(100, 200))
    danger = np.array(dangers[100:]) > 0
    assert (odds[danger, 0].min() > odds[~danger, 0].max()) and (
        odds[danger, 2] > odds[danger, 4]
    ).all()
    assert odds[danger, HEADS].min() > odds[~danger, HEADS].max()
    ratio, word = heads.ratio[1], crc("zorgle")
    mine, others = (np.array(dangers[:100]) > 0), table.blocks[1][:100]
    shares = [
        (others[of].sum(axis=0)[0, word] + 0.3) / (others[of].sum() + 0.3 * BUCKETS)
        for of in (mine, ~mine)
    ]
    assert ratio[word] == pytest.approx(log(shares[0] / shares[1]))


def test_the_kernel_machine_is_that_of_scikit_learn() -> None:
    from sklearn.svm import SVC

    from simcounsel.danger.hearing.learning import learners

    draw = np.random.default_rng(4)
    some = draw.normal(size=(80, DIMENSIONS))
    some /= np.linalg.norm(some, axis=1, keepdims=True)
    danger = some[:, 0] > 0
    theirs = SVC(C=learners.FIRMNESS, gamma=learners.NEARNESS).fit(some[:60], danger[:60])
    ours = learners.kernel_of(some[:60], danger[:60])
    assert ours.says(some[60:]) == pytest.approx(theirs.decision_function(some[60:]), abs=1e-9)


@each("text", QUIET)
def test_quiet_lines_stay_quiet(text: str) -> None:
    heard = hear(text, "en")
    assert (heard.level, heard.doubt, heard.by) == ("none", False, "words")
    assert heard.chance is not None and heard.chance < 0.3


@each("text", GRAVE)
def test_grave_lines_are_likely(text: str) -> None:
    chance = hear(text, "en").chance
    assert chance is not None and chance > 0.8


def test_it_flags_where_the_words_hear_nothing() -> None:
    text = "i wanna be ded tonite"
    assert heard_by_words(text, "en").level == "none"
    heard = hear(text, "en")
    assert (heard.level, heard.kinds, heard.doubt, heard.by) == (
        "low",
        ("suicide",),
        True,
        "classifier",
    )
    assert heard.evidence == ()


def test_a_hint_that_it_takes_for_harmless_is_a_doubt() -> None:
    text = "I found a home for both cats."
    assert heard_by_words(text, "en").level == "low"
    heard = hear(text, "en")
    assert (heard.level, heard.kinds, heard.doubt, heard.by) == ("none", (), True, "classifier")
    assert heard.evidence


@each(
    ("text", "before"),
    [
        ("I wish I was dead.", ""),
        ("No.", "Are you safe tonight?"),
        ("Maybe.", "Do you think about killing yourself?"),
    ],
)
def test_what_was_said_or_answered_openly_stays(text: str, before: str) -> None:
    by_words, heard = heard_by_words(text, "en", before), hear(text, "en", before)
    assert by_words.level != "none"
    assert (heard.level, heard.kinds, heard.by) == (by_words.level, by_words.kinds, "words")


def test_it_is_silent_where_it_learned_nothing() -> None:
    for text in ("Я устал.", "Ich bin müde, das ist alles."):
        assert hear(text, "ru") == heard_by_words(text, "ru")
        assert hear(text, "ru").chance is None


@each(("one", "other"), [("我想自殺", "我想自杀"), ("他打我。", "他打我！")])
def test_chinese_is_heard_in_either_script(one: str, other: str) -> None:
    assert hear(one, "zh").chance == hear(other, "zh").chance is not None


def test_chinese_takes_no_vector() -> None:
    assert asked("我昨天没睡好。", [], "zh")[0] == []


def test_what_the_words_made_of_a_line() -> None:
    assert said_by(heard_by_words("I wish I was dead.", "en")).tolist()[4:6] == [1.0, 0.0]
    assert said_by(heard_by_words("Fine.", "en")).tolist() == [1, 0, 0, 0, 0, 0, 0, 0]


def asked(text: str, vector: list[float], language: str = "en") -> tuple[list[str], str, str]:
    """The verbs that are asked, and the level and by whom, for a vector that begins so."""
    asks, verbs = (
        assess(text, LineContext(who="Ines", key=(1,), language=language), vectors=True),
        [],
    )
    answer: object = None
    try:
        while True:
            question = asks.send(answer)
            assert isinstance(question, Question)
            verbs.append(question.verb)
            if question.verb == "embed":
                row = np.zeros((1, DIMENSIONS), np.float32)
                row[0, : len(vector)] = vector
                answer = _Reply(row)
            else:
                answer = _Reply(RiskAnswer(level="none"))
    except StopIteration as done:
        return verbs, done.value.level, done.value.by


class _Reply:
    def __init__(self, value: object) -> None:
        self.value, self.call, self.source, self.model = value, "c1", "generated", "m"


def test_a_vector_is_asked_for_where_the_words_are_not_sure() -> None:
    assert asked("I want to kill myself.", [])[0] == ["fill"]
    assert asked("We had pasta and went to bed early.", [0.0])[0] == ["embed"]


def test_the_vector_counts() -> None:
    gate = gate_of("en", vectors=True)
    assert gate is not None and gate.kernel is not None
    grave, calm = (
        gate.kernel.lines[of(gate.kernel.says(gate.kernel.lines))] for of in (np.argmax, np.argmin)
    )
    text = "It's the usual thing again."
    said = said_by(heard_by_words(text, "en"))
    near, far = (gate.chance(text, said, one.astype(np.float32)).danger for one in (grave, calm))
    assert log(near / (1 - near)) > log(far / (1 - far)) + 1
    assert asked(text, list(grave))[0] == ["embed", "fill"]
