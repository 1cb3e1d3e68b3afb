"""The memories of a run in Chroma, for looking things up afterwards.

    memory_index(Run.open("runs/NAME")).query(query_embeddings=..., where={"who": "Ines"})

An index that is derived from the log and can be made anew at any time: nothing reads it back into a
run, since recall must be exact (see `agents.recall`), so a run does not wait for it.
"""

from typing import TYPE_CHECKING

from simcounsel.errors import RunError
from simcounsel.events import Entry, Memory, Remembered
from simcounsel.runs.run import Run
from simcounsel.runs.sources import recorded_vectors

if TYPE_CHECKING:  # Chroma takes a second to import
    from chromadb import Collection

COLLECTION = "memories"
FOLDER = "memory"
BATCH = 512


def memory_index(run: Run) -> "Collection":
    """The collection in the run's folder, brought up to date with its log: the id, text and vector
    of each memory, with whose it is, its kind, when and where it was laid down, and what it felt
    like. RunError when the vector of a memory is not among the recorded calls.
    """
    collection = _opened(run)
    known = set(collection.get(include=[])["ids"])
    new = [
        (entry, entry.event.who, entry.event.memory)
        for entry in run.entries()
        if isinstance(entry.event, Remembered) and entry.event.memory.id not in known
    ]
    vectors = recorded_vectors(run) if new else {}
    for entry, _, memory in new:
        if memory.text not in vectors:
            raise RunError(
                f"{run.folder / 'calls.jsonl'}: the vector of {memory.id} (tick {entry.tick}) is"
                " missing; without it there is no index"
            )
    for at in range(0, len(new), BATCH):
        some = new[at : at + BATCH]
        collection.add(
            ids=[memory.id for _, _, memory in some],
            embeddings=[vectors[memory.text] for _, _, memory in some],
            documents=[memory.text for _, _, memory in some],
            metadatas=[_metadata(who, memory, entry) for entry, who, memory in some],
        )
    return collection


def _opened(run: Run) -> "Collection":
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(
        str(run.folder / FOLDER), settings=Settings(anonymized_telemetry=False)
    )
    return client.get_or_create_collection(
        COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )


def _metadata(who: str, memory: Memory, entry: Entry) -> dict[str, str | int]:
    fields: dict[str, str | int | None] = {
        "who": who,
        "type": memory.type,
        "store": "long" if memory.long_term else "short",
        "origin": memory.origin,
        "tick": entry.tick,
        "minute": entry.minute,
        "emotion": memory.emotion,
        "intensity": memory.intensity,
        "poignancy": memory.poignancy,
        "place": memory.place,
        "chat": memory.chat,
    }
    return {key: value for key, value in fields.items() if value is not None}
