"""`simcounsel study validity truth`."""

from pathlib import Path
from typing import Annotated

import typer


def truth(
    studies: Annotated[
        Path | None,
        typer.Argument(metavar="[STUDIES]", help="A file of studies, real and simulated."),
    ] = None,
    trials: Annotated[
        bool, typer.Option("--trials", help="Only list the published trials that are included.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the page.")] = Path(
        "validity"
    ),
) -> None:
    """Would the real effects have come out? Simulated effects beside those of real studies: people
    in a CSV (arm, person, time, score), or an effect that was published.

    Example: simcounsel study validity truth studies.yaml
    """
    from analysis.page import command_line
    from analysis.validity.page import add
    from analysis.validity.truth.making import make
    from analysis.validity.truth.studies import read_studies
    from analysis.validity.truth.studies import trials as included

    if trials or studies is None:
        for one in included():
            ends = f" [{one['low']}, {one['high']}]" if "low" in one else ""
            typer.echo(f"{one['id']:28} g {one['g']}{ends}  {one['of']}; {one['cite']}")
        if not trials:
            typer.echo("name a file of studies, as docs/validity.md has it")
        return
    part, pictures = make(read_studies(studies), studies.parent, command_line())
    for claim in part.claims:
        typer.echo(f"{claim.verdict:13} {claim.statement}: {claim.because}")
    typer.echo(f"page           {add(part, pictures, out)}")
