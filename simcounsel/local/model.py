"""The ChatModel of a GGUF file: its own chat template, forms held by a grammar."""

import asyncio
import os
import threading
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcounsel.llm.chat import clean, messages, number_weights
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question
from simcounsel.scripted.registry import Given

if TYPE_CHECKING:
    from simcounsel.llm.llama import Generated, Llama

CONTEXT_TOKENS = 16_384
KEPT_MIB = 2048
"""For prompts that were computed before: 70,000 tokens of the 1.5B model."""
BATCH = 512
TOP = 20
TOO_SMALL = "by rule: a model of this size does not judge this"
FORM_TOKENS = 16
"""What a rating has beside its reason."""


class LocalModel:
    """One GGUF file in this process; one request at a time. It is loaded at the first request.

    Prompts are computed in batches, so that the same request may get another answer when another
    one went before; a run's recording repeats it exactly.
    """

    def __init__(self, *, name: str, key: str | None, file: Path, adapter: Path | None) -> None:
        """name: as in calls.jsonl. key: of pinned weights, which are fetched where they are
        missing; None: `file` is the user's own.
        """
        self.name = name
        self._key = key
        self._file = file
        self._adapter = adapter
        self._lock = threading.Lock()
        self._llama: Llama | None = None

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """Answer once; see ChatModel. Raises Failure where the request is too long. What only a
        capable model can judge (danger, what was told of a plan) is left to the rules by the two
        that are fetched: docs/evidence.md, "Small models on two cores".
        """
        if self._key and question.facts and question.facts.judged:
            return Given(value=question.fallback, notes={"why": TOO_SMALL}).completion()
        return await asyncio.to_thread(self._complete, question, complaint)

    def _complete(self, question: Question[Any], complaint: str | None) -> Completion:
        from simcounsel.llm.llama import Chat

        told = messages(question, complaint, schema_beside=True)
        system = told[0]["content"] if told[0]["role"] == "system" else ""
        spoken = [(one["role"], one["content"]) for one in told[bool(system) :]]
        grammar = grammar_of(question)
        got = self._model().complete(
            spoken[-1][1],
            chat=Chat(system=system, talk=spoken[:-1]),
            max_tokens=question.max_tokens,
            temperature=question.temperature,
            seed=question.seed,
            grammar=grammar,
            n_probs=TOP if question.verb == "rate" else 0,
        )
        if not got.text.strip():
            raise Failure("the answer is empty")
        return Completion(
            text=clean(got.text, question),
            tokens_in=got.tokens_in,
            tokens_out=got.tokens_out,
            weights=_weights(got, question),
            notes={"finish": "length"} if got.end == "length" else {},
        )

    def _model(self) -> "Llama":
        from simcounsel.llm.llama import Llama, Loading
        from simcounsel.llm.weights import path_of

        with self._lock:
            if self._llama is None:
                self._llama = Llama(
                    path_of(self._key) if self._key else self._file,
                    adapter=self._adapter,
                    threads=threads(),
                    context_tokens=CONTEXT_TOKENS,
                    loading=Loading(batch=BATCH, kept_mib=KEPT_MIB, gpu=True),
                )
            return self._llama

    async def close(self) -> None:
        """Free the model."""
        with self._lock:
            model, self._llama = self._llama, None
        if model is not None:
            await asyncio.to_thread(model.close)


def threads() -> int:
    """All cores, at most 8, and in a sweep's processes one, since threads that wait spin;
    SIMCOUNSEL_THREADS says otherwise.
    """
    from simcounsel.llm.llama import cores

    told = os.environ.get("SIMCOUNSEL_THREADS", "")
    if told.isdecimal() and int(told):
        return int(told)
    return 1 if parent_process() else min(8, cores())


def _weights(got: "Generated", question: Question[Any]) -> dict[str, float] | None:
    """Probabilities of the numbers of a scale."""
    if question.verb != "rate" or question.scale is None:
        return None
    tokens = [
        {
            "token": one.text,
            "logprob": one.logprob,
            "top_logprobs": [{"token": text, "logprob": value} for text, value in one.top],
        }
        for one in got.tokens
    ]
    return number_weights({"content": tokens}, question.scale)


def grammar_of(question: Question[Any]) -> str | None:
    """Of the answers that fit: the schema's, the options' numbers, or a reason and a number of the
    scale, as `prompts/judge_item` asks for them. None for free text.
    """
    from simcounsel.llm.llama import grammar_of_options, grammar_of_schema

    if question.sent_schema:
        return grammar_of_schema(question.sent_schema, one_line=True)
    if question.verb == "choose":
        return grammar_of_options([str(at) for at in range(1, len(question.options) + 1)])
    if question.verb == "rate" and question.scale:
        low, high = question.scale
        numbers = [str(number) for number in range(low, high + 1)]
        some = " | ".join(f'"{one}"' for one in [*numbers, *["null"] * question.may_be_null])
        most = max(1, question.max_tokens - FORM_TOKENS)  # a character is at most about a token
        return f'root ::= "because: " [^\\n]{{1,{most}}} "\\nscore: " ({some})'
    return None
