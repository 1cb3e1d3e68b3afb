"""`simcounsel validity`: whether simulated clients resemble real ones, and what may be claimed."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from simcounsel.argument_help import Explaining
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import InFlight, PricesFile, Quiet
from simcounsel.entry import GIVEN_UP, start

app = typer.Typer(
    name="validity",
    cls=Explaining,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Does a simulated client resemble a real one, and which claims can runs bear? Each command"
        " measures one thing and adds it to the same page.\n\nBegin with:  simcounsel validity talk"
        " runs --real annomi.csv --out validity\n\nthen open validity/validity.html. What is not"
        " measured is listed there as not measured."
    ),
)
Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", help="Folder of validity.html, .md, figures/ and tables/; parts add up."
    ),
]


@app.callback()
def _begin() -> None:
    """Several commands, so that each name is a word to be typed."""


Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUNS...", help="Folders of runs, runs, or corpora of simulated talk."),
]


@app.command()
@asks_models
def talk(
    runs: Runs,
    real: Annotated[
        list[Path],
        typer.Option(
            "--real",
            help=(
                "Real sessions: an AnnoMI CSV, or JSON, JSONL, TXT as `corpus check` reads them;"
                " may be given again."
            ),
        ),
    ],
    coder: Annotated[
        str | None,
        typer.Option(
            "--coder",
            metavar="MODEL",
            help=(
                "Who codes change talk, resistance, assent and disclosure line by line, about one"
                " request for 40 client lines; hand rules if not given. What was coded is kept."
            ),
        ),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            "--margin",
            min=0.05,
            max=2.0,
            help="Alike is within so many standard deviations of the real.",
        ),
    ] = 0.5,
    out: Out = Path("validity"),
) -> None:
    """Simulated sessions beside real ones: lengths, questions, words, sentiment, disclosure, change
    talk, resistance; whether a program tells them apart; how soon clients agree, open up, improve.
    """
    from analysis.page import command_line
    from validity.page import add
    from validity.talk.coding import Coder
    from validity.talk.making import make

    part, pictures = make(
        runs,
        real,
        command_line("validity"),
        margin=margin,
        coder=Coder(coder, out / "parts" / "client_codes.jsonl") if coder else None,
        tell=lambda words: typer.echo(words, err=True),
    )
    typer.echo(f"page           {add(part, pictures, out)}")


@app.command()
def people(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUNS|CSV...",
            help=(
                "Runs that models rated, with --ratings; or one CSV with the columns client, model,"
                " people (empty where people rated nothing), and, if there are several, score, arm."
            ),
        ),
    ],
    ratings: Annotated[
        list[Path] | None,
        typer.Option(
            "--ratings",
            help=(
                "CSV of a rating study (`simcounsel rate-page --out STUDY --csv FILE`); may be"
                " given again."
            ),
        ),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            "--margin", min=0.05, max=2.0, help="So many SD of people's ratings are no bias."
        ),
    ] = 0.5,
    out: Out = Path("validity"),
) -> None:
    """Models' ratings set right by people's of some of them: means and differences that hold
    whatever the model is worth (prediction-powered), and the model's bias.
    """
    from analysis.page import command_line
    from validity.page import add
    from validity.people.making import make
    from validity.people.reading import from_csv, from_runs
    from validity.runs import SaidOf, said_of

    if ratings:
        table, said = from_runs(places, ratings), said_of(places)
    elif len(places) == 1 and places[0].suffix.lower() == ".csv":
        table, said = from_csv(places[0]), SaidOf()
    else:
        raise typer.BadParameter(
            "runs need --ratings, a CSV of what people rated; or name one CSV with both",
            param_hint="RUNS|CSV",
        )
    part = make(table, command_line("validity"), said, margin)
    typer.echo(f"page           {add(part, [], out)}")


@app.command()
@asks_models
def multiverse(
    experiment: Annotated[
        Path,
        typer.Argument(
            metavar="EXPERIMENT",
            help="An experiment file; its `multiverse:` says what is varied, if it has one.",
        ),
    ],
    prompts: Annotated[
        list[str] | None,
        typer.Option(
            "--prompts",
            metavar="SET",
            help=(
                "A set of prompts in other words: a shipped one (`reworded`), a folder, or `usual`;"
                " again for each. `usual` and all shipped ones if the file does not say."
            ),
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Who answers for people, or `usual` for the experiment's; again for each.",
        ),
    ] = None,
    temperature: Annotated[
        list[float] | None,
        typer.Option(
            "--temperature", min=0, max=2, help="At which people think and speak; again for each."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print the choices, the runs and the estimate.")
    ] = False,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Runs at once; the number of cores.")
    ] = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
    out: Out = Path("validity"),
) -> None:
    """The same experiment over prompts in other words, models, temperatures, seeds and choices of
    analysis: a specification curve, and which choice moves the effect. Runs lie in OUT/runs; the
    same command goes on with them.
    """
    from analysis.page import command_line
    from simcounsel.cli.sweep import live
    from simcounsel.cli.weights import price_table
    from simcounsel.lab.plan import plan_lines
    from validity.multiverse.making import make
    from validity.multiverse.universes import plan, plan_words
    from validity.page import add

    chosen = plan(
        experiment, prompts=prompts or (), models=model or (), temperatures=temperature or ()
    )
    runs = out / "runs"
    lines = plan_lines(chosen.experiment, chosen.cells, price_table(prices), runs)
    for line in (*plan_words(chosen), *lines):
        typer.echo(line)
    if dry_run:
        return
    running, done = live(
        chosen.experiment,
        chosen.cells,
        runs,
        processes=processes,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )
    if not done:
        typer.echo("not all runs are done; the same command goes on")
        states = {progress.state for progress in running.progress.values()}
        sys.exit(GIVEN_UP if "given up" in states and "failed" not in states else 1)
    part, pictures = make(chosen, runs, command_line("validity"))
    typer.echo(f"page           {add(part, pictures, out)}")


@app.command()
def page(out: Out = Path("validity")) -> None:
    """Write the page anew from the parts that were measured."""
    from validity.page import write

    typer.echo(f"page           {write(out)}")


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    start("validity", lambda: app(), lambda _: "pip install -e '.[analysis]'")


if __name__ == "__main__":
    main()
