"""`simcounsel trial`: new, serve, status, remind, links, password, export."""

import csv
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.argument_help import Explaining
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import InFlight, PricesFile, Quiet
from simcounsel.cli.weights import console_of, fetch_weights, price_table

if TYPE_CHECKING:
    from simcounsel.trial.plan import Trial

trial = typer.Typer(
    cls=Explaining,
    no_args_is_help=True,
    rich_markup_mode=None,
    help=(
        "Run a randomized trial in which people talk with counselors over several days.\n\n"
        "Begin with:  simcounsel trial new my-trial\n\n"
        "Fill in trial.yaml: whom participants can reach, who watches, whose help lines. Try it"
        " with simulated people:  simcounsel trial serve my-trial --simulate 12\n\n"
        "People are met only with the approval of an ethics board, and somebody who watches."
    ),
)


class Design(StrEnum):
    """Trials to start from."""

    STRUCTURE_MATTERS = "structure_matters"
    PRACTICE = "practice"


Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The trial's folder.")]


@trial.command()
def new(
    folder: Folder,
    people: Annotated[int, typer.Option("--people", min=1, max=100_000, help="How many.")] = 66,
    design: Annotated[
        Design,
        typer.Option("--design", help="Three counselors over eight days, or practice as in CARE."),
    ] = Design.STRUCTURE_MATTERS,
    open_link: Annotated[
        bool, typer.Option("--open", help="One link with a code for all, as Prolific wants it.")
    ] = False,
) -> None:
    """Write a trial to fill in, with a link for each participant and a password.

    Example: simcounsel trial new my-trial --design practice --people 40
    """
    from simcounsel.trial.opening import begin

    password = begin(folder, people, open_link=open_link, design=design.value)
    typer.echo(f"wrote {folder}/trial.yaml; fill in contact, watched, locale and ethics")
    typer.echo(f"wrote {folder}/private/links.csv: whoever has a link is that participant")
    typer.echo(f"the coordinator's password, shown once: {password}")
    typer.echo(f"next: simcounsel trial serve {folder} --simulate 12")


@trial.command()
@asks_models
def serve(
    folder: Folder,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            help="How people reach it, such as https://trial.example.org, where a proxy passes it"
            " on; see docs/trials.md. This machine alone if not given.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="On this machine; 0: any free one.")
    ] = 8770,
    simulate: Annotated[
        int | None,
        typer.Option(
            "--simulate",
            min=1,
            max=1000,
            help="Play it with so many simulated people in FOLDER/simulated, and serve nothing.",
        ),
    ] = None,
    amend: Annotated[
        str | None, typer.Option("--amend", help="Why trial.yaml was changed after it was sealed.")
    ] = None,
    ahead: Annotated[
        float, typer.Option("--days-ahead", help="Move the clock, to try later days.")
    ] = 0.0,
    in_flight: InFlight = 64,
    prices: PricesFile = None,
    quiet: Quiet = False,
) -> None:
    """Serve participants' pages, and the coordinator's at /watch, until Ctrl-C.

    Before the first person the plan is sealed: hashed, dated, with the lists of the allocation.
    What was said is on the disk at once; start it again, and all go on.
    """
    from simcounsel.trial.opening import open_models, opened, serve_until_stopped
    from simcounsel.trial.plan import load_trial

    plan = load_trial(folder)
    table = price_table(prices)
    models = open_models(plan, folder, table, in_flight)
    fetch_weights(models.names, console_of(), quiet)
    if simulate is not None:
        from simcounsel.trial.simulating import simulated

        for line in simulated(plan, folder, models.open(), simulate):
            typer.echo(line)
        return
    with opened(plan, folder, models.open(), ahead=ahead, amend=amend) as running:
        for problem in running.store.damages():
            typer.echo(problem, err=True)
        try:
            serve_until_stopped(running, address, port, typer.echo)
        except KeyboardInterrupt:
            typer.echo("stopped; all that was said is kept, and the same command goes on", err=True)
            raise


@trial.command()
def status(folder: Folder) -> None:
    """Tell how many came, where they are, who has not been answered, and what is open."""
    from simcounsel.trial.opening import looked_at
    from simcounsel.trial.status import status_lines

    with looked_at(_trial(folder), folder) as running:
        for line in status_lines(running):
            typer.echo(line)


@trial.command()
def links(
    folder: Folder,
    add: Annotated[int, typer.Option("--add", min=0, help="So many more, without addresses.")] = 0,
    contacts: Annotated[
        Path | None,
        typer.Option(
            "--contacts", metavar="CSV", help="More people, by a column `email`, for reminders."
        ),
    ] = None,
) -> None:
    """Write everybody's link to FOLDER/private/links.csv, for more people too."""
    from simcounsel.trial.opening import invite

    found = [None] * add
    addresses = _addresses(contacts) if contacts else []
    typer.echo(f"wrote {invite(_trial(folder), folder, [*found, *addresses])}")


@trial.command()
def remind(
    folder: Folder,
    send: Annotated[
        bool, typer.Option("--send", help="Send them by the mail server in trial.yaml.")
    ] = False,
    base: Annotated[
        str, typer.Option("--address", help="How people reach the site; for their links.")
    ] = "http://127.0.0.1:8770",
) -> None:
    """List who has not talked today although it is time, as messages to send, or send them.

    Each person is reminded once a day; run it every quarter of an hour.
    """
    from simcounsel.trial.opening import looked_at
    from simcounsel.trial.reminding import remind_all

    with looked_at(_trial(folder), folder) as running:
        for line in remind_all(running, base, send=send):
            typer.echo(line)


@trial.command()
def password(folder: Folder) -> None:
    """Make a new password for the coordinator's page; the old one is void after the next start."""
    from simcounsel.trial.sealing import new_password

    _trial(folder)
    typer.echo(f"the coordinator's password, shown once: {new_password(folder)}")


@trial.command()
def export(
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="FOLDER/export if not given.")
    ] = None,
) -> None:
    """Write the data: tables (CSV, Parquet, SPSS) with a codebook, and each participant as a run.

    `simcounsel report DIR/runs` reads people as it reads simulated clients, and `simcounsel study
    replicate structure-matters --people DIR` sets them beside these and the paper.
    """
    from simcounsel.trial.exporting import export_all
    from simcounsel.trial.opening import looked_at

    with looked_at(_trial(folder), folder) as running:
        for line in export_all(running, out or folder / "export"):
            typer.echo(line)


def _trial(folder: Path) -> "Trial":
    from simcounsel.trial.plan import load_trial

    return load_trial(folder)


def _addresses(file: Path) -> list[str]:
    from simcounsel.errors import StudyError

    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            found = [row.get("email", "").strip() for row in csv.DictReader(lines)]
    except OSError as error:
        raise StudyError(f"{file}: cannot be read ({error.strerror})") from None
    if not any(found):
        raise StudyError(f"{file}: no column `email`, or nothing in it")
    return [one for one in found if one]
