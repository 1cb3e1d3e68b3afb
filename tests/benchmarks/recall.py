"""Exact recall over many memories: latency and memory, beside LangChain's time-weighted retriever and a plain Python loop.

    python tests/benchmarks/recall.py [--quick] [--n 1000 10000 100000] [--dimensions 384]

Each figure comes from a process of its own: the median of several recalls after one to warm up, and
what the filled store added to the process's resident memory. All three hold the same texts and the
same unit vectors. LangChain's `TimeWeightedVectorStoreRetriever` (langchain_classic, over its
in-memory vector store) looks only at the last 5 and at the 100 nearest by cosine and knows recency
and one more number; ours and the loop score every memory with all five terms, and must agree.
"""

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import time
import warnings
from array import array
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from simcounsel.agents.emotion import RELEVANCE  # noqa: E402
from simcounsel.agents.recall import Store  # noqa: E402
from simcounsel.events import Memory  # noqa: E402
from simcounsel.specs.vocabulary import EMOTIONS  # noqa: E402
from simcounsel.specs.world_settings import MemorySettings  # noqa: E402
from tests.benchmarks.measured import _resident_kb  # noqa: E402

SETTINGS = MemorySettings(short_term_hours=10**6)
WANTED_MS = 2.0
MOST_REPEATS = 101
Recall = Callable[[np.ndarray], list[str]]


def memories(n: int) -> list[Memory]:
    """`n` events with drawn feelings, one a minute."""
    rng = random.Random(n)
    return [
        Memory(
            id=f"Ines:{index}",
            type="event",
            text=f"Ines notices thing number {index} in the garden.",
            emotion=rng.choice(EMOTIONS),
            intensity=rng.randint(1, 10),
            poignancy=rng.randint(1, 10),
            place="Garden",
            origin="sight",
        )
        for index in range(n)
    ]


def unit_vectors(n: int, dimensions: int) -> np.ndarray:
    """Random directions, float32."""
    made = np.random.default_rng(n).standard_normal((n, dimensions), dtype=np.float32)
    unit: np.ndarray = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


def ours(held: list[Memory], vectors: np.ndarray) -> Recall:
    """The engine's store."""
    store = Store()
    for minute, (memory, vector) in enumerate(zip(held, vectors, strict=True)):
        store.add(memory, vector, minute)
    return lambda query: [hit.id for hit in store.recall(query, "fear", len(held), SETTINGS)]


def plain(held: list[Memory], vectors: np.ndarray) -> Recall:
    """The same scores in a loop."""
    rows = [array("f", vector) for vector in vectors]
    w, wheel = SETTINGS.weights, dict(zip(EMOTIONS, RELEVANCE[EMOTIONS.index("fear")], strict=True))

    def recall(query: np.ndarray) -> list[str]:
        wanted, scored = query.tolist(), []
        for minute, (memory, row) in enumerate(zip(held, rows, strict=True)):
            cosine = math.fsum(a * b for a, b in zip(wanted, row, strict=True))
            score = (
                w.recency * SETTINGS.decay_per_hour ** ((len(held) - minute) / 60)
                + w.poignancy * (memory.poignancy or 0) / 10
                + w.emotion_score * (memory.intensity or 0) / 10
                + w.emotion_relevance * wheel[memory.emotion or "neutral"]
                + w.relevance * min(1, max(0, cosine))
            )
            scored.append((-round(score, 4), minute, memory.id))
        return [found for _, _, found in sorted(scored)[: SETTINGS.top_k]]

    return recall


def langchain(held: list[Memory], vectors: np.ndarray) -> Recall:
    """LangChain's retriever, with poignancy as its other score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    class Known(Embeddings):
        """Vectors that are known already, so that no time goes into making them."""

        waiting: np.ndarray = vectors

        def embed_documents(self, texts: list[str]) -> Any:
            return self.waiting[: len(texts)]

        def embed_query(self, text: str) -> Any:
            return self.waiting

    known = Known()
    retriever = TimeWeightedVectorStoreRetriever(
        vectorstore=InMemoryVectorStore(known),
        other_score_keys=["poignancy"],
        decay_rate=1 - SETTINGS.decay_per_hour,
        k=SETTINGS.top_k,
        search_kwargs={"k": 100},
    )
    retriever.vectorstore._select_relevance_score_fn = lambda: lambda score: max(0.0, score)  # type: ignore[method-assign]
    now = datetime.now()
    documents = [
        Document(
            page_content=m.text,
            metadata={
                "id": m.id,
                "poignancy": (m.poignancy or 0) / 10,
                "last_accessed_at": now - timedelta(minutes=len(held) - i),
            },
        )
        for i, m in enumerate(held)
    ]
    retriever.add_documents(documents, current_time=now)

    def recall(query: np.ndarray) -> list[str]:
        known.waiting = query
        return [document.metadata["id"] for document in retriever.invoke("What does Ines fear?")]

    return recall


WAYS = {"ours": ours, "langchain": langchain, "plain loop": plain}


def measured(way: str, n: int, dimensions: int, repeats: int) -> dict[str, Any]:
    """Milliseconds of a recall, MB that the store added, and what was recalled first of all."""
    WAYS[way](memories(8), unit_vectors(8, dimensions))(unit_vectors(3, dimensions)[0])
    vectors, queries = (
        unit_vectors(n, dimensions),
        unit_vectors(MOST_REPEATS + 1, dimensions)[: repeats + 1],
    )
    before_kb = _resident_kb()
    recall = WAYS[way](memories(n), vectors)
    memory_mb = (_resident_kb() - before_kb) / 1024
    first = recall(queries[0])
    took = []
    for query in queries[1:]:
        started = time.perf_counter()
        recall(query)
        took.append((time.perf_counter() - started) * 1e3)
    return {
        "ms": statistics.median(took),
        "best_ms": min(took),
        "memory_mb": memory_mb,
        "first": first,
    }


def _apart(way: str, n: int, dimensions: int, repeats: int) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.recall",
        "--one",
        way,
        "--n",
        str(n),
        "--dimensions",
        str(dimensions),
        "--repeats",
        str(repeats),
    ]
    done = subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, timeout=600
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(given: list[str] | None = None) -> None:
    """Print the table, then whether the wanted figure is reached."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="only to see that it runs: 50 memories, in one process"
    )
    parser.add_argument("--n", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=None)
    parser.add_argument("--one", choices=tuple(WAYS), help=argparse.SUPPRESS)
    told = parser.parse_args(given)
    if told.one:
        print(json.dumps(measured(told.one, told.n[0], told.dimensions, told.repeats)))
        return
    sizes = [50] if told.quick else told.n
    print(
        "".join(
            f"{title:>14}"
            for title in ("memories", "way", "median ms", "best ms", "store MB", "same as loop")
        )
    )
    verdicts: list[str] = []
    for n in sizes:
        one = measured if told.quick else _apart
        found = {
            way: one(
                way, n, told.dimensions, told.repeats or (MOST_REPEATS if way == "ours" else 5)
            )
            for way in WAYS
        }
        for way, figures in found.items():
            same = "yes" if figures["first"] == found["plain loop"]["first"] else "no"
            cells = (
                n,
                way,
                f"{figures['ms']:.3f}",
                f"{figures['best_ms']:.3f}",
                f"{figures['memory_mb']:.1f}",
                same,
            )
            print("".join(f"{cell:>14}" for cell in cells), flush=True)
        if n in (10_000, sizes[0] if told.quick else 0):
            took = found["ours"]["ms"]
            verdicts.append(
                f"{'reached' if took < WANTED_MS else 'NOT reached':>12}  exact recall under {WANTED_MS:g} ms at {n:,} memories: {took:.2f} ms"
            )
    print()
    print("\n".join(verdicts))


if __name__ == "__main__":
    main()
