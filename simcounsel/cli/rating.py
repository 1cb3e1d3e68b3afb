"""`rate`: runs measured afterwards."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel import interrupts
from simcounsel.cli import app
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import (
    AtTick,
    BudgetCalls,
    BudgetUsd,
    Damaged,
    DryRun,
    Fallbacks,
    InFlight,
    OnlyClient,
    PricesFile,
    Quiet,
    Samples,
)
from simcounsel.cli.rating_many import rate_many, say_before, say_trial
from simcounsel.cli.running_code import runs_code
from simcounsel.cli.weights import console_of, fetch_weights, price_table
from simcounsel.entry import INTERRUPTED

if TYPE_CHECKING:
    from simcounsel.lab.rating_jobs import Wanted
    from simcounsel.llm.prices import Prices
    from simcounsel.measuring.rate import Rating


@app.command()
@asks_models
@runs_code
def rate(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="A run; or runs, sweeps, folders of these."),
    ],
    instrument: Annotated[
        str,
        typer.Option(
            "--instrument",
            metavar="NAME",
            help="A scale by name, `talk_measures`, or a scale's YAML file; several with commas, or"
            " the battery of a therapy, such as `cbt`.",
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help=(
                "Who answers; if not given the run's `judge`, for a self-report the `reason` of the"
                " resident or else of the run."
            ),
        ),
    ] = None,
    samples: Samples = 1,
    who: OnlyClient = None,
    chat: Annotated[
        str | None,
        typer.Option(
            "--chat", metavar="N", help="Only this conversation, by number from 1 or by id."
        ),
    ] = None,
    at: AtTick = None,
    every_talk: Annotated[
        bool,
        typer.Option(
            "--every-conversation",
            help=(
                "Ask a self-report as of the end of each conversation, with a counselor, a friend"
                " or anybody; not as of the last tick."
            ),
        ),
    ] = False,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            min=1,
            max=20,
            help="So many finished ratings each run shall have; each after the first is a retest.",
        ),
    ] = 1,
    processes: Annotated[
        int | None,
        typer.Option("--processes", min=1, help="Runs at once; the number of cores if not given."),
    ] = None,
    damaged: Damaged = False,
    quiet: Quiet = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    fallbacks: Fallbacks = None,
    dry_run: DryRun = False,
) -> None:
    """Measure finished runs with a scale, by any model. The runs stay as they are.

    An observer rates each conversation without names, condition or model. A client answers about
    itself, from its persona and memories of then. The answers are kept in RUN/measurements. The
    same command goes on where it stopped; --rounds 2 asks for a retest. A budget is for all ratings
    of this run, or of this folder of runs, together.

    One run:   simcounsel rate runs/RUN --instrument helping_skills

    A sweep:   simcounsel rate sweeps/NAME --instrument session_alliance_observed --dry-run
    """
    from simcounsel.instruments.scale import find_instrument
    from simcounsel.instruments.sets import instruments_of
    from simcounsel.lab.rating_jobs import Wanted
    from simcounsel.record_kinds import is_record

    alone = len(runs) == 1 and (is_record(runs[0]) or not runs[0].is_dir())
    if chat is not None and not alone:
        raise typer.BadParameter(
            "names one conversation of one run; name that run alone", param_hint="--chat"
        )
    each = instruments_of(instrument)
    for one in each if len(each) > 1 else ():
        find_instrument(one)
    whole = Wanted(
        instrument=instrument,
        model=model,
        samples=samples,
        who=who,
        at=at,
        every_talk=every_talk,
        rounds=rounds,
        fallbacks=fallbacks,
        damaged=damaged,
    )
    limits = in_flight, budget_usd, budget_calls
    for one in each:
        wanted = replace(whole, instrument=one)
        if alone:
            _rate_one(runs[0], wanted, chat, *limits, price_table(prices), dry_run)
        else:
            rate_many(runs, wanted, processes, *limits, prices, quiet, dry_run)


def _rate_one(
    run: Path,
    wanted: "Wanted",
    chat: str | None,
    in_flight: int,
    budget_usd: float | None,
    budget_calls: float | None,
    table: "Prices",
    dry_run: bool,
) -> None:
    """A single run, as often as is wanted and it was not yet."""
    from simcounsel.llm.budget import budget_in
    from simcounsel.measuring.targets import seated_text
    from simcounsel.runs.measurements import FOLDER, is_trial

    rating = wanted.plan(run, chat)
    for damage in rating.run.damages:
        typer.echo(f"damaged: {damage}", err=True)
    if rating.seated:
        typer.echo(f"left out: {seated_text(rating.seated)}", err=True)
    if dry_run:
        say_before([run], wanted, table, chat)
        return
    if trial := [model for model in rating.models() if is_trial(model)]:
        say_trial(trial)
    if len(rating.finished) >= wanted.rounds:
        typer.echo(_finished_text(rating))
        if (budget_usd, budget_calls) != (None, None):  # for ratings to come, or lifted
            with rating.held():
                budget_in(rating.run.folder / FOLDER, usd=budget_usd, calls=budget_calls).end()
    while len(rating.finished) < wanted.rounds:
        with rating.held():
            if len(rating.finished) < wanted.rounds:
                _rate(rating, in_flight, budget_usd, budget_calls, table)
                typer.echo(f"kept in {rating.file}")
        rating = wanted.plan(run, chat)


def _finished_text(rating: "Rating") -> str:
    """That there is nothing left to measure, and what there is."""
    times = len(rating.finished)
    going = "; it is begun and not finished" if rating.file else ""
    return (
        f"this is measured already{f' {times} times' if times > 1 else ''}: kept in"
        f" {', '.join(map(str, rating.finished))}; nothing is asked. --rounds {times + 1} measures"
        f" it once more, as a retest{going}"
    )


def _rate(
    rating: "Rating",
    in_flight: int,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: "Prices",
) -> None:
    """Measure what is left, and say it."""
    from simcounsel.instruments.clinicians import clinicians_said
    from simcounsel.llm.budget import budget_in
    from simcounsel.runs.measured_text import measured_line
    from simcounsel.runs.measurements import FOLDER, rating_calls

    folder, left, every = rating.run.folder, len(rating.left()), len(rating.targets)
    if rating.judge:
        of = f" of {every}, the others were measured before" if left < every else ""
        typer.echo(f"{left} to measure{of}, answered by {', '.join(rating.models())}")
        fetch_weights(rating.roles(), console_of(), quiet=True)
    models = rating.open_models(in_flight, prices)
    try:
        if models is not None:
            budget = budget_in(folder / FOLDER, usd=budget_usd, calls=budget_calls)
            models.limit(budget, rating_calls(folder))
        damaged = bool(rating.run.damages)
        rating.measure(models, lambda one: typer.echo(measured_line(one, damaged=damaged)))
        if rating.judge:
            typer.echo(clinicians_said(rating.scale.id, rating.judge))
    except KeyboardInterrupt:
        typer.echo(
            f"stopped by {interrupts.cause()}; what was measured is kept, the same command goes on",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if models is not None:
            models.close()
            typer.echo(models.usage.line())
