"""What a server refuses is left out after it refused it twice; what it refuses once is not."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from simcounsel.engine.simulation import Simulation
from simcounsel.errors import ModelError
from simcounsel.events import ParameterLeftOut
from simcounsel.llm.catalog import open_chat
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.openai import OpenAIModel
from simcounsel.llm.question import Question
from simcounsel.runs.run import Run
from simcounsel.runs.summary import summary_lines
from tests.each import each
from tests.llm.server import FaultServer
from tests.llm.test_openai import Day, ask_for, first, model_at
from tests.stage import go_on, happened, log, tiny

FILL = ask_for("fill", schema=Day)
RATE = ask_for("rate", scale=(1, 5))
WRITE = ask_for(max_tokens=50)
NEWER = "Unsupported parameter: '{name}'. Use 'max_completion_tokens' instead."


def completed(model: OpenAIModel, *questions: Question) -> list[Completion | Failure]:
    """What becomes of questions that are asked one after the other."""

    async def go() -> list[Completion | Failure]:
        got: list[Completion | Failure] = []
        for question in questions:
            try:
                got.append(await model.complete(question, None))
            except Failure as failure:
                got.append(failure)
        await model.close()
        return got

    return asyncio.run(go())


def carried(server: FaultServer, parameter: str) -> list[bool]:
    return [parameter in body for body in server.bodies]


@pytest.mark.parametrize(
    ("parameter", "question"),
    [
        ("temperature", WRITE),
        ("seed", WRITE),
        ("response_format", FILL),
        ("logprobs", RATE),
        ("top_logprobs", RATE),
    ],
)
def test_refused_twice_it_is_left_out_and_refused_once_it_is_not(
    parameter: str, question: Question, caplog: pytest.LogCaptureFixture
) -> None:
    with FaultServer(refuses=(parameter,)) as server:
        got = completed(model_at(server.url), question, question)
        assert carried(server, parameter) == [True, True, False, False]
        assert [(one.tries, parameter in one.left_out) for one in got] == [(3, True), (1, True)]
        assert got[1].parameters is not None and parameter not in got[1].parameters
        assert caplog.text.count(f"refuses {parameter!r}: it is left out") == 1
    caplog.clear()
    with FaultServer(refuses=(parameter,), refusals=1) as server:
        got = completed(model_at(server.url), question, question)
        assert carried(server, parameter) == [True, True, True]
        assert [(one.tries, one.left_out) for one in got] == [(2, ()), (1, ())]
        assert not caplog.text


def test_a_stray_refusal_of_each_question_takes_nothing_away() -> None:
    with FaultServer(refuses=("temperature",), refusals=1) as server:
        model = model_at(server.url)
        for _ in range(5):
            server.refusals = 1
            (got,) = completed(model, WRITE)
            assert (got.tries, got.left_out) == (2, ())


def test_a_refusal_without_a_name_is_put_down_to_the_response_format() -> None:
    with FaultServer(refuses=("response_format",), refusal="Bad request") as server:
        completed(model_at(server.url), FILL, FILL)
    assert carried(server, "response_format") == [True, True, False, False]


def test_what_is_refused_without_it_too_was_not_refused_for_it() -> None:
    with FaultServer(faults=first("400", "400", "400")) as server:
        failure, got = completed(model_at(server.url), FILL, FILL)
    assert isinstance(failure, Failure) and failure.cause == "HTTP 400: fault 400"
    assert (failure.tries, failure.left_out) == (3, ("response_format",))
    assert failure.parameters is not None and "response_format" not in failure.parameters
    assert carried(server, "response_format") == [True, True, False, True] and not got.left_out


def test_a_word_that_only_contains_a_name_is_none() -> None:
    with FaultServer(refuses=("seed",), refusal="you exceedseeds the temperatures") as server:
        (failure,) = completed(model_at(server.url), WRITE)
    assert isinstance(failure, Failure) and len(server.bodies) == 1


def test_a_server_that_refuses_all_is_answered_by_all_that_is_left() -> None:
    refuses = ("max_tokens", "temperature", "seed", "response_format")
    with FaultServer(refuses=refuses, refusal=NEWER) as server:
        (got,) = completed(model_at(server.url), FILL)
    assert set(server.bodies[-1]) == {"model", "messages", "max_completion_tokens"}
    assert got.left_out == ("response_format", "seed", "temperature")


def test_a_limit_of_another_name_is_learned_and_not_called_left_out() -> None:
    with FaultServer(refuses=("max_tokens",), refusal=NEWER) as server:
        got = completed(model_at(server.url), WRITE, WRITE)
    assert [body.get("max_completion_tokens") for body in server.bodies] == [None, None, 2050, 2050]
    assert [one.left_out for one in got] == [(), ()]


@each(
    "model", ["o1", "o3-mini", "o4-mini-2025-04-16", "openai/o3", "gpt-5", "gpt-5-mini", "gpt-5.1"]
)
def test_models_that_reason_work_from_the_first_call(model: str) -> None:
    refuses = ("max_tokens", "temperature", "logprobs", "top_logprobs")
    with FaultServer(refuses=refuses, refusal=NEWER) as server:
        reasoning = OpenAIModel(name="r", base_url=server.url, model=model)
        one, two = completed(reasoning, WRITE, RATE)
    assert (len(server.bodies), server.bodies[0]["max_completion_tokens"]) == (2, 2050)
    assert one.left_out == ("temperature",)
    assert two.left_out == ("logprobs", "temperature", "top_logprobs")


@each(
    "model", ["gpt-4o", "gpt-5-chat-latest", "olmo-2", "o1x", "llama3.1", "phi-o3", "gpt-oss-20b"]
)
def test_other_models_get_all_parameters(model: str) -> None:
    with FaultServer() as server:
        completed(OpenAIModel(name="r", base_url=server.url, model=model), WRITE)
    assert {"temperature", "max_tokens", "seed"} <= set(server.bodies[0])


def test_a_server_that_knows_only_the_older_limit_gets_it() -> None:
    with FaultServer(refuses=("max_completion_tokens",)) as server:
        got = completed(OpenAIModel(name="r", base_url=server.url, model="o3"), WRITE, WRITE)
    assert [body.get("max_tokens") for body in server.bodies] == [None, None, 2050, 2050]
    assert not any(isinstance(one, Failure) for one in got)


def thought(answer: dict[str, Any]) -> None:
    """All tokens went into reasoning."""
    answer["choices"][0] |= {"finish_reason": "length", "message": {"content": ""}}
    answer["usage"]["completion_tokens_details"] = {"reasoning_tokens": 2050}


def test_an_answer_that_reasoning_used_up_says_so_and_what_helps() -> None:
    with FaultServer(amend=thought) as server:
        (failure,) = completed(OpenAIModel(name="r", base_url=server.url, model="o3"), WRITE)
    assert isinstance(failure, Failure) and not failure.transport
    assert "reasoning used up max_completion_tokens=2050" in failure.cause
    assert "SIMCOUNSEL_THINKING_TOKENS" in failure.cause


def test_a_model_of_any_name_gets_room_once_it_was_seen_to_reason() -> None:
    def reasons(answer: dict[str, Any]) -> None:
        if len(server.bodies) == 1:
            message = {"content": None, "reasoning_content": "Well, let me think"}
            answer["choices"][0] |= {"finish_reason": "length", "message": message}

    with FaultServer(amend=reasons) as server:
        failure, got = completed(model_at(server.url), WRITE, WRITE)
    assert isinstance(failure, Failure) and "reasoning used up max_tokens=50" in failure.cause
    assert isinstance(got, Completion) and server.bodies[1]["max_tokens"] == 2050


def test_room_for_reasoning_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMCOUNSEL_THINKING_TOKENS", "9000")
    with FaultServer() as server:
        model = open_chat(f"{server.url}/o3")
        assert isinstance(model, OpenAIModel)
        completed(model, WRITE)
    assert server.bodies[0]["max_completion_tokens"] == 9050
    monkeypatch.setenv("SIMCOUNSEL_THINKING_TOKENS", "many")
    with pytest.raises(ModelError, match="SIMCOUNSEL_THINKING_TOKENS='many'.*such as 8000"):
        open_chat(f"{server.url}/o3")


def lived(server: FaultServer, out: Path, ticks: int = 2) -> Run:
    name = f"{server.url}/m"
    world = tiny().with_one_model({"reason": name, "quick": None, "judge": None})
    return Simulation(world, out=out).run(ticks)


def calls_with(run: Run, parameter: str) -> set[bool]:
    return {parameter in call["parameters"] for call in run.calls() if call.get("verb") != "embed"}


def test_the_log_the_summary_and_the_calls_say_what_was_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    with FaultServer(refuses=("temperature", "seed")) as server:
        run = lived(server, tmp_path)
        told = [(one.parameter, one.model) for one in happened(run, ParameterLeftOut)]
        assert sorted(told) == [("seed", f"{server.url}/m"), ("temperature", f"{server.url}/m")]
        assert f"left out       seed, temperature: not taken by {server.url}/m" in list(
            summary_lines(run)
        )
        assert calls_with(run, "temperature") == calls_with(run, "seed") == {False}
        go_on(run, 1)
        assert len(happened(run, ParameterLeftOut)) == 2, "once in a run, a resumed one too"
    recorded = f"recorded:{run.folder}"
    replayed = tiny().with_one_model({"reason": recorded, "embed": recorded})
    again = Simulation(replayed, out=tmp_path).run(3)
    assert log(again) == log(run)


def test_one_stray_refusal_leaves_no_trace_in_the_log(tmp_path: Path) -> None:
    with FaultServer(refuses=("temperature",), refusals=1) as server:
        run = lived(server, tmp_path)
    assert not happened(run, ParameterLeftOut) and calls_with(run, "temperature") == {True}
    assert json.dumps("parameter_left_out") not in log(run).decode()
