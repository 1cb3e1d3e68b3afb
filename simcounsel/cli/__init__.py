"""The command line: parse, call one library function, print. Each module here adds its commands."""

from typing import Annotated

import typer

from simcounsel.cli.packages import FrontDoor
from simcounsel.entry import install_of, start

app = typer.Typer(
    name="simcounsel",
    cls=FrontDoor,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Simulate counseling: people with personas, emotions, memories and homes live through their"
        " days.\n\nBegin with:  simcounsel run insomnia --ticks 24\n\nA research tool,"
        " not care: simulated outcomes are no evidence about people."
    ),
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from simcounsel import __version__

        typer.echo(f"simcounsel {__version__}")
        raise typer.Exit


@app.callback()
def front(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say the version and exit."
        ),
    ] = False,
) -> None:
    """Options of all commands."""


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    start("simcounsel", lambda: app(), install_of)


# in this order --help lists them
from simcounsel.cli import allow, doctor, files, gallery, living, looking, measuring, rating, sweep  # noqa: E402, F401
