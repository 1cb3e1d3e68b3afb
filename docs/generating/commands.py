"""Every command and option."""

from collections.abc import Iterator, Mapping
from enum import EnumMeta
from importlib.metadata import entry_points
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import click
from typer import Typer
from typer.main import get_command

from docs.generating.text import cell, page, prose, table

PROGRAMS = {
    "simcounsel": ("simcounsel.cli", "app"),
    "python -m training": ("training.__main__", "app"),
    "python -m analysis": ("analysis.__main__", "app"),
    "python -m analysis.replication": ("analysis.replication.__main__", "app"),
    "python -m analysis.validity": ("analysis.validity.__main__", "app"),
}
TAKES = {int: "whole number", float: "number", str: "text", Path: "path"}
"""Types in plain words."""
HIDDEN = ("help", "install_completion", "show_completion")


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Each command by what is typed."""
    for program, (module, name) in PROGRAMS.items():
        app: Typer = getattr(__import__(module, fromlist=[name]), name)
        yield from _within(program, get_command(app))
    front = get_command(__import__("simcounsel.cli", fromlist=["app"]).app)
    for point in entry_points(group="simcounsel.commands"):
        if point.value.startswith("simcounsel."):  # others are programs of their own, above
            found = front.get_command(context_of(front), point.name)  # type: ignore[attr-defined]
            yield from _within(f"simcounsel {point.name}", found)


def _within(typed: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    inner = getattr(command, "commands", {})
    if not inner:
        yield typed, command
        return
    for name in command.list_commands(context_of(command)):  # type: ignore[attr-defined]
        if name in inner:  # others are programs of their own, below
            yield from _within(f"{typed} {name}", inner[name])


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
        "Made of the commands themselves; `COMMAND --help` says the same. The short list is [All commands](../commands.md).\n"
        "Commands that ask a model share `--wait-for-model` and `--timeout`."
    )
    return page("Commands and options", about, *parts)
