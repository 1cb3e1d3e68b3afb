"""`simcounsel study fit`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli.asking import asks_models


@asks_models
def fit(
    sessions: Annotated[
        list[Path],
        typer.Argument(
            metavar="SESSIONS...",
            help=(
                "Real sessions: an AnnoMI CSV, or JSON, JSONL, TXT as `corpus check` reads them;"
                " runs and corpora, too."
            ),
        ),
    ],
    beside: Annotated[
        list[str] | None,
        typer.Option(
            "--beside",
            metavar="[NAME=]RUNS",
            help="Other sessions: simulated, prompt-only; again for more.",
        ),
    ] = None,
    coder: Annotated[
        str | None,
        typer.Option(
            "--coder",
            metavar="MODEL",
            help="Who codes which client lines disclose; hand rules if not given.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the page.")] = Path(
        "validity"
    ),
) -> None:
    """How do clients open up? Fit what moves a client's openness to sessions, with intervals and on
    held-out clients, and test whether disclosure answers to empathy and exploration.

    Example: simcounsel study fit annomi.csv --beside runs --beside prompt-only=runs-off
    """
    from analysis.page import command_line
    from analysis.validity.fit.making import make
    from analysis.validity.page import add
    from analysis.validity.talk.coding import Coder

    part, pictures, fits = make(
        {"real": sessions, **_named(beside or ())},
        command_line(),
        coder=Coder(coder, out / "parts" / "client_codes.jsonl") if coder else None,
        tell=lambda words: typer.echo(words, err=True),
    )
    for name, one in fits.items():
        block = ", ".join(f"{key}: {value:g}" for key, value in one.constants.settings.items())
        typer.echo(f"{name:14} openness: {{{block}}}")
    for claim in part.claims:
        typer.echo(f"{claim.verdict:13} {claim.statement}: {claim.because}")
    typer.echo(f"page           {add(part, pictures, out)}")


def _named(beside: Sequence[str]) -> dict[str, list[Path]]:
    """By name; a path without one by its own."""
    found: dict[str, list[Path]] = {}
    for one in beside:
        name, equals, path = one.partition("=")
        found.setdefault(name if equals else Path(one).stem, []).append(Path(path or name))
    if "real" in found:
        raise typer.BadParameter("`real` is the first side; choose another name")
    return found
