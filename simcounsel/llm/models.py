"""What every provider offers: a ChatModel completes a Question, an EmbedModel turns texts to
vectors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from simcounsel.intake import whole_characters
from simcounsel.llm.question import Question
from simcounsel.secret import scrub
from simcounsel.specs.timeouts import Timeouts
from simcounsel.specs.vocabulary import Source

if TYPE_CHECKING:
    import numpy as np

NOT_SERVED = (401, 402, 403, 404)
"""HTTP statuses that neither another wording nor waiting changes: a wrong key, an empty account, an
unknown model.
"""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A model's raw answer."""

    text: str
    """As it came; for `fill` it should be JSON, for `choose` an option, for `rate` a
    number, alone or in the last line after a reason."""
    tokens_in: int | None = None
    """None when the server does not tell; so `tokens_out`."""
    tokens_out: int | None = None
    source: Source = "generated"
    weights: Mapping[str, float] | None = None
    """For `rate` and `choose`: probabilities of the allowed answers, if the server gives them."""
    tries: int = 1
    """How often it was sent, transport retries included."""
    parameters: Mapping[str, object] | None = None
    """What was sent beside the messages; None where nothing is sent, as by a stand-in."""
    left_out: tuple[str, ...] = ()
    """Parameters that were meant to be sent and that the model does not take."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What is said beside the answer, such as `why`."""


MOST_CHARACTERS = 200_000
"""Of an answer; no question needs a tenth of it."""
MOST_NOTED = 1000
"""Characters of what is said beside an answer, and of why there is none."""
MOST_TOKENS = 10**9
"""Of one request; a server that reports more is not believed."""


def token_count(told: object) -> int | None:
    """A number of tokens that somebody else reports; None when it can be none."""
    counted = isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= MOST_TOKENS
    return told if counted else None  # type: ignore[return-value]  # an int, as was asked


def noted(text: str) -> str:
    """What a server says beside an answer, as it is kept: cut, whole characters, no secrets."""
    return scrub(whole_characters(text[:MOST_NOTED]))


def taken_in(completion: Completion) -> Completion:
    """The answer as it is used and recorded, whoever gave it: without secrets, which a server may
    have repeated, with whole characters and numbers that can be. Failure when it is too long.
    """
    if len(completion.text) > MOST_CHARACTERS:
        raise Failure(
            f"the answer has {len(completion.text):,} characters; {MOST_CHARACTERS:,} are the most",
            tries=completion.tries,
        )
    return replace(
        completion,
        text=scrub(whole_characters(completion.text)),
        notes={noted(name): noted(str(one)) for name, one in completion.notes.items()},
        tokens_in=token_count(completion.tokens_in),
        tokens_out=token_count(completion.tokens_out),
    )


class ChatModel(Protocol):
    """Answers questions of the verbs write, fill, choose and rate."""

    name: str
    """As it is written into calls.jsonl and looked up in the price table: 'openai:gpt-4o'."""

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """Answer once. `complaint` says what was wrong with the first answer, on the second try.

        Raises Failure when no answer can be had. It sends once: whoever asks sends again.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...


class EmbedModel(Protocol):
    """Turns texts into unit vectors."""

    name: str

    async def embed(self, texts: Sequence[str]) -> "np.ndarray":
        """Vectors of length 1, float32, shape (len(texts), dimensions). Raises Failure."""
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...


@runtime_checkable
class Timed(Protocol):
    """A model that waits for a server. Its timeouts may be changed before its first request."""

    timeouts: Timeouts


@dataclass(frozen=True, kw_only=True)
class Provider:
    """Opens the models whose names begin with its own: `mything:large` is opened by the provider
    that is registered as `mything` (entry points of the group simcounsel.providers).
    """

    chat: Callable[[str], ChatModel] | None = None
    """The chat model of a whole name, such as `mything:large`. It fetches and asks nothing yet.
    Raises ModelError that says what is missing: a key, a package, a form. None: it has none."""
    embed: Callable[[str], EmbedModel] | None = None
    """The embedding model of a whole name, likewise."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """How its models are written, `mything:MODEL`, and of each what it is, in words."""
    state: Callable[[], str] | None = None
    """What is there or missing on this machine ("needs MYTHING_KEY"), for `simcounsel models`."""
    weights: Callable[[str, bool], tuple[str, ...]] | None = None
    """Which pinned files (`llm.weights`) a model of that name needs, or its vectors alone."""
    pinned: Callable[[str], str] | None = None
    """A model's name with the digest of each file that it names, such as `mything:FILE#DIGEST`:
    what a manifest holds. ModelError where a file is not the one whose digest the name gives.
    None: its names hold no files."""
    prompts: Callable[[str], str | None] | None = None
    """The set of prompts for a model of that name, where the world names none; None: the usual
    ones."""
    vectors_for: Callable[[str], str | None] | None = None
    """The name of the embedding model that goes with a chat model, where the world is run with
    that one alone; None: the embedded one."""


class Failure(Exception):
    """A model gave no usable answer. `transport`: nothing reached us at all (dead, hung, cut off),
    as against an answer that said no: it is asked again, and never becomes a fallback. Otherwise it
    becomes a fallback and a `warned` event, never a crash.

    lasting: waiting does not repair it (a wrong key, an unknown model). wait_s: so long the server
    asks to wait before the next attempt.
    """

    def __init__(
        self,
        cause: str,
        *,
        transport: bool = False,
        lasting: bool = False,
        wait_s: float = 0.0,
        tries: int = 1,
    ) -> None:
        self.cause = noted(cause)
        """Cut, and without secrets, which a server may have repeated."""
        super().__init__(self.cause)
        self.transport = transport
        self.lasting = lasting
        self.wait_s = wait_s
        self.tries = tries
        self.parameters: Mapping[str, object] | None = None
        """What was sent at last beside the messages; None where that is not known."""
        self.left_out: tuple[str, ...] = ()
        """As in a Completion."""
        self.remedy = ""
        """What helps where asking again would fail the same way; '' where it is not known."""
