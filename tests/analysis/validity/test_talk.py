"""Simulated sessions beside real ones: counts by hand, planted differences found, none where none is."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.areas import auc_interval
from analysis.errors import ReportError
from analysis.validity.__main__ import main
from analysis.validity.talk.counting import coded_by_rules, course, measures, table, variety
from analysis.validity.talk.detector import detect, stretches
from analysis.validity.talk.distances import distance, side
from analysis.validity.talk.making import OF_THE_CLIENT, claims_of, compare
from analysis.validity.talk.sessions import (
    ClientLine,
    TalkSession,
    TalkSessions,
    coded_by_people,
    sessions_in,
)
from analysis.validity.talk.waiting import FirstTimes, curve, first, horizon_of, mean_wait, waited
from simcounsel.chance import chance
from simcounsel.corpus.reading import read_dialogues
from tests.commands import Command, in_process


def session(
    id: str, said: Sequence[str], asked: Sequence[str] = (), client: str | None = None
) -> TalkSession:
    before = [*asked, *["Go on."] * (len(said) - len(asked))]
    return TalkSession(
        id=id,
        client=client or id,
        client_lines=tuple(ClientLine(said=a, before=b) for a, b in zip(said, before, strict=True)),
        counselor_lines=tuple(before),
    )


def annomi(file: Path, rows: Sequence[tuple[str, str, str, str, str]]) -> Path:
    """transcript, utterance, speaker, text, code."""
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(
            [
                "mi_quality",
                "transcript_id",
                "utterance_id",
                "interlocutor",
                "utterance_text",
                "client_talk_type",
            ]
        )
        writer.writerows(["high", *row] for row in rows)
    return file


def samples(start: int) -> list[TalkSession]:
    """Every other of the samples' clients: two sides between which nothing differs but chance."""
    every = sessions_in([Path("samples")], "real").found
    clients = sorted({one.client for one in every})
    chance("halves").shuffle(clients)
    mine = set(clients[start::2])
    return [one for one in every if one.client in mine]


def test_variety_is_that_of_covington_and_mcfall_by_hand() -> None:
    # windows of 3 over a b a c: {a,b} 2, {a,b,c} 3 -> (2/3 + 3/3) / 2
    assert variety(["a", "b", "a", "c"], 3) == pytest.approx((2 / 3 + 1) / 2)
    words = [chance("words", at).choice("abcdefgh") for at in range(40)]
    slow = np.mean([len(set(words[at : at + 7])) / 7 for at in range(34)])
    assert variety(words, 7) == pytest.approx(slow)
    assert variety(["a"] * 49) is None
    assert variety(["a"] * 200) == pytest.approx(1 / 50)


def test_the_course_is_the_last_third_minus_the_first() -> None:
    assert course([0, 0, 5, 1, 3]) == pytest.approx(3 - 0)
    assert course([1, 2]) is None


def test_measures_of_a_session_by_hand() -> None:
    one = session(
        "a",
        [
            "Um, I want to stop drinking.",
            "I can't.",
            "Why do you keep asking?",
            "I feel so ashamed... really.",
            "Okay, I will try that tonight.",
            "That helped.",
        ],
        ["Hello.", "Can you?", "Mm.", "Mm.", "Could you try to write it down tonight?", "Mm?"],
    )
    values = {name: found[0] for name, found in table([one], measures()).items()}
    lengths = [6, 2, 5, 5, 6, 2]
    assert values["client_words"] == pytest.approx(np.mean(lengths))
    assert values["client_unevenness"] == pytest.approx(np.std(lengths, ddof=1) / np.mean(lengths))
    assert values["talk_share"] == pytest.approx(26 / (26 + 1 + 2 + 1 + 1 + 8 + 1))
    assert values["client_questions"] == pytest.approx(1 / 6)
    assert values["counselor_questions"] == pytest.approx(3 / 6)
    assert values["hesitations"] == pytest.approx(100 * 2 / 26)
    assert values["change"] == pytest.approx(2 / 6), "wanting to stop; what is taken up"
    assert values["sustain"] == pytest.approx(1 / 6)
    assert values["change_balance"] == pytest.approx(2 / 3)
    assert values["resists"] == pytest.approx(1 / 6)
    assert values["discloses"] == pytest.approx(1 / 6)
    assert values["takes_up"] == values["agrees"] == pytest.approx(1 / 6)
    assert values["improves"] == pytest.approx(1 / 6)
    assert values["variety"] is None, "fewer words than a window"


def test_a_shift_is_measured_in_standard_deviations_of_the_real() -> None:
    rng = np.random.default_rng(4)
    real = rng.normal(10, 2, 60)
    unit = float(np.std(real, ddof=1))
    names = [f"c{at}" for at in range(60)]
    moved = distance(side(list(real), names), side(list(real + 2 * unit), names), 0.5, "s")
    assert moved.difference == pytest.approx(2)
    assert moved.wasserstein == pytest.approx(2)
    assert moved.low is not None and moved.high is not None and moved.low < 2 < moved.high
    assert moved.verdict == "different"
    wide = distance(side(list(real), names), side(list(10 + 3 * (real - 10)), names), 0.5, "w")
    assert wide.wasserstein is not None and wide.real_against_real is not None
    assert wide.wasserstein > 3 * wide.real_against_real, (
        "the means agree, the distributions do not"
    )
    same = distance(side(list(real), names), side(list(rng.permutation(real)), names), 0.5, "n")
    assert same.difference == pytest.approx(0) and same.wasserstein == pytest.approx(0)
    assert same.verdict == "alike"


def test_intervals_hold_over_clients_not_over_sessions() -> None:
    """Ten sessions a client that are all the same say no more than one."""
    rng = np.random.default_rng(0)
    real, other = rng.normal(0, 1, 12), rng.normal(0.3, 1, 12)
    names = [f"c{at}" for at in range(12)]
    once = distance(side(list(real), names), side(list(other), names), 0.5, "a")
    again = distance(
        side([v for v in real for _ in range(10)], [n for n in names for _ in range(10)]),
        side([v for v in other for _ in range(10)], [n for n in names for _ in range(10)]),
        0.5,
        "a",
    )
    assert once.low is not None and once.high is not None
    assert again.low is not None and again.high is not None
    assert again.high - again.low == pytest.approx(once.high - once.low, rel=0.12)


def test_the_interval_covers() -> None:
    """Of 80 comparisons of samples from one distribution about 95% hold zero, and next to none is
    called different among twenty.
    """
    rng = np.random.default_rng(1)
    names = [f"c{at}" for at in range(25)]
    held = different = 0
    for at in range(80):
        real, other = rng.normal(size=(2, 25))
        far = distance(side(list(real), names), side(list(other), names), 0.5, str(at), among=20)
        assert far.low is not None and far.high is not None
        held += far.low <= 0 <= far.high
        different += far.verdict == "different"
    assert held >= 69 and different <= 2, (held, different)


def test_too_few_clients_bring_no_interval_and_no_claim() -> None:
    names = ["a", "b", "c", "d", "e"]
    far = distance(side([1, 2, 3, 4, 5], names), side([9, 9, 9, 9, 8], names), 0.5, "s")
    assert far.difference is not None and far.low is None and far.verdict == "undecided"
    assert "too few" in far.words()


def test_values_that_are_missing_are_left_out() -> None:
    kept = side([1.0, None, 3.0], ["a", "b", "a"])
    assert kept.values.tolist() == [1, 3] and kept.n == 1


def test_nothing_is_told_between_halves_of_one_corpus_and_what_is_planted_is() -> None:
    one, other = samples(0), samples(1)
    counted = [measure for measure in measures() if measure.id in OF_THE_CLIENT]
    for found in detect(one, other, counted)[:2]:
        assert found.low is not None and found.high is not None
        assert found.low < 0.62 and found.high > 0.3, found
    planted = [
        session(
            each.id,
            [f"You're right. {line.said}" for line in each.client_lines],
            client=each.client,
        )
        for each in other
    ]
    by_measures, by_words, _ = detect(one, planted, counted)
    assert by_measures.low is not None and by_measures.low > 0.9
    assert by_words.auc is not None and by_words.auc > 0.9
    assert "agrees" in dict(by_measures.telling) or any(
        "agrees" in name and weight > 0 for name, weight in by_measures.telling
    )


def test_an_auc_of_chance_has_an_interval_with_a_half() -> None:
    label = np.array([0] * 20 + [1] * 20)
    group = np.array([f"{at}" for at in range(40)])
    score = np.random.default_rng(2).normal(size=40)
    low, high = auc_interval(label, score, group, "x")
    assert low < 0.5 < high
    assert auc_interval(label, label.astype(float), group, "x") == (1.0, 1.0)


def test_a_session_is_judged_by_equal_stretches() -> None:
    lines = [f"Line {at}." for at in range(25)]
    pieces = stretches([session("a", lines), session("b", lines[:7])])
    assert [len(one.client_lines) for one in pieces] == [10, 10, 7]


def test_waiting_by_hand() -> None:
    none = FirstTimes(lines=np.array([3.0, 3.0]), came=np.array([False, False]), clients=("a", "b"))
    assert mean_wait(curve(none, 5)) == 5
    every = FirstTimes(lines=np.array([1.0, 4.0]), came=np.array([True, True]), clients=("a", "b"))
    # not yet: 1, .5, .5, .5, 0 after 0..4 lines
    assert curve(every, 4).tolist() == [1, 0.5, 0.5, 0.5, 0]
    assert mean_wait(curve(every, 4)) == 2.5
    # one ends after 2 lines without it: of the two left one comes to it at 3 -> 1/2
    ended = FirstTimes(
        lines=np.array([2.0, 3.0, 9.0]),
        came=np.array([False, True, False]),
        clients=("a", "b", "c"),
    )
    assert curve(ended, 4).tolist() == [1, 1, 1, 0.5, 0.5]
    twice = curve(ended, 4, np.array([1.0, 2.0, 1.0]))
    assert twice[3] == pytest.approx(1 - 2 / 3)


def test_who_yields_sooner_is_found() -> None:
    def one(at: int, when: int) -> TalkSession:
        lines = ["I went to the shop."] * 12
        lines[when] = "You're right."
        return session(f"s{at}", lines)

    real = [one(at, 6 + at % 4) for at in range(12)]
    soon = [one(at, at % 3) for at in range(12)]
    assert horizon_of(real, soon) == 12
    found = {each.move: each for each in waited(real, soon, coded_by_rules)}
    assert found["agrees"].real == pytest.approx(np.mean([7 + at % 4 for at in range(12)]))
    assert found["agrees"].simulated == pytest.approx(2)
    assert found["agrees"].sooner is True
    assert found["improves"].difference == 0 and found["improves"].sooner is False
    assert {each.move: each for each in waited(real, real, coded_by_rules)}["agrees"].sooner in (
        False,
        None,
    )
    assert first(real, "agrees", coded_by_rules).came.all()


def test_claims_follow_from_the_numbers() -> None:
    one, other = samples(0), samples(1)
    same = compare(TalkSessions(found=tuple(one)), TalkSessions(found=tuple(other)))
    said = claims_of(same, 0.5)
    assert len(said) == 6
    assert said[0].verdict in ("undecided", "holds"), said[0].because
    eager = [
        session(
            each.id,
            [
                f"Exactly. That helped, I feel much better. {line.said}"
                for line in each.client_lines
            ],
            client=each.client,
        )
        for each in other
    ]
    worse = claims_of(
        compare(TalkSessions(found=tuple(one)), TalkSessions(found=tuple(eager))), 0.5
    )
    assert [claim.verdict for claim in worse[:3]] == ["does not hold"] * 3
    assert "lines in which the client agrees" in worse[0].because
    assert worse[5].verdict == "does not hold", "says that it is better"


def test_an_annomi_csv_is_read_once_a_line_with_peoples_codes(tmp_path: Path) -> None:
    rows = []
    for talk in "12":
        for at in range(6):
            rows.append((talk, str(2 * at), "therapist", f"Question {at}?", "n/a"))
            rows.append((talk, str(2 * at + 1), "client", "I want to stop.", "change"))
            rows.append((talk, str(2 * at + 1), "client", "I want to stop.", "neutral"))
    rows += [("3", "0", "client", "Hello", "neutral"), ("3", "1", "therapist", "Hello", "n/a")]
    file = annomi(tmp_path / "real.csv", rows)
    found = sessions_in([file], "real")
    assert [len(one.client_lines) for one in found.found] == [6, 6]
    assert found.found[0].client_lines[2] == ClientLine(
        said="I want to stop.", before="Question 2?"
    )
    assert found.notes == (
        "Left out: 1 real session in which the client speaks fewer than 5 times.",
    )
    coded = coded_by_people(file)
    assert len(coded) == 13 and coded[0].code == "change" and coded[0].line.before == "Question 0?"


def test_a_file_without_sessions_says_so(tmp_path: Path) -> None:
    file = annomi(
        tmp_path / "short.csv",
        [("1", "0", "client", "Hi", "neutral"), ("1", "1", "therapist", "Hi", "")],
    )
    with pytest.raises(ReportError, match="no session of a client with a counselor"):
        sessions_in([file], "real")


@pytest.fixture
def validity(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    return in_process("validity", main, monkeypatch, capsys)


@pytest.mark.slow(6)
def test_from_the_command_to_the_page(validity: Command, tmp_path: Path) -> None:
    rows = [
        (
            str(number),
            str(at),
            "client" if turn.speaker == "client" else "therapist",
            turn.text,
            "change" if turn.text.startswith("I") else "neutral",
        )
        for number, dialogue in enumerate(read_dialogues("samples"))
        for at, turn in enumerate(dialogue.turns)
    ]
    real = annomi(tmp_path / "real.csv", rows)
    done = validity("talk", "samples", "--real", str(real), "--coder", "scripted", "--out", "v")
    assert done.code == 0, done.err
    kept = tmp_path / "v" / "parts" / "client_codes.jsonl"
    coded = kept.read_text(encoding="utf-8").splitlines()
    assert {len(json.loads(one)["codes"]) > 4 for one in coded} == {True}
    again = validity("talk", "samples", "--real", str(real), "--coder", "scripted", "--out", "v")
    assert again.code == 0 and kept.read_text(encoding="utf-8").splitlines() == coded
    assert "coded by" not in again.err, "nothing is asked twice"
    html = (tmp_path / "v" / "validity.html").read_text(encoding="utf-8")
    assert html.count("<picture>") == 3 and "told by scripted" in html
    measured = pd.read_csv(tmp_path / "v" / "tables" / "talk_measures.csv")
    assert set(measured["verdict"]) <= {"alike", "undecided"}, "the same sessions on both sides"
    assert measured["wasserstein"].dropna().max() == pytest.approx(0)
    rules = pd.read_csv(tmp_path / "v" / "tables" / "talk_rules.csv")
    assert rules["lines"][0] > 100


def test_a_file_that_is_not_there_is_named(validity: Command) -> None:
    done = validity("talk", "samples", "--real", "none.csv")
    assert done.code != 0 and "none.csv" in done.err
