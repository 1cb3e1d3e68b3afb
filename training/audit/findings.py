"""What an audit found, as it is written down: attack by attack, on the trained model, on the
untouched base model, and beside what the account allows.
"""

from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from training.audit.scored import Words
from training.audit.scores import Attack

AttackVerdict = Literal["shift", "told apart", "not told apart"]
Model = Literal["trained", "base"]


class AuditPart(BaseModel):
    """Part of a report: frozen, no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


P = TypeVar("P", bound=AuditPart)


def as_said(kind: type[P], found: object, **more: Any) -> P:
    """What a calculation found, as the part of a report that has fields of the same names."""
    same = {name: value for name, value in vars(found).items() if name in kind.model_fields}
    return kind(**{**same, **more})


class AttackRate(AuditPart):
    """The true positive rate at one false positive rate, as in `curves.TprAt`."""

    fpr: float
    tpr: float
    fpr_reached: float
    resolved: bool
    low: float | None
    high: float | None
    bound: float | None
    """What the account allows at most."""


class Separation(AuditPart):
    """One attack on one model."""

    members: int
    others: int
    roc_auc: float
    low: float | None
    """`low`, `high`: of roc_auc, 95%."""
    high: float | None
    hanley_se: float
    delong_se: float
    pr_auc: float
    pr_low: float | None
    pr_high: float | None
    chance_pr_auc: float
    tpr: tuple[AttackRate, ...]
    left_out: dict[str, int]
    """Sessions without a score, by reason."""


class AttackReport(AuditPart):
    """What one attack came to."""

    attack: Attack
    trained: Separation
    base: Separation | None
    """The same attack on the untouched base model; None with `why_no_base`."""
    why_no_base: str | None
    bound: float | None
    """The AUC that the account allows at most."""
    verdict: AttackVerdict | None
    """`shift` where the base model tells members from others too, though it never saw either, so
    that the AUC is no evidence.
    """
    within_bound: bool | None
    """Whether the interval meets what is allowed, from 1 minus the bound (an attack may be turned
    round) to the bound; None without bound or interval.
    """


class BoundReport(AuditPart):
    """As in `bounds.Bound`."""

    unit: str
    sessions: int
    by: str
    auc: float
    said: str


class LikenessReport(AuditPart):
    """As in `memorization.Likeness`, for the trained and the base model."""

    measure: str
    model: Model
    members: float
    others: float
    difference: float
    low: float | None
    high: float | None
    n_members: int
    n_others: int


class OneRunReport(AuditPart):
    """As in `onerun.OneRun`."""

    canaries: int
    guesses: int
    correct: int
    epsilon: float
    delta: float
    confidence: float
    stated_epsilon: float | None
    below_stated: bool | None
    """Whether the bound stays below the stated epsilon; None if none was stated."""
    most: float | None = None
    """What it would be if every guess were right; None in a report from before it was said."""


class ExposureReport(AuditPart):
    """As in `exposing.Exposed`."""

    included: float
    excluded: float
    auc: float
    low: float
    high: float
    n_included: int
    n_excluded: int
    bits: float


class AuditReport(AuditPart):
    """What an audit of one training came to."""

    words: Words
    """Whose words were scored."""
    round: int | None = None
    """Of a federation, where the adapter after that round was attacked; None: the result."""
    member_clients: int
    """`member_clients`, `other_clients`: how many there are."""
    other_clients: int
    bound: BoundReport | None
    attacks: tuple[AttackReport, ...]
    memorization: tuple[LikenessReport, ...] = ()
    one_run: OneRunReport | None = None
    exposure: ExposureReport | None = None
