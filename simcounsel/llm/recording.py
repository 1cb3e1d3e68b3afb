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
        "messages": messages(question, spent.complaint if spent.asked > 1 else None),
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
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "cost_usd": spent.cost_usd,
        "tries": spent.tries,
    }
    if spent.left_out:
        call["left_out"] = list(spent.left_out)
    if completion and completion.weights:
        call["weights"] = dict(completion.weights)
    if completion and completion.notes:
        call["notes"] = dict(completion.notes)
    return call


def embedding_line(question: Question[T], model: str, vectors: str) -> dict[str, Any]:
    """The same for vectors, which are base64 of float16."""
    return {
        "key": question.key,
        "who": question.who,
        "purpose": question.purpose,
        "verb": "embed",
        "tier": "embed",
        "model": model,
        "texts": list(question.texts),
        "vectors": vectors,
    }
