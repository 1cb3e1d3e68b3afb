"""Search by meaning: the memories of a run that are nearest to some words.

All that somebody did, saw, said, heard, planned and concluded is a memory with a vector. The
vectors are those that the run recorded; the words get theirs from the same model. RUN/memory/ is an
index of them in Chroma. It is derived from the log, made by the first search and brought up to date
by the next ones; nothing reads it back into a run, since recall must be exact (see
`agents.recall`).
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from simcounsel.errors import RunError
from simcounsel.events import Entry, Remembered
from simcounsel.llm.catalog import open_embed
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import ask, embedding
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.models import source_of
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.runs.sources import recorded_vectors

if TYPE_CHECKING:  # Chroma takes a second to import
    import numpy as np
    from chromadb import Collection

FOLDER, COLLECTION = "memory", "memories"
MOST = 20
"""Memories that are found, unless somebody asks for more."""
BATCH = 512
WAIT_S = 600
"""How long to wait for another process that makes the same index."""
_CHROMA = Lock()
"""Threads share Chroma's clients, which it opens and closes without a lock."""
ALIKE = 8
"""So many times as many are looked up: the same words are told once, whoever remembers them and
however often."""


@dataclass(frozen=True, kw_only=True)
class Near:
    """A memory that is near to the words."""

    nearness: float
    """Cosine of the two vectors; 1 is the same meaning."""
    who: tuple[str, ...]
    """Who remember it."""
    type: str
    """Of memory: event, chat, day_plan, slot, thought."""
    text: str
    times: int
    """At how many times the same words were laid down, as far as was looked up."""
    seq: int
    """`seq`, `tick`, `minute`, `chat`, `message`: of the first of them."""
    tick: int
    minute: int
    chat: str | None
    message: int | None


@dataclass(frozen=True, kw_only=True)
class Nearest:
    """What a search found in a run."""

    model: str
    """That made the vectors."""
    memories: int
    """That were searched."""
    found: tuple[Near, ...]
    """The nearest first."""
    note: str
    """What must be known of vectors by this model; '' where nothing must."""


class MeaningSearch:
    """Searches runs, and keeps the models for vectors open between two searches."""

    def __init__(self) -> None:
        self._models: dict[str, Switchboard] = {}
        self._opening = Lock()

    def search(
        self,
        run: Run,
        words: str,
        *,
        log: Log | None = None,
        who: str | None = None,
        most: int = MOST,
    ) -> Nearest:
        """The memories that are nearest to the words, by the vectors of the run's own model. log:
        the run's, if it is read already. who: only what this resident remembers. RunError when a
        vector is missing, the index cannot be written or Chroma is not installed; ModelError,
        WeightsError when the words get no vector.
        """
        need_chroma()
        if log is None:
            log = Log(run.folder)
            log.refresh()
        model = vectors_of(run)
        vector = self._vector(model, words)
        with _CHROMA, _opened(_made(run, log)) as index:
            count = index.count()
            found = tuple(_nearest(index, vector, who, most)) if count else ()
        return Nearest(model=model, memories=count, found=found, note=_note(run, model))

    def _vector(self, model: str, words: str) -> "np.ndarray":
        with self._opening:
            if model not in self._models:
                self._models[model] = Switchboard({}, open_embed(model))
            models = self._models[model]
        vector: np.ndarray = models.ask({"search": ask(embedding("search", "everyone", (words,)))})[
            "search"
        ].value.value[0]
        return vector

    def close(self) -> None:
        """Let go of the models. What needs a thread for that is left to the end of the process."""
        while self._models:
            with suppress(RuntimeError):
                self._models.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def need_chroma() -> None:
    """RunError, with the extra that brings it, where Chroma is not installed."""
    if find_spec("chromadb") is None:
        raise RunError("search by meaning needs Chroma: pip install 'simcounsel[search]'")


def vectors_of(run: Run) -> str:
    """The model that made the vectors of a run, or of the one that it replays."""
    return source_of(run).manifest.models["embed"]


def may_cost(model: str) -> bool:
    """Whether a vector of this model may cost money."""
    return Prices.load().cost_usd(model, 1_000_000, 0) != 0


def _note(run: Run, model: str) -> str:
    if model == "scripted":
        return "its vectors know which words are shared, and nothing of their meaning"
    if model == "embedded" and run.world.language != "en":
        return "its vectors know English alone"
    return ""


def _made(run: Run, log: Log) -> Path:
    """The folder of the index, as the log is now; an index that cannot be read is made again."""
    folder = run.folder / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock", timeout=WAIT_S):
            if not _is_database(folder / "chroma.sqlite3"):
                _cleared(folder)
            try:
                _update(folder, run, log)
            except (RunError, OSError):
                raise
            except Exception:  # Chroma's, of many kinds
                _cleared(folder)
                _update(folder, run, log)
    except Timeout:
        raise RunError(f"{folder}: another process is making this index; try again") from None
    except OSError as error:
        raise RunError(
            f"{folder}: cannot be written ({error.strerror or error}); copy the run to where you"
            " may write"
        ) from None
    return folder


def _cleared(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def _is_database(file: Path) -> bool:
    """Whether Chroma may open it: what is none leaves a broken client in the process."""
    if not file.is_file():
        return False
    with file.open("rb") as data:
        return data.read(16) == b"SQLite format 3\0"


@contextmanager
def _opened(folder: Path) -> Iterator["Collection"]:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    client: Any = chromadb.PersistentClient(str(folder), settings=settings)
    try:
        yield client.get_or_create_collection(
            COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
    finally:
        client.close()


def _update(folder: Path, run: Run, log: Log) -> None:
    """Take in what is new in the log, and drop what is not there any more (`resume --from`)."""
    ended = log.fields(("tick_ended",), since_tick=max(0, log.ticks - 1))
    state = str(next((fields["hash"] for fields in ended), ""))
    with _opened(folder) as index:
        if (index.metadata or {}).get("log") == state:
            return
        kept: Any = index.get(include=["documents", "metadatas"])
        known = {
            id: (text, held["seq"])
            for id, text, held in zip(
                kept["ids"], kept["documents"], kept["metadatas"], strict=True
            )
        }
        memories = {
            entry.event.memory.id: (entry, entry.event)
            for entry in log.entries(("remembered",))
            if isinstance(entry.event, Remembered)
        }
        if gone := [id for id in known if id not in memories]:
            index.delete(ids=gone)
        if new := [
            (entry, event)
            for id, (entry, event) in memories.items()
            if known.get(id) != (event.memory.text, entry.seq)
        ]:
            _add(index, run, new)
        index.modify(metadata={"log": state})


def _add(index: "Collection", run: Run, new: Sequence[tuple[Entry, Remembered]]) -> None:
    vectors = recorded_vectors(run)
    for entry, event in new:
        if event.memory.text not in vectors:
            raise RunError(
                f"{run.folder / 'calls.jsonl'}: the vector of {event.memory.id} (tick {entry.tick})"
                f" is missing; `simcounsel resume {run.folder}` computes it again"
            )
    for at in range(0, len(new), BATCH):
        some = new[at : at + BATCH]
        index.upsert(
            ids=[event.memory.id for _, event in some],
            embeddings=[vectors[event.memory.text] for _, event in some],
            documents=[event.memory.text for _, event in some],
            metadatas=[_metadata(entry, event) for entry, event in some],
        )


def _metadata(entry: Entry, event: Remembered) -> dict[str, str | int]:
    fields: dict[str, str | int | None] = {
        "who": event.who,
        "type": event.memory.type,
        "seq": entry.seq,
        "tick": entry.tick,
        "minute": entry.minute,
        "chat": event.memory.chat,
        "message": event.memory.message,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _nearest(
    index: "Collection", vector: "np.ndarray", who: str | None, most: int
) -> Iterator[Near]:
    """The nearest first; the same words are told once."""
    reply: Any = index.query(
        query_embeddings=[vector],
        n_results=min(most * ALIKE, index.count()),
        where={"who": who} if who else None,
        include=["documents", "metadatas", "distances"],
    )
    [texts], [fields], [distances] = (reply[key] for key in ("documents", "metadatas", "distances"))
    alike: dict[str, list[tuple[float, dict[str, Any]]]] = {}
    for text, held, distance in zip(texts, fields, distances, strict=True):
        alike.setdefault(text, []).append((distance, held))
    for text, same in list(alike.items())[:most]:
        first = min((held for _, held in same), key=lambda held: held["seq"])
        yield Near(
            nearness=1 - same[0][0],
            who=tuple(sorted({held["who"] for _, held in same})),
            type=first["type"],
            text=text,
            times=len({held["tick"] for _, held in same}),
            seq=first["seq"],
            tick=first["tick"],
            minute=first["minute"],
            chat=first.get("chat"),
            message=first.get("message"),
        )
