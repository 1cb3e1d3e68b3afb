"""`python -m training sweep | compare`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.disk import write_text
from simcounsel.specs import shipped
from training.errors import TrainingError

if TYPE_CHECKING:
    from training.sweeps.plan import Cell, Sweep


SweepFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A sweep of trainings; `privacy` comes along.",
        callback=lambda path: shipped.found("experiments", path),
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="One folder in it for each cell; trainings/NAME if not given.",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="CELL", help="Only this cell; may be given again."),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Say what each cell would cost, in privacy and in steps, and train nothing.",
    ),
]
Audit = Annotated[
    bool,
    typer.Option(
        "--audit", help="Attack each training when it is finished, as `training audit` does."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(sweep)
    app.command()(compare)


def sweep(
    file: SweepFile,
    out: Out = None,
    only: Only = None,
    dry_run: DryRun = False,
    audit: Audit = False,
) -> None:
    """Train each cell of a sweep in turn. Ctrl-C stops; the same command goes on, and leaves alone
    what is finished.

    Example: python -m training sweep privacy --dry-run
    """
    from training.sweeps.plan import load_sweep

    plan, cells = load_sweep(file)
    cells = chosen(cells, only or [])
    out = out or Path("trainings") / file.stem
    if dry_run:
        typer.echo("\n".join(planned_lines(plan, cells)))
        return
    from training.sweeps.running import counted, run

    for cell in cells:
        counted(cell)
    try:
        ended = run(cells, out, tell=typer.echo, audit=audit)
    except KeyboardInterrupt:  # while reading or measuring, where nothing is to be kept
        ended = []
    failed = [one for one in ended if one.state == "failed"]
    if not ended or ended[-1].state == "stopped":
        typer.echo("stopped; the same command goes on")
        raise typer.Exit(130)
    typer.echo(f"{len(ended) - len(failed)} of {len(cells)} cells are finished in {out}")
    typer.echo(
        f"compare:  python -m training compare {out}\nfigures:  python -m analysis privacy {out}"
        " --out report"
    )
    if failed:
        raise TrainingError(
            f"{len(failed)} cells failed: {', '.join(one.cell.name for one in failed)}; the first:"
            f" {failed[0].why}"
        )


def chosen(cells: "Sequence[Cell]", only: Sequence[str]) -> "tuple[Cell, ...]":
    """The cells that are named, in the file's order; all where none is. TrainingError names those
    there are.
    """
    names = [cell.name for cell in cells]
    for name in only:
        if name not in names:
            raise TrainingError(f"--only {name}: no such cell; there are {', '.join(names)}")
    return tuple(cell for cell in cells if not only or cell.name in only)


def planned_lines(plan: "Sweep", cells: "Sequence[Cell]") -> list[str]:
    """What a sweep would do, a line a cell."""
    from training.sweeps.running import cost

    width = max([4, *(len(cell.name) for cell in cells)])
    heads = (
        f"{'cell':<{width}}  {'how':<9}{'sites':>5} {'sessions':>9} {'held out':>9} {'steps':>7}"
    )
    made = [plan.name, f"{heads}   {'unit':<8}{'epsilon':>8} {'delta':>7} {'noise':>8}"]
    steps = 0
    for cell in cells:
        one = cost(cell)
        steps += one.steps
        paid = f"{'none':<8}{'–':>8} {'–':>7} {'–':>8}"
        if one.unit:
            paid = f"{one.unit:<8}{one.epsilon:>8.4g} {one.delta:>7g} {one.noise_multiplier:>8.4g}"
        made.append(
            f"{cell.name:<{width}}  {cell.kind:<9}{one.sites:>5} {one.sessions:>9}"
            f" {one.held_out:>9} {one.steps:>7}   {paid}"
        )
    return [
        *made,
        (
            f"{len(cells)} cells, {steps} steps in all; noise: its standard deviation over the"
            " clipping norm. Nothing was trained."
        ),
    ]


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUNS...", help="Trainings' folders, or folders of them, such as a sweep's."
        ),
    ],
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write the table here, with all columns."),
    ] = None,
) -> None:
    """Utility beside privacy: held-out loss, what is protected and how well, and what an audit's
    best attack reached.

    Example: python -m training compare trainings/privacy --csv privacy.csv
    """
    from training.sweeps.comparing import as_csv, lines, read, warnings

    rows = read(runs)
    typer.echo("\n".join(lines(rows)))
    for words in warnings(rows):
        typer.echo(words, err=True)
    if csv is not None:
        write_text(csv, as_csv(rows))
        typer.echo(f"wrote {csv}")
