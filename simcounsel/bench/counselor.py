"""Who answers an exchange. A counselor that follows a policy is another function of the same shape as `model_alone` returns."""

import re
from collections.abc import Callable
from dataclasses import replace

from simcounsel.bench.cases import Exchange
from simcounsel.chance import seed_of
from simcounsel.llm.ask import Ask, Reply, Request, ask
from simcounsel.prompts import render

Answer = Callable[[Exchange], Ask[Reply]]
"""The counselor's reply to the last line of an exchange's history: its words, or None with a problem."""
PROMPT = "bench_answer"
MOST_TOKENS = 600
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)


def model_alone(language: str, seed: int) -> Answer:
    """A model that is shown the talk, turn by turn, and one instruction; asked for its likeliest answer (temperature 0)."""

    def answer(exchange: Exchange) -> Ask[Reply]:
        *before, last = exchange.history
        system, prompt = render(PROMPT, language=language, line=last.content)
        reply = yield from ask(Request(
            verb="write", purpose=PROMPT, who=exchange_id(exchange), tier="reason", system=system, prompt=prompt,
            talk=tuple(("user" if line.role == "client" else "assistant", line.content) for line in before),
            temperature=0.0, max_tokens=MOST_TOKENS, seed=seed_of(seed, PROMPT, exchange.case, exchange.turn),
        ))
        return spoken(reply)

    return answer


def exchange_id(exchange: Exchange) -> str:
    """Case and turn: `Career-1/3`."""
    return f"{exchange.case}/{exchange.turn}"


def spoken(reply: Reply) -> Reply:
    """A reply without what a reasoning model thought before it (`<think>...</think>`: DeepSeek-R1, Qwen3)."""
    if reply.value is None:
        return reply
    words = _THOUGHT.sub("", reply.value).strip()
    if not words or words.startswith("<think>"):
        return replace(reply, value=None, problem="it thought and said nothing")
    return replace(reply, value=words)
