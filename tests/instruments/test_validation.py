"""validate-judge: what is read, planted, asked and computed."""

import json
import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from simcounsel.errors import RunError, SpecError
from simcounsel.instruments.faults import plant
from simcounsel.instruments.labelled import Labelled, read_labelled
from simcounsel.llm.question import Question
from simcounsel.measuring.validate import Validation, plan_validation
from simcounsel.prompts import render
from simcounsel.standins.scripted import Scripted
from tests.commands import Command
from tests.instruments.stage import items_of
from tests.prompts.test_golden import compare, shown
from tests.stage import ROOT, Listening, switchboard

judge = pytest.importorskip("analysis.judge")
judge_figures = pytest.importorskip("analysis.judge_figures")
OURS = ROOT / "tests" / "data" / "labelled.json"
ANNOMI = """mi_quality,transcript_id,utterance_id,interlocutor,utterance_text,annotator_id
high,0,1,client,"Well, yes.",a
high,0,0,therapist,What brings you?,a
high,0,0,therapist,What brings you?,b
low,7,0,therapist,Stop it.,a
low,7,10,client,No.,a
low,7,2,client,Why?,a
low,8,0,client,Alone here.,a
"""


# reading


def test_our_json() -> None:
    found = read_labelled(OURS)
    assert [(one.id, one.good) for one in found] == [
        ("night", True),
        ("exam", True),
        ("plan", False),
        ("hurry", False),
    ]
    assert found[0].ratings == (("ana", 5.0), ("ben", 4.0))
    assert found[0].lines[0] == ("Counselor", "What would you like to talk about today?")


def test_annomi(tmp_path: Path) -> None:
    file = tmp_path / "AnnoMI.csv"
    file.write_text(ANNOMI, encoding="utf-8")
    assert read_labelled(file) == (
        Labelled(
            id="0", good=True, lines=(("Counselor", "What brings you?"), ("Client", "Well, yes."))
        ),
        Labelled(
            id="7",
            good=False,
            lines=(("Counselor", "Stop it."), ("Client", "Why?"), ("Client", "No.")),
        ),
    )


def test_cpsycoune(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    turns = [
        {"role": "client", "content": "我睡不着。"},
        {"role": "counselor", "content": "你感到累。"},
    ]
    file.write_text(
        json.dumps(
            [{"topic": "Career", "case": "1", "turns": turns}, {"id": "x", "turns": turns[:1]}]
        ),
        encoding="utf-8",
    )
    assert read_labelled(file) == (
        Labelled(id="Career-1", lines=(("Client", "我睡不着。"), ("Counselor", "你感到累。"))),
    )


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("a.json", "{", "not JSON"),
        ("a.json", "{}", "expected"),
        ("a.json", "[{}]", "transcript 0 .from 0.: no `lines`"),
        ("a.json", '[{"lines": [{"speaker": "dog", "text": "x"}]}]', "no speaker 'dog'"),
        ("a.json", "[]", "no transcript with lines of a client and a counselor"),
        ("a.json", '[{"quality": "so so", "lines": []}]', "quality 'so so' is neither"),
        ("a.json", '[{"ratings": {"a": "x"}, "lines": []}]', "a's rating 'x' is no number"),
        ("a.csv", "a,b\n1,2\n", "no column mi_quality, transcript_id"),
        ("a.csv", ANNOMI.replace("therapist", "dog", 1), "a.csv:3: no speaker 'dog'"),
    ],
)
def test_wrong_files(tmp_path: Path, name: str, text: str, what: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=what):
        read_labelled(tmp_path / name)


# planted faults


@pytest.mark.parametrize("one", read_labelled(OURS), ids=lambda one: one.id)
def test_faults(one: Labelled) -> None:
    planted = {each.fault: each for each in plant(one.lines)}
    assert set(planted) == {
        "advice instead of listening",
        "ignored risk",
        "contradiction",
        "leading questions",
    }
    for fault, each in planted.items():
        assert len(each.faulty) == len(each.sound) == len(one.lines)
        differ = [(a, b) for a, b in zip(each.faulty, each.sound, strict=True) if a != b]
        assert differ
        assert all(a[0] == b[0] == "Counselor" for a, b in differ)
        if fault != "ignored risk":
            assert each.sound == one.lines
    risk = planted["ignored risk"]
    assert any(
        "did not wake up any more" in text for speaker, text in risk.sound if speaker == "Client"
    )


def test_faults_in_chinese() -> None:
    lines = tuple(
        [("Client", "我最近总是睡不着，很累。"), ("Counselor", "听起来你很累，能多说一点吗？")] * 3
    )
    assert all(
        "你" in text
        for each in plant(lines)
        for (speaker, text), (_, before) in zip(each.faulty, lines, strict=True)
        if speaker == "Counselor" and text != before
    )


# asking and computing


def sees_quality(request: Question, draw: Random) -> str:
    """A judge that counts advice and leading words against the counselor."""
    prompt = request.prompt
    bad = sum(
        prompt.count(word)
        for word in (
            "You should",
            "You must",
            "You need",
            "need to",
            "Try a",
            "Stop ",
            "aren't you?",
            "don't you?",
            "troubles you",
            "timetable",
        )
    )
    return json.dumps(
        {question.id: max(question.low, question.high - bad) for question in items_of(request)}
    )


def prefers_first(request: Question, draw: Random) -> str:
    return '{"better": "first"}'


def collected(tmp_path: Path, scripts: Any, **how: int) -> list[Any]:
    plan = plan_validation(read_labelled(OURS), ("helping_skills",), **how)
    models = switchboard(Scripted(scripts))
    ratings = Validation(plan, "scripted", tmp_path / "out").collect(models)
    models.close()
    return list(judge.figures(ratings))


def named(found: list[Any], what: str, of: str) -> Any:
    (figure,) = (one for one in found if one.what.startswith(what) and one.of == of)
    return figure


def test_a_judge_that_sees(tmp_path: Path) -> None:
    found = collected(tmp_path, {"judge_block": sees_quality, "judge_pair": prefers_first})
    total = "helping_skills total"
    assert named(found, "AUC", total).value == 1
    assert named(found, "rank correlation", total).value > 0.7
    assert named(
        found, "Krippendorff's alpha of the judge", "helping_skills"
    ).value == pytest.approx(1)
    assert named(found, "test-retest", total).value == pytest.approx(1)
    for fault in ("advice", "ignored risk", "leading", "contradiction"):
        assert named(found, f"fault seen: {fault}", total).value > 0.5
    assert named(found, "position bias", "pairs").value == 1
    assert named(found, "the same choice", "pairs").value == 0
    assert named(found, "the better one", "pairs").value == 0.5
    assert named(found, "AUC", "talk advice_per_turn").value == 1
    text = "\n".join(judge.lines(found))
    assert "helping_skills total" in text
    assert "talk reflections_per_turn" in text
    assert len(judge.table(found)) == len(found)


def test_a_judge_that_always_says_the_same(tmp_path: Path) -> None:
    same = {
        "judge_block": lambda request, draw: json.dumps(
            {question.id: 3 for question in items_of(request)}
        )
    }
    found = collected(tmp_path, same, rounds=2, pairs=0)
    total = "helping_skills total"
    assert named(found, "AUC", total).value == 0.5
    assert named(found, "fault seen: advice", total).value == 0.5
    assert named(found, "test-retest", total).reason
    assert named(found, "Krippendorff's alpha of the judge", "helping_skills").reason
    assert named(found, "position bias", "pairs").value is None


def test_auc_by_hand() -> None:
    assert judge_figures._auc(np.array([3.0, 2.0]), np.array([1.0, 2.0])) == (1 + 1 + 1 + 0.5) / 4


def test_human_ratings_are_centred() -> None:
    """A strict rater who saw only the good sessions, and a mild one who saw only the bad: raw means would turn the order round."""
    import pandas as pd

    labels = {
        name: {"ratings": ratings, "good": None}
        for name, ratings in {
            "a": {"strict": 2, "both": 5},
            "b": {"strict": 1, "both": 4},
            "c": {"mild": 9, "both": 2},
            "d": {"mild": 8, "both": 1},
        }.items()
    }
    scores = pd.DataFrame(
        {
            "transcript": list("abcd"),
            "variant": "original",
            "round": 0,
            "value": [4.0, 3.0, 2.0, 1.0],
        }
    )
    found = judge_figures.rank_correlation("x", scores, labels)
    assert found.value == pytest.approx(1)
    assert found.n == 4


def test_wilson_interval() -> None:
    share = judge_figures._share("x", "y", 8, 10, "pairs")
    assert (share.value, round(share.low, 4), round(share.high, 4)) == (0.8, 0.4902, 0.9433)


def test_observers_see_no_label(tmp_path: Path) -> None:
    spy = Listening()
    models = switchboard(spy)
    Validation(plan_validation(read_labelled(OURS), ("depth",)), "x", tmp_path / "out").collect(
        models
    )
    models.close()
    for request in spy.requests:
        assert not any(
            word in (request.system + request.prompt).split()
            for word in ("good", "bad", "faulty", "ana", "ben", "hurry")
        )
    orders = [
        (one.prompt.index("First conversation"), one.prompt)
        for one in spy.requests
        if one.purpose == "judge_pair"
    ]
    assert len({prompt for _, prompt in orders}) == len(orders) == 8


def test_pairs_without_labels(tmp_path: Path) -> None:
    plain = tuple(Labelled(id=one.id, lines=one.lines) for one in read_labelled(OURS))
    spy = Listening({"judge_pair": lambda request, draw: '{"better": "second"}'})
    models = switchboard(spy)
    ratings = Validation(
        plan_validation(plain, ("depth",), pairs=2, faulty=0, rounds=1), "x", tmp_path / "out"
    ).collect(models)
    models.close()
    compared = [
        json.loads(line)
        for line in ratings.read_text(encoding="utf-8").splitlines()
        if '"compared"' in line
    ]
    assert sorted(one["worse"] for one in compared) == [
        f"{name} with advice instead of listening" for name in ("night", "night", "plan", "plan")
    ]


def test_plans() -> None:
    transcripts = read_labelled(OURS)
    assert len(plan_validation(transcripts, ("depth",), limit=2).transcripts) == 2
    with pytest.raises(SpecError, match="phq9: it judges no transcript"):
        plan_validation(transcripts, ("phq9",))


def test_folder_must_be_new(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("", encoding="utf-8")
    with pytest.raises(RunError, match="not empty; choose another --out"):
        Validation(plan_validation(read_labelled(OURS), ("depth",)), "x", tmp_path)


def test_command(simcounsel: Command, tmp_path: Path) -> None:
    ended = simcounsel(
        "validate-judge",
        "--data",
        OURS,
        "--model",
        "scripted",
        "--instrument",
        "empathy",
        "--out",
        "judged",
    )
    assert ended.code == 0, ended.err
    assert "4 transcripts, judged by scripted; kept in judged" in ended.out
    assert (
        (tmp_path / "judged" / "figures.csv")
        .read_text(encoding="utf-8")
        .startswith("what,of,value,low,high,n,unit,reason")
    )
    assert (tmp_path / "judged" / "calls.jsonl").is_file()


def test_without_the_extra(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.delitem(sys.modules, "analysis.judge")
    monkeypatch.delitem(sys.modules, "analysis.judge_figures")
    ended = simcounsel("validate-judge", "--data", OURS, "--model", "scripted", "--out", "judged")
    assert ended.code == 1
    assert "pip install 'simcounsel[analysis]'" in ended.err
    assert not (tmp_path / "judged").exists()


def test_prompt() -> None:
    compare(
        "judge_pair",
        shown(*render("judge_pair", first="Counselor: Hello.", second="Counselor: Good day.")),
    )


def test_a_judge_of_chinese_transcripts_is_asked_in_chinese(tmp_path: Path) -> None:
    lines = (("Client", "我最近总是睡不着，心里很难过。"), ("Counselor", "从什么时候开始的？"))
    chinese = tuple(Labelled(id=name, lines=lines, good=name == "a") for name in "ab")
    spy = Listening()
    models = switchboard(spy)
    plan = plan_validation(chinese, ("depth",), pairs=1, faulty=0, rounds=1)
    Validation(plan, "scripted", tmp_path / "out").collect(models)
    models.close()
    assert {one.purpose for one in spy.requests} >= {"judge_pair"}
    assert {one.language for one in spy.requests} == {"zh"}
    (pair, *_) = [one for one in spy.requests if one.purpose == "judge_pair"]
    words = set(re.findall(r"[A-Za-z]{2,}", pair.system + pair.prompt))
    assert words == {"Client", "Counselor", "because", "better", "first", "second"}
