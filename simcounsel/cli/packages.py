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
from simcounsel.registry import Plugin, Registry, missing_part

BEGIN = "demo run view show init check sweep report export doctor"
"""What `--help` lists; `help all` has the rest."""
OURS = {
    "clinic": "Run a course of sessions back to back",
    "corpus": "Judge a corpus of dialogues: what is wrong with it, and what it is worth",
    "export": "Make training data of dialogues, or logs for Inspect",
    "library.course": "Prepare courses of sessions",
    "library.import": "Turn published courses into cases: a client, a plan, their skills",
    "library.skills": "Look at the therapies' skills, or bring your own",
    "library.translate": "Translate files of clients between simulators' forms",
    "practice": "Practice counseling with a simulated client, with feedback",
    "report": "Make one report of runs: tables, tests, figures",
    "study.audit": "Ask of an experiment's claims whether they hold with one thing changed",
    "study.bench": "Compare counselors on cases that are the same for all",
    "study.corpus": "Compare corpora: what judges and people said of them",
    "study.courses": "Compare counselors over whole courses: clients x therapies x counselors",
    "study.fit": "Fit how clients open up to sessions, and test what they answer to",
    "study.simulators": "Compare simulators of clients, side by side and with real talk",
    "study.design": "Translate design files of studies: SiliSocS's and ours",
    "study.methods": "Describe a study as an ODD protocol, and tell deviations from its plan",
    "study.pack": "Freeze talks for clinicians to rate, and tell what they said",
    "study.evidence": "Check an evidence file of a safety study",
    "study.privacy": "Show what trainings are worth against what they cost in privacy",
    "study.rate-page": "Make a blind rating study: people judge without knowing the source",
    "study.replicate": "Do a published study again, its numbers beside ours",
    "study.safety": "Put any bot before clients at risk who live for days with it",
    "study.tables": "Write the tidy tables of runs, with a codebook",
    "study.validity": "Ask whether simulated clients resemble real ones",
    "study.why": "Ask why a bot failed: forks in which one thing is changed",
    "synthesize": "Write a new corpus of dialogues out of situations, by six roles",
    "train": "Train a counselor on corpora, in one place or across clinics",
    "trial": "Run a trial in which people take part over several days",
}
"""What is said of our own packages' commands before they are imported. `group.name` is a command
of a group.
"""
SECTIONS = {
    "Begin": BEGIN,
    "Go on": "resume fork talk clinic",
    "Materials": "list library",
    "Measure": "rate study verify",
    "People": "trial practice",
    "Data and counselors": "synthesize corpus train",
    "Models": "models help",
}
"""Our commands as `help all` lists them, for somebody who reads it for the first time."""


class FrontDoor(Explaining):
    """The commands of `simcounsel`, then those of packages."""

    prefix = ""
    """With which the entry points of this group's commands begin."""

    @property
    def _packages(self) -> Registry[object]:
        own = dict.fromkeys((self.prefix + name for name in self.commands), "simcounsel.cli:app")
        return Registry("simcounsel.commands", "a command", object, own)

    def _brought(self) -> list[Plugin]:
        """What is brought for this group, and not for another."""
        size = len(self.prefix)
        return [
            one
            for one in self._packages.plugins()
            if one.name.startswith(self.prefix) and "." not in one.name[size:]
        ]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Ours in the order of the help, then those of other packages by name."""
        ours = " ".join(SECTIONS.values()).split() if not self.prefix else []
        brought = sorted(one.name.removeprefix(self.prefix) for one in self._brought())
        there = dict.fromkeys([*super().list_commands(ctx), *brought])
        return sorted(there, key=lambda name: (*ours, name).index(name))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of ours, or a package's, imported now. PluginError when it cannot be."""
        if found := super().get_command(ctx, cmd_name):
            return found
        name = self.prefix + cmd_name
        made = self._packages.get(name)
        if made is None:
            if gone := missing_part("simcounsel.commands", name):
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
                f"simcounsel.commands: {name} is {type(made).__name__}; a command is a"
                " typer.Typer, a click.Command or a function"
            )
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        app.command(cmd_name)(made)
        command = command_of(app)
        explain(command)
        return command

    def lines(self) -> tuple[dict[str, str], list[tuple[str, str]]]:
        """A sentence for each command of ours by name, and who brings each of the others; what
        packages bring is not imported for that.
        """
        told = {name: first_sentence(one.help or "") for name, one in self.commands.items()}
        others = []
        for plugin in self._brought():
            name = plugin.name.removeprefix(self.prefix)
            if plugin.distribution == "simcounsel":
                told[name] = OURS[plugin.name]
            elif plugin.distribution:
                others.append((name, f"from {plugin.distribution}"))
        return told, others

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Of `simcounsel` the ten to begin with; of a group all."""
        told, others = self.lines()
        begin = BEGIN.split() if not self.prefix else self.list_commands(ctx)
        with formatter.section("Commands"):
            formatter.write_dl([(name, told[name]) for name in begin if name in told])
        if others:
            with formatter.section("Commands of packages"):
                formatter.write_dl(others)
        if not self.prefix:
            formatter.write("\nAll commands: simcounsel help all\n")


class Study(FrontDoor):
    """`simcounsel study`."""

    prefix = "study."


class Library(FrontDoor):
    """`simcounsel library`."""

    prefix = "library."


def all_lines(ctx: click.Context, front: FrontDoor) -> list[str]:
    """Every command with a sentence, by what one does; of a group those below it."""
    formatter = ctx.make_formatter()
    told, others = front.lines()
    for title, names in SECTIONS.items():
        with formatter.section(title):
            rows = []
            for name in names.split():
                if name not in told:
                    continue
                rows.append((name, told[name]))
                group = front.commands.get(name)
                inner = group.lines() if isinstance(group, FrontDoor) else ({}, [])
                below = [*inner[0].items(), *inner[1]]
                rows += [(f"  {name} {one}", words) for one, words in sorted(below)]
            formatter.write_dl(rows)
    if others:
        with formatter.section("Commands of packages"):
            formatter.write_dl(others)
    return formatter.getvalue().rstrip().splitlines()


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
