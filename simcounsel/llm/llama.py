"""llama.cpp inside the process: one GGUF file, one request at a time; if it is loaded `EXACT`, the
same answer every time.

Then a request's answer depends on the request alone, not on what was asked before it, although the
prompt cache is on. llama.cpp computes one token with other kernels than many at once, and they
round differently: with the usual batches, a prompt that was half in the cache got other
log-probabilities (by up to 0.1) and other text than the same prompt computed whole. So every token
is computed by itself (`n_ubatch` 1), which makes prompts a fifth slower on one thread and the cache
exact. Flash attention is off because its sums depend on the number of threads (xllamacpp 2026.10).
"""

import json
import os
import secrets
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import xllamacpp

from simcounsel.errors import ModelError
from simcounsel.llm.models import Failure

SAMPLING = {"top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0}
"""Written down, so that a new llama.cpp with other defaults changes no run."""

ONE_LINE = {
    "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
}
"""What llguidance takes beside a schema."""
RANDOM_SEED = 0xFFFFFFFF
"""llama.cpp takes this seed to mean 'draw one'; it is never sent."""


@dataclass(frozen=True, kw_only=True)
class Token:
    """One generated token."""

    text: str
    logprob: float
    """Natural log, of the model itself, before temperature and grammar."""
    top: tuple[tuple[str, float], ...] = ()
    """The most probable tokens at this place with theirs, best first, whether allowed or not."""


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A completion."""

    text: str
    tokens_in: int
    """Of the whole prompt."""
    tokens_out: int
    tokens_cached: int
    """Of `tokens_in`, those that were not computed again."""
    end: Literal["stop", "length"]
    """'stop' at a stop string, the model's own end or the grammar's; else 'length'."""
    tokens: tuple[Token, ...] = ()
    """Empty unless n_probs was asked for."""


@dataclass(frozen=True, kw_only=True)
class Loading:
    """How a model is loaded."""

    batch: int = 1
    """Tokens of a prompt that are computed at once; 1 makes answers exact, many make prompts
    fast."""
    kept_mib: int = 0
    """Memory for prompts that were computed before the last one, in MiB: a request that begins like
    one of them goes on from there."""
    gpu: bool = False
    """Whether layers go to a GPU, where the library finds one."""


EXACT = Loading()


@dataclass(frozen=True, kw_only=True)
class Chat:
    """What is before a prompt that is answered as a chat."""

    system: str = ""
    """The instruction; without one there is none, not an empty one."""
    talk: Sequence[tuple[str, str]] = ()
    """What was said before, as (role, text)."""

    def answered(self, prompt: str) -> dict[str, Any]:
        """The messages, with the prompt as the user's last."""
        spoken = [("system", self.system)] if self.system else []
        lines = (*spoken, *self.talk, ("user", prompt))
        return {"messages": [{"role": role, "content": text} for role, text in lines]}


class Llama:
    """A loaded model. Calls block, and may come from any thread; they wait for each other.

    adapter: a LoRA adapter as a GGUF file, laid over it for every call. context_tokens: prompt and
    answer together; a longer request raises Failure. threads: see `default_threads`; the number
    changes the speed only. Raises ModelError when the file cannot be loaded.
    """

    def __init__(
        self,
        path: Path,
        *,
        adapter: Path | None = None,
        threads: int | None = None,
        context_tokens: int = 2048,
        loading: Loading = EXACT,
    ) -> None:
        self.path = path
        self.context_tokens = context_tokens
        self.threads = threads or default_threads()
        self._lock = threading.Lock()
        self._held = [_load(path, adapter, self.threads, context_tokens, loading)]
        # The server's threads must end before the interpreter does; a finalizer also runs at exit.
        self._free = weakref.finalize(self, self._held.clear)

    def complete(
        self,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float,
        seed: int,
        stop: Sequence[str] = (),
        grammar: str | None = None,
        n_probs: int = 0,
        chat: Chat | None = None,
    ) -> Generated:
        """Go on from `prompt` as it is, or with `chat` answer it through the model's chat
        template.

        temperature: 0 takes the likeliest token. stop: ends the text, and is left out of it.
        grammar: GBNF, or llguidance when it begins with '%llguidance' (see the `grammar_of_`
        functions). n_probs: how many likeliest tokens to report at each place. Raises Failure when
        the prompt is too long or the grammar is wrong.
        """
        sent: dict[str, Any] = SAMPLING | {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed % RANDOM_SEED,
            "cache_prompt": True,
        }
        sent |= {"stop": list(stop)} if stop else {}
        sent |= {"grammar": grammar} if grammar else {}
        sent |= chat.answered(prompt) if chat else {"prompt": prompt}
        if n_probs:
            sent |= (
                {"logprobs": True, "top_logprobs": n_probs}
                if chat
                else {"logprobs": n_probs, "n_probs": n_probs}
            )
        return _generated(self._send(sent, chat=chat is not None), n_probs)

    def loglikelihood(self, prompt: str, continuation: str) -> float | None:
        """Mean log-probability (natural, at most 0) of a token of `continuation` after `prompt`.

        A space between the two belongs to the continuation. The end of the text is not counted.
        None when the continuation is empty or cannot be forced. llama.cpp's server gives no
        probabilities of a prompt, so this is a forced generation and costs as much as a free one.
        """
        if not continuation:
            return None
        forced = self.complete(
            prompt,
            max_tokens=len(continuation.encode()) + 2,
            temperature=0,
            seed=0,
            grammar=grammar_of_options((continuation,)),
            n_probs=1,
        )
        tokens = [token for token in forced.tokens if token.text]
        if forced.text != continuation or not tokens:
            return None
        return sum(token.logprob for token in tokens) / len(tokens)

    def close(self) -> None:
        """Free the model; a call in progress is waited for, later ones raise ModelError."""
        with self._lock:
            self._free()

    def _send(self, sent: Mapping[str, Any], *, chat: bool) -> dict[str, Any]:
        with self._lock:
            if not self._held:
                raise ModelError(f"{self.path.name} has been closed")
            server = self._held[0]
            answer: dict[str, Any] = (
                server.handle_chat_completions if chat else server.handle_completions
            )(dict(sent))
        if "choices" not in answer:
            raise Failure(f"{self.path.name}: {answer.get('error', {}).get('message', answer)}")
        return answer


def default_threads() -> int:
    """Half the cores that this process may use, 1 to 4.

    llama.cpp's threads spin while they wait for each other: two of them beside another busy
    process on two cores are slower than one, and two such models at once ten times slower.
    """
    return max(1, min(4, cores() // 2))


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def grammar_of_schema(schema: Mapping[str, Any], *, one_line: bool = False) -> str:
    """A grammar of the JSON texts that a JSON schema allows. one_line: without line breaks, which
    cost a small model more tokens than the words do.
    """
    return str(xllamacpp.json_schema_to_grammar({**schema, **(ONE_LINE if one_line else {})}))


def grammar_of_options(options: Sequence[str]) -> str:
    """A grammar of exactly these texts. An option's own tokens are forced once it is the only one
    left.
    """
    return "%llguidance {}\nstart: " + " | ".join(
        json.dumps(option, ensure_ascii=False) for option in options
    )


def _load(
    path: Path, adapter: Path | None, threads: int, context_tokens: int, loading: Loading
) -> xllamacpp.Server:
    """One slot, without logs. The server also listens on 127.0.0.1, so it gets a key."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context_tokens
    params.n_parallel = 1
    params.n_ubatch = loading.batch
    params.n_gpu_layers = -1 if loading.gpu else 0
    params.fit_params = False
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    if loading.batch == 1:
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_ram_mib = loading.kept_mib
    params.n_threads_http = 1
    params.ui = False
    params.api_keys = [secrets.token_hex(16)]
    params.verbosity = -1
    if adapter is not None:
        laid = xllamacpp.CommonAdapterLoraInfo()
        laid.path, laid.scale = str(adapter), 1.0
        params.lora_adapters = [laid]
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        if adapter is not None:
            raise ModelError(
                f"{adapter}: llama.cpp cannot lay this adapter over {path.name} ({error}); export"
                " it again"
            ) from error
        cause = f"{path}: not a model that llama.cpp can load ({error})"
        raise ModelError(f"{cause}; 'simcounsel models --pull' fetches pinned ones") from error
    # A server freed before its loop has begun hangs for ever; a first answer means it has begun.
    server.handle_completions({"prompt": "a", "max_tokens": 1})
    return server


def _generated(answer: Mapping[str, Any], n_probs: int) -> Generated:
    choice = answer["choices"][0]
    usage = answer["usage"]
    return Generated(
        text=choice["message"]["content"] if "message" in choice else choice["text"],
        tokens_in=usage["prompt_tokens"],
        tokens_out=usage["completion_tokens"],
        tokens_cached=usage["prompt_tokens_details"]["cached_tokens"],
        end="length" if choice["finish_reason"] == "length" else "stop",
        tokens=_tokens(choice, n_probs) if n_probs else (),
    )


def _tokens(choice: Mapping[str, Any], n_probs: int) -> tuple[Token, ...]:
    given = (choice.get("logprobs") or {}).get("content") or []
    return tuple(
        Token(
            text=one["token"],
            logprob=one["logprob"],
            top=tuple(
                (other["token"], other["logprob"]) for other in one["top_logprobs"][:n_probs]
            ),
        )
        for one in given
    )
