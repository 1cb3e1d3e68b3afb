"""Options that packages add to `run`, `fork` and `doctor` (entry points of simcounsel.options)."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from simcounsel.cli.finding import Finding
from simcounsel.cli.options import with_more_options
from simcounsel.registry import Registry


@dataclass(frozen=True, kw_only=True)
class GuestOption:
    """An option that may be given again. Its entry point's name is `--NAME`."""

    metavar: str
    help: str
    sets: Callable[[list[str], Mapping[str, Any]], list[str]]
    """What its values change, as `--set` has it (KEY=VALUE), from the command's other arguments;
    `sets` among them has what options before it change."""
    findings: Callable[[list[str]], Iterator[Finding]] | None = None
    """What `doctor` is to say of its values; None: it has no such option."""


OPTIONS: Registry[GuestOption] = Registry("simcounsel.options", "an option", GuestOption, {})


def takes_guests(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options. `sets` gets what they change; a command without `sets` gets
    `found`, what is to be said of them.
    """
    found = {one.name.replace("-", "_"): OPTIONS.load(one) for one in OPTIONS.plugins()}
    changes = "sets" in inspect.signature(command).parameters
    options = {name: one for name, one in found.items() if changes or one.findings}

    @functools.wraps(command)
    def taking(**given: Any) -> None:
        told = {name: given.pop(name) or [] for name in options}
        if changes:
            for name, values in told.items():
                more = options[name].sets(values, given) if values else []
                given["sets"] = [*(given["sets"] or ()), *more]
            command(**given)
            return
        command(
            **given,
            found=[
                finding
                for name, values in told.items()
                if values and (said := options[name].findings)
                for finding in said(values)
            ],
        )

    kinds = (
        (
            name,
            Annotated[
                list[str] | None,
                typer.Option(f"--{name.replace('_', '-')}", metavar=one.metavar, help=one.help),
            ],
            None,
        )
        for name, one in options.items()
    )
    with_more_options(taking, command, kinds)
    own = inspect.signature(taking)
    shown = [one for name, one in own.parameters.items() if name != "found"]
    taking.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
    return taking
