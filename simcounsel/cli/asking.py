"""`--wait-for-model` and `--timeout`, for each command that asks models."""

import functools
import re
from collections.abc import Callable
from math import inf, isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simcounsel.cli.options import with_more_options

if TYPE_CHECKING:
    from simcounsel.specs.timeouts import Timeouts

FOR_EVER = "forever"


def _seconds(text: str) -> float | None:
    """None when it is no number of seconds."""
    found = float(text) if re.fullmatch(r"\d{1,12}(\.\d{1,6})?", text.strip(), re.ASCII) else None
    return found if found is not None and isfinite(found) else None


def _wait_s(text: str) -> float:
    wait_s = inf if text == FOR_EVER else _seconds(text)
    if wait_s is None:
        raise typer.BadParameter(f"{text!r} is no number of seconds, and not `{FOR_EVER}`")
    return wait_s


def _timeouts(text: str) -> "Timeouts":
    from simcounsel.specs.timeouts import TIMEOUTS, Timeouts

    connect, comma, read = text.rpartition(",")
    connect_s = _seconds(connect) if comma else TIMEOUTS.connect_s
    read_s = _seconds(read)
    if not connect_s or not read_s:
        raise typer.BadParameter(
            f"{text!r} is neither READ nor CONNECT,READ in seconds, such as 600 or 10,600"
        )
    return Timeouts(connect_s=connect_s, read_s=read_s)


WaitForModel = Annotated[
    Any,
    typer.Option(
        "--wait-for-model",
        metavar="SECONDS",
        parser=_wait_s,
        help=(
            "How long to wait for a model that does not answer, or `forever`. Then the command"
            " ends with exit code 3; nothing is lost."
        ),
    ),
]
Timeout = Annotated[
    Any,
    typer.Option(
        "--timeout",
        metavar="[CONNECT,]READ",
        parser=_timeouts,
        show_default=False,
        help=(
            "Seconds for one request: to connect, and for the answer. Left out: as the world says,"
            " or 10 s to connect and 600 s for the answer."
        ),
    ),
]


def asks_models(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the two options. All models that it opens are asked as they say."""

    @functools.wraps(command)
    def asking(*, wait_for_model: float, timeout: "Timeouts | None", **others: object) -> None:
        from simcounsel.llm import tracing
        from simcounsel.llm.asking import Asking, asked

        with asked(Asking(wait_s=wait_for_model, timeouts=timeout)), tracing.exported():
            command(**others)

    options = (("wait_for_model", WaitForModel, "60"), ("timeout", Timeout, None))
    with_more_options(asking, command, options)
    return asking
