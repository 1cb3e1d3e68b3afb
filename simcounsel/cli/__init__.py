"""The command line: parse, call one library function, print. Each module here adds its commands."""

import logging
import sys

import typer

from simcounsel.errors import SimcounselError

app = typer.Typer(
    name="simcounsel", no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Simulate counseling: people with personas, emotions, memories and homes live through their days.\n\n"
    "Begin with:  simcounsel run worlds/insomnia.yaml --ticks 24\n\n"
    "A research tool, not care: simulated outcomes are no evidence about people.",
)


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        app(standalone_mode=True)
    except SimcounselError as error:
        typer.echo(f"simcounsel: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


from simcounsel.cli import living, looking, measuring, synthesize, export, corpus, corpus_rate, files  # noqa: E402, F401, I001  in this order --help lists them
