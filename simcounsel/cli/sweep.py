"""`sweep`: all cells of an experiment, and what they look like while they go on."""

import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.cli import app
from simcounsel.cli.asking import asks_models
from simcounsel.cli.completing import names_of
from simcounsel.cli.many_display import ManyDisplay
from simcounsel.cli.options import InFlight, PricesFile, Quiet
from simcounsel.cli.running_code import runs_code
from simcounsel.cli.weights import console_of, fetch_weights, price_table
from simcounsel.entry import GIVEN_UP, INTERRUPTED
from simcounsel.runs.spending import cost_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console, RenderableType

    from simcounsel.lab.sweep import Progress, Sweep
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
            help="An experiment file, or the name of one that is included, such as quick"
            " (`simcounsel list` lists them).",
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
    preregister: Annotated[
        Path | None,
        typer.Option(
            "--preregister",
            metavar="FILE",
            help="Only write the plan with its date and hashes, before anything is asked.",
        ),
    ] = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """Run an experiment: each client under each condition with each seed. Started again, it goes
    on.

    Nothing finished is run twice. A run that fails is reported, and the others go on. Ctrl-C ends
    all runs within five seconds and loses nothing. Where a model does not answer, that run is given
    up for now, and the exit code is 3.

    Try one without a model: simcounsel sweep quick --model scripted
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
    if preregister:
        from simcounsel.lab.registration import register

        typer.echo(f"registered   {register(loaded, cells, preregister)} in {preregister}")
    if dry_run or show_prompts or preregister:
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
    reads = find_spec("statsmodels") is not None  # the extra `analysis`
    report = f"{cells[0].kind.report} {folder} --out report"
    typer.echo(f"read what came of it: simcounsel {report if reads else f'view {folder}'}")
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


ENDED = ("done", "failed", "stopped", "given up")


class SweepDisplay(ManyDisplay["Progress"]):
    """One table of all runs of a sweep in a terminal; elsewhere a line for each run that ends."""

    def __init__(self, console: "Console", sweep: "Sweep", plain: bool) -> None:
        self.sweep = sweep
        kinds = (one.cell.kind for one in sweep.progress.values())
        self._unit = f"{next(kinds).unit}s"
        super().__init__(console, plain, ENDED)

    def _progress(self) -> "Mapping[str, Progress]":
        return self.sweep.progress

    def _line(self, name: str, one: "Progress") -> str:
        done = sum(p.state == "done" for p in self.sweep.progress.values())
        cause = f": {one.cause}" if one.cause else ""
        how_far = f"{one.tick} of {one.cell.ticks} {self._unit}"
        return (
            f"{one.state:8s} {name}  {how_far}{cause}  ({done} of {len(self.sweep.progress)} done)"
        )

    def _draw(self) -> "RenderableType":
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        every = list(self.sweep.progress.values())
        counts = {
            state: sum(p.state == state for p in every) for state in ("running", "waiting", *ENDED)
        }
        calls, usd = self.sweep.spent()
        title = (
            ", ".join(f"{n} {state}" for state, n in counts.items() if n)
            + f"; {calls} calls, {cost_text(usd, 0)}"
        )
        title += f"; stopping: {self.sweep.stopping}" if self.sweep.stopping else ""
        table = Table(box=None, padding=(0, 2), show_edge=False, title_justify="left", title=title)
        for name in ("run", "", self._unit, "calls", "time left"):
            table.add_column(name, no_wrap=True)
        for progress in [p for p in every if p.state == "running"][:20]:
            table.add_row(
                Text(progress.cell.name),
                ProgressBar(total=progress.cell.ticks, completed=progress.tick, width=24),
                f"{progress.tick} of {progress.cell.ticks}",
                str(progress.calls),
                self._left(progress),
            )
        return table

    def _left(self, progress: "Progress") -> str:
        lived = progress.tick - progress.first_tick
        if lived < 2:
            return "..."
        seconds = (
            (time.monotonic() - progress.began) / lived * (progress.cell.ticks - progress.tick)
        )
        return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
