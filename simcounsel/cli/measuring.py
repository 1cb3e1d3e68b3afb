"""`rate`, `validate-judge`: what a run changed, and whether a judge can tell."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel import interrupts
from simcounsel.cli import app
from simcounsel.cli.asking import asks_models
from simcounsel.cli.dry import say_rating
from simcounsel.cli.options import (
    AtTick,
    BudgetCalls,
    BudgetUsd,
    Damaged,
    DryRun,
    Fallbacks,
    InFlight,
    Judge,
    OnlyClient,
    PricesFile,
    RunFolder,
    Samples,
)
from simcounsel.cli.weights import console_of, fetch_weights, price_table
from simcounsel.disk import write_text

if TYPE_CHECKING:
    from simcounsel.llm.prices import Prices
    from simcounsel.measuring.rate import Rating


@app.command()
@asks_models
def rate(
    run: RunFolder,
    instrument: Annotated[
        str,
        typer.Option(
            "--instrument",
            metavar="NAME",
            help="A scale by name, `talk_measures`, or a scale's YAML file.",
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
    damaged: Damaged = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    fallbacks: Fallbacks = None,
    dry_run: DryRun = False,
) -> None:
    """Measure a run afterwards, with any model; the run itself stays as it is.

    An observer rates each conversation, without knowing names, condition or model; a client answers
    about itself from its persona and memories of then. Kept in RUN/measurements; the same command
    goes on with a rating that was broken off, and once that is finished it is a retest. A budget is
    for all ratings of this run together.
    """
    from simcounsel.measuring.rate import Rating
    from simcounsel.runs.measurements import is_trial
    from simcounsel.runs.verifying import open_checked

    opened = open_checked(run, damaged=damaged)
    for damage in opened.damages:
        typer.echo(f"damaged: {damage}", err=True)
    rating = Rating.plan(
        opened,
        instrument,
        model=model,
        samples=samples,
        who=who,
        chat=chat,
        at=at,
        every_talk=every_talk,
        fallbacks=fallbacks,
    )
    table = price_table(prices)
    if dry_run:
        say_rating(rating, table)
        return
    if trial := [model for model in rating.models() if is_trial(model)]:
        typer.echo(
            f"{', '.join(trial)} model: for trying the software only; these numbers measure"
            " nothing",
            err=True,
        )
    with rating.held():
        _rate(rating, in_flight, budget_usd, budget_calls, table)
    typer.echo(f"kept in {rating.file}")


def _rate(
    rating: "Rating",
    in_flight: int,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: "Prices",
) -> None:
    """Measure what is left, and say it."""
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
    except KeyboardInterrupt:
        typer.echo(
            f"stopped by {interrupts.cause()}; what was measured is kept, the same command goes on",
            err=True,
        )
    finally:
        if models is not None:
            models.close()
    if models is not None:
        typer.echo(models.usage.line())


@app.command("validate-judge")
@asks_models
def validate_judge(
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="FILE",
            help="Labelled transcripts: our JSON, an AnnoMI CSV, a CPsyCounE-like JSON.",
        ),
    ],
    model: Judge,
    instruments: Annotated[
        list[str] | None,
        typer.Option(
            "--instrument",
            metavar="NAME",
            help="An observer's scale (default: helping_skills); may be given again.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="A new folder for ratings, calls and figures.")
    ] = Path("judge"),
    samples: Samples = 1,
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            min=1,
            max=10,
            help="How often each transcript is rated; from 2 on there is a retest.",
        ),
    ] = 2,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="At most so many transcripts, drawn by chance."),
    ] = None,
    faulty: Annotated[
        int, typer.Option("--faulty", min=0, help="In so many transcripts faults are planted.")
    ] = 10,
    pairs: Annotated[
        int, typer.Option("--pairs", min=0, help="So many pairs are compared, each in both orders.")
    ] = 20,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Draws transcripts, pairs and orders.")
    ] = 1,
    in_flight: InFlight = 64,
    fallbacks: Fallbacks = None,
) -> None:
    """Is a judge any good? AUC, correlation with people, alpha, retest, position bias, planted
    faults; beside plain counts of the talk.
    """
    import importlib

    from simcounsel.errors import ModelError
    from simcounsel.instruments.labelled import read_labelled
    from simcounsel.measuring.validate import Validation, open_judge, plan_validation

    try:
        judge = importlib.import_module("analysis.judge")
    except ImportError as error:
        raise ModelError(
            f"validate-judge computes its figures with {error.name}, which is missing: pip install"
            " 'simcounsel[analysis]'"
        ) from None
    names = tuple(instruments or ["helping_skills"])
    plan = plan_validation(
        read_labelled(data),
        names,
        limit=limit,
        samples=samples,
        rounds=rounds,
        faulty=faulty,
        pairs=pairs,
        seed=seed,
    )
    fetch_weights({"judge": model}, console_of(), quiet=True)
    models = open_judge(model, in_flight)
    try:
        validation = Validation(plan, model, out)
        typer.echo(f"{len(plan.transcripts)} transcripts, judged by {model}; kept in {out}")
        ratings = validation.collect(models, fallbacks)
    finally:
        models.close()
    figures = judge.figures(ratings)
    write_text(out / "figures.csv", judge.table(figures).to_csv(index=False))
    for line in judge.lines(figures):
        typer.echo(line)
    typer.echo(f"wrote {out / 'figures.csv'}")
