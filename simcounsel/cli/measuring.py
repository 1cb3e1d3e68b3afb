"""`sweep`, `rate`, `validate-judge`, `rate-page`: what it changed."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli import app
from simcounsel.cli.options import InFlight, PricesFile, Quiet, RunFolder
from simcounsel.cli.weights import console_of, fetch_weights, price_table


@app.command()
def sweep(
    experiment: Annotated[
        Path,
        typer.Argument(
            metavar="EXPERIMENT", help="An experiment file, such as experiments/quick.yaml."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder of the sweep; sweeps/NAME if not given. The same folder goes on."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only print the plan, its estimate, and how the conditions differ."
        ),
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option("--processes", min=1, help="Runs at once; the number of cores if not given."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Live the runs on a Ray cluster: its address, or `auto`.",
        ),
    ] = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """Live through clients x conditions x seeds, or write corpora under several conditions; started
    again, it goes on.

    Nothing finished is run twice; a run that fails is reported and does not stop the others.
    Ctrl-C stops all runs after the tick they are in.
    """
    from simcounsel.cli.sweep_display import SweepScreen
    from simcounsel.engine.opening import check_models
    from simcounsel.lab.plan import plan_lines
    from simcounsel.lab.sweep import Sweep
    from simcounsel.specs.experiment_file import load_experiment

    loaded, cells = load_experiment(experiment)
    folder = out or Path("sweeps") / experiment.stem
    for line in plan_lines(loaded, cells, price_table(prices), folder):
        typer.echo(line)
    if dry_run:
        return
    console = console_of()
    for cell in {cell.about.models: cell for cell in cells}.values():
        fetch_weights(cell.about.model_names(), console, quiet)
        check_models(cell.about)
    if ray is None:
        running = Sweep(
            loaded, cells, folder, processes=processes, in_flight=in_flight, prices_file=prices
        )
    else:
        from simcounsel.lab.ray import RaySweep

        running = RaySweep(
            loaded, cells, folder, address=ray, in_flight=in_flight, prices_file=prices
        )
    with SweepScreen(console, running, quiet or not console.is_terminal) as screen:
        done = running.run(screen.on_change)
    if running.stopping:
        typer.echo(f"{running.stopping}; the same command goes on")
    typer.echo(f"now: simcounsel view {folder}")
    report = "report" if loaded.worlds else "corpus"
    typer.echo(f"     python -m analysis {report} {folder} --out report")
    if not done:
        sys.exit(1)


@app.command()
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
            help="Who answers; if not given the run's `judge`, for a self-report its `reason`.",
        ),
    ] = None,
    samples: Annotated[
        int,
        typer.Option(
            "--samples", min=1, max=100, help="Answers to average where no probabilities are told."
        ),
    ] = 1,
    who: Annotated[
        str | None, typer.Option("--who", metavar="NAME", help="Only this client.")
    ] = None,
    chat: Annotated[
        str | None,
        typer.Option(
            "--chat", metavar="N", help="Only this conversation, by number from 1 or by id."
        ),
    ] = None,
    at: Annotated[
        int | None,
        typer.Option(
            "--at",
            metavar="TICK",
            help="As of the end of this tick; the last complete one if not given.",
        ),
    ] = None,
    in_flight: InFlight = 64,
) -> None:
    """Measure a run afterwards, with any model; the run itself stays as it is.

    An observer rates each conversation, without knowing names, condition or model; a client answers
    about itself from its persona and memories of then. Kept in RUN/measurements; the same command
    again is a retest.
    """
    from simcounsel.instruments.read import is_trial
    from simcounsel.measuring.rate import Rating
    from simcounsel.runs.as_text import measured_line
    from simcounsel.runs.run import Run

    rating = Rating.plan(
        Run.open(run), instrument, model=model, samples=samples, who=who, chat=chat, at=at
    )
    if rating.judge:
        typer.echo(f"{len(rating.targets)} to measure, answered by {rating.judge}")
        fetch_weights(rating.roles(), console_of(), quiet=True)
    if is_trial(rating.judge):
        typer.echo(
            f"{rating.judge} model: for trying the software only; these numbers measure nothing",
            err=True,
        )
    models = rating.open_models(in_flight)
    try:
        rating.measure(models, lambda measured: typer.echo(measured_line(measured)))
    except KeyboardInterrupt:
        typer.echo("stopped by Ctrl-C; what was measured is kept", err=True)
    finally:
        if models is not None:
            models.close()
    if models is not None:
        cost = models.usage.cost_usd
        typer.echo(
            f"{models.usage.calls} requests, "
            + ("price unknown" if cost is None else f"{cost:.4f} USD")
        )
    typer.echo(f"kept in {rating.file}")


@app.command("validate-judge")
def validate_judge(
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="FILE",
            help="Labelled transcripts: our JSON, an AnnoMI CSV, a CPsyCounE-like JSON.",
        ),
    ],
    model: Annotated[
        str, typer.Option("--model", help="The judge; `simcounsel models` lists the forms.")
    ],
    instruments: Annotated[
        list[str] | None,
        typer.Option(
            "--instrument",
            metavar="NAME",
            help="An observer's scale (default: helping_skills); may be given again.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", help="A new folder for ratings, calls and figures.")
    ] = Path("judge"),
    samples: Annotated[
        int,
        typer.Option(
            "--samples", min=1, max=100, help="Answers to average where no probabilities are told."
        ),
    ] = 1,
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
        ratings = validation.collect(models)
    finally:
        models.close()
    figures = judge.figures(ratings)
    judge.table(figures).to_csv(out / "figures.csv", index=False)
    for line in judge.lines(figures):
        typer.echo(line)
    typer.echo(f"wrote {out / 'figures.csv'}")


@app.command("rate-page")
def rate_page(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUNS]...", help="Runs, folders of runs, corpora: to make a new study from."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The study's folder.")] = Path(
        "study"
    ),
    instrument: Annotated[
        str | None,
        typer.Option(
            "--instrument",
            help=(
                "transcript_quality, dialogue_quality, conversation_experience, persona_change, or"
                " a YAML file."
            ),
        ),
    ] = None,
    raters: Annotated[
        int | None,
        typer.Option(
            "--raters",
            min=1,
            max=500,
            help="How many raters; the instrument's number if not given.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws items, orders and sides.")] = 0,
    who: Annotated[
        str | None, typer.Option("--who", metavar="NAME", help="Only this client.")
    ] = None,
    partners: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="ROLE",
            help="Only conversations with a counselor, layperson or client; may be given again.",
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            "--max-per-run",
            min=1,
            help="At most so many items of each run or corpus, drawn by chance.",
        ),
    ] = None,
    fewest_lines: Annotated[
        int, typer.Option("--min-lines", min=1, help="Leave shorter conversations out.")
    ] = 4,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the raters' links until Ctrl-C.")
    ] = False,
    port: Annotated[
        int,
        typer.Option("--port", min=0, max=65535, help="Port of the links; 0 for any that is free."),
    ] = 8765,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="Address of the links; 0.0.0.0 lets other machines in, by these links only.",
        ),
    ] = "127.0.0.1",
    imports: Annotated[
        list[Path] | None,
        typer.Option(
            "--import",
            metavar="FILE",
            help="Take in answers that a rater downloaded and sent back; may be given again.",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv", metavar="FILE", help="Write all answers, joined with the key, as CSV."
        ),
    ] = None,
) -> None:
    """A blind rating study: people judge transcripts, or persona pairs, without knowing where they
    come from.

    Make:     simcounsel rate-page runs --instrument transcript_quality --raters 3 --out study

    Collect:  simcounsel rate-page --out study --serve      (or send out study/offline/RATER.html)

    Take in:  simcounsel rate-page --out study --import FILE

    Export:   simcounsel rate-page --out study --csv ratings.csv

    Names, places and the instrument's masked words are taken out of the texts; read some before you
    send links. DIR/key.json says which item is which: keep it from the raters.
    """
    from simcounsel.viewer.rating import answers, study_lines

    if runs:
        for line in study_lines.make(
            runs,
            instrument,
            out,
            raters=raters,
            seed=seed,
            who=who,
            partners=partners,
            most=most,
            fewest_lines=fewest_lines,
        ):
            typer.echo(line)
    elif instrument is not None:
        raise typer.BadParameter(
            "name the runs to make a study from, such as: simcounsel rate-page runs"
            " --instrument ...",
            param_hint="RUNS",
        )
    if imports:
        taken = answers.import_answers(out, imports)
        typer.echo(
            f"imported {taken.new} answers into {out / 'answers.jsonl'}; {taken.known} were there"
            " already"
        )
    if csv is not None:
        typer.echo(f"wrote {answers.write_csv(out, csv)} rows to {csv}")
    if serve:
        from simcounsel.viewer.rating.site import serve_ratings

        serve_ratings(out, host=host, port=port, say=typer.echo)
    elif not (imports or csv):
        for line in study_lines.state_lines(out, f"http://{host}:{port}"):
            typer.echo(line)
