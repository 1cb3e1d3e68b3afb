"""What would have come to mind at the moments of a run, had it been recalled in other ways: the
memories as they were then, scored again. Nothing is asked: all vectors are in the recording.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simcounsel.agents.accessibility import Moment
from simcounsel.agents.resident import Resident
from simcounsel.engine.observers import Observers
from simcounsel.errors import RunError
from simcounsel.events import Entry, Hit, Recalled, Remembered, TickEnded
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.runs.sources import recorded_vectors
from simcounsel.specs.vocabulary import Emotion
from simcounsel.specs.world_settings import MemorySettings

SPEAK = "speak"
"""The purpose of what is recalled before a line."""


@dataclass(frozen=True, kw_only=True)
class Recollected:
    """One moment before a line, recalled in several ways."""

    seq: int
    """Of the event in which the run noted what came to mind."""
    tick: int
    """When it was."""
    chat: str
    """The conversation."""
    query: str
    """What was just said, or whom it is and where before the first line."""
    emotion: Emotion
    """What was felt, as recall takes it."""
    hits: Mapping[str, tuple[Hit, ...]]
    """By way, the best of both stores."""
    texts: Mapping[str, tuple[str, ...]]
    """By way, what these memories say, best first, each once."""


def recalled_in_ways(
    run: Run, who: str, ways: Mapping[str, MemorySettings]
) -> Iterator[Recollected]:
    """Every moment before a line of a resident, in order. ways: by name, how it is recalled.

    All ways have the same memories before them, as they were in the run, and the same that was
    said and felt; what came to mind a line ago stands back in none. A moment whose vector is not in
    the recording is left out. RunError when that of a memory is not.
    """
    history = History.of(run)
    chats = _before_lines(history, who)
    vectors = recorded_vectors(run, ("remember", SPEAK))
    spec = next(one for one in run.world.residents if one.name == who)
    resident, observers = Resident(spec, run.world, vectors), Observers(run.world)
    held_back: list[Entry] = []
    for entry in history.log.entries():
        event = entry.event
        told = observers.of(event)
        before_a_line = entry.seq in chats
        if held_back and (
            isinstance(event, TickEnded)
            or (before_a_line and chats[entry.seq] != chats[held_back[0].seq])
        ):
            for one in held_back:
                resident.observe(one)
            held_back = []
        if isinstance(event, Recalled) and before_a_line and event.query in vectors:
            moment = Moment(chat=chats[entry.seq], emotion=event.emotion)
            hits = {
                way: resident.memory.recall(
                    vectors[event.query], event.emotion, entry.minute, moment, settings
                )
                for way, settings in ways.items()
            }
            yield Recollected(
                seq=entry.seq,
                tick=entry.tick,
                chat=chats[entry.seq],
                query=event.query,
                emotion=event.emotion,
                hits=hits,
                texts={way: resident.memory.texts(found) for way, found in hits.items()},
            )
        # what came to mind in a conversation is fresh again once it is over, as in the run
        if before_a_line:
            held_back.append(entry)
        elif who in told:
            _check_vector(run, entry, vectors)
            resident.observe(entry)


def _before_lines(history: History, who: str) -> dict[int, str]:
    """The conversation of each event in which somebody recalled before a line, by its number."""
    return {
        line.recalled.seq: held.id
        for held in history.conversations()
        if who in held.who
        for line in held.lines
        if line.recalled is not None and line.who == who
    }


def _check_vector(run: Run, entry: Entry, vectors: Mapping[str, object]) -> None:
    if isinstance(entry.event, Remembered) and entry.event.memory.text not in vectors:
        raise RunError(
            f"{run.folder}/calls.jsonl: lacks the vector of {entry.event.memory.text!r}; put the"
            " file back as it was, or leave this run out"
        )
