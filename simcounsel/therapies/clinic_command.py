"""`clinic`: a course of sessions back to back."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli.asking import asks_models
from simcounsel.cli.completing import names_of
from simcounsel.cli.dry import say_run
from simcounsel.cli.execution import live
from simcounsel.cli.going_on import make_ready
from simcounsel.cli.options import (
    BudgetCalls,
    BudgetUsd,
    DryRun,
    InFlight,
    Model,
    Out,
    PricesFile,
    Quiet,
    Sets,
    Ticks,
    WorldSeed,
    changes_of,
    with_model,
)
from simcounsel.cli.running_code import runs_code
from simcounsel.cli.weights import console_of, price_table


@asks_models
@runs_code
def clinic(
    world: Annotated[
        Path,
        typer.Argument(
            metavar="WORLD",
            help="A world with a client and a counselor: a file, or the name of one that is"
            " included, such as insomnia.",
            autocompletion=names_of("worlds"),
        ),
    ],
    client: Annotated[
        str | None,
        typer.Option(
            "--client", metavar="NAME", help="Left out: the first who has an appointment."
        ),
    ] = None,
    counselor: Annotated[
        str | None,
        typer.Option(
            "--counselor", metavar="NAME", help="Left out: the first who has an appointment."
        ),
    ] = None,
    therapy: Annotated[
        str | None,
        typer.Option(
            "--therapy",
            help=(
                "`simcounsel library skills list` names them; or a therapy file. Left out:"
                " the plan's, or cbt."
            ),
        ),
    ] = None,
    sessions: Annotated[
        int | None,
        typer.Option(
            "--sessions",
            min=5,
            max=10,
            help="How many; 8 if neither this nor a plan says otherwise.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", help="A plan, such as `simcounsel library course plan` writes."),
    ] = None,
    case: Annotated[
        Path | None,
        typer.Option(
            "--case",
            metavar="CASE",
            help="A folder with client.yaml and plan.yaml, whose client takes the place of the"
            " world's own; or `organist`, `bus_driver`, `night_nurse`, which are included.",
        ),
    ] = None,
    from_session: Annotated[
        int,
        typer.Option(
            "--from-session",
            metavar="N",
            min=1,
            max=10,
            help="Go on from this session of an imported case; what came before is known from it.",
        ),
    ] = 1,
    lines: Annotated[
        int, typer.Option("--lines", min=6, max=200, help="Lines in a session, both counted.")
    ] = 24,
    objectives: Annotated[
        int | None,
        typer.Option(
            "--objectives",
            min=1,
            max=12,
            help="Most points that a session is for; one for 6 lines.",
        ),
    ] = None,
    skills: Annotated[
        int | None,
        typer.Option(
            "--skills", min=3, max=60, help="Most skills chosen for a session; one for 2 lines."
        ),
    ] = None,
    every: Annotated[
        int,
        typer.Option(
            "--every", min=1, max=31, metavar="DAYS", help="Days from one session to the next."
        ),
    ] = 7,
    out: Out = Path("runs"),
    model: Model = None,
    ticks: Ticks = None,
    seed: WorldSeed = None,
    sets: Sets = None,
    quiet: Quiet = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    dry_run: DryRun = False,
) -> None:
    """Run a course of sessions back to back. Of the days between, the client gives a short account.

    It leaves an ordinary run behind: `resume`, `fork`, `view` and `show` work as with any other.
    """
    from simcounsel.engine.opening import begin_run, check_models
    from simcounsel.specs.world_file import load_world
    from simcounsel.therapies.clinic import clinic_world
    from simcounsel.therapies.specs.case_folder import read_case_folder
    from simcounsel.therapies.specs.course import find_plan
    from simcounsel.therapies.specs.therapy import find_therapy

    changes = with_model(changes_of(sets) | ({} if seed is None else {"seed": seed}), model)
    played = read_case_folder(case) if case else None
    if played and played.language == "zh":
        changes = {"language": "zh", **changes}
    followed = played.from_session(from_session) if played else None
    followed = find_plan(plan) if plan else followed
    own = played.therapy if played and not therapy else None
    school = own or find_therapy(therapy or (followed.therapy if followed else "cbt"))
    made = clinic_world(
        load_world(world, **changes),
        client=client,
        counselor=counselor,
        therapy=school,
        sessions=sessions,
        plan=followed,
        lines=lines,
        every=every,
        persona=played.client if played else None,
        settings={
            name: most
            for name, most in (("objectives", objectives), ("skills", skills))
            if most is not None
        },
    )
    table = price_table(prices)
    if dry_run:
        say_run(made, min(ticks or made.ticks, made.ticks), out, table)
        return
    make_ready(
        made,
        check_models,
        quiet=quiet,
        budget_usd=budget_usd,
        budget_calls=budget_calls,
        prices=table,
    )
    run = begin_run(made, out)
    live(run, ticks, quiet, in_flight, budget_usd, budget_calls, table, console_of())
