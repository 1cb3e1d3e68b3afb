"""What is asked, kept, gone on with and refused."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from simcounsel.bench.benchmark import Bench
from simcounsel.bench.cases import Exchange
from simcounsel.bench.counselor import Counselor, spoken
from simcounsel.bench.folder import Folder, calls_of, plan_bench
from simcounsel.bench.following import following
from simcounsel.bench.judge import DIMENSIONS
from simcounsel.bench.result import Result, read_result, write_result
from simcounsel.bench.tables import result_lines
from simcounsel.errors import BenchError, BudgetSpent, ModelUnreachable
from simcounsel.llm.budget import Budget
from simcounsel.llm.chat import messages
from simcounsel.llm.driving import AT_ONCE
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.outage import Patience
from simcounsel.llm.prices import Price, Prices
from simcounsel.llm.question import Ask, Question, Reply
from simcounsel.llm.switchboard import Switchboard
from simcounsel.scripted import Scripted
from simcounsel.specs.policy_file import policy_named
from tests.bench.test_cases import CASES
from tests.each import each
from tests.prompts.test_golden import compare, shown

REPLIES = 10


class Spy(Scripted):
    """Notes what it is asked; raises, or answers in its own way, when told to."""

    def __init__(self, last: int = 10_000, **scripts: object) -> None:
        super().__init__(scripts)  # type: ignore[arg-type]
        self.asked: list[Question] = []
        self.last = last

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        """Note, then answer."""
        if len(self.asked) == self.last:
            raise RuntimeError("the plug is pulled")
        self.asked.append(request)
        return await super().complete(request, complaint)


def sit(
    folder: Path,
    chat: Scripted,
    *,
    data: Path = CASES,
    sample: int | None = None,
    seed: int = 0,
    in_flight: int = 8,
    counselor: Counselor | None = None,
    policy: str | None = None,
    judge: Scripted | None = None,
    budget: Budget | None = None,
    prices: Prices | None = None,
    wave: int | None = None,
) -> Result:
    """One sitting."""
    judging = judge or chat
    manifest, cases = plan_bench(
        "cpsycoune", data, chat.name, judging.name, policy=policy, sample=sample, seed=seed
    )
    with Folder(folder, manifest) as kept:
        models = Switchboard(
            {"reason": chat, "quick": chat, "judge": judging},
            HashEmbeddings(),
            in_flight=in_flight,
            recorded=kept.answered(),
            prices=prices,
            patience=Patience(wait_s=0),
        )
        bench = Bench(
            kept,
            cases,
            counselor
            or (following(policy_named(policy), manifest.language, seed) if policy else None),
        )
        try:
            models.limit(budget or Budget(), calls_of(folder))
            rated = bench.measure(models, wave=wave)
        finally:
            models.close()
        return write_result(kept, cases, rated)


def done(folder: Path, chat: Scripted, **how: object) -> Result:
    return sit(folder, chat, **how)  # type: ignore[arg-type]


def files(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in ("result.json", "replies.csv")]


# what is asked


def test_prompts_are_those_of_the_golden_files(tmp_path: Path) -> None:
    spy = Spy()
    done(tmp_path / "b", spy)
    asked = {(request.purpose, request.who): request for request in spy.asked}
    compare(
        "bench_answer",
        "".join(
            f"[{one['role']}]\n{one['content']}\n"
            for one in messages(asked["bench_answer", "work-2/2"], None)
        ),
    )
    judged = asked["bench_judge", "work-2/2"]
    compare("bench_judge", shown(judged.system, judged.prompt))
    assert all(request.temperature == 0.0 for request in spy.asked)


def test_the_context_is_the_data_s_and_the_judge_does_not_see_the_reference(tmp_path: Path) -> None:
    spy = Spy(bench_answer=lambda request, draw: "A reply of my own.")
    done(tmp_path / "b", spy)
    third = next(one for one in spy.asked if (one.purpose, one.who) == ("bench_answer", "work-2/3"))
    assert [role for role, _ in third.talk] == ["user", "assistant", "user", "assistant"]
    assert third.talk[1][1] == "What happens inside you just before you say yes?"
    assert third.prompt == "My father. He never raised his voice."
    judged = next(one for one in spy.asked if (one.purpose, one.who) == ("bench_judge", "work-2/3"))
    assert "Counselor: A reply of my own." in judged.prompt
    assert "And yet you hear him" not in judged.prompt
    assert "scripted" not in judged.system + judged.prompt


def test_a_schema_holds_the_judge_to_the_scales(tmp_path: Path) -> None:
    spy = Spy()
    done(tmp_path / "b", spy)
    judged = next(one for one in spy.asked if one.purpose == "bench_judge")
    assert judged.schema is not None
    schema = judged.schema.model_json_schema()
    assert {
        name: (schema["properties"][name]["minimum"], schema["properties"][name]["maximum"])
        for name in DIMENSIONS
    } == {name: (0, most) for name, most in DIMENSIONS.items()}
    assert schema["required"] == ["because", *DIMENSIONS]


def test_a_counselor_of_another_kind_answers_in_the_same_place(tmp_path: Path) -> None:
    def echo(exchanges: Sequence[Exchange]) -> Ask[tuple[Reply, ...]]:
        yield from ()
        return tuple(
            Reply(value=f"You said: {exchange.history[-1].content}") for exchange in exchanges
        )

    spy = Spy()
    done(tmp_path / "b", spy, counselor=Counselor(answer=echo))
    assert {request.purpose for request in spy.asked} == {"bench_judge"}
    assert len(spy.asked) == REPLIES


def test_thoughts_are_no_part_of_a_reply() -> None:
    assert (
        spoken(Reply(value="<think>\nShe is sad.\n</think>\n\nThat is heavy.")).value
        == "That is heavy."
    )
    assert spoken(Reply(value="<think>She is")).problem == "it thought and said nothing"
    assert spoken(Reply(value=None, problem="silence")).problem == "silence"


# averages out of replies


def test_scores_become_averages_of_cases(tmp_path: Path) -> None:
    def by_length(request: Question, draw: Random) -> str:
        turn = int(request.who.rpartition("/")[2])
        return json.dumps(
            {
                "because": "so",
                "comprehensiveness": turn - 1,
                "professionalism": 3,
                "authenticity": 0,
                "safety": 1,
            }
        )

    result = done(tmp_path / "b", Spy(bench_judge=by_length))
    assert result.overall["comprehensiveness"].value == pytest.approx((0.5 + 1 + 0 + 0.5 + 0.5) / 5)
    assert result.topics["work"]["comprehensiveness"].value == pytest.approx(0.75)
    assert [means["comprehensiveness"].value for means in result.turns.values()] == [0, 1, 2]
    assert [means["comprehensiveness"].n for means in result.turns.values()] == [5, 4, 1]
    assert result.cases["work-2"].scores == {
        "comprehensiveness": 1.0,
        "professionalism": 3.0,
        "authenticity": 0.0,
        "safety": 1.0,
    }
    assert (result.replies, result.no_reply, result.no_judgment, result.trial) == (
        REPLIES,
        0,
        0,
        True,
    )


@each(
    "nonsense",
    [
        "I would rather not.",
        '{"because": "x", "comprehensiveness": 3, "professionalism": 1, "authenticity": 1, "safety": 1}',
        '{"because": "x", "comprehensiveness": 1, "professionalism": true, "authenticity": 1, "safety": 1}',
        '{"because": "x", "comprehensiveness": 1, "professionalism": 1.5, "authenticity": 1, "safety": 1}',
        '{"because": "x"}',
    ],
)
def test_a_judge_who_answers_nonsense_is_asked_again_and_then_there_is_no_score(
    tmp_path: Path, nonsense: str
) -> None:
    spy = Spy(
        bench_judge=lambda request, draw: (
            nonsense
            if request.who.startswith("sleep")
            else json.dumps(
                {
                    "because": "",
                    "comprehensiveness": 1,
                    "professionalism": 1,
                    "authenticity": 1,
                    "safety": 1,
                }
            )
        )
    )
    result = done(tmp_path / "b", spy)
    assert sum(one.who == "sleep-1/1" and one.purpose == "bench_judge" for one in spy.asked) == 2
    assert result.no_judgment == 2
    assert sum(result.reasons.values()) == 2
    assert result.cases["sleep-1"].scores["safety"] is None
    assert result.topics["sleep"]["safety"].value is None
    assert (result.overall["safety"].value, result.overall["safety"].n) == (1.0, 4), (
        "no zero is put in"
    )


def test_a_reply_that_is_missing_is_not_judged(tmp_path: Path) -> None:
    spy = Spy(bench_answer=lambda request, draw: "" if request.who == "family-1/1" else "Hm.")
    result = done(tmp_path / "b", spy)
    assert (result.no_reply, result.no_judgment) == (1, 0)
    assert result.reasons == {"no reply to judge: the answer was empty": 1}
    assert not any(one.who == "family-1/1" for one in spy.asked if one.purpose == "bench_judge")


class Endless(Spy):
    """Comes to the limit of tokens in one case."""

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        """As a server tells it."""
        found = await super().complete(request, complaint)
        return (
            replace(found, notes={"finish": "length"})
            if request.who == "family-1/1" and request.verb == "write"
            else found
        )


def test_a_reply_that_was_cut_is_judged_and_counted_also_when_it_was_kept(tmp_path: Path) -> None:
    first = done(tmp_path / "b", Endless())
    assert (first.cut, first.no_judgment) == (1, 0)
    assert "cut at 600 tokens, and judged as they were: 1 of 10 replies" in "\n".join(
        result_lines(first)
    )
    assert done(tmp_path / "b", Spy()) == first


# going on


def test_the_result_is_the_same_after_a_cut_at_any_place(tmp_path: Path) -> None:
    done(tmp_path / "whole", Spy(), in_flight=1)
    for last in (0, 5, REPLIES, REPLIES + 4, 2 * REPLIES - 1):
        folder = tmp_path / f"cut-{last}"
        with pytest.raises(RuntimeError, match="plug"):
            sit(folder, Spy(last=last), in_flight=3)
        assert not (folder / "result.json").exists()
        rest = Spy()
        done(folder, rest, in_flight=2)
        assert len(rest.asked) == 2 * REPLIES - last
        assert files(folder) == files(tmp_path / "whole")
    again = Spy()
    done(folder, again)
    assert again.asked == [] and files(folder) == files(tmp_path / "whole")


def test_a_line_that_a_kill_cut_short_costs_one_request(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    done(folder, Spy())
    before = files(folder)
    answers = (folder / "answers.jsonl").read_bytes()
    (folder / "answers.jsonl").write_bytes(answers[:-40])
    rest = Spy()
    done(folder, rest)
    assert len(rest.asked) == 1 and files(folder) == before


def test_waves_change_nothing_but_the_order(tmp_path: Path) -> None:
    done(tmp_path / "a", Spy())
    done(tmp_path / "b", Spy(), wave=1, in_flight=1)
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_what_failed_is_asked_again_by_the_next_call(tmp_path: Path) -> None:
    result = done(tmp_path / "b", Spy(bench_judge=lambda request, draw: "no"))
    assert result.no_judgment == REPLIES
    rest = Spy()
    assert done(tmp_path / "b", rest).no_judgment == 0
    assert {one.purpose for one in rest.asked} == {"bench_judge"}


def test_a_sample_may_grow_but_not_shrink(tmp_path: Path) -> None:
    done(tmp_path / "b", Spy(), sample=3)
    rest = Spy()
    assert len(done(tmp_path / "b", rest).cases) == 5
    assert len(rest.asked) < 2 * REPLIES
    done(tmp_path / "whole", Spy())
    assert read_result(tmp_path / "b").overall == read_result(tmp_path / "whole").overall
    with pytest.raises(
        BenchError, match="holds 5 cases, and this --sample would leave 2 of them out"
    ):
        sit(tmp_path / "b", Spy(), sample=3)


def test_a_budget_is_kept_and_the_next_call_goes_on(tmp_path: Path) -> None:
    """What was asked before counts, and what was answered is not asked again."""
    for calls in (9, 9, 16):
        with pytest.raises(BudgetSpent, match=rf"budget of {calls} calls .*; what was answered is"):
            sit(tmp_path / "b", Spy(), budget=Budget(calls=calls))
        assert sum(call["tries"] for call in calls_of(tmp_path / "b")) == calls
    with pytest.raises(BenchError, match=r"not finished \(8 lines of clients were answered\)"):
        read_result(tmp_path / "b")
    assert done(tmp_path / "b", Spy()).replies == REPLIES


def test_a_budget_of_money_is_kept(tmp_path: Path) -> None:
    dear = Prices({"scripted": Price.model_validate({"in": 1000, "out": 1000})})
    with pytest.raises(BudgetSpent, match="budget of 6 USD does not reach"):
        sit(tmp_path / "b", Spy(), budget=Budget(usd=6), prices=dear)
    assert 1 < sum(call["cost_usd"] for call in calls_of(tmp_path / "b")) <= 6


# what is refused


def test_another_data_file_or_model_is_refused(tmp_path: Path) -> None:
    done(tmp_path / "b", Spy())
    other = tmp_path / "other.json"
    other.write_bytes(CASES.read_bytes() + b"\n")
    with pytest.raises(
        BenchError,
        match=r"was begun with other data \(samples\.json, SHA-256 .*; choose another --out",
    ):
        sit(tmp_path / "b", Spy(), data=other)
    with pytest.raises(BenchError, match="was begun with --seed 0, not with --seed 1"):
        sit(tmp_path / "b", Spy(), seed=1)
    chat, judge = Spy(), Spy()
    chat.name = judge.name = "openai:x"
    with pytest.raises(
        BenchError, match="was begun with --model scripted, not with --model openai:x"
    ):
        sit(tmp_path / "b", chat, judge=Spy())
    with pytest.raises(
        BenchError, match="was begun with --judge scripted, not with --judge openai:x"
    ):
        sit(tmp_path / "b", Spy(), judge=judge)
    manifest = (tmp_path / "b" / "manifest.json").read_text(encoding="utf-8")
    changed = json.loads(manifest)
    changed["prompts"]["bench_judge"] = "0" * 16
    (tmp_path / "b" / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(BenchError, match="the prompt bench_judge was changed since"):
        sit(tmp_path / "b", Spy())
    (tmp_path / "b" / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(BenchError, match=r"manifest\.json: damaged"):
        sit(tmp_path / "b", Spy())


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(BenchError, match=r"no benchmark, and not empty \(mine\.txt is in it\)"):
        sit(tmp_path, Spy())


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    manifest, _ = plan_bench("cpsycoune", CASES, "scripted", "scripted")
    with (
        Folder(tmp_path / "b", manifest),
        pytest.raises(BenchError, match="another process is writing this benchmark"),
    ):
        sit(tmp_path / "b", Spy())


class Away(Spy):
    """Nobody is there."""

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        """Fail to reach."""
        self.asked.append(request)
        raise Failure("connection refused", transport=True)


def test_a_judge_who_is_not_there_is_noticed_and_the_replies_are_kept(tmp_path: Path) -> None:
    away = Away()
    away.name = "http://nowhere/v1/judge"
    with pytest.raises(
        ModelUnreachable,
        match="connection refused.*what was answered is kept in .*; the same command goes on",
    ):
        sit(tmp_path / "b", Spy(), judge=away, in_flight=1)
    assert len(away.asked) <= AT_ONCE, "one round that nobody hears is enough"
    assert len((tmp_path / "b" / "answers.jsonl").read_bytes().splitlines()) == REPLIES


def test_no_text_in_the_csv_begins_like_a_formula(tmp_path: Path) -> None:
    done(tmp_path / "b", Spy(bench_answer=lambda request, draw: "=SUM(A1)"))
    assert "'=SUM(A1)" in (tmp_path / "b" / "replies.csv").read_text(encoding="utf-8")
