"""OpenAIModel and OpenAIEmbeddings against a real server that misbehaves."""

import asyncio
import json
import math
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import BaseModel, Field

from simcounsel.errors import ModelError
from simcounsel.llm.catalog import open_chat
from simcounsel.llm.chat import messages
from simcounsel.llm.lean import LeanServer
from simcounsel.llm.models import ChatModel, Completion, Failure
from simcounsel.llm.official import OfficialServer
from simcounsel.llm.openai import OpenAIEmbeddings, OpenAIModel
from simcounsel.llm.question import Example, Question
from simcounsel.llm.schemas import sent_schema
from simcounsel.prompts import prompt, render
from simcounsel.specs.timeouts import Timeouts
from tests.each import each
from tests.llm.server import FaultServer


class Step(BaseModel):
    """A part of a day."""

    at: int = Field(ge=0, le=23)
    what: str = Field(min_length=3, max_length=60)


class Day(BaseModel):
    """A filled form with all that the generic answer must cope with."""

    mood: Literal["joy", "fear"]
    steps: list[Step] = Field(min_length=2, max_length=4)
    note: str | None = None
    share: float = Field(gt=0, lt=1)


def ask_for(verb: Literal["write", "fill", "choose", "rate"] = "write", **more: Any) -> Question:
    told: dict[str, Any] = {
        "purpose": "test",
        "who": "Ann",
        "system": "You are Ann.",
        "prompt": "Well?",
        "fallback": None,
    }
    return Question(verb=verb, **(told | more))


@pytest.fixture(params=[LeanServer, OfficialServer], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """By which client what is tested here goes."""
    monkeypatch.setattr(sys.modules[__name__], "CONNECTED", request.param)
    return request.param


CONNECTED: Any = LeanServer


def model_at(url: str, **more: Any) -> OpenAIModel:
    told: dict[str, Any] = {"timeouts": Timeouts(connect_s=2, read_s=2), "connected": CONNECTED}
    return OpenAIModel(name=f"{url}/m", base_url=url, model="m", **(told | more))


def complete(url: str, request: Question, complaint: str | None = None, **more: Any) -> Completion:
    async def go() -> Completion:
        model = model_at(url, **more)
        try:
            return await model.complete(request, complaint)
        finally:
            await model.close()

    return asyncio.run(go())


def first(*faults: str) -> Callable[[int], str | None]:
    return lambda index: faults[index] if index < len(faults) else None


def always(fault: str) -> Callable[[int], str | None]:
    return lambda index: fault


def failure_of(fault: str, **more: Any) -> Failure:
    with FaultServer(faults=always(fault)) as server, pytest.raises(Failure) as caught:
        complete(server.url, ask_for(), **more)
    return caught.value


def test_sends_what_the_request_says() -> None:
    with FaultServer(answer=lambda body: "Hello \ud800there") as server:
        got = complete(server.url, ask_for(temperature=0.3, max_tokens=77, seed=9), api_key="k")
    body = server.bodies[0]
    assert (body["model"], body["temperature"], body["max_tokens"], body["seed"]) == (
        "m",
        0.3,
        77,
        9,
    )
    assert body["messages"] == [
        {"role": "system", "content": "You are Ann."},
        {"role": "user", "content": "Well?"},
    ]
    assert "response_format" not in body and "logprobs" not in body
    assert server.headers[0]["Authorization"] == "Bearer k"
    assert (got.text, got.tokens_in, got.tokens_out, got.tries) == ("Hello ?there", 4, 2, 1)
    assert (got.weights, got.source, got.notes) == (None, "generated", {})


def test_no_usage_is_none_and_no_key_sends_none() -> None:
    with FaultServer(usage=False) as server:
        got = complete(server.url, ask_for())
    assert (got.tokens_in, got.tokens_out) == (None, None)
    assert "Authorization" not in server.headers[0]


def test_schema_options_and_complaint_are_told_and_no_examples() -> None:
    examples = tuple(Example(text=f"Line {n}.") for n in range(9))
    told = messages(ask_for("choose", options=("stay", "go"), examples=examples), "no such option")
    assert [message["role"] for message in told] == ["system", "user", "user"]
    assert told[0]["content"] == "You are Ann."
    assert "1. stay\n2. go" in told[1]["content"] and told[1]["content"].startswith("Well?")
    assert "no such option" in told[2]["content"]
    asked = ask_for("fill", schema=Day)
    assert '"minItems":2' in messages(asked, None)[0]["content"]
    assert '"minItems"' not in str(messages(asked, None, schema_beside=True))
    assert messages(ask_for(system=""), None) == [{"role": "user", "content": "Well?"}]


def test_fill_sends_the_schema_and_gets_json() -> None:
    with FaultServer() as server:
        for seed in range(20):
            Day.model_validate_json(
                complete(server.url, ask_for("fill", schema=Day, seed=seed)).text
            )
    sent = server.bodies[0]["response_format"]["json_schema"]
    assert "minItems" not in str(server.bodies[0]["messages"]), "the schema goes once"
    assert (sent["name"], sent["strict"], sent["schema"]) == ("Day", False, sent_schema(Day))


def test_fill_strips_a_fence() -> None:
    with FaultServer(answer=lambda body: '```json\n{"a": 1}\n```') as server:
        assert complete(server.url, ask_for("fill", schema=Day)).text == '{"a": 1}'
        assert complete(server.url, ask_for()).text.startswith("```")


def test_choose_is_answered_by_number() -> None:
    with FaultServer() as server:
        assert complete(server.url, ask_for("choose", options=("stay", "go"))).text == "1"


def token(text: str, *others: tuple[str, float]) -> dict[str, Any]:
    top = [{"token": other, "logprob": math.log(p)} for other, p in others]
    return {"token": text, "logprob": -0.5, "top_logprobs": top}


def rate(
    logprobs: list[Any] | None, scale: tuple[int, int] = (1, 10), answer: str = "7"
) -> Completion:
    with FaultServer(logprobs=logprobs, answer=lambda body: answer) as server:
        got = complete(server.url, ask_for("rate", scale=scale))
    body = server.bodies[0]
    assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
    return got


def test_rate_weights_the_numbers_of_the_scale() -> None:
    got = rate(
        [
            token("Score"),
            token(":"),
            token(" 7", (" 7", 0.5), ("7", 0.1), ("8", 0.2), ("11", 0.1), ("x", 0.1)),
        ]
    )
    assert got.weights is not None and list(got.weights) == ["7", "8"]
    assert got.weights["7"] == pytest.approx(0.75) and got.weights["8"] == pytest.approx(0.25)
    assert rate([token("7")]).weights == {"7": 1.0}


def test_rate_weights_the_number_after_the_reason_and_none_within_it() -> None:
    reason = [token(text) for text in ("because", ":", " on", " line", " 3", " she", " asks", "\n")]
    score = [token("score"), token(":"), token("Ġ7", (" 7", 0.6), (" 3", 0.2))]
    weights = rate([*reason, *score]).weights
    assert weights is not None and weights["7"] == pytest.approx(0.75)
    assert weights["3"] == pytest.approx(0.25)
    assert rate([*reason, token("7", ("7", 1.0))]).weights == {"7": 1.0}, "the last line alone"
    assert rate(reason).weights is None, "a number in the reason is no score"
    assert rate([*reason, token("score:"), token(" 3"), token("."), token("5")]).weights is None


@each(
    "logprobs",
    [
        None,
        [],
        ["?"],
        [token("good")],
        [token("1"), token("0")],
        [token("12", ("7", 0.5))],
        [token("-"), token("3")],
        [{"token": 7}],
        [{"token": "7", "logprob": "high", "top_logprobs": [3, {"token": None}]}],
        [{"top_logprobs": 3}],
    ],
)
def test_rate_without_usable_logprobs_has_no_weights(logprobs: list[Any] | None) -> None:
    assert rate(logprobs).weights is None


QUICK = Timeouts(connect_s=0.1, read_s=0.1)


@each(
    ("fault", "cause", "transport"),
    [
        ("400", "HTTP 400: fault 400", False),
        ("401", "HTTP 401: fault 401", True),
        ("500", "HTTP 500: fault 500", True),
        ("429", "HTTP 429: fault 429", True),
        ("cut", "cut off", True),
        ("drop", "cut off", True),
        ("stall", "no answer within 0.1 s (--timeout)", True),
        ("stall body", "no answer within 0.1 s (--timeout)", True),
        ("garbage", "the answer is not JSON", False),
        ("empty", "the answer is empty", False),
        ("list", "the answer is no JSON object but list", False),
        ("no choices", "the answer has no choices", False),
        ("empty choices", "the answer has no choices", False),
        ("wrong types", "the answer has no choices", False),
        ("null content", "the answer is empty", False),
        ("empty string", "the answer is empty", False),
    ],
)
def test_says_plainly_what_failed(fault: str, cause: str, transport: bool) -> None:
    failure = failure_of(fault, **({"timeouts": QUICK} if fault.startswith("stall") else {}))
    assert (failure.cause, failure.transport, failure.tries) == (cause, transport, 1)


@each("fault", ["zipped", "deflated", "bare"])
def test_an_answer_that_is_zipped(fault: str) -> None:
    with FaultServer() as plain, FaultServer(faults=always(fault)) as server:
        answer = complete(server.url, ask_for())
        assert answer.text == complete(plain.url, ask_for()).text


@each(
    ("fault", "cause"),
    [
        ("bomb", "the answer is larger than 8 MB, unzipped"),
        ("endless", "the answer is larger than 8 MB, unzipped"),
        ("half zipped", "the answer was cut off while it was zipped"),
        ("not zipped", "the answer cannot be unzipped"),
        ("br", "the answer is encoded as 'br', which was not asked for"),
    ],
)
def test_an_answer_within_bounds(fault: str, cause: str) -> None:
    """Of 100 MB of blanks, zipped into 100 kB, only the first eight are made."""
    assert failure_of(fault).cause == cause


@each(
    ("fault", "lasting"),
    [("401", True), ("402", True), ("403", True), ("404", True), ("307", True)]
    + [(status, False) for status in ("408", "429", "500", "503")],
)
def test_which_statuses_waiting_mends(fault: str, lasting: bool) -> None:
    failure = failure_of(fault)
    assert failure.transport and failure.lasting is lasting


@each(("header", "wait_s"), [("0.4", 0.4), ("86400", 86400), ("Wed, 21 Oct 2015 07:28:00 GMT", 0)])
def test_tells_how_long_the_server_asks_to_wait(header: str, wait_s: float) -> None:
    with (
        FaultServer(faults=always("429"), retry_after=header) as server,
        pytest.raises(Failure) as caught,
    ):
        complete(server.url, ask_for())
    assert caught.value.wait_s == wait_s


def test_a_slow_answer_is_waited_for() -> None:
    with FaultServer(latency_s=0.3) as server:
        assert complete(server.url, ask_for(), timeouts=Timeouts(connect_s=0.1, read_s=5)).text


@each("host", ["127.0.0.1", "localhost"])
def test_nobody_there(host: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(Failure) as caught:
            complete(f"http://{host}:{taken.getsockname()[1]}/v1", ask_for())
    assert (caught.value.cause, caught.value.transport, caught.value.tries) == (
        "connection refused",
        True,
        1,
    )


def test_an_unknown_host() -> None:
    with pytest.raises(Failure) as caught:
        complete("http://nobody.invalid/v1", ask_for())
    assert caught.value.transport


@each("url", ["", "gpt-4o", "ftp://x/v1", "http://", "http://[::1/v1", "http://x:port/v1"])
def test_a_bad_address_is_said_at_once(url: str) -> None:
    with pytest.raises(ModelError, match="no address"):
        model_at(url)


def test_a_bad_key_is_said_at_once_and_a_good_one_is_not_told() -> None:
    with pytest.raises(ModelError, match="API key"):
        model_at("http://x/v1", api_key="a\nb")
    with (
        FaultServer(refuses=("model",), refusal="key sk-123, {name}") as server,
        pytest.raises(Failure) as caught,
    ):
        complete(server.url, ask_for(), api_key=" sk-123\n")
    assert caught.value.cause == "HTTP 400: key ***, model"


def test_many_at_once_in_one_session() -> None:
    async def go(url: str) -> int:
        model = model_at(url)
        answers = await asyncio.gather(*(model.complete(ask_for(seed=n), None) for n in range(200)))
        await model.close()
        return len(answers)

    with FaultServer(latency_s=0.5) as server:
        assert asyncio.run(go(server.url)) == 200
    assert server.in_flight_peak > 50


def test_in_flight_max_makes_the_others_wait() -> None:
    async def go(url: str) -> float:
        model = model_at(url)
        started = time.perf_counter()
        await asyncio.gather(*(model.complete(ask_for(seed=n), None) for n in range(8)))
        await model.close()
        return time.perf_counter() - started

    with FaultServer(latency_s=0.1, in_flight_max=2) as server:
        assert asyncio.run(go(server.url)) >= 0.4


def test_a_closed_model_opens_again() -> None:
    async def go(url: str) -> None:
        model = model_at(url)
        await model.close()
        for _ in range(2):
            await model.complete(ask_for(), None)
            await model.close()

    with FaultServer() as server:
        asyncio.run(go(server.url))


def embed(url: str, *texts: str, **more: Any) -> np.ndarray:
    async def go() -> np.ndarray:
        told: dict[str, Any] = {"timeouts": Timeouts(connect_s=2, read_s=2)}
        model = OpenAIEmbeddings(name="e", base_url=url, model="e", **(told | more))
        try:
            return await model.embed(texts)
        finally:
            await model.close()

    return asyncio.run(go())


def test_embeddings_are_unit_vectors_in_order() -> None:
    with FaultServer() as server:
        both, one, many = (
            embed(server.url, "a", "b"),
            embed(server.url, "b"),
            embed(server.url, *map(str, range(600))),
        )
        assert embed(server.url).shape == (0, 0)
    assert both.shape == (2, 8) and both.dtype == np.float32
    assert np.allclose(np.linalg.norm(many, axis=1), 1, atol=1e-6) and many.shape == (600, 8)
    assert np.array_equal(both[1], one[0]) and not np.allclose(both[0], both[1])


def renumbered(numbers: Sequence[Any]) -> Callable[[dict[str, Any]], None]:
    """The vectors of an answer get these numbers, in the order of the texts."""

    def amend(answer: dict[str, Any]) -> None:
        for entry, number in zip(answer["data"], numbers, strict=True):
            entry["index"] = number

    return amend


@each("numbers", [(0, -1), (0, 0), (1, 2), (0, "1"), (0, True), (0, None)])
def test_vectors_go_to_no_other_text(numbers: Sequence[Any]) -> None:
    """Negative numbers were sorted and taken: the vectors changed places without a word."""
    with FaultServer(amend=renumbered(numbers)) as server, pytest.raises(Failure, match="numbered"):
        embed(server.url, "a", "b")


FAULTS = ["400", "500", "garbage", "empty", "list", "no choices", "wrong types", "cut", "drop"]


@each("fault", FAULTS)
def test_embeddings_fail_plainly(fault: str) -> None:
    with FaultServer(faults=always(fault)) as server, pytest.raises(Failure) as caught:
        embed(server.url, "a")
    assert caught.value.transport == (fault in ("500", "cut", "drop"))


@each("vector", [None, [], "abc", [None], ["x"], [[1.0]], [0.0], [1e300], [float("nan")], {}, 3])
def test_vectors_that_are_none(vector: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.llm.server._vector", lambda text, dimensions: vector)
    with FaultServer() as server, pytest.raises(Failure):
        embed(server.url, "a")


def test_prompts_are_strict() -> None:
    with pytest.raises(KeyError, match="complaint"):
        render("complaint")
    with pytest.raises(FileNotFoundError):
        prompt("no such prompt")
    assert render("options", options="1. $a\n\n\n\n---\n2. b")[1].count("\n\n\n") == 0
    assert "$a" in render("options", options="$a")[1]
    assert render("options", options="x")[0] == ""


def test_the_server_runs_as_a_process() -> None:
    command = [sys.executable, "-m", "tests.llm.server", "--port", "0", "--latency-ms", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert json.loads(complete(url, ask_for("fill", schema=Day)).text)["mood"] in (
                "joy",
                "fear",
            )
        finally:
            process.terminate()


def test_azure_is_asked_by_deployment_version_and_its_own_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FaultServer() as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url.removesuffix("/v1"))
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-azure")
        monkeypatch.setenv("OPENAI_API_VERSION", "2025-01-01")
        model = open_chat("azure:my-gpt")
        got = answered(model)
    assert got.text and model.name == "azure:my-gpt"
    assert server.paths == ["/openai/deployments/my-gpt/chat/completions?api-version=2025-01-01"]
    assert server.headers[0]["api-key"] == "azure-key-azure"
    assert "Authorization" not in server.headers[0]


def test_openai_goes_by_the_official_client_and_a_server_of_ones_own_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FaultServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-key-key-key")
        monkeypatch.setenv("OPENAI_ORG_ID", "org-of-ours")
        answered(open_chat("openai:gpt-4o"))
        monkeypatch.setenv("SIMCOUNSEL_HOSTS", server.url.split("/")[2])
        answered(open_chat(f"{server.url}/mine"))
    official, lean = ({name.lower(): told for name, told in one.items()} for one in server.headers)
    assert official["user-agent"].startswith("AsyncOpenAI/")
    assert official["openai-organization"] == "org-of-ours"
    assert not lean["user-agent"].startswith("AsyncOpenAI/")
    assert [body["model"] for body in server.bodies] == ["gpt-4o", "mine"]


@pytest.mark.parametrize("missing", ["AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"])
def test_azure_says_what_is_missing(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-azure")
    monkeypatch.delenv(missing)
    with pytest.raises(ModelError, match="set AZURE_OPENAI_ENDPOINT .* and AZURE_OPENAI_API_KEY"):
        open_chat("azure:my-gpt")


def answered(model: ChatModel) -> Completion:
    async def go() -> Completion:
        try:
            return await model.complete(ask_for(), None)
        finally:
            await model.close()

    return asyncio.run(go())
