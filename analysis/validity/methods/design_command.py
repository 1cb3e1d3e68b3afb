"""`simcounsel study design`."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def design(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="An experiment, a study.yaml or a design.yaml.")
    ],
    to: Annotated[
        Literal["silisocs", "ours"] | None,
        typer.Option("--to", help="The form to write. Left out: the other one."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write. Left out, or `-`: the screen."),
    ] = None,
) -> None:
    """Translate the design file of a study, and name what is lost.

    An experiment becomes a study.yaml of SiliSocS, which keeps the whole experiment for the way
    back. Any other study.yaml, or a design.yaml of the shared task Many Worlds, becomes a skeleton
    of an experiment. You complete it.

    Example: simcounsel study design counseling_effect --to silisocs --out study.yaml
    """
    from analysis.validity.methods.designs import translate
    from simcounsel.specs.file_text import write_text
    from simcounsel.specs.load import refuse_existing

    out = None if out == Path("-") else out
    if out is not None:
        refuse_existing(out)
    text, told = translate(file, to, out.parent if out else Path())
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
        typer.echo(f"wrote {out}")
    for one in told:
        typer.echo(one, err=True)
