"""`sweep`: all cells of an experiment."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.cli import app
from simcounsel.cli.asking import asks_models
from simcounsel.cli.completing import names_of
from simcounsel.cli.options import InFlight, PricesFile, Quiet
from simcounsel.cli.running_code import runs_code
from simcounsel.cli.weights import console_of, fetch_weights, price_table
from simcounsel.entry import GIVEN_UP, INTERRUPTED

if TYPE_CHECKING:
    from simcounsel.lab.sweep import Sweep
    from simcounsel.specs.cells import Cell
    from simcounsel.specs.experiment import Experiment


@app.command()
@asks_models
@runs_code
def sweep(
    experiment: Annotated[
        Path,
        typer.Argument(
            metavar="EXPERIMENT",
            help="An experiment file, or the name of one that comes along, such as quick"
            " (`simcounsel worlds` lists them).",
            autocompletion=names_of("experiments"),
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder of the sweep; sweeps/NAME if not given. The same folder goes on.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only print the plan, its estimate, and how the conditions differ."
        ),
    ] = False,
    show_prompts: Annotated[
        bool,
        typer.Option(
            "--show-prompts",
            help=(
                "Only print the plan, and how the counselor's first prompts differ between"
                " conditions."
            ),
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
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help=(
                "Model for all roles but `embed`, in place of the experiment's and its worlds';"
                " `simcounsel models` lists the forms. What a condition sets stays."
            ),
        ),
    ] = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """Live through clients x conditions x seeds; started again, it goes on. An experiment with
    corpora writes them, under several conditions.

    Nothing finished is run twice; a run that fails is reported and does not stop the others.
    Ctrl-C, SIGTERM or SIGHUP ends all runs within five seconds: each after the tick it is in if
    that is soon; if not, that tick is lived again. None goes on when the sweep itself is killed.

    A run whose model does not answer is given up in that tick, and the others go on; the exit code
    is then 3.

    Try a sweep without a model first: simcounsel sweep experiments/quick.yaml --model scripted
    """
    from simcounsel.instruments.naming import check_instruments
    from simcounsel.lab.plan import plan_lines
    from simcounsel.llm.catalog import roles_for
    from simcounsel.specs.experiment_file import load_experiment
    from simcounsel.specs.shipped import found

    loaded, cells = load_experiment(experiment, roles_for(model) if model else None)
    file = found("experiments", experiment)
    check_instruments(file, *(found("worlds", file.parent / one) for one in loaded.worlds))
    folder = out or Path("sweeps") / experiment.stem
    for line in plan_lines(loaded, cells, price_table(prices), folder):
        typer.echo(line)
    if show_prompts:
        from simcounsel.lab.first_prompts import prompt_lines

        for line in prompt_lines(cells):
            typer.echo(line)
    if dry_run or show_prompts:
        return
    running, done = live(
        loaded,
        cells,
        folder,
        processes=processes,
        ray=ray,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )
    report = cells[0].kind.report
    typer.echo(f"read what came of it: simcounsel {report} {folder} --out report")
    states = {progress.state for progress in running.progress.values()}
    if "given up" in states:
        typer.echo("what was given up goes on with the same command")
    if not done:
        if running.interrupted and "failed" not in states:
            sys.exit(INTERRUPTED)
        sys.exit(GIVEN_UP if "given up" in states and "failed" not in states else 1)


def live(
    loaded: "Experiment",
    cells: "tuple[Cell, ...]",
    folder: Path,
    *,
    processes: int | None = None,
    ray: str | None = None,
    in_flight: int = 64,
    quiet: bool = False,
    prices: Path | None = None,
) -> "tuple[Sweep, bool]":
    """Live what is left of a sweep, with its progress on the console: the sweep, and whether all
    runs are done.
    """
    from simcounsel.cli.sweep_display import SweepDisplay
    from simcounsel.engine.opening import check_models, check_people, check_roles
    from simcounsel.lab.sweep import Sweep
    from simcounsel.specs.world import World

    console = console_of()
    abouts = [cell.about for cell in cells]
    for world in (about for about in abouts if isinstance(about, World)):
        check_people(world)
    for about in {str(about.model_names()): about for about in abouts}.values():
        fetch_weights(about.model_names(), console, quiet)
        check_models(about) if isinstance(about, World) else check_roles(about.model_names())
    if ray is None:
        running = Sweep(
            loaded, cells, folder, processes=processes, in_flight=in_flight, prices_file=prices
        )
    else:
        from simcounsel.lab.ray import RaySweep

        running = RaySweep(
            loaded, cells, folder, address=ray, in_flight=in_flight, prices_file=prices
        )
    with SweepDisplay(console, running, quiet or not console.is_terminal) as display:
        done = running.run(display.on_change)
    if running.stopping:
        typer.echo(f"{running.stopping}; the same command goes on")
    return running, done
