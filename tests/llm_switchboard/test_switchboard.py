"""What becomes of bad answers: one second try, then the fallback and a warning, never a crash; and what is counted and recorded."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from simcounsel.agents.tasks import FeelingAnswer, LineAnswer
from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import ModelError, ModelUnreachable
from simcounsel.events import Said, Warned
from simcounsel.llm.answers import Unfit, read_answer, speech_problem
from simcounsel.llm.driving import Outcome
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.outage import Patience
from simcounsel.llm.prices import Price, Prices
from simcounsel.llm.question import Question, Reply, ask, ask_all
from simcounsel.llm.servers import server_of
from simcounsel.llm.switchboard import Switchboard
from simcounsel.prompts import render
from simcounsel.runs.calls import decode_vectors
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from tests.each import each
from tests.stage import NEVER, begun, changed, go_on, happened, live, log, switchboard, tiny

GOOD = json.dumps({"emotion": "fear", "intensity": 6, "poignancy": 5})
SCHEMA = FeelingAnswer.model_json_schema()
FEELING = FeelingAnswer(emotion="fear", intensity=6, poignancy=5)
CALM = FeelingAnswer(emotion="neutral", intensity=1, poignancy=1)
FILL = Question(
    verb="fill",
    purpose="appraise",
    who="Ines",
    schema=FeelingAnswer,
    fallback=CALM,
    system="s",
    prompt="p",
    seed=3,
)
CHOOSE = Question(
    verb="choose", purpose="move", who="Ines", options=("ask", "close", "ask why"), fallback="close"
)
RATE = Question(verb="rate", purpose="score", who="Ines", scale=(1, 7), fallback=None)
WRITE = Question(verb="write", purpose="note", who="Ines", fallback="nothing")
DEAD = Failure("connection refused", transport=True, tries=3)
Answered = str | Completion | Failure


class Says:
    """A model that gives these answers in turn, the last one for ever."""

    def __init__(self, *answers: Answered, name: str = "stub") -> None:
        self.name = name
        self.answers = list(answers)
        self.complaints: list[str | None] = []
        self.closed = False

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        self.complaints.append(complaint)
        answer = self.answers[min(len(self.complaints), len(self.answers)) - 1]
        if isinstance(answer, Failure):
            raise answer
        return (
            answer
            if isinstance(answer, Completion)
            else Completion(text=answer, tokens_in=100, tokens_out=10)
        )

    async def close(self) -> None:
        self.closed = True


class Paper:
    """A recorder that keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def append_call(self, call: dict[str, Any]) -> None:
        self.calls.append(json.loads(json.dumps(call)))


@pytest.fixture
def board() -> Iterator[Callable[..., Switchboard]]:
    """Makes switchboards and closes them."""
    made: list[Switchboard] = []

    def make(*answers: Answered, name: str = "stub", **kind: Any) -> Switchboard:
        made.append(switchboard(Says(*answers, name=name), **kind))
        return made[-1]

    yield make
    for one in made:
        one.close()


Board = Callable[..., Switchboard]


def answer(models: Switchboard, request: Question) -> Reply:
    return models.ask({"a": ask(request)})["a"].value


def complaints(models: Switchboard) -> list[str | None]:
    model = models.chat["reason"]
    assert isinstance(model, Says)
    return model.complaints


@each(
    ("request_", "text", "value"),
    [
        (FILL, GOOD, FEELING),
        (FILL, f"Sure! Here it is:\n```json\n{GOOD}\n```\nAnything else?", FEELING),
        (FILL, f"```json\n{GOOD}\n```", FEELING),
        (FILL, f"```\n{GOOD}```", FEELING),
        (FILL, f"I fill in {{emotion}} and the rest:\n\n```json\n{GOOD}\n```", FEELING),
        (FILL, f'Not {{"emotion": "joy"}}, rather {GOOD}', FEELING),
        (FILL, f"{json.dumps(SCHEMA)}\n\n{GOOD}", FEELING),
        (FILL, GOOD[:-1] + ', "why": "because"}', FEELING),
        (CHOOSE, "close", "close"),
        (CHOOSE, " Close. ", "close"),
        (CHOOSE, '"close"', "close"),
        (CHOOSE, "2", "close"),
        (CHOOSE, "2. close", "close"),
        (CHOOSE, "```text\n2\n```", "close"),
        (CHOOSE, "(3)", "ask why"),
        (CHOOSE, "I would close here.", "close"),
        (CHOOSE, "ask", "ask"),
        (RATE, "5", 5.0),
        (RATE, "Score: 5/7", 5.0),
        (RATE, "I would say 5.", 5.0),
        (RATE, "6.5", 6.5),
        (RATE, "because: line 3 says 'I tried 2 times'.\nscore: 5", 5.0),
        (RATE, "Line 3 shows it.\n\n**5**", 5.0),
        (RATE, '{"because": "2 of 3 lines ask", "score": 6}', 6.0),
        (RATE, "```\n5\n```", 5.0),
        (WRITE, " fine \n", "fine"),
        (WRITE, "```\nfine\n```", "fine"),
    ],
)
def test_good_answers(board: Board, request_: Question, text: str, value: Any) -> None:
    models = board(text)
    reply = answer(models, request_)
    assert (reply.value, reply.source, reply.problem, reply.model) == (
        value,
        "generated",
        None,
        "stub",
    )
    assert complaints(models) == [None]


@each(
    ("request_", "text", "complaint"),
    [
        (FILL, "", "the answer was empty"),
        (FILL, "  \n", "the answer was empty"),
        (FILL, "bla bla", "the JSON did not fit"),
        (FILL, GOOD[:-3], "the JSON did not fit"),
        (FILL, "{}", "the JSON did not fit: emotion: Field required"),
        (FILL, GOOD.replace("6", "11"), "intensity: Input should be less than or equal to 10"),
        (FILL, GOOD.replace("6", "0"), "intensity: Input should be greater than or equal to 1"),
        (FILL, GOOD.replace("6", "NaN"), "the JSON did not fit"),
        (FILL, GOOD.replace("fear", "dread"), "emotion: Input should be 'joy', "),
        (FILL, json.dumps(SCHEMA), "the answer was the JSON schema itself; answer with an object"),
        (FILL, f"```json\n{json.dumps(SCHEMA, indent=2)}\n```", "was the JSON schema itself"),
        (
            FILL,
            json.dumps({"type": "object", "properties": json.loads(GOOD)}),
            "was the JSON schema itself",
        ),
        (FILL, "I'm sorry, but I can't help with that.", "the answer was a refusal"),
        (FILL, "As an AI, I have no feelings.", "the answer was a refusal"),
        (CHOOSE, "leave", "'leave' is not one of the options"),
        (CHOOSE, "7", "'7' is not one of the options"),
        (CHOOSE, "0", "'0' is not one"),
        (CHOOSE, "ask or close", "not one of the options"),
        (RATE, "8", "ends in no number from 1 to 7"),
        (RATE, "0", "ends in no number"),
        (RATE, "high", "ends in no number"),
        (RATE, "-3", "ends in no number"),
        (RATE, "From 2 of 7 lines it may be 3 or 4.", "ends in no number"),
        (RATE, "4 at first.\nHard to say.", "ends in no number"),
        (RATE, "because: the client cries in line 3", "ends in no number"),
        (WRITE, "I cannot assist with that request.", "refusal"),
    ],
)
def test_bad_answers_get_one_second_try(
    board: Board, request_: Question, text: str, complaint: str
) -> None:
    good = {"fill": GOOD, "choose": "close", "rate": "4", "write": "fine"}[request_.verb]
    models = board(text, good)
    reply = answer(models, request_)
    assert (reply.source, reply.problem) == ("generated", None)
    first, second = complaints(models)
    assert first is None
    assert complaint in (second or "")
    stubborn = board(text)
    reply = answer(stubborn, request_)
    assert (reply.value, reply.source) == (request_.fallback, "fallback")
    assert complaint in (reply.problem or "")
    assert len(complaints(stubborn)) == 2


def test_missing_rating_stays_none(board: Board) -> None:
    assert answer(board("no idea"), RATE).value is None


def test_rating_is_weighted_by_probabilities(board: Board) -> None:
    reply = answer(board(Completion(text="5", weights={"5": 0.5, "6": 0.25, "7": 0.25})), RATE)
    assert reply.value == pytest.approx(5.75)
    assert answer(board(Completion(text="5", weights={})), RATE).value == 5


def test_own_check_is_put_to_the_model(board: Board) -> None:
    models = board("no", "yes")
    request = Question(
        verb="write",
        purpose="p",
        who="Ines",
        check=lambda text: None if text == "yes" else f"{text} is not yes",
        fallback=None,
    )
    assert answer(models, request).value == "yes"
    assert complaints(models) == [None, "no is not yes"]


def test_second_try_after_an_answer_that_said_no(board: Board) -> None:
    models = board(Failure("the answer was cut off at the token limit"), GOOD)
    assert answer(models, FILL).value == FEELING
    assert complaints(models) == [None, "the answer was cut off at the token limit"]


def test_dead_at_the_second_try(board: Board) -> None:
    with pytest.raises(ModelUnreachable, match="connection refused"):
        answer(board("nonsense", DEAD), FILL)


def test_troubles_are_told_in_the_order_of_the_requests(board: Board) -> None:
    models = board("nonsense")
    outcome: Outcome[Any] = models.ask({"a": ask_all((FILL, CHOOSE, RATE))})["a"]
    assert [(t.who, t.purpose) for t in outcome.troubles] == [
        ("Ines", "appraise"),
        ("Ines", "move"),
        ("Ines", "score"),
    ]
    assert [reply.value for reply in outcome.value] == [CALM, "close", None]


@each(
    "text",
    [
        "I lie awake.",
        "No.",
        "Não durmo, nobody does.",
        "My father would've said a person lives where her work is, and stop sighing.",
        "Ok?",
        "I woke at 3. Again.",
        "It was 11 calls - eleven.",
    ],
)
def test_plain_speech_is_let_through(text: str) -> None:
    assert speech_problem(text) is None


@each(
    "text",
    [
        "我睡不着觉",
        "Я не сплю",
        "私は眠れません。",
        "Mi marido trabaja todas las noches y yo nunca duermo bien, nunca jamás.",
        "Je ne peux plus dormir depuis des semaines et cela me fait vraiment peur.",
        "- one\n- two",
        "*sighs*",
        "[sighs] well",
        "123 !!",
        "I'm sorry, but I can't continue with this.",
        "As a language model, I have no nights.",
        "so " * 1000,
    ],
)
def test_what_is_no_speech(text: str) -> None:
    assert speech_problem(text)


def test_a_schema_given_back_is_no_answer_where_all_may_be_left_out() -> None:
    class Lenient(BaseModel):
        mood: str = ""

    question = replace(FILL, schema=Lenient, check=None)
    with pytest.raises(Unfit, match="schema itself"):
        read_answer(question, Completion(text=json.dumps(Lenient.model_json_schema())))
    assert read_answer(question, Completion(text='{"mood": "calm"}')).mood == "calm"


@given(st.text(max_size=200))
def test_whatever_comes_is_read_or_unfit(text: str) -> None:
    for request in (FILL, CHOOSE, RATE, WRITE):
        try:
            value = read_answer(request, Completion(text=text))
        except Unfit as unfit:
            assert str(unfit)
        else:
            assert value is not None
    speech_problem(text)


# counting, costing, recording

PRICES = Prices({"dear": Price.model_validate({"in": 10, "out": 100})})


def test_cost_of_both_tries(board: Board) -> None:
    paper = Paper()
    models = board("nonsense", GOOD, name="dear", prices=PRICES, recorder=paper)
    answer(models, FILL)
    assert models.usage.cost_usd == pytest.approx(2 * (100 * 10 + 10 * 100) / 1e6)
    assert paper.calls[0]["cost_usd"] == models.usage.cost_usd
    assert (
        models.usage.tokens_in,
        models.usage.tokens_out,
        models.usage.second_tries,
        models.usage.fallbacks,
    ) == (200, 20, 1, 0)


def test_unknown_price_is_none_and_stays_none(board: Board) -> None:
    models = board(GOOD, name="openai:gpt-99", prices=PRICES)
    answer(models, FILL)
    answer(models, CHOOSE)
    assert models.usage.cost_usd is None


def test_unknown_tokens_of_a_model_that_costs_are_no_zero(board: Board) -> None:
    models = board(Completion(text=GOOD), name="dear", prices=PRICES)
    answer(models, FILL)
    assert models.usage.cost_usd is None
    free = board(Completion(text=GOOD), name="scripted", prices=PRICES)
    answer(free, FILL)
    assert free.usage.cost_usd == 0


@each(
    ("name", "base_url", "model"),
    [
        ("http://localhost:11434/v1/llama3.1", "http://localhost:11434/v1", "llama3.1"),
        ("https://openrouter.ai/api/v1/meta/llama", "https://openrouter.ai/api/v1", "meta/llama"),
        ("https://example.org/v1beta/openai#gemini", "https://example.org/v1beta/openai", "gemini"),
        ("https://example.org/v1/odd#org/m", "https://example.org/v1/odd", "org/m"),
    ],
)
def test_addresses(name: str, base_url: str, model: str) -> None:
    assert server_of(name)[:2] == (base_url, model)


def test_usage(board: Board) -> None:
    models = board(
        GOOD, Completion(text="close", source="chosen", tokens_in=1, tokens_out=1, tries=3), "x"
    )
    for request in (FILL, CHOOSE, RATE):
        answer(models, request)
    usage = models.usage
    assert (usage.calls, usage.generated, usage.chosen, usage.fallbacks, usage.second_tries) == (
        3,
        1,
        1,
        1,
        1,
    )
    assert (usage.tokens_in, usage.tokens_out, usage.retries, usage.prompt_characters) == (
        301,
        31,
        2,
        2,
    ), "a second try is no retry"


def test_limit_of_requests_in_flight() -> None:
    class Counting(Says):
        flying = peak = 0

        async def complete(self, request: Question, complaint: str | None) -> Completion:
            self.flying += 1
            self.peak = max(self.peak, self.flying)
            await asyncio.sleep(0.002)
            self.flying -= 1
            return Completion(text=GOOD)

    for limit, peak in ((1, 1), (3, 3), (64, 20)):
        model = Counting()
        models = switchboard(model, in_flight=limit)
        models.ask({str(n): ask(FILL) for n in range(20)})
        models.close()
        assert (model.peak, models.usage.peak_in_flight) == (peak, peak)


def test_what_is_recorded(board: Board) -> None:
    paper = Paper()
    models = board(
        "nonsense",
        Completion(text=GOOD, tokens_in=7, tokens_out=2, weights={"a": 0.5}, notes={"why": "so"}),
        recorder=paper,
    )
    answer(models, FILL)
    (call,) = paper.calls
    latency = call.pop("latency_s")
    assert latency >= 0
    complained = render("complaint", complaint=complaints(models)[1])[1]
    assert call == {
        "key": FILL.key,
        "tick": None,
        "who": "Ines",
        "purpose": "appraise",
        "verb": "fill",
        "tier": FILL.tier,
        "model": "stub",
        "messages": [
            *FILL.messages_with_schema,
            {"role": "assistant", "content": "nonsense"},
            {"role": "user", "content": complained},
        ],
        "parameters": {"temperature": FILL.temperature, "max_tokens": FILL.max_tokens, "seed": 3},
        "reply": GOOD,
        "source": "generated",
        "complaint": complaints(models)[1],
        "problem": None,
        "tokens_in": 107,
        "tokens_out": 12,
        "cost_usd": None,
        "tries": 2,
        "weights": {"a": 0.5},
        "notes": {"why": "so"},
    }


def test_a_refused_answer_is_shown_with_what_was_wrong_as_far_as_it_is_needed(board: Board) -> None:
    """Whatever is recorded is what was sent at the second try, though that was refused too."""
    paper = Paper()
    models = board("x" * 9_000, "a second answer unusable", recorder=paper)
    answer(models, FILL)
    (call,) = paper.calls
    shown, complained = call["messages"][-2:]
    assert shown["role"] == "assistant"
    assert shown["content"].startswith("xxx")
    assert len(shown["content"]) < 4_100
    assert complained["content"] == render("complaint", complaint=complaints(models)[1])[1]


def test_fallback_is_recorded_with_its_reason(board: Board) -> None:
    paper = Paper()
    answer(board("nonsense", recorder=paper), CHOOSE)
    with pytest.raises(ModelUnreachable):
        answer(board(DEAD, recorder=paper), CHOOSE)
    fallback, given_up = paper.calls
    assert (fallback["source"], fallback["reply"]) == ("fallback", "nonsense")
    assert (given_up["given_up"], given_up["reply"], given_up["tries"]) == (True, None, 3)
    assert "is not one of the options" in paper.calls[0]["problem"]
    assert paper.calls[0]["complaint"] == paper.calls[0]["problem"]


def test_recorded_reply_is_used_and_nobody_asked(board: Board) -> None:
    paper = Paper()
    answer(board(GOOD, recorder=paper), FILL)
    answer(board("nonsense", recorder=paper), CHOOSE)
    replay = board(
        "never asked", recorded={call["key"]: call for call in paper.calls}, only_recorded=True
    )
    assert answer(replay, FILL).value == FEELING
    again = answer(replay, CHOOSE)
    assert (again.value, again.source, again.problem) == (
        "close",
        "fallback",
        paper.calls[1]["problem"],
    )
    assert complaints(replay) == []
    assert (replay.usage.replayed, replay.usage.calls) == (2, 0)
    with pytest.raises(ModelError, match="the recording holds no reply to Ines's 'score'"):
        answer(replay, RATE)


def test_recorded_reply_that_does_not_fit_any_more_is_asked_again(board: Board) -> None:
    known = {FILL.key: {"model": "stub", "reply": "{}", "source": "generated", "problem": None}}
    models = board(GOOD, recorded=known)
    assert answer(models, FILL).value == FEELING
    assert len(complaints(models)) == 1


def test_key_names_all_that_is_sent() -> None:
    other = [
        Question(
            verb="fill",
            purpose="appraise",
            who="Ines",
            schema=model,
            system=s,
            prompt=p,
            seed=seed,
            temperature=t,
            max_tokens=m,
            fallback=None,
        )
        for model, s, p, seed, t, m in [
            (FeelingAnswer, "s", "p", 4, 0.7, 400),
            (FeelingAnswer, "s", "q", 3, 0.7, 400),
            (FeelingAnswer, "t", "p", 3, 0.7, 400),
            (LineAnswer, "s", "p", 3, 0.7, 400),
            (FeelingAnswer, "s", "p", 3, 0.0, 400),
            (FeelingAnswer, "s", "p", 3, 0.7, 10),
        ]
    ]
    assert len({FILL.key, *(request.key for request in other)}) == 7
    same = Question(
        verb="fill",
        purpose="appraise",
        who="Miriam",
        schema=FeelingAnswer,
        system="s",
        prompt="p",
        seed=3,
        fallback=None,
    )
    assert same.key == FILL.key


def test_vectors_are_recorded_as_they_are_used(board: Board) -> None:
    paper = Paper()
    request = Question(
        verb="embed",
        purpose="remember",
        who="everyone",
        tier="embed",
        texts=("one", "two words"),
        fallback=None,
    )
    reply = answer(board("", recorder=paper), request)
    (call,) = paper.calls
    assert (call["verb"], call["texts"], call["model"]) == (
        "embed",
        ["one", "two words"],
        "scripted",
    )
    assert np.array_equal(decode_vectors(call["vectors"], 2), reply.value)
    assert np.array_equal(
        answer(board("", recorded={call["key"]: call}, only_recorded=True), request).value,
        reply.value,
    )


def test_an_unusable_answer_for_vectors_is_asked_for_again() -> None:
    """As for chat; the second that cannot be used ends it."""

    class Stumbles(HashEmbeddings):
        asked = 0

        async def embed(self, texts: Any) -> Any:
            self.asked += 1
            if self.asked == 1:
                raise Failure("no JSON came")
            return await super().embed(texts)

    vectors = Stumbles()
    vectors.name = "http://127.0.0.1:1/v1/vectors"  # those of this process are not asked twice
    models = Switchboard({"reason": Says(GOOD)}, vectors)
    question = Question(
        verb="embed", purpose="p", who="Ines", tier="embed", texts=("a",), fallback=None
    )
    assert answer(models, question).value.shape[0] == 1 and vectors.asked == 2


def test_no_vectors_no_tick() -> None:
    class Blind:
        name = "blind"

        async def embed(self, texts: Any) -> Any:
            raise Failure("2 vectors for 1 texts")

        async def close(self) -> None:
            pass

    says = Says(GOOD)
    models = Switchboard({"reason": says}, Blind())
    with pytest.raises(
        ModelUnreachable, match="the model 'blind' gave no embeddings \\(2 vectors for 1 texts\\)"
    ):
        answer(
            models,
            Question(
                verb="embed", purpose="p", who="Ines", tier="embed", texts=("a",), fallback=None
            ),
        )
    models.close()
    assert says.closed


def test_tiers_go_to_their_models() -> None:
    reason, quick = Says(GOOD, name="reason"), Says(GOOD, name="quick")

    models = Switchboard({"reason": reason, "quick": quick, "judge": reason}, HashEmbeddings())
    tiered = [
        Question(
            verb="fill", purpose="p", who="Ines", tier=tier, schema=FeelingAnswer, fallback=None
        )
        for tier in ("reason", "quick", "judge")
    ]
    assert [answer(models, request).model for request in tiered] == ["reason", "quick", "reason"]
    models.close()


# inside a run


class Failing(Scripted):
    """Scripted, until its ticks are over; then it does what it is told."""

    def __init__(self, good: int, then: Callable[[Question], Answered]) -> None:
        super().__init__()
        self.left = good
        self.then = then

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        self.left -= 1
        if self.left >= 0:
            return await super().complete(request, complaint)
        bad = self.then(request)
        if isinstance(bad, Failure):
            raise bad
        return (
            bad if isinstance(bad, Completion) else Completion(text=bad, tokens_in=1, tokens_out=1)
        )


def warned(run: Run) -> list[Warned]:
    return happened(run, Warned)


@each(
    "bad", ["bla bla", "", "I'm sorry, but I can't help with that.", "{", '{"say": 5}', "9" * 5000]
)
def test_a_run_lives_through_nonsense(tmp_path: Path, bad: str) -> None:
    world = changed(tiny(), fallbacks=NEVER)
    run = live(tmp_path, world, models=switchboard(Failing(0, lambda request: bad)))
    assert run.ticks_done() == 12
    warnings = warned(run)
    assert {"plan_day", "plan_slots", "line_client", "line_counselor"} <= {
        w.purpose for w in warnings
    }
    assert {said.source for said in happened(run, Said)} == {"fallback"}
    asked = [call for call in run.calls() if call["verb"] != "embed"]
    assert len(warnings) == len(asked)
    assert all(call["tries"] == 2 for call in asked)


def test_lines_in_another_language_are_not_said(tmp_path: Path) -> None:
    foreign = json.dumps(
        {
            "say": "Я не сплю уже неделю.",
            "emotion": "fear",
            "intensity": 3,
            "poignancy": 3,
            "wish": "go on",
        }
    )
    model = Failing(0, lambda request: foreign if request.purpose.startswith("line_") else DEAD)
    model.complete = only_lines(model)  # type: ignore[method-assign]
    run = live(tmp_path, changed(tiny(), fallbacks=NEVER), models=switchboard(model))
    said = happened(run, Said)
    assert said
    assert {s.source for s in said} == {"fallback"}
    assert not any("сплю" in s.text for s in said)
    assert {(w.purpose, w.cause) for w in warned(run)} == {
        (p, "the line was not in English") for p in ("line_client", "line_counselor")
    }


def only_lines(model: Failing) -> Any:
    async def complete(request: Question, complaint: str | None) -> Completion:
        if request.purpose.startswith("line_"):
            answer = model.then(request)
            assert isinstance(answer, str)
            return Completion(text=answer)
        return await Scripted.complete(model, request, complaint)

    return complete


def test_warning_stands_before_what_came_of_it(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=1, models=switchboard(Failing(0, lambda request: "bla")))
    events = [entry.event for entry in run.entries()]
    first = next(i for i, event in enumerate(events) if isinstance(event, Warned))
    came = next(event for event in events[first:] if not isinstance(event, Warned))
    assert came.kind == "recalled"


@pytest.mark.parametrize("good", [0, 5, 20])
def test_a_tick_with_an_unanswered_question_is_not_written(
    tmp_path: Path, lived: Run, good: int
) -> None:
    run = begun(tmp_path)
    with pytest.raises(ModelUnreachable, match=r"no answer from scripted \(connection refused\)"):
        Simulation(
            run.world, run=run, models=switchboard(Failing(good, lambda request: DEAD))
        ).run()
    assert not warned(run) and log(lived).startswith(log(run))
    assert all(call.get("source") != "fallback" for call in run.calls())
    go_on(run)
    assert log(run) == log(lived), "the tick is run again, with the replies that were there"


def test_resumed_while_still_dead(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=2)
    kept = log(run)
    for _ in range(2):
        opened = Run.open(run.folder)
        models = models_for(opened, patience=Patience(wait_s=0))
        models.chat = dict.fromkeys(models.chat, Failing(0, lambda request: DEAD))
        with pytest.raises(ModelUnreachable):
            Simulation(opened.world, run=opened, models=models).run()
    assert log(run) == kept


def test_ticks_without_questions_are_no_failure(tmp_path: Path) -> None:
    world = tiny(without="[plan, appraise, converse, reflect, replan]")
    run = live(tmp_path, world, models=switchboard(Failing(2, lambda request: DEAD)))
    assert run.ticks_done() == 12


def test_crash_of_a_model_is_a_crash(tmp_path: Path) -> None:
    class Broken(Scripted):
        async def complete(self, request: Question, complaint: str | None) -> Completion:
            raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        live(tmp_path, models=switchboard(Broken()))
