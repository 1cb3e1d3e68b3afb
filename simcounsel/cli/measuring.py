"""`study judge`: whether a judge can tell good from bad."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli import study
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import Fallbacks, InFlight, Judge, Samples
from simcounsel.cli.weights import console_of, fetch_weights
from simcounsel.disk import write_text
from simcounsel.specs import shipped


@study.command("judge")
@asks_models
def validate_judge(
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="FILE",
            help=(
                "Labelled transcripts: our JSON, an AnnoMI CSV, a CPsyCounE-like JSON; `samples`:"
                " a few invented ones that are included."
            ),
            callback=lambda path: shipped.of_folder(shipped.PACKAGE / "measuring", path, ".json"),
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
            help=(
                "How often each transcript is rated; from 2 on there is a retest, and all is asked"
                " at temperature 0.7."
            ),
        ),
    ] = 2,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="At most so many transcripts, drawn by chance."),
    ] = None,
    faulty: Annotated[
        int,
        typer.Option(
            "--faulty", min=0, help="In so many transcripts, good ones, faults are planted."
        ),
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
    from simcounsel.measuring.validate import Validation, open_judge
    from simcounsel.measuring.validation_plan import plan_validation

    try:
        judge = importlib.import_module("analysis.judge_lines")
        shown = importlib.import_module("analysis.judge_lines")
        csv_of = importlib.import_module("analysis.page").csv_of
    except ImportError as error:
        raise ModelError(
            f"study judge computes its figures with {error.name}, which is missing: pip install"
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
        if plan.temperature is not None:
            typer.echo(
                f"each is rated {rounds} times at temperature {plan.temperature:g}, so that the"
                " retest says how far answers scatter; with --rounds 1 as `rate` does it"
            )
        ratings = validation.collect(models, fallbacks)
    finally:
        models.close()
    figures, items = judge.figures(ratings), judge.items(ratings)
    write_text(out / "figures.csv", csv_of(judge.table(figures)))
    write_text(out / "items.csv", csv_of(judge.table(items)))
    for line in shown.lines(figures, items):
        typer.echo(line)
    typer.echo(f"wrote {out / 'figures.csv'}, {out / 'items.csv'}")
