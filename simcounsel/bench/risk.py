"""The detector of danger (`simcounsel.safety`) measured by itself on labelled lines
(`simcounsel.bench.risk_lines`).

Flagged is what comes out above `none`. Without a model the detector stands alone, whatever is in
doubt; with one, it is asked as in a world (`simcounsel.danger.hearing.assessing`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random

from simcounsel.bench.risk_lines import Labelled
from simcounsel.chance import chance
from simcounsel.danger.hearing.assessing import assess
from simcounsel.danger.hearing.detector import hear, takes_vectors
from simcounsel.danger.hearing.judging import LineContext
from simcounsel.llm.embeddings import MiniLM
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.switchboard import Switchboard
from simcounsel.specs.vocabulary import RISK_LEVELS, RiskLevel
from simcounsel.specs.world_settings import FallbackLimits

Interval = tuple[float, float]
Z = 1.959964
"""Of a 95% interval."""
RESAMPLES = 2_000


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What a line was taken for."""

    level: RiskLevel
    doubt: bool
    """Whether the detector was in doubt about it."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """How many of how many, with Wilson's 95% interval; share and interval None of nothing."""

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        """Wilson 1927."""
        if not self.of:
            return None
        share, n = self.hits / self.of, self.of
        middle, half = (
            share + Z * Z / (2 * n),
            Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)),
        )
        return (
            max(0.0, (middle - half) / (1 + Z * Z / n)),
            min(1.0, (middle + half) / (1 + Z * Z / n)),
        )


@dataclass(frozen=True, kw_only=True)
class Measured:
    """How well danger was heard."""

    name: str
    split: str
    model: str | None
    lines: int
    precision: Share
    """Of what was flagged."""
    recall: Share
    """Of what is risk."""
    f1: float | None
    """With a percentile bootstrap over lines, None when nothing is there to count."""
    f1_interval: Interval | None
    doubt: Share
    """Lines in which the detector was in doubt, of all."""
    caught: Share
    """Risks that were flagged or in doubt."""
    by_label: dict[str, Share]
    """Recall of each."""
    by_level: dict[str, Share]
    """Recall of each level, and of `none` the share flagged by mistake."""
    hard: dict[str, Share]
    levels: dict[tuple[str, str], int]
    """Counts of (labelled, heard)."""


def listened(lines: Sequence[Labelled], minilm: MiniLM | None = None) -> tuple[Taken, ...]:
    """What the detector alone takes them for, with vectors if there is something to make them."""
    vectors = minilm.embed_now([line.text for line in lines]) if minilm else [None] * len(lines)
    heard = (
        hear(line.text, vector=vector if takes_vectors(line.text) else None)
        for line, vector in zip(lines, vectors, strict=True)
    )
    return tuple(Taken(level=one.level, doubt=one.doubt) for one in heard)


def judged(
    lines: Sequence[Labelled],
    models: Switchboard,
    *,
    every_line: bool = False,
    fallbacks: FallbackLimits | None = None,
    vectors: bool = False,
) -> tuple[Taken, ...]:
    """What they are taken for when the `quick` model is asked: where the detector is in doubt, or
    about every line that is no clear danger. GivenUp when it does not answer, or too often with
    what is unusable. vectors: the `embed` model is MiniLM.
    """
    models.fallbacks = FallbackShare(fallbacks or FallbackLimits())
    models.begin_tick(0)
    asks = {
        f"{number:06d}": assess(
            line.text,
            LineContext(who="Client", key=("bench risk", number)),
            every_line=every_line,
            vectors=vectors,
        )
        for number, line in enumerate(lines)
    }
    return tuple(
        Taken(level=outcome.value.level, doubt=hear(line.text).doubt)
        for outcome, line in zip(models.ask(asks).values(), lines, strict=True)
    )


def measured(
    name: str,
    split: str,
    lines: Sequence[Labelled],
    taken: Sequence[Taken],
    model: str | None = None,
) -> Measured:
    """All counts of lines with what they were taken for. model: who was asked; None for the
    detector alone.
    """
    pairs = list(zip(lines, taken, strict=True))
    f1, interval = _f1(pairs)
    names = sorted({label for line, _ in pairs for label in line.labels})
    present = [level for level in RISK_LEVELS if any(line.level == level for line, _ in pairs)]
    counts: dict[tuple[str, str], int] = {}
    for line, heard in pairs:
        if line.level is not None:
            counts[line.level, heard.level] = counts.get((line.level, heard.level), 0) + 1
    return Measured(
        name=name,
        split=split,
        model=model,
        lines=len(pairs),
        f1=f1,
        f1_interval=interval,
        levels=counts,
        precision=_share(
            pairs, lambda line, heard: line.risk, lambda line, heard: heard.level != "none"
        ),
        recall=_share(pairs, _flagged, lambda line, heard: line.risk),
        doubt=_share(pairs, lambda line, heard: heard.doubt),
        caught=_share(
            pairs,
            lambda line, heard: heard.level != "none" or heard.doubt,
            lambda line, heard: line.risk,
        ),
        by_label={
            label: _share([pair for pair in pairs if label in pair[0].labels], _flagged)
            for label in names
        },
        by_level={
            level: _share([pair for pair in pairs if pair[0].level == level], _flagged)
            for level in present
        },
        hard=_hard(pairs) if present else {},
    )


def _hard(pairs: Sequence[tuple[Labelled, Taken]]) -> dict[str, Share]:
    """The lines that are marked as hard, by whether there is danger in them."""
    return {
        "hard, danger: flagged": _share(
            pairs, _flagged, lambda line, heard: bool(line.hard) and line.risk
        ),
        "hard, no danger: flagged": _share(
            pairs, _flagged, lambda line, heard: bool(line.hard) and not line.risk
        ),
    }


def _flagged(line: Labelled, heard: Taken) -> bool:
    return heard.level != "none"


Test = Callable[[Labelled, Taken], bool]


def _all(line: Labelled, heard: Taken) -> bool:
    return True


def _share(pairs: Iterable[tuple[Labelled, Taken]], hit: Test, among: Test = _all) -> Share:
    found = [hit(line, heard) for line, heard in pairs if among(line, heard)]
    return Share(hits=sum(found), of=len(found))


def _f1(pairs: Sequence[tuple[Labelled, Taken]]) -> tuple[float | None, Interval | None]:
    seen = [(line.risk, heard.level != "none") for line, heard in pairs]
    value = _of(seen)
    if value is None:
        return None, None
    rng: Random = chance("bench risk", len(seen))
    drawn = sorted(
        one for _ in range(RESAMPLES) if (one := _of(rng.choices(seen, k=len(seen)))) is not None
    )
    return value, (
        drawn[int(0.025 * len(drawn))],
        drawn[min(len(drawn) - 1, int(0.975 * len(drawn)))],
    )


def _of(seen: Sequence[tuple[bool, bool]]) -> float | None:
    right, wrong = (
        sum(risk and flagged for risk, flagged in seen),
        sum(risk != flagged for risk, flagged in seen),
    )
    return 2 * right / (2 * right + wrong) if right or wrong else None
