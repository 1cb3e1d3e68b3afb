"""The command line: parse, call one library function, print. Each module here adds its commands."""

from typing import Annotated

import typer

from simcounsel.cli.packages import FrontDoor, Library, Study, all_lines
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
        " days.\n\nBegin with:  simcounsel demo\n\nA research tool,"
        " not care: simulated outcomes are no evidence about people."
    ),
)


def _group(name: str, cls: type[FrontDoor], about: str) -> typer.Typer:
    made = typer.Typer(cls=cls, no_args_is_help=True, rich_markup_mode=None, help=about)
    app.add_typer(made, name=name)
    return made


study = _group("study", Study, "Judges, raters, benchmarks and comparisons: what can be claimed.")
library = _group("library", Library, "Personas, therapies' skills, courses, and runs to show.")


def _say_version(wanted: bool) -> None:
    if wanted:
        from simcounsel import __version__

        typer.echo(f"simcounsel {__version__}")
        raise typer.Exit


@app.callback()
def front(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options of all commands."""


@app.command("help")
def help_(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND...]", help="A command; or `all`, for a list of them all."),
    ] = None,
) -> None:
    """List all commands, or explain one.

    Example: simcounsel help all; simcounsel help study bench
    """
    root = context.find_root()
    front = root.command
    assert isinstance(front, FrontDoor)
    if words and words != ["all"]:
        front.main([*words, "--help"], prog_name=root.info_name)
    for line in all_lines(root, front):
        typer.echo(line)


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    start("simcounsel", lambda: app(), install_of)


# in this order --help lists them
from simcounsel.cli import allow, doctor, files, living, looking, measuring, rating, sweep  # noqa: E402, F401
