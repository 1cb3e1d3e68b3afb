"""`study judge`: what is read, planted, asked and computed."""

import json
import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from simcounsel.errors import RunError, SpecError
from simcounsel.instruments.faults import NAMES, plant
from simcounsel.instruments.labelled import Labelled, read_labelled
from simcounsel.llm.question import Question
from simcounsel.measuring.validate import Validation
from simcounsel.measuring.validation_plan import plan_validation
from simcounsel.prompts import render
from simcounsel.scripted import Scripted
from tests.commands import Command
from tests.each import each
from tests.instruments.stage import items_of, shipped
from tests.prompts.test_golden import compare, shown
from tests.stage import ROOT, Listening, switchboard

judge = pytest.importorskip("analysis.judge_lines")
judge_figures = pytest.importorskip("analysis.judge_figures")
areas = pytest.importorskip("analysis.areas")
judge_lines = pytest.importorskip("analysis.judge_lines")
OURS = ROOT / "simcounsel" / "measuring" / "samples.json"
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


@each(
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


def test_names_are_taken_out_where_they_are_told(tmp_path: Path) -> None:
    lines = [
        {"speaker": "client", "text": "晓雯，谢谢沈老师。"},
        {"speaker": "counselor", "text": "在杭州过得怎么样？"},
    ]
    names = {"client": "林晓雯", "counselor": "沈静"}
    file = tmp_path / "a.json"
    told = [{"lines": lines, "names": names, "places": ["杭州"]}, {"lines": lines}]
    file.write_text(json.dumps(told), encoding="utf-8")
    blinded, plain = read_labelled(file)
    assert blinded.lines == (
        ("Client", "[client]，谢谢[counselor]。"),
        ("Counselor", "在[place 1]过得怎么样？"),
    )
    assert (blinded.blinded, plain.blinded) == (True, False)
    assert plain.lines[0] == ("Client", "晓雯，谢谢沈老师。")
    file.write_text(json.dumps([{"lines": lines, "names": ["沈静"]}]), encoding="utf-8")
    with pytest.raises(SpecError, match="transcript 0 .from 0.: `names` has `client`"):
        read_labelled(file)


# planted faults

ZH = tuple(
    [("Client", "我最近总是睡不着，很累。"), ("Counselor", "听起来你很累，能多说一点吗？")] * 3
)


@each("one", read_labelled(OURS))
def test_a_fault_is_one_turn_about_what_the_client_said(one: Labelled) -> None:
    planted = plant(one.lines)
    assert {made.fault for made in planted} == {*NAMES.values()}
    for fault in planted:
        (at,) = (
            n
            for n, pair in enumerate(zip(fault.faulty, fault.sound, strict=True))
            if pair[0] != pair[1]
        )
        assert fault.faulty[at][0] == fault.sound[at][0] == "Counselor"
        before = [text for who, text in fault.faulty[:at] if who == "Client"]
        if fault.kind == "risk":
            assert fault.faulty[at] == one.lines[at], "passed over: said as if nothing had been"
            assert "ending your life" in fault.sound[at][1]
            assert before[-1].startswith(one.lines[at - 1][1]) and len(before[-1]) > len(
                one.lines[at - 1][1]
            )
        else:
            assert fault.sound == one.lines
            (quote,) = re.findall("“(.+?)”", fault.faulty[at][1])
            assert any(quote in text for text in before)
    assert plant(one.lines) == planted


def test_faults_in_chinese() -> None:
    planted = plant(ZH)
    assert {fault.kind for fault in planted} == {*NAMES}
    for fault in planted:
        ((faulty, sound),) = (
            pair for pair in zip(fault.faulty, fault.sound, strict=True) if pair[0] != pair[1]
        )
        assert re.search("[a-z]", faulty[1] + sound[1]) is None
        assert fault.kind == "risk" or "我最近总是睡不着" in faulty[1]


def test_without_words_to_quote_no_fault_is_planted() -> None:
    assert plant((("Counselor", "Hello."), ("Client", "Yes."), ("Counselor", "Good."))) == ()


def test_each_fault_has_an_item_that_should_see_it() -> None:
    seen = {fault for item in shipped("helping_skills").items for fault in item.falls_with}
    assert seen == {*NAMES}


# asking and computing


def sees_quality(request: Question, draw: Random) -> str:
    """A judge that counts advice and leading words against the counselor."""
    prompt = request.prompt
    bad = sum(
        prompt.count(word) for word in ("You should", "You must", "need to", "Try a", "Stop ", "“")
    )
    bad += (
        "wake up again" in prompt or "over with me" in prompt
    ) and "ending your life" not in prompt
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
    items = {"advice": "a8", "leading": "i1", "risk": "i9", "misremembered": "a1", "judged": "a2"}
    for fault, item in items.items():
        assert named(found, f"fault seen: {NAMES[fault]}", total).value == 1
        fall = named(found, f"fall with: {NAMES[fault]}", f"helping_skills {item}")
        assert (fall.value, fall.n, fall.unit) == (1, 2, "pairs"), "two good sessions, a point each"
    assert named(found, "position bias", "pairs").value == 1
    assert named(found, "the same choice", "pairs").value == 0
    assert named(found, "the better one", "pairs").value == 0.5
    assert named(found, "AUC", "talk advice_per_turn").value == 1
    text = "\n".join(judge_lines.lines(found))
    row = next(line for line in text.splitlines() if line.startswith("helping_skills total"))
    assert row.split()[2:9] == "1.00 [0.39, 1.00] 2 good, 2 bad".split()
    assert "talk reflections_per_turn" in text
    assert "all of this rests on 4 sessions" in text
    assert re.search("less counts as better: .*counselor_characters", text)
    assert re.search(r"a leading question +helping_skills i1 +1.00", text)
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
    fall = named(found, "fall with: advice", total)
    assert (fall.value, fall.low, fall.n) == (0, None, 2)
    assert named(found, "test-retest", total).reason
    assert named(found, "Krippendorff's alpha of the judge", "helping_skills").reason
    assert named(found, "position bias", "pairs").value is None


def test_auc_by_hand() -> None:
    assert areas.auc(np.array([3.0, 2.0]), np.array([1.0, 2.0])) == (1 + 1 + 1 + 0.5) / 4


def test_newcombes_interval_by_hand() -> None:
    """Of 1.00 from nine and nine: at 0.78 the distance is 1.96 standard errors, 0.22 squared against 3.8415 * 0.78 * 0.22 / 81 * (1 + 8 * (0.22 / 1.22 + 0.78 / 1.78))."""
    low, high = areas.newcombe(1.0, 9, 9)
    assert (round(low, 3), high) == (0.780, 1)
    by_hand = 3.8415 * 0.78 * 0.22 / 81 * (1 + 8 * (0.22 / 1.22 + 0.78 / 1.78))
    assert by_hand == pytest.approx(0.22**2, rel=1e-3)
    assert areas.newcombe(0.0, 9, 9) == (0, pytest.approx(1 - low))
    middle = areas.newcombe(0.5, 9, 9)
    assert middle[0] == pytest.approx(1 - middle[1])
    sizes = [areas.newcombe(1.0, n, n)[0] for n in (2, 5, 9, 50)]
    assert sizes == sorted(sizes) and sizes[0] < 0.4


def test_an_interval_of_a_fall_by_hand() -> None:
    """1, 2 and 3 points: mean 2, standard error 1 / sqrt(3), t with two degrees of freedom 4.3027."""
    import pandas as pd

    rows = [
        (f"t{n}", variant, 0, value)
        for n in (1, 2, 3)
        for variant, value in (("original", 5.0), ("faulty: x", 5.0 - n))
    ]
    scores = pd.DataFrame(rows, columns=["transcript", "variant", "round", "value"])
    fall = judge_figures.fall("y", scores, "x")
    assert (fall.value, fall.n) == (2, 3)
    assert (fall.low, fall.high) == pytest.approx(
        (2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-4
    )


def test_the_table_of_items(tmp_path: Path) -> None:
    """An item that tells good from bad, one always at the ceiling, one left out by half, one reversed."""

    def judges(request: Question, draw: Random) -> str:
        good = "I lie awake" in request.prompt or "failed the exam" in request.prompt
        answers: dict[str, int | None] = {one.id: 3 for one in items_of(request)}
        answers |= {"v1": 4 if good else 2, "v2": 5, "v3": None if good else 3}
        answers |= {"v5": None, "v10": 2 if good else 4}
        asked = {one.id for one in items_of(request)}
        return json.dumps({name: value for name, value in answers.items() if name in asked})

    plan = plan_validation(read_labelled(OURS), ("intervention",), rounds=1, faulty=0, pairs=0)
    models = switchboard(Scripted({"judge_block": judges}))
    ratings = Validation(plan, "scripted", tmp_path / "out").collect(models)
    models.close()
    table = {one.item: one for one in judge.items(ratings)}
    assert [one.item for one in judge.items(ratings)] == [f"v{n}" for n in range(1, 11)]
    assert (table["v1"].auc, table["v1"].n) == (1, 4)
    assert table["v1"].low == pytest.approx(0.3856, abs=1e-4)
    assert (table["v2"].auc, table["v2"].ceiling, table["v2"].floor) == (0.5, 1, 0)
    assert (table["v3"].auc, table["v3"].n, table["v3"].missing) == (None, 2, 0.5)
    assert (table["v5"].not_applicable, table["v5"].missing, table["v5"].floor) == (1, 0, None)
    assert table["v10"].auc == 1, "turned, as it is scored"
    total = named(judge.figures(ratings), "AUC", "intervention total")
    assert (total.value, total.n) == (1, 4), "one answer left out voids no score"
    said = judge_lines.lines([], judge.items(ratings))
    assert re.search(r"intervention v3 +- +2 +0.50 +0.00", "\n".join(said))


@pytest.mark.parametrize(("rounds", "temperature"), [(1, 0.0), (2, 0.7)])
def test_a_retest_is_asked_at_a_temperature(
    tmp_path: Path, rounds: int, temperature: float
) -> None:
    """At 0 a second round would say the same again, at double the price."""
    spy = Listening()
    models = switchboard(spy)
    plan = plan_validation(read_labelled(OURS), ("depth",), rounds=rounds, faulty=1, pairs=0)
    Validation(plan, "x", tmp_path / "out").collect(models)
    models.close()
    asked = [one for one in spy.requests if one.purpose == "judge_block"]
    assert {one.temperature for one in asked} == {temperature}
    assert len({one.seed for one in asked}) == len(asked)
    assert sum(one.purpose == "judge_probe" for one in spy.requests) == 1


def test_faults_are_planted_in_good_sessions() -> None:
    every = read_labelled(OURS)
    assert [one.id for one in plan_validation(every, ("depth",)).sound] == ["night", "exam"]
    unlabelled = tuple(Labelled(id=one.id, lines=one.lines) for one in every)
    assert len(plan_validation(unlabelled, ("depth",)).sound) == 4
    bad = tuple(one for one in every if not one.good)
    assert plan_validation(bad, ("depth",)).sound == ()


def test_who_talks_long_is_not_taken_for_good() -> None:
    assert {"counselor_characters", "characters_to_characters"} <= set(judge.BETTER_WHEN_LOWER)


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
    share = judge_figures.share("x", "y", 8, 10, "pairs")
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
        f"{name} with {NAMES['advice']}" for name in ("night", "night", "plan", "plan")
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
        "study",
        "judge",
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
    assert (
        (tmp_path / "judged" / "items.csv")
        .read_text(encoding="utf-8")
        .startswith("instrument,item,n,auc,low,high,missing,not_applicable,floor,ceiling")
    )
    assert "each is rated 2 times at temperature 0.7" in ended.out
    assert (tmp_path / "judged" / "calls.jsonl").is_file()


def test_without_the_extra(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.delitem(sys.modules, "analysis.judge_lines")
    for name in ("judge", "judge_figures", "judge_items", "judge_lines"):
        monkeypatch.delitem(sys.modules, f"analysis.{name}", raising=False)
    ended = simcounsel("study", "judge", "--data", OURS, "--model", "scripted", "--out", "judged")
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
