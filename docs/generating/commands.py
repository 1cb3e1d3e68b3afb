"""Every command and option."""

from collections.abc import Iterator, Mapping
from enum import EnumMeta
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import click
from typer.main import get_command

from docs.generating.text import cell, page, prose, table
from simcounsel.cli import app
from simcounsel.cli.packages import FrontDoor

TAKES = {int: "whole number", float: "number", str: "text", Path: "path"}
"""Types in plain words."""
HIDDEN = ("help", "install_completion", "show_completion")


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Each command by what is typed."""
    yield from _within("simcounsel", get_command(app))


def _within(typed: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if not hasattr(command, "list_commands"):
        yield typed, command
        return
    ctx = context_of(command)
    ours = command.lines()[0] if isinstance(command, FrontDoor) else None
    for name in command.list_commands(ctx):
        if ours is not None and name not in ours:
            continue  # of another package
        yield from _within(f"{typed} {name}", command.get_command(ctx, name))  # type: ignore[attr-defined]


def context_of(command: click.Command) -> click.Context:
    """A context of a command, of the Click that made it: since 0.26 Typer carries one of its own."""
    return command.context_class(command)


def options(command: click.Command) -> Iterator[tuple[str, str, str, str]]:
    """Each argument and option: how it is written, what it takes, its default, what it means."""
    kinds = signature(command.callback).parameters if command.callback else {}
    for one in command.params:
        if one.name in HIDDEN:
            continue
        argument = one.param_type_name == "argument"
        written = _argument(one) if argument else ", ".join([*one.opts, *one.secondary_opts])
        takes = "" if argument else one.metavar or _plain(kinds[str(one.name)].annotation)
        default = (
            ""
            if one.default is None or callable(one.default) or one.default is False
            else str(one.default)
        )
        if argument and one.required:
            default = "needed"
        yield written, takes, default, str(getattr(one, "help", "") or "")


def _argument(one: click.Parameter) -> str:
    """How an argument is written. Typer's releases differ in how they say it."""
    written = one.metavar or str(one.name).upper() + ("..." if one.nargs != 1 else "")
    return written if one.required or written.startswith("[") else f"[{written}]"


def _plain(kind: Any) -> str:
    """What an option of that type takes, in plain words; nothing where it is on or off."""
    if chosen := get_args(kind) if get_origin(kind) is Literal else _values(kind):
        return "one of " + ", ".join(map(str, chosen))
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if inner := [part for part in get_args(kind) if part is not NoneType]:
        return _plain(inner[0])
    return "" if kind is bool else TAKES[kind]


def _values(kind: Any) -> list[str]:
    """Those of an enumeration."""
    members: Mapping[str, Any] = kind.__members__ if isinstance(kind, EnumMeta) else {}
    return [str(one.value) for one in members.values()]


def commands() -> str:
    """The page."""
    parts = []
    for typed, command in all_commands():
        rows = [
            (f"`{written}`", takes, f"`{default}`" if default else "", cell(told))
            for written, takes, default, told in options(command)
        ]
        parts.append(
            f"## `{typed}`\n\n{prose(command.help)}\n\n{table(('', 'takes', 'default', 'meaning'), rows)}"
        )
    about = (
        "Made of the commands themselves; `simcounsel help COMMAND` says the same.\n\n"
        "Exit codes: 0 done; 1 an error that a message names; 2 a wrong argument; 3 given up, since a model did not answer\n"
        "or too many answers were unusable (the message names the command that goes on); 128 + N ended by signal N, so 130\n"
        "for Ctrl-C; 141 when nobody reads the output any more."
    )
    return page("Commands and options", about, *parts)
