"""What comes to mind: exact scores over all memories (SimCounsel, appendix A.1.2 and A.1.3).

    score = w_recency r + w_poignancy p + w_emotion_score e + w_emotion_relevance m + w_relevance c

Each term lies in [0, 1] and the weights add up to 1, so scores lie in [0, 1]. recency r is
decay ** hours since the memory was last recalled (or laid down); p and e are poignancy and
intensity divided by 10, 0 for plans; m is nearness on Plutchik's wheel to the present emotion;
c is the cosine to the query, clipped at 0.

`recall: generative_agents` scores as Park et al. 2023 publish it (section 4.1): recency, importance
(poignancy) and relevance, each scaled to [0, 1] over the candidates (0 the least, 1 the most; 0.5
where all are alike), count alike; their mean is the score.

The best of what `accessibility` lets through come to mind.
"""

from dataclasses import dataclass, replace

import numpy as np

from simcounsel.agents.accessibility import NOWHERE, Access, Moment
from simcounsel.agents.emotion import RELEVANCE
from simcounsel.events import Hit, Memory
from simcounsel.specs.vocabulary import EMOTIONS, Emotion
from simcounsel.specs.world_settings import MemorySettings

_RELEVANCE = np.array(RELEVANCE, dtype=np.float32)
_INDEX = {emotion: index for index, emotion in enumerate(EMOTIONS)}
_SIZE = 64
_TERMS = ("score", "recency", "poignancy", "emotion_score", "emotion_relevance", "relevance")


@dataclass(frozen=True, kw_only=True)
class RecallTerms:
    """The five terms and the score of each memory of a store, float32, shape (n,)."""

    recency: np.ndarray
    poignancy: np.ndarray
    emotion_score: np.ndarray
    emotion_relevance: np.ndarray
    relevance: np.ndarray
    cosine: np.ndarray
    """Relevance before it was clipped."""
    score: np.ndarray


class Store:
    """One kind of memory (short-term or long-term) in columns that grow, oldest first."""

    def __init__(self) -> None:
        self.memories: list[Memory] = []
        self._vectors = np.zeros((0, 0), dtype=np.float32)
        self._made = np.zeros(_SIZE, dtype=np.int64)
        self._last = np.zeros(_SIZE, dtype=np.int64)
        self._poignancy = np.zeros(_SIZE, dtype=np.float32)
        self._intensity = np.zeros(_SIZE, dtype=np.float32)
        self._emotion = np.zeros(_SIZE, dtype=np.int64)
        self.access = Access()
        self._at: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.memories)

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._at

    def made(self, memory_id: str) -> int:
        """When the memory was laid down, in minutes since day 0; KeyError when there is none."""
        return int(self._made[self._at[memory_id]])

    def get(self, memory_id: str) -> Memory:
        """The memory of that id; KeyError when there is none."""
        return self.memories[self._at[memory_id]]

    def vector(self, memory_id: str) -> np.ndarray:
        """Its unit vector."""
        row: np.ndarray = self._vectors[self._at[memory_id]]
        return row

    def add(self, memory: Memory, vector: np.ndarray, minute: int, last: int | None = None) -> None:
        """Lay a memory down at `minute`. last: when it was last on one's mind; None: just now."""
        row = len(self.memories)
        self._grow(row, vector.shape[0])
        self._vectors[row] = vector
        self._made[row], self._last[row] = minute, minute if last is None else last
        self._poignancy[row] = (memory.poignancy or 0) / 10
        self._intensity[row] = (memory.intensity or 0) / 10
        self._emotion[row] = _INDEX[memory.emotion or "neutral"]
        self.access.add(memory)
        self._at[memory.id] = row
        self.memories.append(memory)

    def _grow(self, row: int, dimensions: int) -> None:
        if self._vectors.shape[1] != dimensions:
            self._vectors = np.zeros((len(self._made), dimensions), dtype=np.float32)
        if row < len(self._made):
            return
        self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        for name in ("_made", "_last", "_poignancy", "_intensity", "_emotion"):
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.zeros_like(column)]))

    def touch(self, memory_id: str, minute: int) -> None:
        """Note that a memory was recalled."""
        self._last[self._at[memory_id]] = minute

    def since(self, minute: int) -> int:
        """The index of the first memory that is not older than `minute`."""
        return int(np.searchsorted(self._made[: len(self.memories)], minute, side="left"))

    def terms(
        self,
        query: np.ndarray,
        emotion: Emotion,
        minute: int,
        settings: MemorySettings,
        first: int = 0,
    ) -> RecallTerms:
        """Terms and scores of the memories from index `first` on."""
        rows = slice(first, len(self.memories))
        hours = (minute - self._last[rows]).astype(np.float32) / 60
        recency = np.power(np.float32(settings.decay_per_hour), np.maximum(hours, 0))
        # not `@`: the threads of a BLAS stall for ten milliseconds on a busy machine
        cosine = np.einsum("ij,j->i", self._vectors[rows], query)
        relevance = np.clip(cosine, 0, 1)
        nearness = _RELEVANCE[_INDEX[emotion]][self._emotion[rows]]
        poignancy, intensity = self._poignancy[rows], self._intensity[rows]
        w = settings.weights
        score = (
            np.float32(w.recency) * recency
            + np.float32(w.poignancy) * poignancy
            + np.float32(w.emotion_score) * intensity
            + np.float32(w.emotion_relevance) * nearness
            + np.float32(w.relevance) * relevance
        )
        return RecallTerms(
            recency=recency,
            poignancy=poignancy,
            emotion_score=intensity,
            emotion_relevance=nearness,
            relevance=relevance,
            cosine=cosine,
            score=score,
        )

    def recall(
        self,
        query: np.ndarray,
        emotion: Emotion,
        minute: int,
        settings: MemorySettings,
        *,
        oldest: int | None = None,
        moment: Moment = NOWHERE,
    ) -> tuple[Hit, ...]:
        """The best `top_k` of what is accessible, best first; of equal scores the older one.
        `oldest`: leave out what was laid down before that minute."""
        first = 0 if oldest is None else self.since(oldest)
        if first >= len(self.memories):
            return ()
        terms = self.terms(query, emotion, minute, settings, first)
        relevance = np.round(terms.relevance, 4)
        rows = self.access.rows(relevance, settings, moment, first)
        if not len(rows):
            return ()
        if settings.recall == "generative_agents":
            terms = replace(terms, score=_as_published(terms, rows))
        back = self.access.stand_back(rows, relevance, settings, moment, first)
        score = np.round(terms.score[rows], 4)
        best = _best(score - 2 * back, settings.top_k)  # behind all others, whose scores are 0 to 1
        best = rows[best[np.argsort(-score[best], kind="stable")]]
        ids = [self.memories[first + i].id for i in best.tolist()]
        columns = [
            [_short(value) for value in getattr(terms, name)[best].tolist()] for name in _TERMS
        ]
        return tuple(
            Hit(id=found, **dict(zip(_TERMS, row, strict=True)))
            for found, *row in zip(ids, *columns, strict=True)
        )


def _as_published(terms: RecallTerms, rows: np.ndarray) -> np.ndarray:
    """Park et al.'s score of the candidates in `rows`, in [0, 1]; 0 for all others."""
    score = np.zeros_like(terms.score)
    for term in (terms.recency, terms.poignancy, terms.cosine):
        own = term[rows]
        low, high = float(own.min()), float(own.max())
        score[rows] += (own - low) / (high - low) if high > low else 0.5
    return np.asarray(score / 3, dtype=np.float32)


def _best(values: np.ndarray, k: int) -> np.ndarray:
    """The places of the k largest, in their order; of equals the first."""
    k = min(k, len(values))
    threshold = np.partition(values, len(values) - k)[len(values) - k]
    near = np.flatnonzero(values >= threshold)
    return np.sort(near[np.argsort(-values[near], kind="stable")][:k])


def _short(value: float) -> float:
    """Four decimals: what the log holds, and what ranking sees."""
    short = round(value, 4)
    return short if 0.0 < short <= 1.0 else float(short > 1.0)
