"""`simcounsel study methods`."""

from pathlib import Path
from typing import Annotated

import typer

from analysis.options import Places


def methods(
    places: Places,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The Markdown file that is written.")
    ] = Path("methods.md"),
    registered: Annotated[
        Path | None,
        typer.Option(
            "--registered",
            metavar="FILE",
            help="What `sweep --preregister FILE` wrote; what was done otherwise is said.",
        ),
    ] = None,
) -> None:
    """Describe a study out of its runs: an ODD protocol with models and prompts, to be edited.

    Example: simcounsel study methods sweeps/counseling_effect --registered plan.json
    """
    from analysis.validity.methods.deviations import deviations, read_registration
    from analysis.validity.methods.odd import write_odd

    body, found = None, []
    if registered is not None:
        body = read_registration(registered)
        found = list(deviations(body, places[0]))
        for one in found or ["nothing was done otherwise than registered"]:
            typer.echo(one)
    typer.echo(f"methods        {write_odd(places, out, body, found)}")
