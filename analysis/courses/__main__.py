"""`simcounsel study courses`: counselors over the same courses, and the paper's tables."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.replication import options as given
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetCalls, BudgetUsd, InFlight, PricesFile, Quiet
from simcounsel.entry import GIVEN_UP

if TYPE_CHECKING:
    from analysis.courses.design import Courses


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
            " model of its own, such as a bot at http:... or you at byhand:FOLDER.",
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
    cases: Annotated[
        str,
        typer.Option(
            "--cases",
            metavar="CASE,...",
            help="In place of the twelve: folders with client.yaml and plan.yaml, such as `library"
            " import` writes, or organist, bus_driver, night_nurse. Each has its plan's therapy.",
        ),
    ] = "",
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            "--corpus",
            help="Beside the counselors: sessions of a corpus, rated before by `corpus rate"
            " --instrument cbt`. May be repeated; --counselors '' plays nothing.",
        ),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            "--beside",
            metavar="FOLDER",
            help="Another study's --out: its counselors stand on the page's leaderboard, too.",
        ),
    ] = None,
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
    from analysis.courses.design import Courses

    wanted = Courses(
        therapies=names(therapies),
        counselors=names(counselors),
        clients=clients,
        sessions=sessions,
        lines=lines,
        lived=lived,
        model=model,
        judge=judge,
        budget_usd=budget_usd,
        budget_calls=budget_calls,
        cases=names(cases),
        corpora=tuple(str(one.resolve() if one.exists() else one) for one in corpus or ()),
    )
    living: dict[str, Any] = {
        "processes": processes,
        "in_flight": in_flight,
        "quiet": quiet,
        "prices": prices,
    }
    play(wanted, out, tuple(beside or ()), dry_run=dry_run, living=living)


def names(text: str) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(one.strip() for one in text.split(",") if one.strip())


def play(
    wanted: "Courses",
    out: Path,
    beside: tuple[Path, ...] = (),
    *,
    dry_run: bool,
    living: dict[str, Any],
) -> None:
    """Plan, live, and write the page. beside: other studies for the leaderboard. living: how they
    run, see `live`.
    """
    from analysis.courses.design import parts_of, written
    from analysis.courses.leaderboard import card_of
    from analysis.courses.study import finish
    from simcounsel.cli.sweep import live
    from simcounsel.cli.weights import price_table
    from simcounsel.lab.plan import plan_lines
    from simcounsel.llm.catalog import roles_for
    from simcounsel.specs.experiment_file import load_experiment

    for other in beside:
        card_of(other)
    table = price_table(living["prices"])
    for part in parts_of(wanted) if wanted.counselors else ():
        with TemporaryDirectory() as elsewhere:
            file = written(part, wanted, Path(elsewhere) if dry_run else out)
            model = wanted.model
            loaded, cells = load_experiment(file, roles_for(model) if model else None)
        runs = out / part.name / "runs"
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
        for line in finish(out, wanted, beside):
            typer.echo(line)
