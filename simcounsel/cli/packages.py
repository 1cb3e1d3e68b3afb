"""Commands that packages bring, beside those of `simcounsel` itself (entry points of the group
simcounsel.commands). `training` and `analysis` come in this way too.

What an entry point names is a typer.Typer, a click.Command, or a function that Typer makes a
command of. It is imported when the command is used, not before: `simcounsel --help` needs no torch.
"""

import click
import typer
from typer.main import get_command as command_of

from simcounsel.argument_help import Explaining
from simcounsel.errors import PluginError
from simcounsel.registry import Registry

OURS = {
    "train": "Learn a counselor from corpora, in one place or across clinics.",
    "report": "Make one report of runs: tables, tests, figures.",
    "replicate": "Do a published study again, its numbers beside ours.",
    "analyze": "Claims from runs, corpora and trainings; `report` is one of its commands.",
}
"""What is said of our own packages' commands before they are imported."""


class FrontDoor(Explaining):
    """The commands of `simcounsel`, then those of packages."""

    @property
    def _packages(self) -> Registry[object]:
        own = dict.fromkeys(self.commands, "simcounsel.cli:app")
        return Registry("simcounsel.commands", "a command", object, own)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Our own as they are written, then the packages' by name."""
        own = list(super().list_commands(ctx))
        return own + [name for name in self._packages.names() if name not in own]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of ours, or a package's, imported now. PluginError when it cannot be."""
        if found := super().get_command(ctx, cmd_name):
            return found
        made = self._packages.get(cmd_name)
        if made is None or isinstance(made, click.Command):
            return made
        if isinstance(made, typer.Typer):
            return command_of(made)
        if not callable(made):
            raise PluginError(
                f"simcounsel.commands: {cmd_name} is {type(made).__name__}; a command is a"
                " typer.Typer, a click.Command or a function"
            )
        app = typer.Typer(cls=Explaining, rich_markup_mode=None, add_completion=False)
        app.command(cmd_name)(made)
        return command_of(app)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Our own with their help; the packages' without importing them."""
        own = [(name, one.get_short_help_str(limit=80)) for name, one in self.commands.items()]
        rest = [plugin for plugin in self._packages.plugins() if plugin.distribution]
        brought = [
            (plugin.name, OURS.get(plugin.name) if plugin.distribution == "simcounsel" else None)
            for plugin in rest
        ]
        for title, rows in (
            ("Commands", own),
            (
                "Commands of packages",
                [
                    (name, about or f"from {plugin.distribution}")
                    for (name, about), plugin in zip(brought, rest, strict=True)
                ],
            ),
        ):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
