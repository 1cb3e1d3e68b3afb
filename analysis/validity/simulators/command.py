"""`simcounsel study simulators`."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli.asking import asks_models


@asks_models
def simulators(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUNS...", help="Runs of an experiment with a condition for each simulator."
        ),
    ],
    real: Annotated[
        list[Path] | None,
        typer.Option("--real", help="Real sessions, as `study fit` reads them; again for more."),
    ] = None,
    coder: Annotated[
        str | None,
        typer.Option(
            "--coder", metavar="MODEL", help="Who codes client lines; hand rules if not given."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the page.")] = Path(
        "validity"
    ),
) -> None:
    """Which simulator of clients is most like people? The same counselor before each: pace of
    disclosure, resistance, agreement, consistency, drift, likeness of clients, cost.

    Example: simcounsel study simulators sweeps/simulators --real annomi.csv
    """
    from analysis.page import command_line
    from analysis.validity.page import add
    from analysis.validity.simulators.making import make
    from analysis.validity.talk.coding import Coder

    part, pictures = make(
        runs,
        real or (),
        command_line(),
        coder=Coder(coder, out / "parts" / "client_codes.jsonl") if coder else None,
        tell=lambda words: typer.echo(words, err=True),
    )
    for claim in part.claims:
        typer.echo(f"{claim.verdict:13} {claim.statement}: {claim.because}")
    typer.echo(f"page           {add(part, pictures, out)}")
