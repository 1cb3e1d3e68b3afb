"""The command line: parse, call one library function, print. Each module here adds its commands."""

import logging
import os
import sys

import typer

from simcounsel.cli.packages import FrontDoor
from simcounsel.errors import SimcounselError

app = typer.Typer(
    name="simcounsel",
    cls=FrontDoor,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Simulate counseling: people with personas, emotions, memories and homes live through their"
        " days.\n\nBegin with:  simcounsel run worlds/insomnia.yaml --ticks 24\n\nA research tool,"
        " not care: simulated outcomes are no evidence about people."
    ),
)


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        app(standalone_mode=True)
    except SimcounselError as error:
        typer.echo(f"simcounsel: {error}".encode("utf-8", "backslashreplace").decode(), err=True)
        sys.exit(1)
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package in ("", "simcounsel", "training", "analysis"):
            raise
        typer.echo(
            f"simcounsel: the package {package} is missing; pip install 'simcounsel[all]'", err=True
        )
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        _give_up_stdout()
        sys.exit(141)


def _give_up_stdout() -> None:
    """Nobody reads any more: what is still buffered goes nowhere, so that flushing it at the end
    says nothing (Python's documentation, `signal`, note on SIGPIPE). Whoever put something else in
    stdout's place goes on after us, so that is left alone.
    """
    if sys.__stdout__ is None or sys.stdout is not sys.__stdout__:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno())
    os.close(nowhere)


# in this order --help lists them
from simcounsel.cli import living, looking, sweep, measuring, rating_study  # noqa: E402, F401, I001
from simcounsel.cli import synthesize, export, clinic, corpus, corpus_rate  # noqa: E402, F401
from simcounsel.cli import bench, bench_risk, skills, courses, files  # noqa: E402, F401
