"""Vectors of memories that a run's recording has lost: computed again, by the same model."""

import logging
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from simcounsel.errors import RunError
from simcounsel.events import Remembered
from simcounsel.llm.question import ask, embedding
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.run import Run
from simcounsel.runs.sources import replayed_by

if TYPE_CHECKING:
    import numpy as np

log = logging.getLogger(__name__)


def recompute(
    run: Run, models: Switchboard, vectors: "Mapping[str, np.ndarray]", until_tick: int
) -> "dict[str, np.ndarray]":
    """The vectors of what was laid down in ticks before `until_tick` and is not among `vectors`,
    asked for and recorded as they were when it was lived. RunError in a replay, which has no model
    of its own.
    """
    found: dict[str, np.ndarray] = {}
    for tick, texts in _laid_down(run, until_tick):
        if all(text in vectors or text in found for text in texts):
            continue
        if (source := replayed_by(run)) is not None:
            raise RunError(
                f"{run.folder}: it replays {source}, whose calls.jsonl lacks the vector of"
                f" {texts[0]!r}; put that file back as it was, or `simcounsel resume {source}`"
            )
        models.begin_tick(tick)
        question = embedding("remember", "everyone", texts)
        reply = models.ask({"remember": ask(question)})["remember"].value
        found.update(zip(texts, reply.value, strict=True))
    if found:
        log.warning(
            "%s: the vectors of %d memories were lost; they were computed again by %s",
            run.folder / "calls.jsonl",
            len(found),
            models.embed.name,
        )
    return found


def _laid_down(run: Run, until_tick: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The texts whose vectors were asked for at once, each with their tick: what was laid down
    without anything else between.
    """
    entries = run.entries(until_tick=until_tick)
    for (tick, together), group in groupby(
        entries, key=lambda entry: (entry.tick, isinstance(entry.event, Remembered))
    ):
        if together:
            events = (entry.event for entry in group)
            texts = {event.memory.text for event in events if isinstance(event, Remembered)}
            yield tick, tuple(sorted(texts))
