"""`allow`: to which hosts a key may be sent."""

from typing import Annotated

import typer

from simcounsel.cli import app


@app.command()
def allow(
    hosts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[HOST...]",
            help="HOST:PORT, an address, or HOST for all its ports; none lists those allowed.",
        ),
    ] = None,
) -> None:
    """Let SIMCOUNSEL_API_KEY be sent to a host, for good, also where only a file names it.

    A key goes to hosts that you name: in an address on the command line, in SIMCOUNSEL_HOSTS, or
    here. A host that only a world, an experiment or a run names gets none before you allow it. To
    take it back, delete its line from the file.

    Example: simcounsel allow models.example.org:443
    """
    from simcounsel.hosts import allow_in_file, allowed_in_file, hosts_file

    for place in allow_in_file(hosts or ()):
        typer.echo(f"a key may be sent to {place}")
    file = hosts_file()
    if hosts:
        typer.echo(f"kept in {file}")
    else:
        listed = ", ".join(allowed_in_file()) or "no host"
        typer.echo(f"{listed} ({file})")
