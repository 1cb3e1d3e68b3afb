"""Commands that packages bring, beside those of `simcounsel` itself (entry points of the group
simcounsel.commands). `training` and `analysis` come in this way too.

What an entry point names is a typer.Typer, a click.Command, or a function that Typer makes a
command of. It is imported when the command is used, not before: `simcounsel --help` needs no torch.
"""

import re

import click
import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command as command_of

from simcounsel.argument_help import Explaining, explain
from simcounsel.errors import PluginError
from simcounsel.registry import Registry, missing_part

OURS = {
    "bench": "Compare counselors on cases that are the same for all",
    "clinic": "Live through a course of sessions back to back",
    "course": "Prepare courses of sessions",
    "skills": "Look at the therapies' skills, or bring your own",
    "corpus": "Judge a corpus of dialogues: what is wrong with it, and what it is worth",
    "export": "Make training data of dialogues: train, validation and test, with a card",
    "inspect-log": "Write runs as logs of Inspect, for its viewer and its data frames",
    "rate-page": "A blind rating study: people judge without knowing where it comes from",
    "synthesize": "Write a new corpus of dialogues out of situations, by six roles",
    "strategies": "What the supporter of a corpus that is written has learned, and when",
    "train": "Learn a counselor from corpora, in one place or across clinics",
    "report": "Make one report of runs: tables, tests, figures",
    "replicate": "Do a published study again, its numbers beside ours",
    "analyze": "Claims from runs, corpora and trainings",
    "validity": "Do simulated clients resemble real ones, and which claims can runs bear?",
}
"""What is said of our own packages' commands before they are imported."""
SECTIONS = {
    "Begin": "demo run view show worlds gallery init check doctor",
    "Go on": "resume fork talk clinic course skills personas",
    "Compare and measure": (
        "sweep rate rate-page report analyze validity validate-judge bench replicate"
    ),
    "Data and counselors": "synthesize strategies corpus export inspect-log train",
    "Models and trust": "models allow verify",
}
"""Our commands as `--help` lists them, for somebody who reads it for the first time."""


class FrontDoor(Explaining):
    """The commands of `simcounsel`, then those of packages."""

    @property
    def _packages(self) -> Registry[object]:
        own = dict.fromkeys(self.commands, "simcounsel.cli:app")
        return Registry("simcounsel.commands", "a command", object, own)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Ours in the order of the help, then those of other packages by name."""
        ours = " ".join(SECTIONS.values()).split()
        there = [*super().list_commands(ctx), *self._packages.names()]
        return sorted(dict.fromkeys(there), key=lambda name: (*ours, name).index(name))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of ours, or a package's, imported now. PluginError when it cannot be."""
        if found := super().get_command(ctx, cmd_name):
            return found
        made = self._packages.get(cmd_name)
        if made is None:
            if gone := missing_part("simcounsel.commands", cmd_name):
                raise PluginError(gone)
            return None
        if isinstance(made, typer.Typer):
            command = command_of(made)
            explain(command)
            return command
        if isinstance(made, TyperCommand | TyperGroup):
            return made
        if isinstance(made, click.Command):
            return made if issubclass(TyperGroup, click.Command) else _apart(cmd_name, made)
        if not callable(made):
            raise PluginError(
                f"simcounsel.commands: {cmd_name} is {type(made).__name__}; a command is a"
                " typer.Typer, a click.Command or a function"
            )
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        app.command(cmd_name)(made)
        command = command_of(app)
        explain(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """By what one does, with a sentence each; what packages bring is not imported for that."""
        told = {name: first_sentence(one.help or "") for name, one in self.commands.items()}
        others = []
        for plugin in self._packages.plugins():
            if plugin.distribution == "simcounsel":
                told[plugin.name] = OURS[plugin.name]
            elif plugin.distribution:
                others.append((plugin.name, f"from {plugin.distribution}"))
        width = max(map(len, told))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), told[name]) for name in names.split() if name in told]
                )
        if others:
            with formatter.section("Commands of packages"):
                formatter.write_dl(others)


def _apart(name: str, made: click.Command) -> click.Command:
    """A command of Click itself, below a Typer that carries a Click of its own (since 0.26): it is
    handed its words as they are typed, so that it says itself what is wrong with them.
    """
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    as_typed = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command(name, help=made.help, add_help_option=False, context_settings=as_typed)
    def handed_on(context: typer.Context) -> None:
        made.main(context.args, prog_name=context.command_path)

    return command_of(app)


def first_sentence(text: str) -> str:
    """What a help begins with, as far as its first full stop or semicolon."""
    begun = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.?])\s|;\s", begun)[0].removesuffix(".")
