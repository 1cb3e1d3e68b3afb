"""`--allow-code`, for each command that may run code that a file names."""

import functools
from collections.abc import Callable
from typing import Annotated

import typer

from simcounsel.cli.options import with_more_options
from simcounsel.named_code import allow_code as allow

AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help=(
            "Run code that files name (`policy: module:NAME`), with all your rights; `simcounsel"
            " check` says which it is. What --set names is run anyway."
        ),
    ),
]


def runs_code(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option. Without it code that only a file names is an error."""

    @functools.wraps(command)
    def running(*, allow_code: bool, **others: object) -> None:
        if allow_code:
            allow()
        command(**others)

    with_more_options(running, command, (("allow_code", AllowCode, False),))
    return running
