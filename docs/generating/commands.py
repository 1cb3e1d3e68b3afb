"""Every command and option."""

from collections.abc import Iterator

import click
from typer import Typer
from typer.main import get_command

from docs.generating.text import cell, page, prose, table

PROGRAMS = {
    "simcounsel": ("simcounsel.cli", "app"),
    "python -m training": ("training.__main__", "app"),
    "python -m analysis": ("analysis.__main__", "app"),
    "python -m replication": ("replication.__main__", "app"),
    "python -m validity": ("validity.__main__", "app"),
}
TAKES = {
    "integer": "whole number",
    "integer range": "whole number",
    "float": "number",
    "float range": "number",
}
"""Types in plain words."""
HIDDEN = ("help", "install_completion", "show_completion")


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Each command by what is typed."""
    for program, (module, name) in PROGRAMS.items():
        app: Typer = getattr(__import__(module, fromlist=[name]), name)
        yield from _within(program, get_command(app))


def _within(typed: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    inner = getattr(command, "commands", {})
    if not inner:
        yield typed, command
        return
    assert isinstance(command, click.Group)
    for name in command.list_commands(click.Context(command)):
        if name in inner:  # others are programs of their own, below
            yield from _within(f"{typed} {name}", inner[name])


def options(command: click.Command) -> Iterator[tuple[str, str, str, str]]:
    """Each argument and option: how it is written, what it takes, its default, what it means."""
    context = click.Context(command)
    for one in command.params:
        if one.name in HIDDEN:
            continue
        argument = one.param_type_name == "argument"
        written = (
            one.make_metavar(context) if argument else ", ".join([*one.opts, *one.secondary_opts])
        )
        takes = (
            "" if argument or getattr(one, "is_flag", False) else one.metavar or _plain(one.type)
        )
        default = (
            ""
            if one.default is None or callable(one.default) or one.default is False
            else str(one.default)
        )
        if argument and one.required:
            default = "needed"
        yield written.strip("{}"), takes, default, str(getattr(one, "help", "") or "")


def _plain(kind: click.ParamType) -> str:
    chosen = getattr(kind, "choices", ())
    return "one of " + ", ".join(map(str, chosen)) if chosen else TAKES.get(kind.name, kind.name)


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
