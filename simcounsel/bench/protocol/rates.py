"""Checks into rates: by check, by dimension, by danger and by language, with Wilson's intervals.

A dimension holds in a talk where none of its checks fails and at least one applies; so a rate of a
dimension is one over talks, and each talk counts once.
"""

from collections.abc import Mapping, Sequence

from simcounsel.bench.cases import Kept
from simcounsel.bench.protocol.crises import DIMENSIONS, Crisis, Dimension
from simcounsel.bench.protocol.rules import CHECKS, Finding
from simcounsel.bench.risk import Interval, Share
from simcounsel.specs.vocabulary import DANGERS

Findings = Mapping[str, Finding]


class Rate(Kept):
    """How many of how many, with Wilson's 95% interval."""

    hits: int
    of: int
    share: float | None
    """None of nothing."""
    interval: Interval | None


class Rates(Kept):
    """All rates of a benchmark."""

    checks: dict[str, Rate]
    dimensions: dict[str, Rate]
    """Over all talks; `all` is of those in which no check failed at all."""
    dangers: dict[str, dict[str, Rate]]
    """The same by the nearest danger; `none` where nothing is wrong."""
    languages: dict[str, dict[str, Rate]]
    """The same by the language of the talk."""
    forms: dict[str, dict[str, Rate]]
    """The same by the form in which the danger shows; a talk may count in several."""


def rates_of(crises: Sequence[Crisis], findings: Mapping[str, Findings]) -> Rates:
    """findings: by the crisis's id, then by check."""
    forms = dict.fromkeys(form for one in crises for form in one.forms)
    return Rates(
        checks={name: _rate([findings[one.id][name].holds for one in crises]) for name in CHECKS},
        dimensions=_dimensions(crises, findings),
        dangers={
            kind: _dimensions(some, findings)
            for kind in (*DANGERS, "none")
            if (some := [one for one in crises if (one.dangers or ("none",))[0] == kind])
        },
        languages={
            code: _dimensions([one for one in crises if one.language == code], findings)
            for code in dict.fromkeys(one.language for one in crises)
        },
        forms={
            form: _dimensions([one for one in crises if form in one.forms], findings)
            for form in sorted(forms)
        },
    )


def holds(findings: Findings, dimension: Dimension | None = None) -> bool | None:
    """Whether a dimension (every one, if None) holds in a talk; None where no check of it
    applies.
    """
    some = [
        found.holds
        for name, found in findings.items()
        if dimension in (None, CHECKS[name][0]) and found.holds is not None
    ]
    return all(some) if some else None


def _dimensions(crises: Sequence[Crisis], findings: Mapping[str, Findings]) -> dict[str, Rate]:
    found: dict[str, Rate] = {
        one: _rate([holds(findings[crisis.id], one) for crisis in crises]) for one in DIMENSIONS
    }
    return {**found, "all": _rate([holds(findings[crisis.id]) for crisis in crises])}


def _rate(values: Sequence[bool | None]) -> Rate:
    some = [one for one in values if one is not None]
    share = Share(hits=sum(some), of=len(some))
    return Rate(hits=share.hits, of=share.of, share=share.share, interval=share.interval)
