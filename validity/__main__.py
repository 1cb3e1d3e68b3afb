"""`simcounsel validity`: whether simulated clients resemble real ones, and what may be claimed."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.argument_help import Explaining
from simcounsel.entry import start

app = typer.Typer(
    name="validity",
    cls=Explaining,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Does a simulated client resemble a real one, and which claims can runs bear? Each command"
        " measures one thing and adds it to the same page.\n\nBegin with:  simcounsel validity talk"
        " runs --real annomi.csv --out validity\n\nthen open validity/validity.html. What is not"
        " measured is listed there as not measured."
    ),
)
Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", help="Folder of validity.html, .md, figures/ and tables/; parts add up."
    ),
]


@app.callback()
def _begin() -> None:
    """Several commands, so that each name is a word to be typed."""


@app.command()
def page(out: Out = Path("validity")) -> None:
    """Write the page anew from the parts that were measured."""
    from validity.page import write

    typer.echo(f"page           {write(out)}")


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    start("validity", lambda: app(), lambda _: "pip install -e '.[analysis]'")


if __name__ == "__main__":
    main()
