"""`simcounsel study validity multiverse`."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import InFlight, PricesFile, Quiet
from simcounsel.cli.running_code import runs_code


@asks_models
@runs_code
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
                " again for each. `usual` and `reworded` if the file does not say."
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
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder of the page; runs lie in OUT/runs.")
    ] = Path("validity"),
) -> None:
    """The same experiment over prompts in other words, models, temperatures, seeds and choices of
    analysis: a specification curve, and which choice moves the effect. Runs lie in OUT/runs; the
    same command goes on with them.
    """
    from analysis.page import command_line
    from analysis.validity.multiverse.making import make
    from analysis.validity.multiverse.universes import plan, plan_words
    from analysis.validity.page import add
    from analysis.validity.running import run_all
    from simcounsel.cli.weights import price_table
    from simcounsel.lab.plan import plan_lines

    chosen = plan(
        experiment, prompts=prompts or (), models=model or (), temperatures=temperature or ()
    )
    runs = out / "runs"
    lines = plan_lines(chosen.experiment, chosen.cells, price_table(prices), runs)
    for line in (*plan_words(chosen), *lines):
        typer.echo(line)
    if dry_run:
        return
    run_all(
        chosen.experiment,
        chosen.cells,
        runs,
        processes=processes,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )
    part, pictures = make(chosen, runs, command_line())
    typer.echo(f"page           {add(part, pictures, out)}")
