"""What all rounds of a federation have in common, fixed before the first one: from a recipe, its
plan and the sites' sizes.

The account is loaded only where there is a plan: it takes seconds, and over Flower each message may
start a process.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from training.errors import TrainingError
from training.federation.draws import Source
from training.federation.fixedpoint import FixedPoint
from training.federation.messages import Send
from training.plan import TrainingPlan
from training.privacy.lattice import Lattice, lattice
from training.recipe import Recipe

Rule = Literal["fedavg", "fedadam", "stack", "exact"]
UNCLIPPED = 16.0
"""The largest entry of an update that nobody clips, in a secure sum; adapters move by far less."""
NoiseAt = Literal["none", "each_site", "sum"]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What all rounds of a federation have in common."""

    weights: Mapping[str, float]
    """Share of each site in an average over all; their sum is at most 1 (a largest weight cuts
    them).
    """
    fixed: bool = False
    """Whether a site that does not answer keeps its share, contributing zero, as the sensitivity of
    a site demands; else the others take it over.
    """
    participation: float = 1.0
    """Probability that a site is drawn."""
    hidden_draw: bool = False
    """Whether the account counts on nobody knowing who was drawn: then every site draws for itself,
    and all train and send, so that neither messages nor time tell.
    """
    rule: Rule = "fedavg"
    learning_rate: float = 1.0
    factors: Literal["both", "b"] = "both"
    """`b`: only lora_B is trained and travels (FFA-LoRA, Sun et al. 2024)."""
    alpha: float = 32.0
    """`alpha`, `ranks`: of the adapters; ranks by site, where smaller."""
    ranks: Mapping[str, int] = field(default_factory=dict)
    clip: float | None = None
    """`clip`, `noise_at`, `noise_std`: of a site's update, or of the sum of weighted updates
    (`training.privacy.budget.noise_std`), of which every site then adds a share; clip None: not
    clipped here, either without privacy or because each step at a site is.
    """
    noise_at: NoiseAt = "none"
    noise_std: float = 0.0
    dropouts: int = 0
    """How many sites may be missing from a sum that has noise enough."""
    noise: Source = "seeded"
    send: Send = "fp32"
    secure: bool = False
    min_sites: int = 1
    timeout_s: float = 3600.0
    tells_loss: bool = True
    """Only without privacy, since a loss is computed on private data."""

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise TrainingError(problem)

    @property
    def sites(self) -> tuple[str, ...]:
        """All of them, in order."""
        return tuple(sorted(self.weights))

    @property
    def fixed_point(self) -> FixedPoint:
        """For secure sums of weighted updates: room for the clip and ten standard deviations, or
        entries up to `UNCLIPPED`.
        """
        room = (
            UNCLIPPED
            if self.clip is None
            else self.clip + (10 * self.noise_std if self.noise_at == "each_site" else 0)
        )
        return FixedPoint(
            largest=max(self.weights.values()) * room,
            members=len(self.weights),
            lattice=self._lattice,
        )

    @property
    def _lattice(self) -> Lattice | None:
        """As `training.privacy.budget.lattice_of` has it."""
        if self.noise_at != "sum" or self.clip is None:
            return None
        members = len(self.weights)
        return lattice(
            reach=self.clip, std=self.noise_std, members=members, answering=members - self.dropouts
        )

    @property
    def needed(self) -> int:
        """How many sites must answer for a round to count, and be in a secure sum for a site to
        help reveal it.
        """
        shares = len(self.weights) - self.dropouts if self.noise_at == "sum" else 1
        return max(self.min_sites, shares, 2 if self.secure else 1)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all that a resumed federation must have in common with what went before."""
        said = {
            key: value
            for key, value in asdict(self).items()
            if key not in ("timeout_s", "min_sites")
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _problems(terms: Terms) -> list[str]:
    found = []
    if (
        not terms.weights
        or min(terms.weights.values(), default=0) <= 0
        or sum(terms.weights.values()) > 1 + 1e-9
    ):
        found.append(
            f"weights of sites must be above 0 and at most 1 together, not {dict(terms.weights)}"
        )
    if not 0 < terms.participation <= 1:
        found.append(f"participation {terms.participation:g} is no probability above 0")
    if terms.noise_at != "none" and (
        terms.clip is None or not terms.fixed or not terms.noise_std > 0
    ):
        found.append(
            "noise on updates needs a clip, fixed weights and a standard deviation above 0: without"
            " them there is no sensitivity"
        )
    if terms.fixed and terms.rule in ("stack", "exact"):
        found.append(
            f"`{terms.rule}` multiplies updates with each other and has no such sensitivity as a"
            " site's clip; take `fedavg` or `fedadam`"
        )
    if terms.factors == "b" and terms.rule in ("stack", "exact"):
        found.append(
            f"`{terms.rule}` is for two trained factors; with one, `fedavg` is already exact"
        )
    if terms.ranks and terms.rule != "stack":
        found.append(f"unequal ranks cannot be averaged by `{terms.rule}`; take `stack`")
    if terms.secure and (
        len(terms.weights) < 3 or terms.rule in ("stack", "exact") or terms.send != "fp32"
    ):
        found.append(
            "secure sums need three sites or more, `fedavg` or `fedadam`, and `send: fp32`: with"
            " two, each knows the other's part"
        )
    if terms.min_sites > len(terms.weights):
        found.append(
            f"averaging.min_sites: {terms.min_sites}, but there are only {len(terms.weights)}"
            " sites; every round would be void"
        )
    return [*found, *_problems_of_sums(terms)]


def _problems_of_sums(terms: Terms) -> Iterator[str]:
    if (terms.noise_at == "sum" or terms.hidden_draw) and not terms.secure:
        yield (
            "noise on a sum, and draws that nobody knows, need a secure sum: else the server sees"
            " every update, and who sent it"
        )
    if terms.noise_at != "sum":
        if terms.dropouts:
            yield "dropouts are counted where sites share the noise of a sum"
        return
    if terms.clip is not None and terms.noise_std > 0:
        if 2 * terms.dropouts >= len(terms.weights):
            yield (
                f"{terms.dropouts} of {len(terms.weights)} sites may drop out, but more than half"
                " must answer for a secure sum"
            )
        elif terms._lattice is None:
            yield (
                f"noise of {terms.noise_std:.3g} beside a clip of {terms.clip:g} is too little for"
                " a secure sum of 32 bits"
            )


def terms_of(recipe: Recipe, plan: TrainingPlan | None, sessions: Mapping[str, int]) -> Terms:
    """sessions: for training at each site. plan: the recipe's with these sites; None without
    privacy.

    The weights are by sessions unless the unit is the site, where `privacy.weights` and
    `max_weight` decide (see `Privacy`).
    """
    at_site = plan is not None and plan.privacy.unit == "site"
    total = sum(sessions.values())
    weights = {site: many / total for site, many in sessions.items()}
    if plan is not None and at_site:
        weights = _bounded(weights, plan)
    strange = sorted(set(recipe.lora.ranks) - set(sessions))
    if strange:
        raise TrainingError(
            f"lora.ranks: no site {strange[0]!r}; there are {', '.join(sorted(sessions))}"
        )
    lora, averaging = recipe.lora, recipe.averaging
    return Terms(
        weights=weights,
        fixed=at_site,
        rule=averaging.rule,
        learning_rate=averaging.server_learning_rate,
        factors=lora.train,
        alpha=lora.alpha,
        ranks=lora.ranks,
        send=averaging.send,
        secure=averaging.secure,
        min_sites=averaging.min_sites,
        timeout_s=averaging.timeout_s,
        tells_loss=plan is None,
        noise=recipe.noise,
        **(
            _protected(plan)
            if plan is not None and at_site
            else {"participation": recipe.participation}
        ),
    )


def _bounded(weights: dict[str, float], plan: TrainingPlan) -> dict[str, float]:
    """Shares of sites as the account has them: none above the largest weight that the sensitivity
    is computed with.
    """
    from training.privacy import budget

    largest = budget.largest_weight(plan)
    bounded = {
        site: 1 / len(weights) if plan.privacy.weights == "uniform" else min(share, largest)
        for site, share in weights.items()
    }
    if max(bounded.values()) > largest * (1 + 1e-12):
        raise TrainingError(
            f"a site has weight {max(bounded.values()):.6g}, the account says {largest:.6g}: not"
            " the plan's sites"
        )
    return bounded


def _protected(plan: TrainingPlan) -> dict[str, object]:
    from training.privacy import budget

    given, multiplier = plan.privacy, budget.multiplier_of(plan)
    budget.lattice_of(plan, multiplier)
    return {
        "participation": given.participation,
        "hidden_draw": given.noise_at == "sum" and given.participation < 1,
        "clip": given.clip,
        "noise_at": given.noise_at,
        "noise_std": budget.noise_std(plan, multiplier),
        "dropouts": given.dropouts,
    }
