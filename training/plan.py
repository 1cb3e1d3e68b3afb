"""The plan of a training, as far as privacy is concerned: sites, rounds and what is protected,
checked before anything is computed.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat, model_validator

from simcounsel.specs.load import Spec

Unit = Literal["session", "client", "site"]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
OF_UNIT: dict[Unit, tuple[str, ...]] = {
    "session": (),
    "client": ("draw", "sessions_per_client", "disjoint_sites"),
    "site": (
        "noise_at",
        "dropouts",
        "weights",
        "max_weight",
        "participation",
        "adjacency",
        "calibration",
        "stated_epsilon",
    ),
}
"""Keys under `privacy` that mean something for one unit only."""
EXCESS = 1e-3
"""What the whole numbers of a secure sum may add to epsilon, over all rounds (see
`privacy.lattice`).
"""


class SiteSize(Spec):
    """One site, or `count` sites alike."""

    name: Annotated[str, Field(min_length=1)]
    count: Count = 1
    sessions: Count
    """Used for training at each of them (after the cap, where there is one)."""
    clients: Count | None = None
    """Different counselees among these; None where the plan does not need it."""


class PrivacyPlan(Spec):
    """What is protected, and how."""

    unit: Unit
    """The thing whose presence stays hidden: one session, one client (the counselee, all sessions),
    or one site.
    """
    clip: Annotated[FiniteFloat, Field(gt=0)]
    """Largest L2 norm of one contribution (a session's or client's gradient, a site's update)."""
    delta: FiniteFloat
    """Probability that the bound fails; of the whole plan."""
    noise_multiplier: FiniteFloat | None = None
    """Standard deviation of the noise at every release, over `clip` where sessions or clients are
    clipped, over the sensitivity of a site (see `privacy.budget.sensitivity`) where sites are;
    None: found from `budget_epsilon`.
    """
    budget_epsilon: Annotated[FiniteFloat, Field(gt=0)] | None = None
    """The total that the plan may cost. With `noise_multiplier`, a plan that would exceed it is
    refused.
    """
    draw: Literal["session", "client"] | None = None
    """`draw`, `sessions_per_client`, `disjoint_sites`: with unit client, a Poisson draw takes
    clients, or sessions of which a client has at most `sessions_per_client`; no client is at two
    sites.
    """
    sessions_per_client: Count | None = None
    disjoint_sites: bool | None = None
    noise_at: Literal["each_site", "sum"] | None = None
    """With unit site: each site noises its update as much as it needs alone, or (`sum`) its share
    of a secure sum's noise, so that nobody sees the sum without it.
    """
    dropouts: Annotated[int, Field(ge=0)] = 0
    """With `noise_at: sum`, how many sites may be missing from a round: the others' shares are
    noise enough. With more missing the round is given up.
    """
    weights: Literal["uniform", "by_size"] = "uniform"
    """Of sites in the average, by `sessions` or uniform; `max_weight` cuts them. Weights and their
    denominator are fixed before the first round.
    """
    max_weight: FiniteFloat | None = None
    participation: FiniteFloat = 1.0
    """Probability that a site takes part in a round, drawn independently (Poisson)."""
    adjacency: Literal["absent", "replaced"] = "absent"
    """A site's updates are absent (zero), or replaced by any others."""
    calibration: Literal["exact", "paper"] = "exact"
    """`paper`: the noise of MindChat's formula for `stated_epsilon` (section III.B, equation 4)."""
    stated_epsilon: Annotated[FiniteFloat, Field(gt=0)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _says_whom(cls, data: Any) -> Any:
        if isinstance(data, dict) and "unit" not in data:
            raise ValueError(
                "unit is missing: a budget means nothing without whom it protects; add `unit:"
                " session`, `unit: client` or `unit: site`"
            )
        if isinstance(data, dict) and "sensitivity" in data:
            raise ValueError(
                "sensitivity is not yours to choose: it follows from `clip`, the weights and the"
                " adjacency; remove the key"
            )
        return data


class TrainingPlan(Spec):
    """What is accounted for: sites, rounds and privacy."""

    sites: Annotated[tuple[SiteSize, ...], Field(min_length=1)]
    rounds: Annotated[int, Field(ge=1, le=1_000_000)]
    """Over all sites."""
    local_epochs: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Passes over a site's data in a round."""
    batch_size: Count | None = None
    """Sessions (or clients, where a draw takes clients) that a step takes on average, since each is
    drawn independently; None only for unit site.
    """
    privacy: PrivacyPlan

    @property
    def n_sites(self) -> int:
        """Sites alike counted one by one."""
        return sum(site.count for site in self.sites)

    @property
    def answering(self) -> int:
        """How many sites are in every sum, with `noise_at: sum`."""
        return self.n_sites - self.privacy.dropouts

    @property
    def units(self) -> int:
        """How many of the protected unit there are at all sites together."""
        match self.privacy.unit:
            case "site":
                return self.n_sites
            case "client":
                return sum(site.count * (site.clients or 0) for site in self.sites)
            case "session":
                return sum(site.count * site.sessions for site in self.sites)

    def drawn_from(self, site: SiteSize) -> int:
        """How many sessions, or clients, a step of this site draws from."""
        return (site.clients or 0) if self.privacy.draw == "client" else site.sessions

    def rate(self, site: SiteSize) -> float:
        """Probability that a step takes a given session (or client). Only with `batch_size`."""
        return (self.batch_size or 0) / self.drawn_from(site)

    def steps_per_round(self, site: SiteSize) -> int:
        """Whole steps of a round at this site, rounded up, so that what is counted is never less
        than what is done.
        """
        return -(-self.local_epochs * self.drawn_from(site) // (self.batch_size or 1))
