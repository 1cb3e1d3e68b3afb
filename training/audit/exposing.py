"""Canaries of a training, scored: how exposed they are, and what they prove about epsilon."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simcounsel.corpus.dialogues import Dialogue
from training.audit.canaries import Canary, candidates, exposure_fitted
from training.audit.curves import BootstrapInterval, curve
from training.audit.onerun import OneRun, audit
from training.audit.scored import Scored
from training.audit.scores import reference
from training.errors import TrainingError

SAMPLE = 200
"""Candidates of a form that are scored, to fit the distribution of all."""
ScoreBy = Callable[[Sequence[Dialogue]], list[Scored]]


@dataclass(frozen=True, kw_only=True)
class Exposed:
    """Mean exposures in bits: of canaries that were trained on, and of the others, which guessing
    gives 1.44.
    """

    included: float
    excluded: float
    auc: float
    """How often one that was trained on is more exposed than another."""
    interval: BootstrapInterval
    n_included: int
    n_excluded: int
    bits: float
    """The most there is, log2 of the number of fillings of the smallest form."""


def check(canaries: Sequence[Canary], trained_on: Sequence[Dialogue]) -> None:
    """TrainingError unless the training saw exactly the canaries whose coins said so."""
    there = {one.client for one in trained_on if one.canary}
    meant = {one.id for one in canaries if one.included}
    if there != meant:
        raise TrainingError(
            f"{len(there)} canaries were trained on, and by the file of canaries {len(meant)}"
            " should have been; train on the whole planted corpus (no `sample`, nor `objective:"
            " dpo`, for which canaries have no drafts), and name the file that lies beside it"
        )


def one_run(
    canaries: Sequence[Canary], score: ScoreBy, score_base: ScoreBy, delta: float, seed: int
) -> OneRun:
    """The audit by the reference attack: by how much a canary costs less than under the base
    model.
    """
    dialogues = [one.dialogue() for one in canaries]
    values = [
        reference(one, other)
        for one, other in zip(score(dialogues), score_base(dialogues), strict=True)
    ]
    lost = [found.why_not for found in values if found.value is None]
    if lost:
        raise TrainingError(
            f"{len(lost)} canaries have no score ({lost[0]}); is max_tokens too small?"
        )
    return audit(
        [found.value for found in values if found.value is not None],
        [one.included for one in canaries],
        delta=delta,
        seed=seed,
    )


def exposed(canaries: Sequence[Canary], score: ScoreBy, seed: int, sample: int = SAMPLE) -> Exposed:
    """The exposure of each canary among the fillings of its form, by the loss of the whole line."""
    found = score([one.dialogue() for one in canaries])
    spaces = {
        one.form: _losses(score(candidates(one, sample, seed)))
        for one in {one.form: one for one in canaries}.values()
    }
    bits = [
        exposure_fitted(loss, spaces[one.form], one.form.size)
        for one, loss in zip(canaries, _losses(found), strict=True)
    ]
    inside = [value for one, value in zip(canaries, bits, strict=True) if one.included]
    outside = [value for one, value in zip(canaries, bits, strict=True) if not one.included]
    apart = curve(inside, outside, seed=seed)
    return Exposed(
        included=float(np.mean(inside)),
        excluded=float(np.mean(outside)),
        auc=apart.roc_auc,
        interval=apart.intervals["roc_auc"],
        n_included=len(inside),
        n_excluded=len(outside),
        bits=float(np.log2(min(form.size for form in spaces))),
    )


def _losses(scored: Sequence[Scored]) -> list[float]:
    return [-float(one.logp.sum()) for one in scored]
