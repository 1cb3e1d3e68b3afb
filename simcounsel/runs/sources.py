"""Where the replies and vectors of a run are recorded: in its own calls.jsonl, and in those of the
runs that it replays.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from simcounsel.errors import RunError
from simcounsel.runs.calls import decode_vectors
from simcounsel.runs.record import Record, open_record

if TYPE_CHECKING:
    import numpy as np


def recordings(run: Record[Any]) -> Iterator[Record[Any]]:
    """The runs whose calls.jsonl hold the replies and vectors of this one: itself, and before it
    the run that it replays, if it is one of `recorded:RUN`.
    """
    source = replayed_by(run)
    if source is not None:
        yield from recordings(open_record(source))
    yield run


def replayed_runs(run: Record[Any]) -> tuple[Record[Any], ...]:
    """The runs that it replays, where they are still there; () where it asked models of its own."""
    try:
        return tuple(recordings(run))[:-1]
    except RunError:
        return ()


def replayed_by(run: Record[Any]) -> str | None:
    """The folder of the run that it replays; None when it asked models of its own."""
    return next(
        (
            spec.removeprefix("recorded:")
            for spec in run.manifest.models.values()
            if spec.startswith("recorded:")
        ),
        None,
    )


def recorded_vectors(
    run: Record[Any], purposes: Collection[str] = ("remember",)
) -> "dict[str, np.ndarray]":
    """The unit vector of every text that was laid down in a memory, or was embedded for one of
    these purposes, out of the recorded calls; those of a line that is damaged are not there.
    """
    found: dict[str, np.ndarray] = {}
    for call in (call for source in recordings(run) for call in source.calls()):
        if call.get("purpose") in purposes and (vectors := _vectors_of(call)) is not None:
            found.update(zip(call["texts"], vectors, strict=True))
    return found


def vectors_lost(call: Mapping[str, Any]) -> bool:
    """Whether a call for vectors brought none that can be read."""
    return call.get("verb") == "embed" and _vectors_of(call) is None


def _vectors_of(call: Mapping[str, Any]) -> "np.ndarray | None":
    """The vectors that a call brought; None where it brought none, or they cannot be read."""
    if call.get("verb") != "embed" or call.get("given_up"):
        return None
    try:
        return decode_vectors(call["vectors"], len(call["texts"]))
    except (KeyError, TypeError, ValueError):
        return None
