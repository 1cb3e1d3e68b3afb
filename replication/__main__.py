"""`simcounsel replicate`: published studies done again, with the published numbers beside ours."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from replication.published import Name
from simcounsel.argument_help import Explaining
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import InFlight, PricesFile, Quiet
from simcounsel.entry import GIVEN_UP, start

app = typer.Typer(
    name="replicate",
    cls=Explaining,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Published studies done again: plan, cost, runs, ratings, and a page in the shape of the"
        " paper's tables, with the published numbers beside ours and what differs in"
        " design.\n\nLook first:  simcounsel replicate simcounsel --dry-run\n\nTry it:  simcounsel"
        " replicate simcounsel --model scripted --clients 6 --ticks 40 --out try\n\nStarted again"
        " with the same options it goes on where it was; answers of human raters are taken in each"
        " time. Findings need a capable model."
    ),
)
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="The study's folder; replications/NAME if not given."),
]
Model = Annotated[
    str | None,
    typer.Option("--model", help="Who answers for all residents, such as openai:gpt-4o-mini."),
]
Judge = Annotated[
    str | None,
    typer.Option("--judge", help="Who rates conversations and names groups; --model if not given."),
]
Clients = Annotated[
    int | None,
    typer.Option("--clients", min=1, help="So many; more than are written are drawn by seed."),
]
Personas = Annotated[
    list[Path] | None,
    typer.Option("--persona", help="A client's file, in place of ours; may be given again."),
]
Seeds = Annotated[
    int,
    typer.Option("--seeds", min=1, help="Runs of each client and condition, repeated measures."),
]
Ticks = Annotated[
    int | None,
    typer.Option("--ticks", min=1, help="A shorter run, for trying; the paper's length."),
]
Days = Annotated[
    int | None,
    typer.Option("--days", min=1, max=8, help="Fewer days with a meeting, to try it; else eight."),
]
Raters = Annotated[
    int, typer.Option("--raters", min=1, help="Human raters for whom studies are made.")
]
Dry = Annotated[
    bool, typer.Option("--dry-run", help="Only print the plan, its estimate, and the power.")
]
Processes = Annotated[
    int | None, typer.Option("--processes", min=1, help="Runs at once; the number of cores.")
]


@app.command()
@asks_models
def simcounsel(
    out: Out = None,
    model: Model = None,
    judge: Judge = None,
    clients: Clients = None,
    persona: Personas = None,
    seeds: Seeds = 1,
    ticks: Ticks = None,
    raters: Raters = 3,
    dry_run: Dry = False,
    processes: Processes = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """SimCounsel: each client alone, with a friend, and with a counselor. Tables 5 to 7, Figures 5
    to 7.

    Tables 6 and 7 and Figures 6 and 7 need people: OUT/people holds their rating studies, as pages
    to serve or to send out.
    """
    _replicate(
        "simcounsel",
        out,
        model=model,
        judge=judge,
        clients=clients,
        persona=persona,
        seeds=seeds,
        ticks=ticks,
        days=None,
        raters=raters,
        dry_run=dry_run,
        processes=processes,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )


@app.command("structure-matters")
@asks_models
def structure_matters(
    out: Out = None,
    model: Model = None,
    judge: Judge = None,
    clients: Clients = None,
    persona: Personas = None,
    days: Days = None,
    dry_run: Dry = False,
    processes: Processes = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """Structure Matters: 66 clients dealt by chance to a staged counselor, one with a single brief,
    and one with next to none. Tables 1 to 5.

    The themes of Table 5 are found by a program: OUT/people/themes.csv is for people to check them.
    """
    _replicate(
        "structure_matters",
        out,
        model=model,
        judge=judge,
        clients=clients,
        persona=persona,
        seeds=1,
        ticks=None,
        days=days,
        raters=0,
        dry_run=dry_run,
        processes=processes,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )


def _replicate(
    name: Name,
    out: Path | None,
    *,
    model: str | None,
    judge: str | None,
    clients: int | None,
    persona: list[Path] | None,
    seeds: int,
    ticks: int | None,
    days: int | None,
    raters: int,
    dry_run: bool,
    processes: int | None,
    in_flight: int,
    quiet: bool,
    prices: Path | None,
) -> None:
    """Plan, live, ask, and write the page."""
    from replication.design import chosen, written_experiment
    from replication.study import finish
    from simcounsel.cli.sweep import live
    from simcounsel.cli.weights import price_table
    from simcounsel.lab.plan import plan_lines
    from simcounsel.llm.catalog import roles_for
    from simcounsel.specs.experiment_file import load_experiment

    folder = out or Path("replications") / name
    with TemporaryDirectory() as elsewhere:
        place = Path(elsewhere) if dry_run else folder
        cast = chosen(name, clients, persona or [], place)
        file = written_experiment(
            name, cast, place, seeds=seeds, ticks=ticks, days=days, judge=judge
        )
        loaded, cells = load_experiment(file, roles_for(model) if model else None)
    for line in plan_lines(loaded, cells, price_table(prices), folder / "runs"):
        typer.echo(line)
    if dry_run:
        return
    running, done = live(
        loaded,
        cells,
        folder / "runs",
        processes=processes,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )
    if not done:
        states = {progress.state for progress in running.progress.values()}
        typer.echo("not all runs are done; the same command goes on")
        sys.exit(GIVEN_UP if "given up" in states and "failed" not in states else 1)
    for line in finish(
        name,
        folder,
        raters=raters,
        judge=judge or model,
        tell=lambda said: None if quiet else typer.echo(said, err=True),
    ):
        typer.echo(line)


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    start("replicate", lambda: app(), lambda _: "pip install -e '.[analysis]'")


if __name__ == "__main__":
    main()
