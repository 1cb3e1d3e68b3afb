"""The memories on disk, in Chroma: for looking things up afterwards. Derived from the log, never
read back into a run, since ranking must be exact (see `agents.recall`).
"""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from simcounsel.events import Entry, Memory

log = logging.getLogger(__name__)
BATCH = 512
SOME = 128
"""So many are written at a time while replies are awaited. A call of Chroma takes 20 ms and half a
millisecond each, and holds Python up.
"""
COLLECTION = "memories"


class Archive:
    """Writes memories to Chroma in batches; what a crash kept from it is written after the resume.

    A run without a readable archive is still complete: the log is what counts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._waiting: list[tuple[str, Memory, Entry, np.ndarray]] = []
        self._collection: Any = None
        self._complete = 0
        self._trouble = False

    def add(self, who: str, memory: Memory, entry: Entry, vector: np.ndarray) -> None:
        """Take a memory for the next batch."""
        self._waiting.append((who, memory, entry, vector))

    def mark_known(self) -> None:
        """After a resume: of what is waiting, leave out what the disk already has."""
        self._complete = len(self._waiting)
        try:
            known = set(self._open().get(include=[])["ids"])
        except Exception as error:
            self._trouble = True
            log.debug("%s: %s", self.folder, error)
            return
        self._waiting = [item for item in self._waiting if item[1].id not in known]
        self._complete = len(self._waiting)

    def tick_ended(self) -> None:
        """What waits is in the log now; write when a batch is full."""
        self._complete = len(self._waiting)
        if self._complete >= BATCH and not self._trouble:
            self._try(self._complete)

    @property
    def ready(self) -> bool:
        """Whether there is enough to write for `work`."""
        return self._complete >= SOME and not self._trouble

    def work(self) -> None:
        """Write a few while replies are awaited."""
        self._try(SOME)

    def _try(self, count: int) -> None:
        """Write; after the first trouble (a full disk) nothing more is tried until `close`, which
        tells.
        """
        try:
            self._write(count)
        except Exception as error:
            self._trouble = True
            log.debug("%s: %s", self.folder, error)

    def flush(self) -> None:
        """Write everything that waits and is in the log: a tick that was broken off is lived
        again.
        """
        self._write(self._complete)

    def _write(self, count: int) -> None:
        waiting = self._waiting[:count]
        if not waiting:
            return
        self._open().add(
            ids=[memory.id for _, memory, _, _ in waiting],
            embeddings=np.stack([vector for _, _, _, vector in waiting]),
            documents=[memory.text for _, memory, _, _ in waiting],
            metadatas=[_metadata(who, memory, entry) for who, memory, entry, _ in waiting],
        )
        del self._waiting[:count]
        self._complete -= count

    def close(self) -> None:
        """Write the rest. A full disk here costs the archive, not the run: it says so and goes
        on.
        """
        try:
            self.flush()
        except Exception as error:
            log.warning(
                "%s: the memories could not be written (%s); the log is complete, `resume` writes"
                " them",
                self.folder,
                error,
            )
        self._collection = None

    def _open(self) -> Any:
        if self._collection is None:
            import chromadb
            from chromadb.config import Settings

            client = chromadb.PersistentClient(
                str(self.folder), settings=Settings(anonymized_telemetry=False)
            )
            self._collection = client.get_or_create_collection(
                COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._collection


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
