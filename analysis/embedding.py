"""Functions from texts to vectors, of any model for embeddings."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.patterns import Embed
from simcounsel.llm.catalog import open_embed


def embedding(name: str) -> Embed:
    """Of the model of that name. ModelError, WeightsError when the model cannot be had."""
    model = open_embed(name)

    def embed(texts: Sequence[str]) -> np.ndarray:
        return np.asarray(
            model.embed_now(texts)
            if hasattr(model, "embed_now")
            else asyncio.run(model.embed(tuple(texts)))
        )

    return embed


def each_once(embed: Embed) -> Embed:
    """The same, with every text embedded only the first time."""
    known: dict[str, Any] = {}

    def again(texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        return np.array([known[text] for text in texts])

    return again
