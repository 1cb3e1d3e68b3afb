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
from simcounsel.cli import living, looking, gallery, verifying, sweep, measuring, rating_study  # noqa: E402, F401, I001
from simcounsel.cli import synthesize, export, clinic, corpus, corpus_rate  # noqa: E402, F401
from simcounsel.cli import bench, bench_risk, bench_protocol, skills, courses, files, allow  # noqa: E402, F401
