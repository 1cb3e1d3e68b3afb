"""What is written of a call into calls.jsonl: exactly what was sent, and what came."""

from typing import Any, Protocol, TypeVar

from simcounsel.llm.chat import messages
from simcounsel.llm.question import Question, Reply
from simcounsel.llm.usage import Spent

T = TypeVar("T")


class Recorder(Protocol):
    """Where calls go: a Run's calls.jsonl."""

    def append_call(self, call: dict[str, Any]) -> None:
        """Write one call."""
        ...


def call_line(question: Question[T], reply: Reply[T], spent: Spent) -> dict[str, Any]:
    """The line of calls.jsonl: exactly what was sent at the last try, and what came."""
    completion = spent.completion
    call: dict[str, Any] = {
        "key": question.key,
        "who": question.who,
        "purpose": question.purpose,
        "verb": question.verb,
        "tier": question.tier,
        "model": spent.model,
        "messages": messages(
            question,
            spent.complaint if spent.asked > 1 else None,
            schema_beside="response_format" in (spent.parameters or ()),
        ),
        "parameters": spent.parameters
        if spent.parameters is not None
        else {
            "temperature": question.temperature,
            "max_tokens": question.max_tokens,
            "seed": question.seed,
        },
        "reply": completion.text if completion else None,
        "source": reply.source,
        "complaint": spent.complaint,
        "problem": reply.problem,
    }
    call |= _took(spent)
    if spent.left_out:
        call["left_out"] = list(spent.left_out)
    if completion and completion.weights:
        call["weights"] = dict(completion.weights)
    if completion and completion.notes:
        call["notes"] = dict(completion.notes)
    return call


def embedding_line(
    question: Question[T], model: str, vectors: str, spent: Spent | None = None
) -> dict[str, Any]:
    """The same for vectors, which are base64 of float16. spent: None where they were made in this
    process.
    """
    return {
        "key": question.key,
        "who": question.who,
        "purpose": question.purpose,
        "verb": "embed",
        "tier": "embed",
        "model": model,
        "texts": list(question.texts),
        "vectors": vectors,
    } | (_took(spent) if spent else {"tokens_in": 0, "tokens_out": 0, "cost_usd": 0.0, "tries": 0})


def broken_off_line(question: Question[T], spent: Spent) -> dict[str, Any]:
    """The same for a question that was given up while requests for it were sent: it has no answer,
    and is asked again, but what was sent counts.
    """
    return {
        "key": question.key,
        "who": question.who,
        "purpose": question.purpose,
        "verb": question.verb,
        "tier": question.tier,
        "model": spent.model,
        "messages": [],
        "reply": None,
        "complaint": spent.complaint,
        "problem": "broken off before it was answered",
        "given_up": True,
    } | _took(spent)


def _took(spent: Spent) -> dict[str, Any]:
    """Tokens, cost, requests. `most_usd` is there where a budget counts more than the cost."""
    took: dict[str, Any] = {
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "cost_usd": spent.cost_usd,
        "tries": spent.tries,
    }
    if spent.most_usd != (spent.cost_usd or 0.0):
        took["most_usd"] = spent.most_usd
    return took
