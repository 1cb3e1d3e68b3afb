"""Who answers: a model alone; `following` has a counselor that follows a policy."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from simcounsel.bench.cases import Exchange
from simcounsel.chance import seed_of
from simcounsel.llm.question import Ask, PromptOnly, Question, Reply, ask
from simcounsel.prompts import OWN_NAME, prompt_text, render
from simcounsel.specs.vocabulary import Language


@dataclass(frozen=True, kw_only=True)
class Counselor:
    """Who answers."""

    answer: Callable[[Sequence[Exchange]], Ask[tuple[Reply[str | None], ...]]]
    """A reply to the last line of each exchange's history, its words or None with a problem; the
    exchanges are of one case and in order.
    """
    whole: bool = False
    """It must be given a case as a whole, since what it answers rests on what it made of the lines
    before.
    """


PROMPT = "bench_answer"
LANGUAGES: dict[str, Language] = {"English": "en", "Chinese": "zh"}
"""In which there are prompts, by the English word; for clients of another they are English."""
MOST_TOKENS = 600
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)


def prompts_for(language: str) -> Language:
    """The language of the prompts where clients speak one, named by an English word."""
    return LANGUAGES.get(language, "en")


def named(language: str) -> str:
    """What a prompt calls it."""
    code = prompts_for(language)
    return language if code == "en" else prompt_text(OWN_NAME, code)


def model_alone(language: str, seed: int) -> Counselor:
    """A model that is shown the talk, turn by turn, and one instruction; asked for its likeliest
    answer (temperature 0).
    """

    code = prompts_for(language)

    def reply_to(exchange: Exchange) -> Ask[Reply[str | None]]:
        *before, last = exchange.history
        system, prompt = render(PROMPT, code, language=named(language), line=last.content)
        reply = yield from ask(
            Question[str | None](
                verb="write",
                purpose=PROMPT,
                who=exchange_id(exchange),
                tier="reason",
                language=code,
                system=system,
                prompt=prompt,
                talk=tuple(
                    ("user" if line.role == "client" else "assistant", line.content)
                    for line in before
                ),
                fallback=None,
                temperature=0.0,
                max_tokens=MOST_TOKENS,
                seed=seed_of(seed, PROMPT, exchange.case, exchange.turn),
                facts=PromptOnly(),
            )
        )
        return spoken(reply)

    def answer(exchanges: Sequence[Exchange]) -> Ask[tuple[Reply[str | None], ...]]:
        replies = []
        for exchange in exchanges:
            replies.append((yield from reply_to(exchange)))
        return tuple(replies)

    return Counselor(answer=answer)


def exchange_id(exchange: Exchange) -> str:
    """Case and turn: `Career-1/3`."""
    return f"{exchange.case}/{exchange.turn}"


def spoken(reply: Reply[str | None]) -> Reply[str | None]:
    """A reply without what a reasoning model thought before it (`<think>...</think>`: DeepSeek-R1,
    Qwen3).
    """
    if reply.value is None:
        return reply
    words = _THOUGHT.sub("", reply.value).strip()
    if not words or words.startswith("<think>"):
        return replace(reply, value=None, problem="it thought and said nothing")
    return replace(reply, value=words)
