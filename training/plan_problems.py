"""What may be wrong with the privacy of a plan, and what to do, before anything is computed."""

from collections.abc import Iterator

from training.plan import EXCESS, OF_UNIT, TrainingPlan

Problem = tuple[tuple[str | int, ...], str]


def problems(plan: TrainingPlan) -> list[Problem]:
    """What is wrong with a plan whose sites are counted: the path of the key, and what to do."""
    return [
        *_foreign_keys(plan),
        *_of_noise(plan),
        *_of_size(plan),
        *(_of_site(plan) if plan.privacy.unit == "site" else _of_draws(plan)),
    ]


def _foreign_keys(plan: TrainingPlan) -> list[Problem]:
    unit = plan.privacy.unit
    return [
        (("privacy", key), f"belongs to `unit: {other}`, and this plan's unit is {unit}; remove it")
        for other, keys in OF_UNIT.items()
        if other != unit
        for key in keys
        if key in plan.privacy.model_fields_set
    ]


def _of_noise(plan: TrainingPlan) -> Iterator[Problem]:
    given = plan.privacy
    if given.noise_multiplier is not None and given.noise_multiplier <= 0:
        yield (
            ("privacy", "noise_multiplier"),
            f"{given.noise_multiplier:g} adds no noise and protects nothing; it must be above 0",
        )
    if given.calibration == "paper":
        if given.stated_epsilon is None:
            yield (
                ("privacy", "calibration"),
                "`paper` needs `stated_epsilon`: the epsilon that its formula is given",
            )
        if given.noise_at == "sum":
            yield (
                ("privacy", "calibration"),
                (
                    "the paper's formula is for `noise_at: each_site`; a sum needs"
                    " `calibration: exact`"
                ),
            )
        if given.noise_multiplier is not None:
            yield (
                ("privacy", "noise_multiplier"),
                "`calibration: paper` sets the noise; keep one of the two",
            )
    elif given.stated_epsilon is not None:
        yield (
            ("privacy", "stated_epsilon"),
            "goes with `calibration: paper`; the total that you want is `budget_epsilon`",
        )
    elif given.noise_multiplier is None and given.budget_epsilon is None:
        yield (
            ("privacy",),
            (
                "nothing says how much noise; add `budget_epsilon: 8` (the total wanted) or"
                " `noise_multiplier: 1.5`"
            ),
        )


def _of_size(plan: TrainingPlan) -> list[Problem]:
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


def _of_site(plan: TrainingPlan) -> Iterator[Problem]:
    given = plan.privacy
    if given.noise_at is None:
        yield (
            ("privacy",),
            (
                "noise_at is missing: `each_site` (the server sees every update) or `sum` (only"
                " a secure sum is seen)"
            ),
        )
    if not 0 < given.participation <= 1:
        yield (
            ("privacy", "participation"),
            f"{given.participation:g} is out of range: a probability above 0, at most 1",
        )
    if given.max_weight is not None and not 0 < given.max_weight <= 1:
        yield (
            ("privacy", "max_weight"),
            f"{given.max_weight:g} is out of range: a share above 0, at most 1",
        )
    if given.max_weight is not None and given.weights == "uniform":
        yield (
            ("privacy", "max_weight"),
            "uniform weights are all the same; it goes with `weights: by_size`",
        )
    yield from _of_sum(plan)
    if given.adjacency == "replaced" and given.noise_at == "sum" and given.participation < 1:
        yield (
            ("privacy", "adjacency"),
            "`replaced` is counted only with `participation: 1`; take that, or `absent`",
        )


def _of_sum(plan: TrainingPlan) -> Iterator[Problem]:
    given = plan.privacy
    if given.noise_at != "sum":
        if "dropouts" in given.model_fields_set:
            yield (
                ("privacy", "dropouts"),
                "belongs to `noise_at: sum`, where sites share the noise; remove it",
            )
        return
    if plan.n_sites < 3:
        yield (
            ("privacy", "noise_at"),
            (
                f"a secure sum needs three sites or more, not {plan.n_sites}; take `each_site`, or"
                " count the sites"
            ),
        )
    elif 2 * plan.answering <= plan.n_sites:
        yield (
            ("privacy", "dropouts"),
            (
                f"{given.dropouts} of {plan.n_sites} sites: more than half must answer for a"
                f" secure sum, so at most {(plan.n_sites - 1) // 2}"
            ),
        )
    if given.budget_epsilon is not None and given.budget_epsilon <= 2 * EXCESS:
        yield (
            ("privacy", "budget_epsilon"),
            (
                f"{given.budget_epsilon:g} is too small for a sum of whole numbers, which costs"
                f" {EXCESS:g}; it must be above {2 * EXCESS:g}"
            ),
        )


def _of_draws(plan: TrainingPlan) -> Iterator[Problem]:
    if plan.batch_size is None:
        yield (), "batch_size is missing: how many a step takes on average decides what it costs"
        return
    by_client = plan.privacy.unit == "client"
    if by_client:
        yield from _of_clients(plan)
    for at, site in enumerate(plan.sites):
        here: tuple[str | int, ...] = ("sites", at)
        if by_client and site.clients is None:
            yield (
                here,
                (
                    f"{site.name!r} does not say how many `clients` it has, and the unit is the"
                    " client"
                ),
            )
        elif site.clients is not None and site.clients > site.sessions:
            yield (
                here,
                f"{site.name!r} has {site.clients} clients but only {site.sessions} sessions",
            )
        elif plan.batch_size > plan.drawn_from(site):
            what = plan.privacy.draw or "session"
            yield (
                ("batch_size",),
                (
                    f"{plan.batch_size} out of {plan.drawn_from(site)} {what}s at {site.name!r}"
                    f" is a sampling rate of {plan.rate(site):.3g}, and 1 is the most; take a"
                    " smaller batch"
                ),
            )
        elif (
            plan.privacy.sessions_per_client
            and site.sessions > (site.clients or 0) * plan.privacy.sessions_per_client
            and by_client
        ):
            yield (
                here,
                (
                    f"{site.name!r} has {site.sessions} sessions, but {site.clients} clients"
                    f" with at most {plan.privacy.sessions_per_client} each have fewer;"
                    " `sessions` counts what is left after the cap"
                ),
            )


def _of_clients(plan: TrainingPlan) -> Iterator[Problem]:
    given = plan.privacy
    if given.draw is None:
        yield (
            ("privacy",),
            (
                "draw is missing: `client` (a step draws clients, one clipped gradient each) or"
                " `session` (needs a cap)"
            ),
        )
    if given.disjoint_sites is None:
        yield (
            ("privacy",),
            (
                "disjoint_sites is missing: true if no client is at two sites; false counts a"
                " client as being at all"
            ),
        )
    if given.draw == "session" and given.sessions_per_client is None:
        yield (
            ("privacy", "draw"),
            "`session` needs `sessions_per_client`, the most that one client has at a site",
        )
    if given.draw == "client" and given.sessions_per_client is not None:
        yield (
            ("privacy", "sessions_per_client"),
            "a client that is drawn gives one clipped gradient, so no cap is counted; remove it",
        )
