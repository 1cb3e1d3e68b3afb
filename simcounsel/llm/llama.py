"""llama.cpp inside this process, through xllamacpp: completes a text, or answers a chat."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcounsel.llm.models import Failure

CONTEXT = 4096


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written, with the tokens read and written."""

    text: str
    tokens_in: int
    tokens_out: int


class Llama:
    """A GGUF model, one request at a time. The same request gives the same text, whatever came
    before: the prompt cache is off, since with it the last bits, and sampled words, differ."""

    def __init__(self, path: Path, *, threads: int = 2) -> None:
        import xllamacpp

        given = xllamacpp.CommonParams()
        given.model.path = str(path)
        given.n_ctx = CONTEXT
        given.n_parallel = 1
        given.cpuparams.n_threads = threads
        given.cpuparams_batch.n_threads = threads
        given.verbosity = -1
        given.warmup = False
        given.cache_ram_mib = 0
        self._server: Any = xllamacpp.Server(given)
        self._lock = threading.Lock()

    def complete(self, prompt: str, *, max_tokens: int, temperature: float, seed: int, stop: Sequence[str] = ()) -> Written:
        """Go on with a text. Failure when the server refuses (a prompt longer than the context)."""
        return self._ask(self._server_call("handle_completions", {
            "prompt": prompt, "max_tokens": max_tokens, "temperature": temperature, "seed": seed, "stop": list(stop), "cache_prompt": False,
        }))

    def chat(
        self, messages: Sequence[Mapping[str, str]], *, max_tokens: int, temperature: float, seed: int, json_schema: Mapping[str, Any] | None = None,
    ) -> Written:
        """Answer a chat, held to a JSON schema if there is one."""
        body: dict[str, Any] = {
            "messages": list(messages), "max_tokens": max_tokens, "temperature": temperature, "seed": seed, "cache_prompt": False,
        }
        if json_schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(json_schema)}}
        return self._ask(self._server_call("handle_chat_completions", body))

    def close(self) -> None:
        """Free the model."""
        with self._lock:
            self._server = None

    def _server_call(self, method: str, body: Mapping[str, Any]) -> Any:
        with self._lock:
            try:
                return getattr(self._server, method)(dict(body))
            except Exception as error:
                raise Failure(f"llama.cpp: {str(error)[:200]}") from error

    def _ask(self, answer: Any) -> Written:
        if not isinstance(answer, Mapping) or not answer.get("choices"):
            raise Failure(f"llama.cpp: {str(answer)[:200]}")
        choice, usage = answer["choices"][0], answer.get("usage") or {}
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        return Written(text=text or "", tokens_in=usage.get("prompt_tokens", 0), tokens_out=usage.get("completion_tokens", 0))
