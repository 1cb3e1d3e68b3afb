"""Ask, do not call: minds yield a Question and are sent a Reply.

A Question is one of five verbs: **write** (text), **fill** (a pydantic model), **choose** (one of
a closed list), **rate** (a number on a scale) and **embed** (vectors). It is made where it is
asked, and typed: `Question[T]` is answered by a `Reply[T]` whose value has been parsed and checked
before it reaches the asker, or is the asker's own declared fallback. Many are answered at once by
`simcounsel.llm.driving`.
"""

import hashlib
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypedDict, TypeVar

import orjson
from pydantic import BaseModel

from simcounsel.llm.schemas import Limits, schema_text, sent_schema
from simcounsel.prompts import render
from simcounsel.specs.vocabulary import Emotion, Source

if TYPE_CHECKING:  # numpy is slow to import
    import numpy as np


Verb = Literal["write", "fill", "choose", "rate", "embed"]
Tier = Literal["reason", "quick", "judge", "embed"]
"""The model roles of a world."""
SILENT = "silent"
"""The note of a human's reply that is none, since the time was up: its value is never said."""
Message = dict[str, str]
"""`role` and `content` of a chat message."""
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Tags:
    """Where a line that was written by hand fits."""

    theme: str = "any"
    emotion: Emotion = "neutral"
    move: str = ""
    """The counselor's move, the layperson's act or the client's stage that it words."""
    when: Literal["first", "later", "any"] = "any"
    """Which meetings it suits."""
    answers: tuple[str, ...] = ()
    """What a client's line can answer."""
    form: str = ""
    """The line with its slots, where it has some to be filled."""
    own: bool = False
    """Whether a policy brings it for its move, before all that a persona has."""
    listens: bool | None = None
    """Whether a word on what was heard may be before such a line; None: it is said as it is,
    and may be said again.
    """


@dataclass(frozen=True, kw_only=True)
class Example:
    """A line written by hand that a stand-in may give as its answer. No model that reads prompts
    is shown it: what somebody wrote as the outcome of help must not reach one.
    """

    text: str
    emphasis: str | None = None
    """The words that the voice leans on, if any."""
    tags: Tags = Tags()


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What one kind of question is about, as data: for whoever answers without a language model.

    Each kind of question has a type of its own that derives from this one; a stand-in is
    registered for it (`simcounsel.embedded`). Its fields are plain data (texts, numbers, tuples,
    mappings, frozen dataclasses, pydantic models), never what lives and changes: they belong to
    the question's key.
    """

    drawn: ClassVar[bool] = True
    """Whether a drawn answer would do; if not, whoever draws gives the question's fallback."""
    judged: ClassVar[bool] = False
    """Whether only a model that reads the prompt can judge it; without one the question's fallback
    is what is chosen.
    """

    @property
    def limits(self) -> Limits:
        """What the schema of the answer is narrowed to when it is sent: counts and closed lists
        that only these facts know. It follows from them alone, so that the key holds it too.
        """
        return {}

    @property
    def closed(self) -> Mapping[str, Sequence[str]]:
        """What lists of the answer may hold, by field: for whoever draws an answer."""
        return {}


class Asker(TypedDict):
    """The fields of a `Question` that say which one it is and who asks it."""

    purpose: str
    who: str
    language: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class PromptOnly(Facts):
    """Of a question that is nothing but its prompt, as one without facts is: whoever answers must
    read that. The embedded model answers it as the plain language model that it is.
    """


@dataclass(frozen=True, kw_only=True)
class Question(Generic[T]):
    """One question to a model, with all that can reach its answer."""

    verb: Verb
    purpose: str
    """Which question it is; it names a file in `prompts/`."""
    who: str
    """Who asks: a resident, a session, a judge."""
    tier: str = "reason"
    """Which of the model roles answers: a `Tier` in a world. Whoever keeps a record of another kind
    may have others.
    """
    system: str = ""
    prompt: str = ""
    talk: tuple[tuple[Literal["user", "assistant"], str], ...] = ()
    """What was said before the prompt, each line a message, for models that learned to talk so."""
    schema: type[T] | None = None
    """For `fill`: the pydantic model of the answer."""
    options: tuple[str, ...] = ()
    """For `choose`."""
    language: str = "en"
    """Of the words around them."""
    scale: tuple[int, int] | None = None
    """For `rate`: lowest and highest, inclusive."""
    may_be_null: bool = False
    """For `rate`: `null` is an answer too; its value is None, without a `problem`."""
    once: bool = False
    """The answer is the same whoever asks: a switchboard asks it once."""
    texts: tuple[str, ...] = ()
    """For `embed`."""
    examples: tuple[Example, ...] = ()
    """For stand-ins alone, best first."""
    facts: Facts | None = None
    """What it is about, as data; None: it is nothing but its prompt, or of texts to embed."""
    check: Callable[[T], str | None] | None = None
    """What is wrong with a parsed answer, in words for the model; None when nothing is."""
    fallback: T
    """The answer to take when the second try fails too. Where there can be none it is None, and the
    question's type says so: `Question[Verdict | None]`.
    """
    of_world: bool = False
    """Asked about `who` by the world, so that a model of `who`'s own does not answer."""
    temperature: float = 0.7
    max_tokens: int = 400
    seed: int = 0
    """Drawn by key, so that the same world asks the same question with the same seed."""

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """What a chat model is sent: system message (left out when empty), what was said before,
        user message. The schema of a `fill` is not in it: see `messages_with_schema`.
        """
        asked = self.prompt
        if self.verb == "choose" and self.options:
            listed = "\n".join(f"{at}. {option}" for at, option in enumerate(self.options, 1))
            asked = f"{asked}\n\n{render('options', self.language, options=listed)[1]}".strip()
        parts_by_role = [("system", self.system), *self.talk, ("user", asked)]
        return tuple({"role": role, "content": text} for role, text in parts_by_role if text)

    @cached_property
    def sent_schema(self) -> dict[str, Any]:
        """The schema of a `fill` as a server is sent it beside the messages, narrowed to what the
        facts know; {} for another verb. Shared, not to be changed.
        """
        if self.verb != "fill" or self.schema is None:
            return {}
        return sent_schema(self.schema, self.language, self.facts.limits if self.facts else {})

    @cached_property
    def messages_with_schema(self) -> tuple[Message, ...]:
        """The same with the schema of a `fill` in the system message, for a model that does not
        take it beside the messages (`response_format`).
        """
        if self.verb != "fill" or self.schema is None:
            return self.messages
        schema = schema_text(self.schema, self.language)
        shape = render("schema", self.language, schema=schema)[1]
        system = f"{self.system}\n\n{shape}" if self.system else shape
        others = self.messages[1:] if self.system else self.messages
        return ({"role": "system", "content": system}, *others)

    @cached_property
    def key(self) -> str:
        """SHA-256 (32 hex digits) of everything that can reach its answer: the messages, the schema
        itself, the parameters, and the facts and examples that a stand-in answers from. The name
        under which a reply is recorded, for every provider the same.
        """
        return hashlib.sha256(canonical(self._sent())).hexdigest()[:32]

    def _sent(self) -> list[object]:
        if self.verb == "embed":
            return [self.verb, self.purpose, self.texts]
        return [
            self.verb,
            self.purpose,
            self.messages,
            None if self.schema is None else schema_text(self.schema, self.language),
            self.options,
            self.scale,
            self.temperature,
            self.max_tokens,
            self.seed,
            self.examples,
            None if self.facts is None else [type(self.facts).__name__, self.facts],
            *(["null"] if self.may_be_null else []),
        ]


def with_temperature(question: Question[T], temperature: float | None) -> Question[T]:
    """At another temperature, but for what is asked at 0, or of a judge; None: as it is."""
    if temperature is None or question.tier not in ("reason", "quick") or not question.temperature:
        return question
    return replace(question, temperature=temperature)


@dataclass(frozen=True, kw_only=True)
class Reply(Generic[T]):
    """A checked answer."""

    value: T
    source: Source = "generated"
    model: str = ""
    """The model's name, as calls.jsonl has it."""
    call: str = ""
    """The key of the question that it answers: its line in calls.jsonl."""
    problem: str | None = None
    """Why the fallback was taken; None when it was not."""
    weights: Mapping[str, float] | None = None
    """For `rate`: the probabilities that made the value; None when the server gave none."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What a stand-in or a server says beside its answer, such as `why`."""
    left_out: tuple[str, ...] = ()
    """Parameters that were meant to be sent and that the model does not take."""


class Traced(TypedDict):
    """The fields of an event that say from which calls it came."""

    calls: tuple[str, ...]
    fallback: bool


def traced(*replies: Reply[Any]) -> Traced:
    """For an event that came from these replies: `Appraised(..., **traced(reply))`."""
    return Traced(
        calls=tuple(dict.fromkeys(reply.call for reply in replies if reply.call)),
        fallback=any(reply.source == "fallback" for reply in replies),
    )


Ask = Generator[Question[Any] | tuple[Question[Any], ...], Any, T]


def ask(question: Question[T]) -> Ask[Reply[T]]:
    """One question, one reply; for `reply = yield from ask(question)`."""
    reply: Reply[T] = yield question
    return reply


def ask_all(questions: tuple[Question[T], ...]) -> Ask[tuple[Reply[T], ...]]:
    """Several questions that need not wait for each other."""
    replies: tuple[Reply[T], ...] = yield questions
    return replies


def embedding(purpose: str, who: str, texts: tuple[str, ...]) -> "Question[np.ndarray]":
    """A question for the unit vectors of texts: float32, shape (len(texts), dimensions). Its
    fallback is never taken: without vectors nothing goes on (ModelUnreachable).
    """
    import numpy as np

    return Question(
        verb="embed",
        purpose=purpose,
        who=who,
        tier="embed",
        texts=texts,
        fallback=np.empty((0, 0), np.float32),
    )


def canonical(value: object) -> bytes:
    """The same bytes for the same data. TypeError for what is not data."""
    try:
        return orjson.dumps(value, default=_data, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError as error:
        if "surrogates" not in str(error):
            raise TypeError(f"facts are data only: {error}") from None
    plain = orjson.loads(orjson.dumps(_without_halves(value), default=_data))
    return json.dumps(plain, ensure_ascii=True).encode()


def _data(value: object) -> object:
    if isinstance(value, BaseModel):
        return dict(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not data")


def _without_halves(value: object) -> object:
    """Texts with halves of characters (lone surrogates) written out, so that they can be hashed."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, tuple | list):
        return [_without_halves(one) for one in value]
    if isinstance(value, Mapping | BaseModel):
        return {str(key): _without_halves(one) for key, one in dict(value).items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: _without_halves(getattr(value, name)) for name in value.__dataclass_fields__}
    return value
