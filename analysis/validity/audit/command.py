"""`simcounsel study audit`."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetCalls, BudgetUsd, InFlight, PricesFile, Quiet
from simcounsel.cli.running_code import runs_code


@asks_models
@runs_code
def audit(
    experiment: Annotated[
        Path,
        typer.Argument(
            metavar="EXPERIMENT",
            help=(
                "An experiment file; its `hypotheses` are the claims. Or a study's folder of the"
                " shared task on social simulation (COLM 2026), with --outcome."
            ),
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
    outcome: Annotated[
        str | None,
        typer.Option(
            "--outcome",
            metavar="FILE:FIELD[?KEY=VALUE][==VALUE]",
            help="Of such a folder: what is taken of a run's rows, a mean, or a value's share.",
        ),
    ] = None,
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
    from analysis.validity.audit.shared_task import DESIGN
    from analysis.validity.audit.verdicts import largest
    from analysis.validity.page import add
    from analysis.validity.running import run_all
    from simcounsel.cli.weights import price_table
    from simcounsel.lab.plan import plan_lines
    from simcounsel.specs.experiment import Budget
    from simcounsel.specs.shipped import found

    if (experiment / DESIGN).is_file():
        _shared(experiment, outcome, out)
        return
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
    run = partial(
        run_all, runs=out / "runs", processes=processes, in_flight=in_flight, quiet=quiet,
        prices=prices,
    )  # fmt: skip
    run(made.experiment, made.cells)
    if pairs > 1:
        made = with_pairs(made, largest(audits(made, find([out / "runs"])), pairs))
        run(made.experiment, made.cells)
    part, pictures, told = make(made, out / "runs", command_line(), ask=ask)
    typer.echo("\n".join(verdict_lines(told)))
    typer.echo(f"page           {add(part, pictures, out)}")


def _shared(folder: Path, outcome: str | None, out: Path) -> None:
    """A study of the shared task: its runs are there."""
    from analysis.page import command_line
    from analysis.validity.audit.making import make_shared, verdict_lines
    from analysis.validity.audit.shared_task import OutcomeOf, SharedStudy, audits
    from analysis.validity.page import add

    if outcome is None:
        raise typer.BadParameter(
            "the organizers' measures are not published; say what is taken of a run, such as"
            " probe_events:data.probe_return?label=opinion_rating",
            param_hint="--outcome",
        )
    study = SharedStudy.read(folder)
    found = audits(study, OutcomeOf.named(outcome), lambda words: typer.echo(words, err=True))
    part, pictures = make_shared(study, found, outcome, command_line())
    typer.echo("\n".join(verdict_lines(found)))
    typer.echo(f"page           {add(part, pictures, out)}")
