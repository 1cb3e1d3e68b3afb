"""The help of arguments, whatever releases of Typer and Click are together.

Click 8.5 gave arguments a help of their own, and with a Typer that does not know of it (before
0.21, where Flower holds it back) what `typer.Argument(help=...)` says is lost; and where it is
stated again, both list the arguments, each under a heading of its own. Typer's list stays. That
Typer also writes `\\[default: ...]` where Rich is installed, though its help is plain text here.
"""

from collections.abc import Callable
from functools import partial
from inspect import unwrap
from typing import Any, get_type_hints

import click
from typer.core import TyperGroup

HelpRecord = Callable[[click.Context], tuple[str, str] | None]


class Explaining(TyperGroup):
    """A group that gives each argument of its commands, and of those below, the help that its
    function states.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for command in self.commands.values():
            explain(command)


def explain(command: click.Command) -> None:
    """Give each argument of a command, and of those below, its help."""
    for inner in getattr(command, "commands", {}).values():
        explain(inner)
    # a method since Click 8.5
    command.format_arguments = _listed_by_typer  # type: ignore[method-assign]
    command.format_options = partial(_grouped, command)  # type: ignore[method-assign]
    stated = _stated(command.callback)
    for parameter in command.params:
        if (
            parameter.param_type_name == "argument"
            and not getattr(parameter, "help", None)
            and parameter.name in stated
        ):
            parameter.help = stated[parameter.name]
        # a method as well
        parameter.get_help_record = partial(_plain, parameter.get_help_record)  # type: ignore[method-assign]


MODEL_AND_COST = frozenset(
    "--model --in-flight --wait-for-model --timeout --fallbacks --budget-usd --budget-calls"
    " --prices --samples".split()
)
"""Options that many commands share: a help lists them last, under one heading."""


def _grouped(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """In place of Click's own list of options: the command's, then those about models."""
    shared: list[tuple[str, str]] = []
    listed: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for parameter in command.get_params(ctx):
        if record := parameter.get_help_record(ctx):
            about = MODEL_AND_COST & set(parameter.opts)
            argument = parameter.param_type_name == "argument"
            (shared if about else listed["Arguments" if argument else "Options"]).append(record)
    for title, records in (*listed.items(), ("Model and cost", shared)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)
    if isinstance(command, TyperGroup):
        command.format_commands(ctx, formatter)


def _plain(record: HelpRecord, ctx: click.Context) -> tuple[str, str] | None:
    """What a help lists of a parameter, without the escapes that only Rich takes away."""
    listed = record(ctx)
    return listed and (listed[0], listed[1].replace("\\[", "["))


def _listed_by_typer(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """In place of Click's own list of arguments."""


def _stated(function: Callable[..., Any] | None) -> dict[str, str]:
    """Help by parameter, out of a function's annotations."""
    if function is None:
        return {}
    hints = get_type_hints(unwrap(function), include_extras=True)
    return {
        name: part.help
        for name, hint in hints.items()
        for part in getattr(hint, "__metadata__", ())
        if getattr(part, "help", None)
    }
