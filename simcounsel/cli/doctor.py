"""`doctor`: what is installed, fetched and reachable."""

import sys
from typing import Annotated

import typer

from simcounsel.cli import app
from simcounsel.cli.finding import Finding
from simcounsel.cli.guest_options import takes_guests

MARKS = {"ok": "ok", "none": "-", "problem": "PROBLEM"}


@app.command()
@takes_guests
def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="For programs: a list of findings.")
    ] = False,
    *,
    found: list[Finding],
) -> None:
    """Check what is installed, fetched and reachable, with a remedy for what is not.

    The exit code is 1 if something is in the way of a run.

    Nothing is fetched, no key is sent anywhere, and no model is asked, except a bot that --bot
    names. Put what it prints into a report of a fault.
    """
    from simcounsel.cli import health

    found = found or list(health.findings())
    if as_json:
        typer.echo(health.as_json(found))
    else:
        part = ""
        for one in found:
            if one.part != part:
                part = one.part
                typer.echo(f"\n{part}" if one is not found[0] else part)
            typer.echo(f"  {MARKS[one.mark]:<8} {one.subject}: {one.says}")
            if one.remedy:
                typer.echo(f"{'':<11}-> {one.remedy}")
    sys.exit(1 if any(one.mark == "problem" for one in found) else 0)
