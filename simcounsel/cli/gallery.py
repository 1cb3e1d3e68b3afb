"""`gallery`: the runs that ship with the package."""

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from simcounsel import gallery as shown
from simcounsel.cli import app
from simcounsel.disk import write_data

gallery = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode=None,
    help="List the runs that ship with simcounsel. Each is taken wherever a run's folder is:"
    " simcounsel view gallery:NAME",
)
app.add_typer(gallery, name="gallery")


@gallery.callback()
def list_them(context: typer.Context) -> None:
    """List the runs that ship with simcounsel, with a line each.

    Example: simcounsel gallery; simcounsel view gallery:staged
    """
    if context.invoked_subcommand is not None:
        return
    for one in shown.exhibits().values():
        typer.echo(f"{shown.PREFIX}{one.name}\n    {one.line}\n    {one.made}")
    if not shown.exhibits():
        typer.echo("no run ships with this version yet; `simcounsel gallery pack --help` makes one")


@gallery.command()
def pack(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    name: Annotated[str, typer.Option("--name", help="Its name in the gallery.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for NAME.tar.xz.")] = Path(),
) -> None:
    """Pack a run as the gallery holds it: the same bytes for the same run. Prints what
    gallery.yaml says of it.

    Example: simcounsel gallery pack runs/RUN --name staged -o simcounsel/gallery
    """
    from simcounsel.runs.record import open_record
    from simcounsel.runs.verifying import verify

    opened = open_record(run)
    if damages := verify(run).damages:
        raise typer.BadParameter(f"{run}: {damages[0]}")
    packed = shown.pack(opened.folder, name, opened.kind.manifest_in(opened.folder).name)
    out.mkdir(parents=True, exist_ok=True)
    write_data(out / f"{name}.tar.xz", packed)
    typer.echo(
        f"- name: {name}\n  line: \n  made: \n  sha256: {hashlib.sha256(packed).hexdigest()}"
    )
