"""What a sweep will be, said before: its runs, what they would take, how its conditions differ."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simcounsel.lab.power import POWER, power_lines
from simcounsel.lab.shares import Share, forecast_lines
from simcounsel.llm.prices import Prices
from simcounsel.specs.cells import Cell
from simcounsel.specs.differences import differences
from simcounsel.specs.experiment import Experiment, Hypothesis

MOST_NAMES = 12
"""Clients that a folded plan names."""
PLAN_FILE = "experiment.yaml"
"""Where a study says all that its conditions set."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a sweep would take, by the rule that was counted in earlier runs."""

    runs: int
    resident_days: float
    low: Share
    """`low`, `high`: from few requests to many."""
    high: Share
    cost_usd: tuple[float, float] | None
    """None when a price is unknown."""
    basis: str


def estimate(cells: tuple[Cell, ...], prices: Prices) -> Estimate:
    """Requests and cost of all runs; a forked run counts from its fork on."""
    low = high = Share()
    cost: tuple[float, float] | None = (0.0, 0.0)
    days = 0.0
    for cell in cells:
        since = cell.at_tick or 0
        own = cell.kind.part("by_rule")(cell.about, cell.ticks, since)
        low, high = (one + more for one, more in zip((low, high), own.total(), strict=True))
        spent = own.cost_usd(cell.about.model_names(), prices)
        cost = (cost[0] + spent[0], cost[1] + spent[1]) if cost and spent else None
        days += own.resident_days
    return Estimate(
        runs=len(cells),
        resident_days=days,
        low=low,
        high=high,
        cost_usd=cost,
        basis="by a rule, from earlier runs of ours",
    )


def plan_lines(
    experiment: Experiment,
    cells: tuple[Cell, ...],
    prices: Prices,
    out: Path,
    *,
    power: float = POWER,
    folded: bool = False,
) -> Iterator[str]:
    """The plan in words, what it would take, and in which keys the conditions differ. power: for
    which it says how many clients are needed. folded: long lists are cut short, and differences
    that lie below one key are counted.
    """
    needed = estimate(cells, prices)
    yield f"experiment   {experiment.name}"
    if experiment.worlds:
        yield f"clients      {_named(sorted({cell.client for cell in cells}), folded)}"
    yield f"conditions   {', '.join(arm.name for arm in experiment.conditions)}"
    if experiment.design == "parallel":
        dealt = Counter(cell.arm for cell in {cell.client: cell for cell in cells}.values())
        each = ", ".join(f"{dealt[arm.name]} to {arm.name}" for arm in experiment.conditions)
        yield f"allocation   each client to one condition, by chance: {each}"
    yield f"seeds        {', '.join(map(str, experiment.all_seeds))}"
    if experiment.paired_at is not None:
        yield (
            f"paired       each client's first {experiment.paired_at} ticks are run once, then"
            " forked into every condition"
        )
    about = cells[0].about
    models = {
        name for cell in cells for role, name in cell.about.model_names().items() if role != "embed"
    }
    pasts = sum(cell.arm is None for cell in cells)
    yield f"models       {', '.join(sorted(models))}; vectors {about.model_names()['embed']}"
    yield from cells[0].kind.part("plan_lines")(cells, needed.resident_days)
    shared = f" ({pasts} of them shared pasts)" if pasts else ""
    yield f"runs         {needed.runs}{shared}, in {out}"
    yield from forecast_lines(needed.low, needed.high, needed.cost_usd, needed.basis)
    for one in experiment.hypotheses:
        yield (
            f"planned      {one.id}: {one.test} of {one.instrument}.{one.score}{_over(one)},"
            f" {' against '.join(one.contrast)}, {one.direction}"
        )
    if experiment.worlds:
        clients = len({cell.client for cell in cells})
        groups = 1 if experiment.design == "crossed" else len(experiment.conditions)
        yield from power_lines(experiment, clients // groups, power)
    if differing := differences(cells):
        yield "the conditions differ in"
    yield from (f"  {line}" for line in (_by_key(differing) if folded else differing))


def _named(clients: list[str], folded: bool) -> str:
    more = len(clients) - MOST_NAMES
    if not folded or more <= 1:
        return ", ".join(clients)
    return f"{', '.join(clients[:MOST_NAMES])} and {more} more"


def _by_key(differing: list[str]) -> Iterator[str]:
    """One line for each key of a world: its only difference, or how many there are below it."""
    below: dict[str, list[str]] = {}
    for line in differing:
        below.setdefault(re.split(r"[.:]", line, maxsplit=1)[0], []).append(line)
    for key, lines in below.items():
        yield lines[0] if len(lines) == 1 else f"{key}: {len(lines)} values; see {PLAN_FILE}"


def world_lines(cells: tuple[Cell, ...], days: float) -> Iterator[str]:
    """How long worlds are run, and what is measured in them. days: of residents."""
    world = cells[0].world
    yield f"length       {world.ticks} ticks of {world.tick_minutes} minutes"
    for measurement in world.measurements:
        yield f"measured     {measurement.instrument}, {measurement.when}"
    if days:
        yield f"simulated    {days:.1f} resident-days"


def _over(hypothesis: Hypothesis) -> str:
    """Which change a planned test is about, where it names one."""
    change = hypothesis.change
    if change is None:
        return ""
    words = {"whole": "last minus first", "adjacent": "mean change from one time to the next"}
    return f" ({words.get(change) if isinstance(change, str) else ' to '.join(change)})"
