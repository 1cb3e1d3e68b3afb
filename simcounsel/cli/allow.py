"""`models allow`: to which hosts a key may be sent, and from which folders code may be run."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli.files import models

CODE = "code"
"""The word after which folders follow; a host of that name is written with its port."""


@models.command()
def allow(
    hosts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[HOST...]",
            help="HOST:PORT, an address, or HOST for all its ports; none lists those allowed."
            " Or `code FOLDER...`; `code` alone lists the folders.",
        ),
    ] = None,
) -> None:
    """Let SIMCOUNSEL_API_KEY be sent to a host, or code in a folder be run, for good, also where
    only a file names it.

    A key goes to hosts that you name: in an address on the command line, in SIMCOUNSEL_HOSTS,
    or here. A host that only a world, an experiment or a run names gets none before you allow
    it. A policy or a mind that only a file names as `module:NAME` runs once its folder is
    allowed here, or with --allow-code. To take it back, delete its line from the file.

    Example: simcounsel models allow models.example.org:443; simcounsel models allow code my-study
    """
    if hosts and hosts[0] == CODE:
        _allow_code(hosts[1:])
        return
    from simcounsel.hosts import allow_in_file, allowed_in_file, hosts_file

    for place in allow_in_file(hosts or ()):
        typer.echo(f"a key may be sent to {place}")
    _say_kept(hosts_file(), bool(hosts), allowed_in_file(), "no host")


def _allow_code(folders: list[str]) -> None:
    from simcounsel.named_code import allow_folders, code_file, folders_allowed

    for place in allow_folders(map(Path, folders)):
        typer.echo(f"files may name code in {place}, which then runs with all your rights")
    _say_kept(code_file(), bool(folders), folders_allowed(), "no folder")


def _say_kept(file: Path, new: bool, listed: tuple[str, ...], nothing: str) -> None:
    typer.echo(f"kept in {file}" if new else f"{', '.join(listed) or nothing} ({file})")
