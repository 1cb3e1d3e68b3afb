"""The memories on disk, in Chroma: for looking things up afterwards. Derived from the log, never read back
into a run, since ranking must be exact (see `agents.recall`)."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from simcounsel.events import Entry, Memory

log = logging.getLogger(__name__)
BATCH = 512
COLLECTION = "memories"


class Archive:
    """Writes memories to Chroma in batches; what a crash kept from it is written after the resume.

    A run without a readable archive is still complete: the log is what counts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._waiting: list[tuple[str, Memory, Entry, np.ndarray]] = []
        self._collection: Any = None

    def add(self, who: str, memory: Memory, entry: Entry, vector: np.ndarray) -> None:
        """Take a memory for the next batch."""
        self._waiting.append((who, memory, entry, vector))

    def mark_known(self) -> None:
        """After a resume: of what is waiting, leave out what the disk already has."""
        collection = self._open()
        known = set(collection.get(include=[])["ids"]) if collection.count() else set()
        self._waiting = [item for item in self._waiting if item[1].id not in known]

    def tick_ended(self) -> None:
        """Write when a batch is full."""
        if len(self._waiting) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write everything that waits."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        self._open().upsert(
            ids=[memory.id for _, memory, _, _ in waiting],
            embeddings=np.stack([vector for _, _, _, vector in waiting]),
            documents=[memory.text for _, memory, _, _ in waiting],
            metadatas=[_metadata(who, memory, entry) for who, memory, entry, _ in waiting],
        )

    def close(self) -> None:
        """Write the rest. A full disk here costs the archive, not the run: it says so and goes on."""
        try:
            self.flush()
        except Exception as error:
            log.warning("%s: the memories could not be written (%s); the log is complete, `resume` writes them", self.folder, error)
        self._collection = None

    def _open(self) -> Any:
        if self._collection is None:
            import chromadb
            from chromadb.config import Settings

            client = chromadb.PersistentClient(str(self.folder), settings=Settings(anonymized_telemetry=False))
            self._collection = client.get_or_create_collection(
                COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._collection


def _metadata(who: str, memory: Memory, entry: Entry) -> dict[str, str | int]:
    fields: dict[str, str | int | None] = {
        "who": who, "type": memory.type, "store": "long" if memory.long_term else "short", "origin": memory.origin,
        "tick": entry.tick, "minute": entry.minute, "emotion": memory.emotion, "intensity": memory.intensity,
        "poignancy": memory.poignancy, "place": memory.place, "chat": memory.chat,
    }
    return {key: value for key, value in fields.items() if value is not None}
