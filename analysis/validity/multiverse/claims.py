"""What may be claimed of an effect over choices."""

from collections.abc import Sequence

from analysis.page import counted, num, percent
from analysis.statistics import holm
from analysis.validity.multiverse.curve import Curve
from analysis.validity.multiverse.shares import Share
from analysis.validity.part import Claim, Verdict
from simcounsel.specs.experiment import LEAST_CLIENTS

WITHIN = (0.5, 1.5)
"""Of the median: so much may eight of ten estimates differ for the size to hold."""
ALPHA = 0.05


def _few(whole: Curve) -> str | None:
    if whole.clients >= LEAST_CLIENTS:
        return None
    return f"{counted(whole.clients, 'client')}, and {LEAST_CLIENTS} are the least"


def sign(contrast: Sequence[str], whole: Curve) -> Claim:
    """Held by all signs and a curve that chance does not give; not where signs part."""
    because = (
        f"{whole.same} of {whole.count} have the median's sign, {whole.against} have p < .05"
        " against it"
    )
    verdict: Verdict = "undecided"
    if (few := _few(whole)) is not None:
        because += f"; {few}"
    elif whole.against or whole.same < 0.75 * whole.count:
        verdict = "does not hold"
    elif whole.same == whole.count and whole.p_median is not None:
        because += f"; with labels dealt anew a median as far from 0: p = {num(whole.p_median)}"
        verdict = "holds" if whole.p_median < ALPHA else "undecided"
    return Claim(
        statement=f"The effect ({' minus '.join(contrast)}) has the same sign whatever was chosen",
        verdict=verdict,
        because=because,
    )


def size(whole: Curve, of_sign: Verdict) -> Claim:
    """Held where the sign is and eight of ten estimates are within half of the median; not where
    they reach 0.
    """
    low, high = sorted(end / whole.median for end in whole.inner) if whole.median else (0.0, 0.0)
    verdict: Verdict = "undecided"
    because = (
        f"eight of ten estimates lie between {num(whole.inner[0])} and {num(whole.inner[1])},"
        f" median {num(whole.median)}"
    )
    if (few := _few(whole)) is not None:
        because += f"; {few}"
    elif not whole.median or low <= 0:
        verdict = "does not hold"
    elif low >= WITHIN[0] and high <= WITHIN[1] and of_sign == "holds":
        verdict = "holds"
    return Claim(
        statement="Its size holds too (within half of the median, for eight of ten specifications)",
        verdict=verdict,
        because=because,
    )


def choices(parts: Sequence[Share], whole: Curve) -> Claim:
    """Not held where a choice moves the effect more than seeds do (Holm over the choices)."""
    statement = "No choice moves the effect more than another seed does"
    mains = [one for one in parts if not one.together and one.p is not None]
    if (few := _few(whole)) is not None or not mains:
        why = few or "no choice can be held against seeds: two seeds at least, and a choice"
        return Claim(statement=statement, verdict="undecided", because=why)
    corrected = holm([one.p for one in mains])
    clear = [one for one, p in zip(mains, corrected, strict=True) if p is not None and p < ALPHA]
    largest = max(clear or mains, key=lambda one: one.share or 0.0)
    return Claim(
        statement=statement,
        verdict="does not hold" if clear else "undecided",
        because=f"{largest.of}: {percent(largest.share)} of the variance, "
        + (f"{num(largest.f)} times as much as noise would give" if largest.f else "and seeds none")
        + ("" if clear else "; that it is no more is not shown by that"),
    )
