"""The command line: parse, call one library function, print. Each module here adds its commands."""

import typer

from simcounsel.cli.packages import FrontDoor
from simcounsel.entry import start

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
    start("simcounsel", lambda: app(), lambda _: "pip install 'simcounsel[all]'")


# in this order --help lists them
from simcounsel.cli import (  # noqa: E402, F401  # noqa: E402, F401
    allow,
    bench,
    bench_protocol,
    bench_risk,
    clinic,
    corpus,
    corpus_rate,
    courses,
    export,
    files,
    gallery,
    living,
    looking,
    measuring,
    rating,
    rating_study,
    skills,
    sweep,
    synthesize,
    verifying,
)
