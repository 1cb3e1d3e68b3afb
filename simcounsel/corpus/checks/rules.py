"""What a rule is: a name, one line that says what it looks for, and a function over a corpus."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from simcounsel.corpus.checks.findings import Finding
from simcounsel.corpus.dialogues import Dialogue

Corpus = Sequence[Dialogue]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where a rule begins to speak. Lengths count words, and each Chinese, Japanese or Korean
    character as one.
    """

    min_turns: int = 4
    """A shorter talk is no session."""
    max_counselor: int = 250
    """A longer line of a counselor is a warning (250 spoken words take two minutes), five times
    that an error.
    """
    max_client: int = 800
    """The same for a client's (a first post in a forum may be long)."""
    jaccard: float = 0.7
    """From this share of common shingles on two dialogues are near-duplicates (The Pile took about
    0.5, SlimPajama 0.8, over other shingles).
    """


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule."""

    name: str
    """As findings and `--rule` give it."""
    looks_for: str
    """One line for people."""
    find: Callable[[Corpus, Limits], Iterator[Finding]]
    """All findings in a corpus."""


def of_corpus(
    name: str, *, looks_for: str
) -> Callable[[Callable[[Corpus, Limits], Iterator[Finding]]], Rule]:
    """Makes a rule of a function over a whole corpus; each finding gets the rule's name."""

    def rule(find: Callable[[Corpus, Limits], Iterator[Finding]]) -> Rule:
        def named(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
            for found in find(corpus, limits):
                yield replace(found, rule=name)

        return Rule(name=name, looks_for=looks_for, find=named)

    return rule


def of_dialogue(
    name: str, *, looks_for: str
) -> Callable[[Callable[[Dialogue, Limits], Iterator[Finding]]], Rule]:
    """Makes a rule of a function over one dialogue, applied to all; each finding gets the rule's
    name and the dialogue's id.
    """

    def rule(find: Callable[[Dialogue, Limits], Iterator[Finding]]) -> Rule:
        def find_all(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
            for dialogue in corpus:
                for found in find(dialogue, limits):
                    yield replace(found, rule=name, dialogue=dialogue.id)

        return Rule(name=name, looks_for=looks_for, find=find_all)

    return rule
