"""An account in words and tables, the unit named with every number."""

from collections.abc import Callable, Sequence

from training.plan import TrainingPlan
from training.privacy import gaussian
from training.privacy.budget import PrivacyAccount, lattice_of, needed
from training.privacy.trust import protections, said

Row = tuple[str, str]
PAPER_EPSILONS = (1.0, 3.0, 5.0, 7.0)
"""The budgets of the paper's comparison (section IV.C.6)."""
NEIGHBOURS = {
    "session": "two corpora that differ by one session, there or not there",
    "client": "two corpora that differ by one client with all sessions, there or not there",
    "absent": (
        "two federations that differ by one site, there or sending zeros (same weights, same"
        " denominator)"
    ),
    "replaced": "two federations that differ in all data of one site",
}


def lines(account: PrivacyAccount, source: str) -> list[str]:
    """The account, a line each. source: of the noise, `seeded` or `secure`."""
    rows = [
        *_of_plan(account.plan),
        *_of_noise(account),
        *_of_cost(account),
        (
            "not counted",
            (
                "numbers of sites, sessions and clients, metrics, choices made by looking at"
                " private data"
            ),
        ),
    ]
    return [*(f"{name:<16}{what}" for name, what in rows), "", *_of_trust(account, source)]


def _of_plan(plan: TrainingPlan) -> list[Row]:
    given = plan.privacy
    sizes = (
        f"{plan.n_sites} sites, {sum(site.count * site.sessions for site in plan.sites)} sessions"
    )
    steps = (
        sorted({plan.steps_per_round(site) for site in plan.sites}) if given.unit != "site" else []
    )
    drawn = f", {_span(steps)} steps each at a site" if steps else ""
    return [
        (
            "unit",
            f"{given.unit}: {NEIGHBOURS[given.unit if given.unit != 'site' else given.adjacency]}",
        ),
        ("plan", f"{plan.rounds} rounds{drawn}; {sizes}"),
        ("draws", _draws(plan)),
    ]


def _span(numbers: Sequence[int]) -> str:
    return f"{numbers[0]}" if numbers[0] == numbers[-1] else f"{numbers[0]} to {numbers[-1]}"


def _draws(plan: TrainingPlan) -> str:
    given = plan.privacy
    if given.unit == "site":
        if given.participation == 1:
            return "every site in every round"
        if given.noise_at == "sum":
            return (
                f"each site for itself, with probability {given.participation:g} in a round"
                " (Poisson; it tells nobody)"
            )
        return "not counted: the server sees which sites answer, so each is charged for every round"
    rates = sorted(plan.rate(site) for site in plan.sites)
    rate = f"{rates[0]:.4g}" if rates[0] == rates[-1] else f"{rates[0]:.4g} to {rates[-1]:.4g}"
    what, cap = given.draw or "session", given.sessions_per_client
    return f"each {what} alone, with probability {rate} in a step (Poisson)" + (
        f"; at most {cap} sessions of a client at a site" if cap else ""
    )


def _of_noise(account: PrivacyAccount) -> list[Row]:
    given, plan = account.plan.privacy, account.plan
    if given.unit == "site":
        where = "the update of each site" if given.noise_at == "each_site" else "the weighted sum"
        over, mean = "sensitivity", ""
    else:
        where, over = "the sum of a step's gradients", "clip"
        mean = f", {account.noise_std / (plan.batch_size or 1):.3g} on their mean"
    return [
        (
            "sensitivity",
            f"{account.sensitivity:.4g} for one {given.unit} (clip {given.clip:g}), in {where}",
        ),
        (
            "noise",
            (
                f"multiplier {account.multiplier:.4g} (over the {over}): standard deviation"
                f" {account.noise_std:.4g} on {where}{mean}"
            ),
        ),
        *_of_shares(account),
    ]


def _of_shares(account: PrivacyAccount) -> list[Row]:
    """Where the noise of a sum comes from."""
    plan = account.plan
    found = lattice_of(plan, account.multiplier)
    if found is None:
        return []
    return [
        (
            "shares",
            (
                f"every site adds noise of {found.share_std:.4g} to its own, as whole numbers under"
                f" its mask; any {plan.answering} of {plan.n_sites} together have what is needed"
            ),
        )
    ]


def _of_cost(account: PrivacyAccount) -> list[Row]:
    given = account.plan.privacy
    of = f"for one {given.unit}, delta {given.delta:g}"
    rows = [
        ("one round", f"epsilon {account.round_epsilon:.4g} {of}"),
        (
            "in total",
            f"epsilon {account.total_epsilon:.4g} {of}, after {account.plan.rounds} rounds",
        ),
    ]
    if len(account.by_site) > 1:
        rows += [
            ("", f"at {name}: epsilon {epsilon:.4g} for one {given.unit}")
            for name, epsilon in account.by_site
        ]
    if given.unit != "site" and given.disjoint_sites is not False:
        rows.append(
            ("over sites", f"not added up: it is assumed that no {given.unit} is at two sites")
        )
    elif given.disjoint_sites is False:
        rows.append(("over sites", f"added up: a {given.unit} may be at all of them"))
    return rows


def _of_trust(account: PrivacyAccount, source: str) -> list[str]:
    given = account.plan.privacy
    found = protections(account.plan, account.multiplier, account.plan.rounds, source)
    return [
        f"who is protected from whom: epsilon for one {given.unit}, delta {given.delta:g}",
        *[f"  {one.whom:<16}{said(one.epsilon):>6}  {one.because}" for one in found],
    ]


def table(
    plan: TrainingPlan,
    epsilons: Sequence[float],
    rounds: Sequence[int],
    on_cell: Callable[[int, int], None] = lambda done, of: None,
) -> list[str]:
    """The multiplier needed for each total epsilon (rows) over so many rounds (columns). on_cell:
    told how many cells are done, of how many.
    """
    given, of = plan.privacy, len(epsilons) * len(rounds)
    on_cell(0, of)
    cells: list[list[str]] = []
    for row, epsilon in enumerate(epsilons):
        cells.append([f"{epsilon:g}"])
        for column, many in enumerate(rounds, 1):
            cells[-1].append(f"{needed(plan, many, epsilon):.3f}")
            on_cell(row * len(rounds) + column, of)
    title = (
        f"noise multiplier needed, by total epsilon for one {given.unit} (delta {given.delta:g})"
        " and rounds"
    )
    return [title, *_grid([["epsilon", *(str(many) for many in rounds)], *cells])]


def paper_table(plan: TrainingPlan) -> list[str]:
    """What the paper's noise, sized for one release, really gives over the plan's rounds, and the
    noise for a true total.
    """
    delta, rounds, clip = plan.privacy.delta, plan.rounds, plan.privacy.clip
    stated = sorted({*PAPER_EPSILONS, plan.privacy.stated_epsilon or PAPER_EPSILONS[0]})
    head = [
        "stated",
        "noise",
        "one round",
        f"{rounds} rounds",
        "if replaced",
        "delta at stated",
        "noise for it",
    ]
    body = []
    for epsilon in stated:
        z = gaussian.paper_multiplier(epsilon, delta)
        body.append(
            [
                f"{epsilon:g}",
                f"{z * clip:.4f}",
                f"{gaussian.epsilon_of(z, delta):.3f}",
                f"{gaussian.epsilon_of(z, delta, rounds):.2f}",
                f"{gaussian.epsilon_of(z / 2, delta, rounds):.2f}",
                f"{gaussian.delta_of(z, epsilon, rounds):.3g}",
                f"{gaussian.multiplier_for(epsilon, delta, rounds) * clip:.2f}",
            ]
        )
    return [
        (
            f"the paper's formula, unit site, delta {delta:g}, clip {clip:g}: the epsilon it"
            " states, its noise, and the true epsilon of one site"
        ),
        *_grid([head, *body]),
        (
            "its noise is for one release; stated is per round, and rounds add up. `if replaced`:"
            " against any other data in place of the"
        ),
        (
            "site's, not only silence. `delta at stated`: with which the stated epsilon really"
            " holds. `noise for it`: for a true total of it."
        ),
    ]


def _grid(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
