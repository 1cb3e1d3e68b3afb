"""What a sweep will be: its runs, what they would take, in what its conditions differ; said before,
and written into its folder.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simcounsel.errors import RunError
from simcounsel.intake import file_bytes, json_data
from simcounsel.llm.prices import Prices
from simcounsel.secret import scrub
from simcounsel.specs.cells import Cell
from simcounsel.specs.differences import differences
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.synthesis import Synthesis
from simcounsel.specs.vocabulary import SynthesisRole
from simcounsel.specs.world import World

REQUESTS_A_DAY, CHARACTERS_A_DAY, REPLY_TOKENS = 79.0, 247_000.0, 60.0
"""Of a resident and simulated day with all phases, as tests/benchmarks/engine.py measures them
(W3): what a plan's estimate rests on. Replies are mostly short JSON.
"""
REQUESTS_A_LINE = 2.0
"""Where only the meetings are lived, of both people, for a line of a talk: policies took 1.3 to 2.2
(docs/counselors.md).
"""
CHARACTERS_A_TOKEN = 4.0
SYNTHESIS_CHARACTERS, REVISED = 3_300.0, 0.1
"""Of one question in a synthesis: 2,200 as tests/benchmarks/synthesis.py measures, and about 1,100
of schema; the share of lines that are revised (MindCorpus, Table V: 2 to 22 %).
"""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a sweep would take, judged by what the engine's benchmark measured."""

    runs: int
    resident_days: float
    requests: int
    cost_usd: float | None
    """None when a price is unknown."""


def estimate(cells: tuple[Cell, ...], prices: Prices) -> Estimate:
    """Requests and cost of all runs; a forked run counts from its fork on."""
    days = requests = 0.0
    cost: float | None = 0.0
    for cell in cells:
        if isinstance(cell.about, Synthesis):
            asked, spent = _of_synthesis(cell.about, prices)
            requests += asked
            cost = None if cost is None or spent is None else cost + spent
            continue
        own = _of_world(cell)
        days += own
        requests += own * REQUESTS_A_DAY
        tokens_in, tokens_out = (
            own * CHARACTERS_A_DAY / CHARACTERS_A_TOKEN,
            own * REQUESTS_A_DAY * REPLY_TOKENS,
        )
        spent = prices.cost_usd(cell.world.models.reason, int(tokens_in), int(tokens_out))
        cost = None if cost is None or spent is None else cost + spent
    return Estimate(runs=len(cells), resident_days=days, requests=round(requests), cost_usd=cost)


def _of_world(cell: Cell) -> float:
    """Resident-days lived; where days are skipped, as many as the meetings' requests would fill."""
    world, since = cell.world, cell.at_tick or 0
    present = world.present()
    if world.days == "lived":
        return len(present) * (cell.ticks - since) * world.tick_minutes / 1440
    here = {one.name for one in present}
    start = world.start.hour * 60 + world.start.minute
    lines = sum(
        one.max_turns or world.conversation.max_turns
        for one in world.appointments
        if here.issuperset(one.who)
        for minute in one.minutes()
        if since <= (minute - start) // world.tick_minutes < cell.ticks and minute >= start
    )
    return lines * REQUESTS_A_LINE / REQUESTS_A_DAY


def _of_synthesis(settings: Synthesis, prices: Prices) -> tuple[float, float | None]:
    """Requests and cost of a synthesis: each turn asks seeker, supporter and evaluator, a tenth of
    them the corrector; a session begins with the extractor and ends with the manager. None: a price
    is unknown.
    """
    per_turn: dict[SynthesisRole, float] = {"seeker": 1.0, "supporter": 1.0}
    per_session: dict[SynthesisRole, float] = {"extractor": 1.0}
    if "evaluator" not in settings.without:
        per_turn["evaluator"] = 1.0
        if "corrector" not in settings.without:
            per_turn["corrector"] = REVISED
        if "manager" not in settings.without:
            per_session["manager"] = 1.0
    turns = (settings.turns + settings.fewest_turns) / 2
    asked = {role: settings.count * turns * often for role, often in per_turn.items()}
    asked |= {role: settings.count * often for role, often in per_session.items()}
    costs = [
        prices.cost_usd(
            settings.models.of(role),
            int(count * SYNTHESIS_CHARACTERS / CHARACTERS_A_TOKEN),
            int(count * REPLY_TOKENS),
        )
        for role, count in asked.items()
    ]
    return sum(asked.values()), (
        None if None in costs else sum(cost for cost in costs if cost is not None)
    )


def plan_lines(
    experiment: Experiment, cells: tuple[Cell, ...], prices: Prices, out: Path
) -> Iterator[str]:
    """The plan in words, what it would take, and in which keys the conditions differ."""
    needed = estimate(cells, prices)
    cost = "price unknown" if needed.cost_usd is None else f"{needed.cost_usd:.2f} USD"
    yield f"experiment   {experiment.name}"
    if experiment.worlds:
        yield f"clients      {', '.join(sorted({cell.client for cell in cells}))}"
    yield f"conditions   {', '.join(arm.name for arm in experiment.conditions)}"
    yield f"seeds        {', '.join(map(str, experiment.all_seeds))}"
    if experiment.paired_at is not None:
        yield (
            f"paired       each client's first {experiment.paired_at} ticks are lived once, then"
            " forked into every condition"
        )
    about = cells[0].about
    models = {
        name for cell in cells for role, name in cell.about.model_names().items() if role != "embed"
    }
    pasts = sum(cell.arm is None for cell in cells)
    yield f"models       {', '.join(sorted(models))}; vectors {about.models.resolved()['embed']}"
    if isinstance(about, World):
        yield f"length       {about.ticks} ticks of {about.tick_minutes} minutes"
        for measurement in about.measurements:
            yield f"measured     {measurement.instrument}, {measurement.when}"
        amount = f"{needed.resident_days:.1f} resident-days"
    else:
        yield f"situations   {len(about.situations)}"
        amount = (
            f"{sum(cell.about.count for cell in cells if isinstance(cell.about, Synthesis))}"
            " sessions"
        )
    shared = f" ({pasts} of them shared pasts)" if pasts else ""
    yield f"runs         {needed.runs}{shared}, in {out}"
    yield f"estimate     {needed.requests} requests, {cost}, for {amount}"
    for one in experiment.hypotheses:
        yield (
            f"planned      {one.id}: {one.test} of {one.instrument}.{one.score},"
            f" {' against '.join(one.contrast)}, {one.direction}"
        )
    yield "the conditions differ in"
    yield from (f"  {line}" for line in differences(cells))


def write_plan(experiment: Experiment, cells: tuple[Cell, ...], out: Path) -> None:
    """Begin, or go on with, a sweep in `out`. RunError when another experiment lives there."""
    plan = {
        "name": experiment.name,
        "about": experiment.about,
        "arms": [
            {"name": arm.name, "about": arm.about, "changes": arm.set}
            for arm in experiment.conditions
        ],
        "clients": sorted({cell.client for cell in cells}),
        "seeds": list(experiment.all_seeds),
        "paired_at": experiment.paired_at,
        "hypotheses": [hypothesis.model_dump(mode="json") for hypothesis in experiment.hypotheses],
        "runs": [
            {
                "run": cell.name,
                "arm": cell.arm,
                "client": cell.client,
                "seed": cell.seed,
                "pair": cell.pair,
            }
            for cell in cells
        ],
    }
    file = out / "experiment.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        if file.is_file():
            there = json_data(file_bytes(file)).get("name")
            if there != experiment.name:
                raise RunError(
                    f"{out}: holds the sweep {there!r} already; choose another --out for"
                    f" {experiment.name!r}"
                )
        part = file.with_suffix(".part")
        part.write_text(scrub(json.dumps(plan, indent=1, ensure_ascii=False)), encoding="utf-8")
        part.replace(file)
    except OSError as error:
        raise RunError(
            f"{out}: cannot be written ({error.strerror}); choose another --out"
        ) from None
