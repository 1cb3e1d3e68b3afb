"""Does a provider keep to its contract?"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Required, TypedDict

import numpy as np
from pydantic import BaseModel

from simcounsel.errors import SimcounselError
from simcounsel.llm.answers import Unfit, read_answer
from simcounsel.llm.models import ChatModel, Completion, EmbedModel, Failure, Provider
from simcounsel.llm.question import PromptOnly, Question, Verb
from simcounsel.testing.problems import raise_all


class Feeling(BaseModel):
    """What a model is asked to fill in."""

    emotion: str
    intensity: int


class _Asked(TypedDict, total=False):
    """What differs between the questions."""

    verb: Required[Verb]
    prompt: Required[str]
    options: tuple[str, ...]
    scale: tuple[int, int]
    schema: type[object]


QUESTIONS: tuple[Question[object], ...] = tuple(
    Question(purpose="check", who="Ines", facts=PromptOnly(), fallback=None, **one)
    for one in (
        _Asked(verb="write", prompt="Write one sentence about the rain."),
        _Asked(verb="choose", prompt="Tea or coffee?", options=("tea", "coffee")),
        _Asked(verb="rate", prompt="How tired are you, from 1 to 7?", scale=(1, 7)),
        _Asked(verb="fill", prompt="What do you feel?", schema=Feeling),
    )
)
TEXTS = ("The night was long.", "I drank tea.", "The night was long.")


def check_provider(
    provider: Provider, *, chat: str | None = None, embed: str | None = None
) -> None:
    """A provider, by the models of these names: it is asked one question of each verb and for some
    vectors. It costs what these few requests cost. BrokenContract names all that is wrong.
    """
    raise_all(f"provider of {chat or embed}", _problems(provider, chat, embed))


def _problems(provider: Provider, chat: str | None, embed: str | None) -> Iterator[str]:
    if not isinstance(provider, Provider):
        yield f"it is registered as {type(provider).__name__}, not as a Provider"
        return
    if provider.chat is None and provider.embed is None:
        yield "it opens neither chat models nor embedding models"
    if not provider.forms:
        yield "forms: say how its models are written, as {'mything:MODEL': 'what it is'}"
    for name, opens in ((chat, provider.chat), (embed, provider.embed)):
        if name is not None and opens is None:
            yield f"{name}: it opens no model of that kind"
    if chat and provider.chat:
        try:
            model = provider.chat(chat)
        except SimcounselError as error:
            yield f"{chat} cannot be opened: {error}"
        else:
            yield from asyncio.run(_chat(model))
    if embed and provider.embed:
        yield from asyncio.run(_embed(provider.embed(embed)))


async def _chat(model: ChatModel) -> list[str]:
    found = [] if model.name else ["a chat model has no name"]
    answered = await asyncio.gather(
        *(model.complete(one, None) for one in QUESTIONS), return_exceptions=True
    )
    for one, completion in zip(QUESTIONS, answered, strict=True):
        if isinstance(completion, Completion):
            found += _about(one, completion)
        elif isinstance(completion, Failure):
            found.append(f"{one.verb}: no answer ({completion.cause})")
        else:
            what = f"{type(completion).__name__}: {completion}"
            found.append(f"{one.verb}: it raised or returned {what}; raise Failure")
    for _ in range(2):  # a run may close what it has closed
        await model.close()
    return found


def _about(one: Question[object], completion: Completion) -> Iterator[str]:
    try:
        read_answer(one, completion)
    except Unfit as unfit:
        yield f"{one.verb}: the answer {completion.text[:60]!r} does not fit: {unfit}"
    for name in ("tokens_in", "tokens_out"):
        if (tokens := getattr(completion, name)) is not None and tokens < 0:
            yield f"{one.verb}: {name} is {tokens}; None where the server does not tell"
    if completion.tries < 1:
        yield f"{one.verb}: tries is {completion.tries}; what was answered was sent once at least"
    if completion.weights and not 0 < sum(completion.weights.values()) <= 1 + 1e-6:
        yield f"{one.verb}: the weights are no probabilities: {dict(completion.weights)}"


async def _embed(model: EmbedModel) -> list[str]:
    found = [] if model.name else ["an embedding model has no name"]
    try:
        vectors, again = await model.embed(TEXTS), await model.embed(TEXTS[:1])
    except Failure as failure:
        return [*found, f"embed: no vectors ({failure.cause})"]
    finally:
        await model.close()
    return found + list(_about_vectors(vectors, again, TEXTS))


def _about_vectors(vectors: np.ndarray, again: np.ndarray, texts: Sequence[str]) -> Iterator[str]:
    if vectors.ndim != 2 or len(vectors) != len(texts):
        yield f"embed: shape {vectors.shape}; it is (number of texts, dimensions)"
        return
    if vectors.dtype != np.float32:
        yield f"embed: {vectors.dtype}; vectors are float32"
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3):
        yield "embed: vectors of another length than 1"
    if not np.allclose(vectors[0], vectors[2], atol=1e-3) or not np.allclose(
        vectors[0], again[0], atol=1e-3
    ):
        yield "embed: the same text has two vectors, or they come in another order than the texts"
