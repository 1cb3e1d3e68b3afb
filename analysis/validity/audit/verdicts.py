"""What becomes of a claim when one thing is changed, and what the claim is worth then.

An effect is the first condition minus the second, over clients. A shift is how far a change moves
it, each client with themselves in both ways. Intervals of both hold for all changes of a claim
together (Bonferroni), so that many changes do not make one of them look like something.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

import pandas as pd

from analysis.planned import rows_of
from analysis.statistics import Contrast, client_contrast
from analysis.validity.audit.analyses import ANALYSIS, analyses
from analysis.validity.audit.plan import USUAL, Variant
from simcounsel.specs.experiment import LEAST_CLIENTS, Hypothesis

Becomes = Literal["holds", "weakens", "turns", "cannot be told"]
NO_VARIANCE = "no variance"
HALF = 0.5
"""Of the effect as it is: what is left of it at most where a claim weakens."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The effect in one way to make the study."""

    variant: str
    level: str
    ablation: bool
    effect: Contrast
    shift: Contrast | None
    """None for the experiment as it is."""
    becomes: Becomes
    """What becomes of the claim with this change alone."""

    @property
    def beyond_noise(self) -> float:
        """The squared shift without what noise alone gives it, at least 0."""
        if self.shift is None or self.shift.difference is None:
            return 0.0
        t = self.shift.statistic
        error = abs(self.shift.difference / t) if t else 0.0
        return float(max(0.0, self.shift.difference**2 - error**2))


@dataclass(frozen=True, kw_only=True)
class ClaimAudit:
    """A claim and what becomes of it."""

    hypothesis: Hypothesis
    outcomes: tuple[Outcome, ...]
    """The first is the experiment as it is."""
    becomes: Becomes
    because: str

    @property
    def largest(self) -> tuple[str, ...]:
        """The changes that move the effect most, but for ablations and what needs no runs."""
        ours = [one for one in self.outcomes[1:] if not one.ablation and one.level != ANALYSIS]
        moved = [one for one in ours if one.beyond_noise]
        return tuple(one.variant for one in sorted(moved, key=lambda one: -one.beyond_noise))


def audited(
    variants: Sequence[Variant],
    variant_of: Mapping[str, str],
    hypothesis: Hypothesis,
    outcomes: pd.DataFrame,
    warned: Collection[str] = (),
) -> ClaimAudit:
    """What becomes of a claim. variants: the first is the experiment as it is. variant_of: by run.
    outcomes: as of `analysis.outcomes`, of all runs. warned: see `analyses`.
    """
    rows, _, unclear = rows_of(hypothesis, outcomes)
    rows = rows.assign(variant=[variant_of.get(str(run), "") for run in rows["run"]])
    usual = rows[rows["variant"] == USUAL]
    ways = [
        *((one.name, one.level, one.ablation, rows[rows["variant"] == one.name])
          for one in variants[1:]),
        *((name, ANALYSIS, False, own) for name, own in analyses(usual, warned)),
    ]  # fmt: skip
    level = 1 - hypothesis.alpha / max(1, 2 * len(ways))
    first = client_contrast(usual, *hypothesis.contrast, level=1 - hypothesis.alpha)
    base = Outcome(
        variant=USUAL, level="", ablation=False, effect=first, shift=None,
        becomes="holds" if _side(first, hypothesis) else "cannot be told",
    )  # fmt: skip
    there = base.becomes == "holds" and _clients(first) >= LEAST_CLIENTS
    found = [base]
    for name, of, ablation, own in ways:
        effect = client_contrast(own, *hypothesis.contrast, level=level)
        shift = client_contrast(_moved(own, usual), *hypothesis.contrast, level=level)
        found.append(
            Outcome(
                variant=name, level=of, ablation=ablation, effect=effect,
                shift=shift, becomes=becomes(first, effect, shift) if there else "cannot be told",
            )
        )  # fmt: skip
    verdict, because = _whole(found, unclear)
    return ClaimAudit(
        hypothesis=hypothesis, outcomes=tuple(found), becomes=verdict, because=because
    )


def _moved(own: pd.DataFrame, usual: pd.DataFrame) -> pd.DataFrame:
    """Each client's mean with the change minus that without, by condition."""
    keys = ["client", "arm"]
    both = [
        one.dropna(subset=["value"]).groupby(keys, observed=True)["value"].mean()
        for one in (own, usual)
    ]
    return (both[0] - both[1]).dropna().reset_index()


def _side(effect: Contrast, hypothesis: Hypothesis) -> bool:
    """Whether there is an effect, on the side that was expected."""
    if effect.low is None or effect.high is None or effect.low <= 0 <= effect.high:
        return False
    lower = effect.high < 0
    return hypothesis.direction == "differs" or lower == (hypothesis.direction == "lower")


def becomes(usual: Contrast, effect: Contrast, shift: Contrast) -> Becomes:
    """What becomes of a claim with one change: it *turns* where the effect is beyond doubt on the
    other side; *weakens* where the shift is beyond doubt and at most half of the effect is left;
    *holds* where the effect is beyond doubt on its side, or the shift is beyond doubt smaller than
    half of it; else it *cannot be told*.
    """
    base, now, of, by = usual.difference, effect.difference, _bounds(effect), _bounds(shift)
    if not base or now is None or of is None or by is None:
        return "cannot be told"
    clear, moved = (not low <= 0 <= high for low, high in (of, by))
    if clear and base * now < 0:
        return "turns"
    if moved and now / base <= HALF:
        return "weakens"
    return "holds" if clear or max(map(abs, by)) < HALF * abs(base) else "cannot be told"


def _bounds(one: Contrast) -> tuple[float, float] | None:
    """Its interval, which is a point where all clients differ by the same; None without one."""
    if one.low is not None and one.high is not None:
        return one.low, one.high
    exact = one.difference is not None and one.reason is not None and NO_VARIANCE in one.reason
    return (one.difference, one.difference) if exact and one.difference is not None else None


def _whole(found: Sequence[Outcome], unclear: str | None) -> tuple[Becomes, str]:
    """The verdict over all changes, and what decides it."""
    base, *others = found
    others = [one for one in others if not one.ablation]
    clients = _clients(base.effect)
    if unclear or clients < LEAST_CLIENTS:
        return "cannot be told", unclear or f"{clients} clients, and {LEAST_CLIENTS} are the least"
    if base.becomes != "holds":
        return "cannot be told", "as the experiment is, there is no effect beyond doubt"
    if not others:
        return "cannot be told", "nothing was changed"
    for verdict in ("turns", "weakens"):
        if some := [one.variant for one in others if one.becomes == verdict]:
            return verdict, f"with {_listed(some)}"
    unknown = [one.variant for one in others if one.becomes == "cannot be told"]
    if unknown:
        return "cannot be told", f"with {_listed(unknown)} the intervals are too wide"
    return "holds", f"with each of {len(others)} changes"


def largest(audits: Sequence[ClaimAudit], most: int) -> tuple[str, ...]:
    """The changes that move any claim's effect most, so many, of each claim in turn."""
    turns = zip_longest(*(one.largest for one in audits))
    return tuple(dict.fromkeys(name for turn in turns for name in turn if name))[:most]


def _clients(effect: Contrast) -> int:
    """In the smaller group, where groups have other clients."""
    return effect.n.get("clients", min(effect.n.values(), default=0))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
