"""`library translate`: profiles of simulated clients in other forms."""

import sys
from pathlib import Path
from typing import Annotated

import typer


def translate(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A persona of ours, or profiles of others.")
    ],
    to: Annotated[
        str,
        typer.Option("--to", metavar="FORM", help="ours, patientpsi, eeyore, cactus or veramh."),
    ],
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FORM", help="Left out: by the shape of the file."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The file to write; with --to ours a folder. Left out: FILE's name with the form,"
            " or `personas`.",
        ),
    ] = None,
    theme: Annotated[
        str | None,
        typer.Option("--theme", help="The theme of clients who are read. Left out: by words."),
    ] = None,
) -> None:
    """Translate profiles of simulated clients, and name what is lost.

    Forms: personas of ours, Patient-Psi, Eeyore, Cactus and VERA-MH. From one of theirs to another
    it goes by way of ours. What a profile does not say is "not stated", or filled in plainly. A
    record that cannot be used is refused by name, and exit code 1 says so.

    Example: simcounsel library translate personas/ines.yaml --to eeyore --out ines.json
    """
    from simcounsel.borrowed.profiles.translating import translate_file

    done = translate_file(file, source, to, out, theme)
    for written in done.written:
        typer.echo(f"wrote {written}")
    for words in (*done.told, *(f"refused: {one}" for one in done.refused)):
        typer.echo(words, err=True)
    typer.echo(f"clients: {done.clients}")
    sys.exit(1 if done.refused else 0)
