"""Counselors that follow a policy in a benchmark."""

import csv
import json
import re
from pathlib import Path
from random import Random

import pytest

from simcounsel.bench.folder import ANSWERS
from simcounsel.bench.following import GUIDED, following
from simcounsel.bench.tables import comparison_lines
from simcounsel.errors import BenchError, SpecError
from simcounsel.llm.chat import messages
from simcounsel.llm.question import Question
from simcounsel.runs.jsonl import json_lines
from simcounsel.specs.policy_file import policy_named
from tests.bench.test_benchmark import REPLIES, Spy, done, files
from tests.each import each
from tests.prompts.test_golden import compare

POLICIES = ("socratic", "supportive", "unguided", "single", "staged:motivational", "course:cbt")
DANGER = [
    {
        "topic": "night",
        "case": 1,
        "turns": [
            {
                "role": "client",
                "content": "I have the pills here and I want to kill myself tonight.",
            },
            {"role": "counselor", "content": "I am glad that you tell me."},
            {"role": "client", "content": "I do not know what to do."},
        ],
    }
]
CHINESE = [
    {
        "topic": "婚姻",
        "case": 1,
        "turns": [
            {
                "role": "client",
                "content": "我和丈夫已经三个月没有好好说话了，我很难过，晚上也睡不着。",
            },
            {"role": "counselor", "content": "三个月没有好好说话，听起来很不容易。"},
            {"role": "client", "content": "是的，我不知道是不是我的错。"},
        ],
    }
]


def answers(spy: Spy) -> list[Question]:
    return [request for request in spy.asked if request.purpose == "bench_answer"]


def told(tmp_path: Path, cases: object) -> Path:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases, ensure_ascii=False), encoding="utf-8")
    return file


@each("policy", POLICIES)
def test_every_policy_answers_every_line(tmp_path: Path, policy: str) -> None:
    spy = Spy()
    result = done(tmp_path / "b", spy, policy=policy)
    assert (result.replies, result.policy) == (REPLIES, policy)
    assert result.no_reply == sum(
        times for why, times in result.reasons.items() if "read out what is only thought" in why
    ), "what is drawn may do so"
    assert result.no_reply < 3
    whose = {request.who for request in answers(spy)}
    assert len(whose) == REPLIES
    assert {request.who for request in spy.asked} == whose, (
        "each request is kept under its exchange"
    )
    kept = list(json_lines(tmp_path / "b" / ANSWERS))
    assert {f"{one['case']}/{one['turn']}" for one in kept} == whose


def test_the_prompt_is_that_of_the_golden_file(tmp_path: Path) -> None:
    spy = Spy()
    done(tmp_path / "b", spy, policy="socratic")
    asked = next(request for request in answers(spy) if request.who == "work-2/2")
    compare(
        GUIDED, "".join(f"[{one['role']}]\n{one['content']}\n" for one in messages(asked, None))
    )


def test_the_state_of_earlier_lines_is_kept(tmp_path: Path) -> None:
    """A staged counselor greets first and goes on from there, by what it decided at the lines before."""
    spy = Spy()
    done(tmp_path / "b", spy, policy="staged:motivational")
    moves = [
        request.system.split("next line (")[1].split(")")[0]
        for request in sorted(answers(spy), key=lambda one: one.who)
        if request.who.startswith("work-2")
    ]
    assert len(set(moves)) > 1


def test_the_talk_is_the_datas_own_whatever_was_answered(tmp_path: Path) -> None:
    spy = Spy(bench_answer=lambda request, draw: "A reply of my own.")
    done(tmp_path / "b", spy, policy="socratic")
    third = next(one for one in answers(spy) if one.who == "work-2/3")
    assert third.talk[1][1] == "What happens inside you just before you say yes?"
    assert not any("A reply of my own" in text for one in answers(spy) for _, text in one.talk)


def test_danger_goes_before_the_policy(tmp_path: Path) -> None:
    """And a line that lacks what a step must hold is replaced by one written by hand."""
    spy = Spy(bench_answer=lambda request, draw: "Hm, tell me about your childhood.")
    done(tmp_path / "b", spy, policy="socratic", data=told(tmp_path, DANGER))
    with (tmp_path / "b" / "replies.csv").open(encoding="utf-8", newline="") as file:
        first, _ = (row["reply"] for row in csv.DictReader(file))
    assert "112" in first
    assert "childhood" not in first
    moves = {
        request.who: request.system.split("next line (")[1].split(")")[0]
        for request in answers(spy)
    }
    assert list(moves.values()) == ["emergency", "company"]


def worded(request: Question, text: str) -> str:
    """An answer with these words; where a thought goes before them, with one."""
    if request.verb == "write":
        return text
    skills = request.schema.model_json_schema()["properties"]["skills"]["items"]
    thought = {"assessment": "so", "client_state": "so", "strategy": "slowly"}
    feeling = {"emotion": "trust", "intensity": 2, "poignancy": 2}
    skill = skills.get("const") or skills["enum"][0]
    return json.dumps({**thought, "skills": [skill], **feeling, "say": text, "wish": "go on"})


def test_a_course_s_thought_comes_with_its_line(tmp_path: Path) -> None:
    def answer(request: Question, draw: Random) -> str:
        return worded(request, f"Tell me more. {draw.random()}")

    spy = Spy(bench_answer=answer)
    result = done(tmp_path / "b", spy, policy="course:cbt", sample=1)
    assert (result.no_reply, result.replies) == (0, 2)
    first, second = answers(spy)
    assert "Skills of this session" in first.system
    assert "Skills used so far" not in first.system
    used = first.schema.model_json_schema()["properties"]["skills"]["items"]["enum"][0]
    assert f"Skills used so far, in order: {used}" in second.system


def test_chinese_clients_get_a_chinese_counselor(tmp_path: Path) -> None:
    spy = Spy(bench_answer=lambda request, draw: worded(request, "你愿意多说一点吗？"))
    for policy in ("staged", "socratic", "course"):
        result = done(tmp_path / policy, spy, policy=policy, data=told(tmp_path, CHINESE))
        assert (result.language, result.no_reply) == ("Chinese", 0)
    asked = answers(spy)
    assert all("用中文。" in request.system for request in asked)
    assert all(
        sum("\u4e00" <= sign <= "\u9fff" for sign in request.system.split("下一句话")[1]) > 20
        for request in asked
    )


def test_the_result_does_not_depend_on_where_it_was_cut(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    done(whole, Spy(), policy="staged")
    for last in (1, 7, 15):
        cut = tmp_path / f"cut{last}"
        with pytest.raises(RuntimeError, match="the plug is pulled"):
            done(cut, Spy(last), policy="staged")
        done(cut, Spy(), policy="staged")
        assert [json.loads(file) if file[:1] == b"{" else file for file in files(cut)][1] == files(
            whole
        )[1]


def test_a_folder_goes_on_with_its_own_policy_only(tmp_path: Path) -> None:
    done(tmp_path / "b", Spy())
    with pytest.raises(BenchError, match="was begun without --policy, not with --policy socratic"):
        done(tmp_path / "b", Spy(), policy="socratic")
    done(tmp_path / "c", Spy(), policy="course:cbt")
    with pytest.raises(
        BenchError, match="with --policy course:cbt, not with --policy course:behavioral"
    ):
        done(tmp_path / "c", Spy(), policy="course:behavioral")


def test_a_reply_that_reads_the_agenda_out_is_no_reply(tmp_path: Path) -> None:
    def reads_out(request: Question, draw: Random) -> str:
        aims = request.system.split("What Counselor has in mind for today")[1]
        return worded(request, aims.split("\n1. ")[1].split("\n")[0])

    result = done(tmp_path / "b", Spy(bench_answer=reads_out), policy="course:cbt", sample=1)
    assert result.no_reply == result.replies
    assert any("only thought" in reason for reason in result.reasons)


@each(
    ("policy", "words"),
    [
        ("freudian", "no policy 'freudian'"),
        ("client", "client is no counselor's; there are course, "),
        ("socratic:cbt", "socratic takes nothing behind a colon"),
        ("course:alchemy", "alchemy"),
        ("staged:nowhere.yaml", "nowhere.yaml"),
        ("staged:nothing", "nothing"),
    ],
)
def test_a_policy_that_is_not_there(policy: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        following(policy_named(policy), "English", 0)


def test_policies_stand_side_by_side_in_any_order(tmp_path: Path) -> None:
    results = {
        tmp_path / name: done(tmp_path / name, Spy(), policy=policy)
        for name, policy in (("a", "course:cbt"), ("b", None), ("c", "staged"))
    }
    for folders in (("a", "b", "c"), ("b", "a"), ("c", "a")):
        lines = list(
            comparison_lines({tmp_path / name: results[tmp_path / name] for name in folders})
        )
        assert any("course:cbt with scripted" in line for line in lines)


def test_policies_speak_two_languages() -> None:
    with pytest.raises(BenchError, match="the clients speak German"):
        following(policy_named("socratic"), "German", 0)


def test_a_judge_of_chinese_replies_is_asked_in_chinese(tmp_path: Path) -> None:
    spy = Spy(bench_answer=lambda request, draw: "你愿意多说一点吗？")
    done(tmp_path / "b", spy, data=told(tmp_path, CHINESE))
    alone = [one for one in spy.asked if one.purpose == "bench_answer"]
    judges = [one for one in spy.asked if one.purpose == "bench_judge"]
    scales = {"because", "comprehensiveness", "professionalism", "authenticity", "safety"}
    assert alone and judges and {one.language for one in (*alone, *judges)} == {"zh"}
    assert all("咨询师：你愿意多说一点吗？" in one.prompt for one in judges)
    for one in (*alone, *judges):
        text = "\n".join(message["content"] for message in one.messages)
        assert set(re.findall(r"[A-Za-z]{2,}", text)) <= scales
