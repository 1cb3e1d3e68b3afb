"""What `bench risk` measured, as a table for people and as data."""

from collections.abc import Iterable
from typing import Any

from simcounsel.bench.risk import Measured, Share
from simcounsel.specs.vocabulary import RISK_LEVELS


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
