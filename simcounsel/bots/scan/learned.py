"""What a bot's line does by small classifiers, one for each mark, beside the rules.

Each is a logistic regression over `features`, learned by `simcounsel.bots.scan.learning.train` from
lines that a language model wrote and labelled for it; no clinician has labelled any. Whether a mark
is given by its rule, its classifier, either or both, and from which log-odds on, was chosen by
cross-validation over blocks of neighbouring lines.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from simcounsel.bots.scan.features import BLOCKS, OF_FORM, Floats, counted
from simcounsel.danger.hearing.features import BUCKETS, Block
from simcounsel.specs.vocabulary import Language

HOW = ("rule", "learned", "either", "both")
"""What gives a mark."""
WEIGHT_OF_FORM = 0.15
"""Of each feature of form, beside blocks of length 1; 0.3 and 0.6 did worse."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """What was learned for a language."""

    marks: tuple[str, ...]
    how: tuple[str, ...]
    """Of each mark, one of HOW."""
    limits: Floats
    """Of each mark: from these log-odds on its classifier gives it."""
    places: NDArray[np.int64]
    """Of each feature: its place among those that are kept, or -1, shape (BLOCKS * BUCKETS,)."""
    rarity: Floats
    """Of each that is kept: its inverse document frequency."""
    weights: Floats
    """Shape (kept + OF_FORM, marks): of each that is kept, then of those of form."""
    bias: Floats

    def log_odds(self, line: str, language: Language, before: str) -> Floats:
        """Of each mark."""
        blocks, form = counted(line, language, before)
        odds: Floats = self.bias + (form * WEIGHT_OF_FORM) @ self.weights[-OF_FORM:]
        for block in blocks:
            kept, values = weighed(block, self.places, self.rarity)
            odds += values @ self.weights[kept]
        return odds

    def marks_of(
        self, line: str, language: Language, before: str, by_rule: frozenset[str]
    ) -> frozenset[str]:
        """The marks of a line. by_rule: those that the rules give it."""
        heard = self.log_odds(line, language, before) >= self.limits
        given = zip(self.marks, self.how, heard.tolist(), strict=True)
        return frozenset(mark for mark, how, says in given if _gives(how, mark in by_rule, says))


def weighed(
    block: Block, places: NDArray[np.int64], rarity: Floats
) -> tuple[NDArray[np.int64], Floats]:
    """The places of what is kept of a block, and their values, of length 1 together."""
    kept = places[block]
    kept = kept[kept >= 0]
    worth = rarity[kept]
    return kept, worth / float(np.linalg.norm(worth) or 1.0)


def _gives(how: str, by_rule: bool, says: bool) -> bool:
    return {"rule": by_rule, "learned": says, "either": by_rule or says, "both": by_rule and says}[
        how
    ]


@cache
def learned(language: Language) -> Learned:
    """What was learned for a language."""
    with (
        as_file(files("simcounsel.bots.scan.learning").joinpath(f"{language}.npz")) as path,
        np.load(path, allow_pickle=False) as file,
    ):
        kept = {name: file[name] for name in file.files}
    places = np.full(BLOCKS * BUCKETS, -1, dtype=np.int64)
    places[kept["features"]] = np.arange(len(kept["features"]))
    return Learned(
        marks=tuple(kept["marks"].tolist()),
        how=tuple(HOW[at] for at in kept["how"].tolist()),
        limits=kept["limits"].astype(np.float64),
        places=places,
        rarity=kept["rarity"].astype(np.float64),
        weights=kept["weights"].astype(np.float64),
        bias=kept["bias"].astype(np.float64),
    )
