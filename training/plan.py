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
        "weights",
        "max_weight",
        "participation",
        "adjacency",
        "calibration",
        "stated_epsilon",
    ),
}
"""Keys under `privacy` that mean something for one unit only."""


class Site(Spec):
    """One site, or `count` sites alike."""

    name: Annotated[str, Field(min_length=1)]
    count: Count = 1
    sessions: Count
    """Used for training at each of them (after the cap, where there is one)."""
    clients: Count | None = None
    """Different counselees among these; None where the plan does not need it."""


class Privacy(Spec):
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
    """With unit site: each site noises its update, or noise is added once to a secure sum."""
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


class Plan(Spec):
    """What is accounted for: sites, rounds and privacy."""

    sites: Annotated[tuple[Site, ...], Field(min_length=1)]
    rounds: Annotated[int, Field(ge=1, le=1_000_000)]
    """Over all sites."""
    local_epochs: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Passes over a site's data in a round."""
    batch_size: Count | None = None
    """Sessions (or clients, where a draw takes clients) that a step takes on average, since each is
    drawn independently; None only for unit site.
    """
    privacy: Privacy

    @property
    def n_sites(self) -> int:
        """Sites alike counted one by one."""
        return sum(site.count for site in self.sites)

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

    def drawn_from(self, site: Site) -> int:
        """How many sessions, or clients, a step of this site draws from."""
        return (site.clients or 0) if self.privacy.draw == "client" else site.sessions

    def rate(self, site: Site) -> float:
        """Probability that a step takes a given session (or client). Only with `batch_size`."""
        return (self.batch_size or 0) / self.drawn_from(site)

    def steps_per_round(self, site: Site) -> int:
        """Whole steps of a round at this site, rounded up, so that what is counted is never less
        than what is done.
        """
        return -(-self.local_epochs * self.drawn_from(site) // (self.batch_size or 1))


Problem = tuple[tuple[str | int, ...], str]


def problems(plan: Plan) -> list[Problem]:
    """What is wrong with a plan whose sites are counted: the path of the key, and what to do."""
    return [
        *_foreign_keys(plan),
        *_of_noise(plan),
        *_of_size(plan),
        *(_of_site(plan) if plan.privacy.unit == "site" else _of_draws(plan)),
    ]


def _foreign_keys(plan: Plan) -> list[Problem]:
    unit = plan.privacy.unit
    return [
        (("privacy", key), f"belongs to `unit: {other}`, and this plan's unit is {unit}; remove it")
        for other, keys in OF_UNIT.items()
        if other != unit
        for key in keys
        if key in plan.privacy.model_fields_set
    ]


def _of_noise(plan: Plan) -> list[Problem]:
    given = plan.privacy
    found: list[Problem] = []
    if given.noise_multiplier is not None and given.noise_multiplier <= 0:
        found.append(
            (
                ("privacy", "noise_multiplier"),
                (
                    f"{given.noise_multiplier:g} adds no noise and protects nothing; it must be"
                    " above 0"
                ),
            )
        )
    if given.calibration == "paper":
        if given.stated_epsilon is None:
            found.append(
                (
                    ("privacy", "calibration"),
                    "`paper` needs `stated_epsilon`: the epsilon that its formula is given",
                )
            )
        if given.noise_at == "sum":
            found.append(
                (
                    ("privacy", "calibration"),
                    (
                        "the paper's formula is for `noise_at: each_site`; a sum needs"
                        " `calibration: exact`"
                    ),
                )
            )
        if given.noise_multiplier is not None:
            found.append(
                (
                    ("privacy", "noise_multiplier"),
                    "`calibration: paper` sets the noise; keep one of the two",
                )
            )
    elif given.stated_epsilon is not None:
        found.append(
            (
                ("privacy", "stated_epsilon"),
                "goes with `calibration: paper`; the total that you want is `budget_epsilon`",
            )
        )
    elif given.noise_multiplier is None and given.budget_epsilon is None:
        found.append(
            (
                ("privacy",),
                (
                    "nothing says how much noise; add `budget_epsilon: 8` (the total wanted) or"
                    " `noise_multiplier: 1.5`"
                ),
            )
        )
    return found


def _of_size(plan: Plan) -> list[Problem]:
    delta, units, unit = plan.privacy.delta, plan.units, plan.privacy.unit
    if not 0 < delta < 1:
        return [
            (("privacy", "delta"), f"{delta:g} is no probability between 0 and 1; 1e-5 is usual")
        ]
    if units and delta * units >= 1:
        return [
            (
                ("privacy", "delta"),
                (
                    f"{delta:g} is not below 1/{units}, one over the number of {unit}s: it would"
                    f" allow to publish a whole {unit}; take {0.1 / units:.0e} or less"
                ),
            )
        ]
    return []


def _of_site(plan: Plan) -> list[Problem]:
    given = plan.privacy
    found: list[Problem] = []
    if given.noise_at is None:
        found.append(
            (
                ("privacy",),
                (
                    "noise_at is missing: `each_site` (the server sees every update) or `sum` (only"
                    " a secure sum is seen)"
                ),
            )
        )
    if not 0 < given.participation <= 1:
        found.append(
            (
                ("privacy", "participation"),
                f"{given.participation:g} is out of range: a probability above 0, at most 1",
            )
        )
    if given.max_weight is not None and not 0 < given.max_weight <= 1:
        found.append(
            (
                ("privacy", "max_weight"),
                f"{given.max_weight:g} is out of range: a share above 0, at most 1",
            )
        )
    if given.max_weight is not None and given.weights == "uniform":
        found.append(
            (
                ("privacy", "max_weight"),
                "uniform weights are all the same; it goes with `weights: by_size`",
            )
        )
    if given.adjacency == "replaced" and given.noise_at == "sum" and given.participation < 1:
        found.append(
            (
                ("privacy", "adjacency"),
                "`replaced` is counted only with `participation: 1`; take that, or `absent`",
            )
        )
    return found


def _of_draws(plan: Plan) -> list[Problem]:
    found: list[Problem] = []
    if plan.batch_size is None:
        return [
            ((), "batch_size is missing: how many a step takes on average decides what it costs")
        ]
    by_client = plan.privacy.unit == "client"
    found += _of_clients(plan) if by_client else []
    for at, site in enumerate(plan.sites):
        here: tuple[str | int, ...] = ("sites", at)
        if by_client and site.clients is None:
            found.append(
                (
                    here,
                    (
                        f"{site.name!r} does not say how many `clients` it has, and the unit is the"
                        " client"
                    ),
                )
            )
        elif site.clients is not None and site.clients > site.sessions:
            found.append(
                (
                    here,
                    f"{site.name!r} has {site.clients} clients but only {site.sessions} sessions",
                )
            )
        elif plan.batch_size > plan.drawn_from(site):
            what = plan.privacy.draw or "session"
            found.append(
                (
                    ("batch_size",),
                    (
                        f"{plan.batch_size} out of {plan.drawn_from(site)} {what}s at {site.name!r}"
                        f" is a sampling rate of {plan.rate(site):.3g}, and 1 is the most; take a"
                        " smaller batch"
                    ),
                )
            )
        elif (
            plan.privacy.sessions_per_client
            and site.sessions > (site.clients or 0) * plan.privacy.sessions_per_client
            and by_client
        ):
            found.append(
                (
                    here,
                    (
                        f"{site.name!r} has {site.sessions} sessions, but {site.clients} clients"
                        f" with at most {plan.privacy.sessions_per_client} each have fewer;"
                        " `sessions` counts what is left after the cap"
                    ),
                )
            )
    return found


def _of_clients(plan: Plan) -> list[Problem]:
    given = plan.privacy
    found: list[Problem] = []
    if given.draw is None:
        found.append(
            (
                ("privacy",),
                (
                    "draw is missing: `client` (a step draws clients, one clipped gradient each) or"
                    " `session` (needs a cap)"
                ),
            )
        )
    if given.disjoint_sites is None:
        found.append(
            (
                ("privacy",),
                (
                    "disjoint_sites is missing: true if no client is at two sites; false counts a"
                    " client as being at all"
                ),
            )
        )
    if given.draw == "session" and given.sessions_per_client is None:
        found.append(
            (
                ("privacy", "draw"),
                "`session` needs `sessions_per_client`, the most that one client has at a site",
            )
        )
    if given.draw == "client" and given.sessions_per_client is not None:
        found.append(
            (
                ("privacy", "sessions_per_client"),
                (
                    "a client that is drawn gives one clipped gradient, so no cap is counted;"
                    " remove it"
                ),
            )
        )
    return found
