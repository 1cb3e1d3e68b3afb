"""`simcounsel study courses`: counselors over the same courses, and the paper's tables."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from analysis.replication import options as given
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetCalls, BudgetUsd, InFlight, PricesFile, Quiet
from simcounsel.entry import GIVEN_UP


@asks_models
def courses(
    therapies: Annotated[
        str,
        typer.Option(
            "--therapies", help="Names, with commas; `simcounsel library skills list` has them."
        ),
    ] = "cbt,psychodynamic",
    counselors: Annotated[
        str,
        typer.Option(
            "--counselors",
            help="Policies, with commas: course, socratic, unguided, ...; POLICY@MODEL gives one a"
            " model of its own.",
        ),
    ] = "course,unguided",
    clients: Annotated[int, typer.Option("--clients", min=1, max=12, help="Of twelve.")] = 12,
    sessions: Annotated[int, typer.Option("--sessions", min=5, max=10, help="Of each course.")] = 6,
    lines: Annotated[
        int, typer.Option("--lines", min=6, max=60, help="Lines in a session, both counted.")
    ] = 24,
    lived: Annotated[
        bool, typer.Option("--lived", help="Live the days between, in place of a short account.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The study's folder.")] = Path("courses"),
    model: given.Model = None,
    judge: given.Judge = None,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    dry_run: given.Dry = False,
    processes: given.Processes = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """Compare counselors over whole courses: clients x therapies x counselors.

    After each session the client and an observer answer the battery of the therapy. A page has the
    tables of PsychEval (1, 2, 4 to 7), its numbers beside ours, and what the courses came to. The
    same command goes on where it was.

    Try it: simcounsel study courses --model scripted --clients 2 --sessions 5 --lines 8 --out try
    """
    from analysis.courses.design import Courses, written
    from analysis.courses.study import finish
    from simcounsel.cli.sweep import live
    from simcounsel.cli.weights import price_table
    from simcounsel.lab.plan import plan_lines
    from simcounsel.llm.catalog import roles_for
    from simcounsel.specs.experiment_file import load_experiment

    wanted = Courses(
        therapies=tuple(one.strip() for one in therapies.split(",") if one.strip()),
        counselors=tuple(one.strip() for one in counselors.split(",") if one.strip()),
        clients=clients,
        sessions=sessions,
        lines=lines,
        lived=lived,
        model=model,
        judge=judge,
        budget_usd=budget_usd,
        budget_calls=budget_calls,
    )
    living: dict[str, Any] = {
        "processes": processes,
        "in_flight": in_flight,
        "quiet": quiet,
        "prices": prices,
    }
    table = price_table(prices)
    for therapy in wanted.therapies:
        with TemporaryDirectory() as elsewhere:
            file = written(therapy, wanted, Path(elsewhere) if dry_run else out)
            loaded, cells = load_experiment(file, roles_for(model) if model else None)
        runs = out / therapy / "runs"
        for line in plan_lines(loaded, cells, table, runs, folded=True):
            typer.echo(line)
        if dry_run:
            continue
        running, done = live(loaded, cells, runs, **living)
        if not done:
            states = {progress.state for progress in running.progress.values()}
            typer.echo("not all runs are done; the same command goes on")
            sys.exit(GIVEN_UP if "given up" in states and "failed" not in states else 1)
    if not dry_run:
        for line in finish(out, wanted):
            typer.echo(line)
