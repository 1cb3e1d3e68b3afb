"""Neighbours of a session for the neighbourhood attack (Mattern et al. 2023): the same words but
for a few.

The authors refill masked words by a second language model. Here a word gives way to one that the
corpus has between the same two words, or else after the same word, else of the same length and
about as frequent: cheap and repeatable, and somewhat less fluent, so that the attack is weaker than
theirs. Where words come from: members and others alike, so that they betray nobody.
"""

import re
import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.specs.vocabulary import Role

WORD = re.compile(r"[⺀-鿿豈-﫿가-힯぀-ヿ]|[^\W_]+(?:['’][^\W_]+)*")
"""A word, or one character of a script that is written without spaces."""


@dataclass(frozen=True)
class Vocabulary:
    """How often words stand in a corpus, and which stand where; keys are in small letters."""

    counts: Mapping[str, int]
    between: Mapping[tuple[str, str], tuple[str, ...]]
    after: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, dialogues: Iterable[Dialogue], *speakers: Role) -> "Vocabulary":
        """Of what these speakers say; all if none is named."""
        counts: Counter[str] = Counter()
        between, after = defaultdict(set), defaultdict(set)
        for line in (line for one in dialogues for line in one.lines(*speakers)):
            words = ["", *(match.group().lower() for match in WORD.finditer(line)), ""]
            counts.update(words[1:-1])
            for left, word, right in zip(words, words[1:], words[2:], strict=False):
                between[left, right].add(word)
                after[left].add(word)
        return cls(
            counts,
            {key: tuple(sorted(found)) for key, found in between.items()},
            {key: tuple(sorted(found)) for key, found in after.items()},
        )

    def instead(self, left: str, word: str, right: str, rng: np.random.Generator) -> str | None:
        """Another word for this place, or None."""
        for found in (
            self.between.get((left, right), ()),
            self.after.get(left, ()),
            self._alike(word),
        ):
            others = [other for other in found if other != word]
            if others:
                return others[int(rng.integers(len(others)))]
        return None

    def _alike(self, word: str) -> Sequence[str]:
        """Words of the same length, the twenty nearest in frequency."""
        known = self._by_length.get(len(word), [])
        at = bisect_left(known, (self.counts.get(word, 0), word))
        return [other for _, other in known[max(0, at - 10) : at + 10]]

    @cached_property
    def _by_length(self) -> Mapping[int, list[tuple[int, str]]]:
        found: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        for word, count in self.counts.items():
            found[len(word)].append((count, word))
        return {length: sorted(words) for length, words in found.items()}


def neighbours(
    dialogue: Dialogue,
    vocabulary: Vocabulary,
    many: int,
    *,
    share: float = 0.15,
    seed: int = 0,
    speakers: Sequence[Role] = ("counselor",),
) -> list[Dialogue]:
    """`many` neighbours, `share` of the words of these speakers replaced in each, one at least;
    ids `ID~1`, `ID~2`, ...

    The same for the same dialogue and seed. Fewer (or none) if nothing can be replaced.
    """
    made = []
    for number in range(1, many + 1):
        rng = np.random.default_rng([seed, zlib.crc32(dialogue.id.encode()), number])
        turns = tuple(
            (
                turn.model_copy(update={"text": _replaced(turn.text, vocabulary, share, rng)})
                if turn.speaker in speakers
                else turn
            )
            for turn in dialogue.turns
        )
        if turns != dialogue.turns:
            made.append(
                dialogue.model_copy(update={"id": f"{dialogue.id}~{number}", "turns": turns})
            )
    return made


def _replaced(text: str, vocabulary: Vocabulary, share: float, rng: np.random.Generator) -> str:
    found = list(WORD.finditer(text))
    if not found:
        return text
    chosen = rng.choice(len(found), size=max(1, round(share * len(found))), replace=False)
    words = ["", *(match.group().lower() for match in found), ""]
    pieces, at = [], 0
    for number in sorted(int(one) for one in chosen):
        match = found[number]
        other = vocabulary.instead(words[number], words[number + 1], words[number + 2], rng)
        if other is not None:
            pieces += [
                text[at : match.start()],
                other.capitalize() if match.group()[0].isupper() else other,
            ]
            at = match.end()
    return "".join([*pieces, text[at:]])
