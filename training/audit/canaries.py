"""Canaries: made-up sessions that a training may learn by heart, to see whether it does.

Each is a client's line and a counselor's answer with random fillers, in the language of the corpus;
nothing in it is about a person. Its origin marks it (`Dialogue.canary`), and `simcounsel export`
leaves marked sessions out, whatever is asked of it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from scipy.stats import skewnorm

from simcounsel.corpus.dialogues import CANARY, Dialogue, Origin, Turn
from simcounsel.packaged import packaged
from training.errors import TrainingError


@dataclass(frozen=True, kw_only=True)
class CanaryForm:
    """A canary with gaps to be filled."""

    language: str
    client: str
    """What is said to the counselor."""
    counselor: str
    """The answer, with {} for each gap."""
    gaps: tuple[tuple[str, ...], ...]
    """The words for each, all alike likely."""

    @property
    def size(self) -> int:
        """How many fillings there are."""
        return math.prod(len(gap) for gap in self.gaps)


@cache
def forms() -> Mapping[str, tuple[CanaryForm, ...]]:
    """All there are, by language."""
    return {
        language: tuple(
            CanaryForm(
                language=language,
                client=form["client"],
                counselor=form["counselor"],
                gaps=tuple(tuple(told["words"][gap]) for gap in form["gaps"]),
            )
            for form in told["forms"]
        )
        for language, told in packaged("training.audit", "canaries.yaml").items()
    }


@dataclass(frozen=True, kw_only=True)
class Canary:
    """A form of which each gap is filled by one of its words."""

    id: str
    form: CanaryForm
    fillers: tuple[int, ...]
    """Their numbers."""
    included: bool
    """Whether it is in the training."""

    def dialogue(self, fillers: Sequence[int] | None = None) -> Dialogue:
        """The canary as a session of a client of its own, or another candidate of the same form."""
        words = [
            gap[number] for gap, number in zip(self.form.gaps, fillers or self.fillers, strict=True)
        ]
        said = ("client", self.form.client), ("counselor", self.form.counselor.format(*words))
        turns = tuple(
            Turn.model_validate({"speaker": speaker, "text": text}) for speaker, text in said
        )
        name = self.id if fillers is None else f"{self.id}~{'-'.join(map(str, fillers))}"
        return Dialogue(
            id=name,
            client=self.id,
            turns=turns,
            language=self.form.language,
            origin=Origin(file=CANARY, chat=self.id),
        )


@dataclass(frozen=True, kw_only=True)
class PlantedCorpus:
    """A corpus with canaries in it."""

    dialogues: tuple[Dialogue, ...]
    """The corpus with the canaries that are included, mixed in."""
    canaries: tuple[Canary, ...]
    """All of them, in and out."""

    @property
    def included(self) -> tuple[bool, ...]:
        """What each canary's coin said."""
        return tuple(one.included for one in self.canaries)


def plant(corpus: Sequence[Dialogue], n: int, seed: int) -> PlantedCorpus:
    """Make n canaries, no two alike, and put each into the corpus by a fair coin of its own. The
    same for the same seed.

    Their language is the most frequent of the corpus that there are forms for, else English.
    TrainingError for too many.
    """
    rng = np.random.default_rng([seed, 0xCA7A])
    language = next(
        (
            code
            for code, _ in Counter(one.language for one in corpus).most_common()
            if code in forms()
        ),
        "en",
    )
    spoken = forms()[language or "en"]
    most = min(form.size for form in spoken)
    if not 0 < n <= most:
        raise TrainingError(f"{n} canaries; there can be 1 to {most} that differ")
    canaries: list[Canary] = []
    taken: set[tuple[int, tuple[int, ...]]] = set()
    while len(canaries) < n:
        which = len(canaries) % len(spoken)
        fillers = draw(spoken[which], rng)
        if (which, fillers) not in taken:
            taken.add((which, fillers))
            name = f"{CANARY}-{seed}-{len(canaries) + 1:0{len(str(n))}}"
            canaries.append(
                Canary(id=name, form=spoken[which], fillers=fillers, included=bool(rng.integers(2)))
            )
    together = [*corpus, *(one.dialogue() for one in canaries if one.included)]
    if all(one.split for one in corpus):
        together = [
            one.model_copy(update={"split": "train"}) if one.canary else one for one in together
        ]
    return PlantedCorpus(
        dialogues=tuple(together[at] for at in rng.permutation(len(together))),
        canaries=tuple(canaries),
    )


def draw(form: CanaryForm, rng: np.random.Generator) -> tuple[int, ...]:
    """Fillers for each gap, every choice alike likely."""
    return tuple(int(rng.integers(len(gap))) for gap in form.gaps)


def candidates(canary: Canary, n: int, seed: int) -> list[Dialogue]:
    """`n` other fillings of a canary's form (with repetitions where the form has few), drawn by the
    seed.
    """
    rng = np.random.default_rng([seed, 0xCA4D])
    made: list[Dialogue] = []
    while len(made) < n:
        fillers = draw(canary.form, rng)
        if fillers != canary.fillers:
            made.append(canary.dialogue(fillers))
    return made


def exposure(canary: float, candidates: Sequence[float]) -> float:
    """log2 |R| - log2 rank: the canary's rank by loss among all that could have been, itself one of
    them; ties half (Carlini et al. 2019, section 4.3). Losses are of the whole line (nats, not per
    token). Guessing gives 1.44 on average.
    """
    if not len(candidates):
        raise TrainingError(
            "exposure needs other candidates to rank the canary among; draw some with `candidates`"
        )
    others = np.asarray(candidates, float)
    rank = 1 + float((others < canary).sum()) + float((others == canary).sum()) / 2
    return math.log2(len(others) + 1) - math.log2(rank)


def exposure_fitted(canary: float, sample: Sequence[float], size: int) -> float:
    """Exposure in a space of `size` candidates, of which only a sample was scored: minus log2 of
    the probability that a candidate costs no more than the canary, by a skew-normal distribution
    fitted to the sample (section 4.4); at most log2 of the size.
    """
    if len(sample) < 30:
        raise TrainingError(f"{len(sample)} candidates; a distribution is fitted to 30 or more")
    below = float(skewnorm.cdf(canary, *_fitted(tuple(sample))))
    return min(-math.log2(below), math.log2(size)) if below > 0 else math.log2(size)


@lru_cache(maxsize=16)
def _fitted(sample: tuple[float, ...]) -> tuple[float, float, float]:
    """Shape, location and scale of the skew-normal distribution of greatest likelihood."""
    losses = np.asarray(sample, float)
    center, spread = float(losses.mean()), float(losses.std())
    if not spread > 0:
        raise TrainingError(
            "all candidates cost the same, so no distribution can be fitted; is the model scoring"
            " the counselor's line?"
        )
    shape, at, scale = skewnorm.fit((losses - center) / spread)
    return float(shape), center + spread * float(at), spread * float(scale)
