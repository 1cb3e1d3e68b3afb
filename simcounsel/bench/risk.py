"""The detector of danger (`simcounsel.safety`) measured by itself on labelled lines
(`simcounsel.bench.risk_lines`).

Flagged is what comes out above `none`. Without a model the detector stands alone, whatever is in
doubt; with one, it is asked as in a world (`simcounsel.safety.assessing`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any

from simcounsel.bench.risk_lines import Labelled
from simcounsel.chance import chance
from simcounsel.llm.embeddings import MiniLM
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.switchboard import Switchboard
from simcounsel.safety.assessing import assess
from simcounsel.safety.detector import hear, takes_vectors
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
    what is of no use. vectors: the `embed` model is MiniLM.
    """
    models.fallbacks = FallbackShare(fallbacks or FallbackLimits())
    models.begin_tick(0)
    asks = {
        f"{number:06d}": assess(
            line.text,
            who="Client",
            key=("bench risk", number),
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


def risk_lines(result: Measured) -> Iterable[str]:
    """As a table for a terminal."""
    yield (
        f"{result.name}, {result.split}: {result.lines} lines, {result.recall.of} with danger;"
        f" {_by(result)}"
    )
    yield f"  {'precision':28}{_said(result.precision)}"
    yield f"  {'recall':28}{_said(result.recall)}"
    if result.f1 is not None and result.f1_interval:
        yield (
            f"  {'F1':28}{result.f1:.3f} [{result.f1_interval[0]:.3f}, {result.f1_interval[1]:.3f}]"
        )
    yield f"  {'flagged or in doubt':28}{_said(result.caught)}  of the danger"
    yield f"  {'in doubt':28}{_said(result.doubt)}  of all"
    for title, shares in (
        ("recall by label", result.by_label),
        ("flagged by level", result.by_level),
        ("hard lines", result.hard),
    ):
        if shares:
            yield title
            yield from (f"  {name:28}{_said(share)}" for name, share in shares.items())
    if result.levels:
        yield "level labelled (rows) and heard" + "".join(f"{level:>10}" for level in RISK_LEVELS)
        for level in RISK_LEVELS:
            yield f"  {level:29}" + "".join(
                f"{result.levels.get((level, heard), 0):10}" for heard in RISK_LEVELS
            )
    yield "[95% intervals: Wilson's; of F1 a bootstrap over lines]"


def _by(result: Measured) -> str:
    return (
        f"the detector, and {result.model} where it was asked"
        if result.model
        else "the detector alone, no model"
    )


def _said(share: Share) -> str:
    if share.share is None or share.interval is None:
        return "nothing to count"
    return (
        f"{share.share:.3f} [{share.interval[0]:.3f}, {share.interval[1]:.3f}]  {share.hits} of"
        f" {share.of}"
    )


def as_data(result: Measured) -> dict[str, Any]:
    """For JSON."""

    def plain(share: Share) -> dict[str, Any]:
        return {
            "share": share.share,
            "interval": share.interval,
            "hits": share.hits,
            "of": share.of,
        }

    return {
        "file": result.name,
        "split": result.split,
        "model": result.model,
        "lines": result.lines,
        "precision": plain(result.precision),
        "recall": plain(result.recall),
        "f1": {"value": result.f1, "interval": result.f1_interval},
        "doubt": plain(result.doubt),
        "flagged_or_doubt": plain(result.caught),
        "by_label": {name: plain(share) for name, share in result.by_label.items()},
        "by_level": {name: plain(share) for name, share in result.by_level.items()},
        "hard": {name: plain(share) for name, share in result.hard.items()},
        "levels": [
            {"labelled": labelled, "heard": heard, "lines": count}
            for (labelled, heard), count in sorted(result.levels.items())
        ],
    }
