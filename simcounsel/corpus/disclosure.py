"""How a client opens up: how much of its file, or of the six stages, has been reached by when.

Two curves, both over the client's lines of a dialogue, at 0, 10, ... 100% of them:

- by stages: different stages of disclosure so far, of six (Xue et al. 2026, Table IX), where a
  corpus names them;
- by words: the share of the content words of the client's file (`situation`) that the client has
  said.

Nothing but words is compared: a client who says the same in other words counts as silent, and a
negation as the thing itself.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.measures import Number, is_character, units
from simcounsel.texts import stopwords

Disclosure = Literal[
    "introduces", "describes", "feels", "remembers", "asks_for_help", "asks_for_advice"
]
"""The six stages in which a seeker opens up (Xue et al. 2026, MindCorpus, Table IX)."""
DISCLOSURES: tuple[Disclosure, ...] = get_args(Disclosure)
STEPS = 10
FEWEST_WORDS = 5
"""A file with fewer content words tells nothing."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Mean share, 0 to 1, that has been reached at 0, 10, ... 100% of the client's lines."""

    shares: tuple[float, ...]
    dialogues: int
    """Over how many it is the mean."""
    first: float
    """The share in the client's first line."""
    at_once: float | None
    """How much of all that is ever said is said there."""


Reached = Callable[[Dialogue], list[float] | None]


def by_stages(dialogues: Sequence[Dialogue]) -> Curve | None:
    """The curve by stages; None where no client line names one of the six."""
    return _curve(dialogues, stages_reached)


def by_words(dialogues: Sequence[Dialogue]) -> Curve | None:
    """The curve by words; None where no dialogue has the client's file."""
    return _curve(dialogues, words_reached)


def stages_reached(dialogue: Dialogue) -> list[float] | None:
    """After each client line the share of the six stages that have occurred; None where none is
    named.
    """
    seen: set[str] = set()
    found = []
    for turn in dialogue.turns:
        if turn.speaker == "client":
            seen |= {turn.stage} & set(DISCLOSURES) if turn.stage else set()
            found.append(len(seen) / len(DISCLOSURES))
    return found if seen else None


def words_reached(dialogue: Dialogue) -> list[float] | None:
    """After each client line the share of the file's content words that have been said; None
    without a file of five content words.
    """
    situation = content(dialogue.situation or "")
    lines = dialogue.lines("client")
    if len(situation) < FEWEST_WORDS or not lines:
        return None
    said: set[str] = set()
    found = []
    for text in lines:
        said |= content(text) & situation
        found.append(len(said) / len(situation))
    return found


def disclosed(dialogue: Dialogue) -> dict[str, Number]:
    """One dialogue: disclosed, the share of the file's content words said by the end;
    disclosed_first, in the client's first line.
    """
    found = words_reached(dialogue)
    if found is None:
        none = Number(value=None, reason="the client's file is not known")
        return {"disclosed": none, "disclosed_first": none}
    return {
        "disclosed": Number(value=found[-1], n=len(found)),
        "disclosed_first": Number(value=found[0], n=len(found)),
    }


def content(text: str) -> set[str]:
    """A text's content words: those of three letters or more that are not common, without a few
    endings; of Chinese the pairs of neighbours.
    """
    every = units(text)
    words = {_stem(one) for one in every if len(one) > 2 and one not in stopwords.OF_DISCLOSURE}
    pairs = {a + b for a, b in itertools.pairwise(every) if is_character(a) and is_character(b)}
    return words | pairs


def _stem(word: str) -> str:
    """Without plural and the commonest verb endings; crude, and the same for both sides of a
    comparison.
    """
    for ending in ("ies", "ing", "ied", "'s", "es", "ed", "ly", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def _curve(dialogues: Sequence[Dialogue], reached: Reached) -> Curve | None:
    every = [found for dialogue in dialogues if (found := reached(dialogue))]
    if not every:
        return None
    rows = [[_at(found, step / STEPS) for step in range(STEPS + 1)] for found in every]
    ever = [found[0] / found[-1] for found in every if found[-1]]
    return Curve(
        shares=tuple(sum(row[step] for row in rows) / len(rows) for step in range(STEPS + 1)),
        dialogues=len(rows),
        first=sum(found[0] for found in every) / len(every),
        at_once=sum(ever) / len(ever) if ever else None,
    )


def _at(reached: Sequence[float], share: float) -> float:
    """What was reached when that share of the lines had been said; nothing before the first
    line.
    """
    done = int(share * len(reached) + 1e-9)
    return reached[done - 1] if done else 0.0
