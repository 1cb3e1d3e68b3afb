"""What a rule is: a name, one line that says what it looks for, and a function over a corpus."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from simcounsel.corpus.checks.findings import Finding
from simcounsel.corpus.dialogues import Dialogue

Corpus = Sequence[Dialogue]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where a rule begins to speak. Lengths count words, and each Chinese, Japanese or Korean
    character as one.

    min_turns: a shorter talk is no session. max_counselor, max_client: the longest line of each (a
    spoken line of 250 words takes two minutes; a first post in a forum may be long); five times
    that is an error. jaccard: from this share of common shingles on two dialogues are
    near-duplicates (The Pile took about 0.5, SlimPajama 0.8, over other shingles).
    """

    min_turns: int = 4
    max_counselor: int = 250
    max_client: int = 800
    jaccard: float = 0.7


@dataclass(frozen=True, kw_only=True)
class Rule:
    """name: as findings and `--rule` give it. looks_for: one line for people. find: all findings in
    a corpus.
    """

    name: str
    looks_for: str
    find: Callable[[Corpus, Limits], Iterator[Finding]]


def each(
    find: Callable[[Dialogue, Limits], Iterator[Finding]],
) -> Callable[[Corpus, Limits], Iterator[Finding]]:
    """A rule about one dialogue, applied to all."""

    def find_all(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
        for dialogue in corpus:
            yield from find(dialogue, limits)

    return find_all
