"""`simcounsel study validity`: whether simulated clients resemble real ones."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.validity.multiverse.command import multiverse
from analysis.validity.truth.command import truth
from simcounsel.argument_help import Explaining
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetCalls, BudgetUsd, InFlight, PricesFile, Quiet
from simcounsel.entry import start

app = typer.Typer(
    name="validity",
    cls=Explaining,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Does a simulated client resemble a real one, and which claims can runs bear? Each command"
        " measures one thing and adds it to the same page.\n\nBegin with:  simcounsel study"
        " validity talk runs --real annomi.csv --out validity\n\nthen open"
        " validity/validity.html. What is not measured is listed there as not measured."
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
    from analysis.validity.page import add
    from analysis.validity.talk.coding import Coder
    from analysis.validity.talk.making import make

    part, pictures = make(
        runs,
        real,
        command_line(),
        margin=margin,
        coder=Coder(coder, out / "parts" / "client_codes.jsonl") if coder else None,
        tell=lambda words: typer.echo(words, err=True),
    )
    typer.echo(f"page           {add(part, pictures, out)}")


@app.command()
@asks_models
def persona(
    runs: Runs,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help=(
                "Who reads each conversation beside the client's file. If not given, nothing is"
                " asked, and what was rated before is taken."
            ),
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="Who answers as the clients; each client's own model if not given."
        ),
    ] = None,
    self_report: Annotated[
        str,
        typer.Option(
            "--self-report",
            help="The scale with which clients describe themselves after each conversation.",
        ),
    ] = "self_portrait",
    controls: Annotated[
        int,
        typer.Option(
            "--controls",
            min=0,
            max=500,
            help="So many conversations are read beside another client's file, to test the judge.",
        ),
    ] = 40,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Runs at once; the number of cores.")
    ] = None,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    quiet: Quiet = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be asked and cost.")
    ] = False,
    out: Out = Path("validity"),
) -> None:
    """Do clients stay the persons that were written? By an observer of each conversation, by
    themselves, asked again and again; and whether the observer can tell at all.
    """
    from analysis.page import command_line
    from analysis.validity.page import add
    from analysis.validity.persona.controls import INSTRUMENT, judged, opened
    from analysis.validity.persona.controls import controls as drawn
    from analysis.validity.persona.making import make
    from simcounsel.cli.rating_many import rate_many
    from simcounsel.lab.places import world_runs
    from simcounsel.lab.rating_jobs import Wanted

    if judge is not None:
        for wanted in (
            Wanted(instrument=INSTRUMENT, model=judge),
            Wanted(instrument=self_report, model=model, every_talk=True, rounds=2),
        ):
            rate_many(
                runs, wanted, processes, in_flight, budget_usd, budget_calls, prices, quiet, dry_run
            )
    if dry_run:
        return
    others = drawn(list(opened(world_runs(runs))), controls) if judge else []
    values = (
        judged(
            others,
            judge,
            out / "parts" / "persona_controls.jsonl",
            lambda words: typer.echo(words, err=True),
        )
        if judge
        else []
    )
    part, pictures = make(runs, self_report, values, command_line())
    typer.echo(f"page           {add(part, pictures, out)}")


@app.command()
def people(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUNS|CSV...",
            help=(
                "Runs that models rated, or benches of several models, with --ratings; or one CSV"
                " with the columns client, model, people (empty where people rated nothing), and,"
                " if there are several, score, arm."
            ),
        ),
    ],
    ratings: Annotated[
        list[Path] | None,
        typer.Option(
            "--ratings",
            help=(
                "CSV of a rating study (`simcounsel study rate-page --out STUDY --csv"
                " FILE`); may be given again."
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
    whatever the model is worth (prediction-powered), and the model's bias. Of benches also whether
    people and judge order replies and models alike (Spearman).
    """
    from analysis.page import command_line
    from analysis.validity.page import add
    from analysis.validity.people.making import make
    from analysis.validity.people.reading import from_csv, from_runs
    from analysis.validity.people.replies import of_benches
    from analysis.validity.runs import SaidOf, said_of
    from simcounsel.studies.from_benches import is_bench

    if ratings and all(map(is_bench, places)):
        part = of_benches(places, ratings, command_line(), margin)
        typer.echo(f"page           {add(part, [], out)}")
        return
    if ratings:
        table, said = from_runs(places, ratings), said_of(places)
    elif len(places) == 1 and places[0].suffix.lower() == ".csv":
        table, said = from_csv(places[0]), SaidOf()
    else:
        raise typer.BadParameter(
            "runs need --ratings, a CSV of what people rated; or name one CSV with both",
            param_hint="RUNS|CSV",
        )
    part = make(table, command_line(), said, margin)
    typer.echo(f"page           {add(part, [], out)}")


app.command()(multiverse)
app.command()(truth)


@app.command()
def page(out: Out = Path("validity")) -> None:
    """Write the page again from the parts that were measured."""
    from analysis.validity.page import write

    typer.echo(f"page           {write(out)}")


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    start("validity", lambda: app(), lambda _: "pip install -e '.[analysis]'")


if __name__ == "__main__":
    main()
