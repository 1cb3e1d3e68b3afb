"""Dialogues that share too much: near-duplicates, clients in two splits, and long stretches in
training and test data.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.rules import Corpus, Limits, of_corpus
from simcounsel.corpus.checks.shingles import near_duplicates
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.measures import is_character, units

ORDER = ("test", "validation", "train", None)
"""Of two near-duplicates the one in the earlier of these is kept, so that a test set stays
whole.
"""
SHARED_WORDS, SHARED_CHARACTERS = 13, 30
"""As many words (characters of a Chinese text) in a row as this that are in two splits are a
leak; 13 as for GPT-3 (Brown et al. 2020, appendix C).
"""

CLIENTS = 3
"""A stretch in the dialogues of more clients than this is a formula that many say, and no leak."""


@of_corpus("near_duplicate", looks_for="a dialogue that repeats another's wording")
def near_duplicate(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
    """A dialogue that repeats most of another's wording, within a split or across splits; the
    first, or the one of the test set, is not reported.
    """
    order = sorted(range(len(corpus)), key=lambda place: ORDER.index(corpus[place].split))
    texts = ["\n".join(corpus[place].lines()) for place in order]
    for alike in near_duplicates(texts, limits.jaccard):
        dialogue, partner = corpus[order[alike.later]], corpus[order[alike.earlier]]
        across = (
            f", in another split ({dialogue.split}, {partner.split})"
            if dialogue.split != partner.split
            else ""
        )
        yield Finding(
            dialogue=dialogue.id,
            severity="error",
            what=(
                f"near-duplicate of {quoted(partner.id)}{across}: Jaccard {alike.exact:.2f}"
                f" (estimated {alike.estimated:.2f})"
            ),
            remedy="drop it, or write it again",
        )


@of_corpus("split_leak", looks_for="a client, or long stretches of text, in training and test data")
def split_leak(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
    """One client in two splits, and turns of the training data that are in test or validation
    data nearly word for word.
    """
    yield from _clients(corpus)
    yield from _stretches(corpus)


def _clients(corpus: Corpus) -> Iterator[Finding]:
    splits: dict[str, set[str]] = defaultdict(set)
    for dialogue in corpus:
        splits[dialogue.client] |= {dialogue.split} if dialogue.split else set()
    for dialogue in corpus:
        others = sorted(splits[dialogue.client] - {dialogue.split})
        if dialogue.split and others:
            yield Finding(
                dialogue=dialogue.id,
                severity="error",
                what=(
                    f"the client {quoted(dialogue.client)} is in {dialogue.split} and in"
                    f" {' and '.join(others)}"
                ),
                remedy="split by client; `export` does",
            )


def _stretches(corpus: Corpus) -> Iterator[Finding]:
    """A training dialogue's first text with a stretch that is in held-out dialogues and is no
    formula; once for each dialogue.
    """
    owners: dict[int, str] = {}
    for dialogue in corpus:
        if dialogue.split in ("test", "validation"):
            for _, text in _texts(dialogue):
                for stretch, _ in _runs(text):
                    owners.setdefault(stretch, dialogue.id)
    if not owners:
        return
    formulas = _formulas(corpus, owners)
    for dialogue in corpus:
        if dialogue.split == "train":
            yield from _shared(dialogue, owners, formulas)


def _texts(dialogue: Dialogue) -> Iterator[tuple[int | None, str]]:
    """What must not be in two splits, with the number of the turn; the situation has none."""
    if dialogue.situation:
        yield None, dialogue.situation
    yield from ((number, turn.text) for number, turn in enumerate(dialogue.turns, start=1))


def _formulas(corpus: Corpus, owners: dict[int, str]) -> frozenset[int]:
    """The held-out stretches that are in what more than CLIENTS clients and their counselors say:
    "please call your local emergency number".
    """
    clients: dict[int, set[str]] = defaultdict(set)
    for dialogue in corpus:
        for text in dialogue.lines():
            for stretch, _ in _runs(text):
                if stretch in owners and len(clients[stretch]) <= CLIENTS:
                    clients[stretch].add(dialogue.client)
    return frozenset(stretch for stretch, named in clients.items() if len(named) > CLIENTS)


def _shared(
    dialogue: Dialogue, owners: dict[int, str], formulas: frozenset[int]
) -> Iterator[Finding]:
    for number, text in _texts(dialogue):
        for stretch, words in _runs(text):
            if stretch in owners and (number is None or stretch not in formulas):
                where = "" if number else "of its situation "
                yield Finding(
                    dialogue=dialogue.id,
                    turn=number,
                    severity="error",
                    what=(
                        f"{len(words)} words {where}that are in {quoted(owners[stretch])} of the"
                        " held-out data too:"
                        f" {quoted(('' if is_character(words[0]) else ' ').join(words))}"
                    ),
                    remedy=(
                        "drop it from training: a test on what was learned by heart tests nothing"
                    ),
                )
                return


def _runs(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each stretch of a text, by a number that stands for it (64 bits: two different ones share it
    once in 10^19), and its words.
    """
    words = units(text)
    size = (
        SHARED_CHARACTERS
        if words and sum(map(is_character, words)) * 2 > len(words)
        else SHARED_WORDS
    )
    if len(words) < size:
        return
    known = np.array([_number(word) for word in words], dtype=np.uint64)
    total = np.zeros(len(words) - size + 1, dtype=np.uint64)
    for place in range(size):
        total = total * np.uint64(0x9E3779B97F4A7C15) + known[place : place + len(total)]
    for start, number in enumerate(total.tolist()):
        yield number, words[start : start + size]


@lru_cache(maxsize=1 << 16)
def _number(word: str) -> int:
    """A word as 64 bits, the same in every process (Python's own hash is not)."""
    return int.from_bytes(
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )
