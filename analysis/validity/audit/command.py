"""`simcounsel study audit`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetCalls, BudgetUsd, InFlight, PricesFile, Quiet
from simcounsel.cli.running_code import runs_code
from simcounsel.entry import GIVEN_UP

if TYPE_CHECKING:
    from analysis.validity.audit.plan import AuditPlan


@asks_models
@runs_code
def audit(
    experiment: Annotated[
        Path,
        typer.Argument(
            metavar="EXPERIMENT", help="An experiment file; its `hypotheses` are the claims."
        ),
    ],
    changes: Annotated[
        Path | None, typer.Option("--changes", help="A file of what is changed; ours if not given.")
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(
            "--level", help="agent, interaction, system or model alone; again for several."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="Another model for people, as one more change; again."),
    ] = None,
    pairs: Annotated[
        int, typer.Option("--pairs", min=0, max=6, help="So many of the largest changes in pairs.")
    ] = 3,
    ask: Annotated[
        int, typer.Option("--ask", min=0, help="So many clients are asked what is studied.")
    ] = 0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print the changes, the runs and the cost.")
    ] = False,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Runs at once; the number of cores.")
    ] = None,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    quiet: Quiet = False,
    prices: PricesFile = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder of the page; runs lie in OUT/runs.")
    ] = Path("audit"),
) -> None:
    """Would an experiment's claims hold if it had been made otherwise?

    One thing is changed at a time: clients' files, talk and memory, the calendar, the model. Then
    the largest changes in pairs. Each claim holds, weakens, turns or cannot be told. Ctrl-C loses
    nothing; the same command goes on.

    Example: simcounsel study audit planted_effect --dry-run
    """
    from analysis.finding import find
    from analysis.page import command_line
    from analysis.validity.audit.changes import LEVELS, read_changes
    from analysis.validity.audit.making import audits, make, verdict_lines
    from analysis.validity.audit.plan import plan, plan_words, with_pairs
    from analysis.validity.page import add
    from simcounsel.cli.weights import price_table
    from simcounsel.lab.plan import plan_lines
    from simcounsel.specs.experiment import Budget
    from simcounsel.specs.shipped import found

    if strange := next((one for one in level or () if one not in LEVELS), None):
        raise typer.BadParameter(
            f"{strange!r}; there are {', '.join(LEVELS)}", param_hint="--level"
        )
    chosen = [
        one for one in read_changes(changes) if not level or one.level in level or one.ablation
    ]
    made = plan(found("experiments", experiment), chosen, models=model or ())
    if budget_usd is not None or budget_calls is not None:
        calls = None if budget_calls is None else int(budget_calls)
        limit = Budget(usd=budget_usd, calls=calls)
        made = made.with_budget(limit)
    lines = plan_lines(made.experiment, made.cells, price_table(prices), out / "runs", folded=True)
    for line in (*plan_words(made), *lines):
        typer.echo(line)
    if dry_run:
        return
    _run(made, out, processes, in_flight, quiet, prices)
    if pairs > 1:
        largest = audits(made, find([out / "runs"]))[0].largest[:pairs]
        made = with_pairs(made, largest)
        _run(made, out, processes, in_flight, quiet, prices)
    part, pictures, told = make(made, out / "runs", command_line(), ask=ask)
    typer.echo("\n".join(verdict_lines(told)))
    typer.echo(f"page           {add(part, pictures, out)}")


def _run(
    made: "AuditPlan",
    out: Path,
    processes: int | None,
    in_flight: int,
    quiet: bool,
    prices: Path | None,
) -> None:
    """Run what is left of it, or leave with the exit code that says why not."""
    from simcounsel.cli.sweep import live

    running, done = live(
        made.experiment,
        made.cells,
        out / "runs",
        processes=processes,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )
    if not done:
        typer.echo("not all runs are done; the same command goes on")
        states = {progress.state for progress in running.progress.values()}
        sys.exit(GIVEN_UP if "given up" in states and "failed" not in states else 1)
