"""Models without a network: `parrot:NAME` answers as the scripted model does, and says so."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simcounsel import ChatModel, Completion, EmbedModel, Provider, Question
from simcounsel.testing import HashEmbeddings, Scripted


class Parrot:
    """A chat model; a real one would send `question.messages` to its server."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._scripted = Scripted()

    async def complete(self, question: Question[Any], complaint: str | None) -> Completion:
        """One answer."""
        return await self._scripted.complete(question, complaint)

    async def close(self) -> None:
        """Nothing to let go of."""


class Feathers:
    """An embedding model."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._hashed = HashEmbeddings()

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, one for each text."""
        return await self._hashed.embed(texts)

    async def close(self) -> None:
        """Nothing to let go of."""


def _chat(name: str) -> ChatModel:
    return Parrot(name)


def _embed(name: str) -> EmbedModel:
    return Feathers(name)


PROVIDER = Provider(
    chat=_chat,
    embed=_embed,
    forms={"parrot:NAME": "answers without meaning, as an example"},
    state=lambda: "nothing is needed",
    vectors_for=lambda name: "parrot:feathers",
)
