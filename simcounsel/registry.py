"""What others may add, by entry point, in the way that pytest and `llm` do it.

A package names what it brings in its pyproject.toml:

    [project.entry-points."simcounsel.policies"]
    mirroring = "mirroring_counselor:POLICY"

The groups are simcounsel.policies, .policy_files, .listeners, .minds, .providers, .scripted,
.instruments, .instrument_sets, .audit_rules, .files, .records, .options, .doing and .commands. The
guests of simcounsel (danger, embedded, corpus, ...) register so, in its own pyproject.toml. What
the core brings is named as `package.module:name`, so that a lower room need not import a higher
one, and nothing is imported before it is used.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from simcounsel.errors import PluginError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A name, where what it stands for lies, and who brings it."""

    name: str
    value: str
    """Where it lies: `package.module:name`."""
    distribution: str | None = None
    """The installed distribution that brings it; None: built in."""

    @property
    def ours(self) -> bool:
        """Whether it is part of simcounsel: built in, or one of its guests."""
        return self.distribution in (None, "simcounsel")

    @property
    def origin(self) -> str:
        """Who brings it, in words."""
        return "built in" if self.ours else str(self.distribution)


class Registry(Generic[T]):
    """The things of one group by name: the built-in ones and those of installed distributions.

    group: of the entry points, `simcounsel.providers`. what: one of them in words, for errors.
    kind: what each must be. builtin: `package.module:name` by name.
    """

    def __init__(self, group: str, what: str, kind: type[T], builtin: Mapping[str, str]) -> None:
        self.group = group
        self._what = what
        self._kind = kind
        self._builtin = dict(builtin)

    def plugins(self) -> tuple[Plugin, ...]:
        """All of them: those of our guests, then the core's, then of others by name. PluginError
        when two have one name.
        """
        installed = _installed(self.group, tuple(sys.path))
        core = (Plugin(name=name, value=value) for name, value in self._builtin.items())
        some = sorted((*installed, *core), key=lambda one: (not one.ours, one.distribution is None))
        found: dict[str, Plugin] = {}
        for plugin in some:
            other = found.setdefault(plugin.name, plugin)
            if other is not plugin:
                raise PluginError(
                    f"two {self.group} are named {plugin.name!r}: {other.value} ({other.origin})"
                    f" and {plugin.value} ({plugin.origin}); rename one, or uninstall"
                    f" {plugin.origin}"
                )
        return tuple(found.values())

    def __contains__(self, name: str) -> bool:
        """Whether there is one of that name, though it may be impossible to import."""
        return any(plugin.name == name for plugin in self.plugins())

    def names(self) -> tuple[str, ...]:
        """Their names, sorted."""
        return tuple(sorted(plugin.name for plugin in self.plugins()))

    def known(self) -> str:
        """Their names for an error: first what is built in, then what each distribution brings."""
        by_origin: dict[str | None, list[str]] = {}
        for plugin in self.plugins():
            origin = None if plugin.ours else plugin.distribution
            by_origin.setdefault(origin, []).append(plugin.name)
        return "; ".join(
            ", ".join(sorted(names)) + (f" (from {origin})" if origin else "")
            for origin, names in by_origin.items()
        )

    def get(self, name: str) -> T | None:
        """What has that name, imported now; None when there is none. PluginError when it cannot be
        imported, or is no such thing.
        """
        plugin = next((plugin for plugin in self.plugins() if plugin.name == name), None)
        return None if plugin is None else self.load(plugin)

    def load(self, plugin: Plugin) -> T:
        """Import what a plugin names. PluginError with distribution, entry point and cause."""
        point = f"{self.group}: {plugin.name} = {plugin.value} ({plugin.origin})"
        try:
            found = EntryPoint(plugin.name, plugin.value, self.group).load()
        except Exception as error:  # whatever a package of others may raise as it is imported
            if plugin.distribution is None:
                raise
            raise PluginError(
                f"{point} cannot be imported ({type(error).__name__}: {error}){_stranger(plugin)};"
                " repair that package, or uninstall it"
            ) from error
        if not isinstance(found, self._kind):
            raise PluginError(
                f"{point} is {type(found).__name__}, and {self._what} is"
                f" {self._kind.__module__}.{self._kind.__qualname__}"
            )
        return found


def _stranger(plugin: Plugin) -> str:
    """Where the plugin's package was found, when it was: perhaps another of the same name."""
    package = plugin.value.partition(":")[0].partition(".")[0]
    file = getattr(sys.modules.get(package), "__file__", None)
    return f"; {package} was found in {file}" if file else ""


def is_installed(group: str, name: str) -> bool:
    """Whether a distribution brings a thing of that name; nothing is imported."""
    return any(one.name == name for one in _installed(group, tuple(sys.path)))


@lru_cache(maxsize=64)
def _installed(group: str, path: tuple[str, ...]) -> tuple[Plugin, ...]:
    """What the distributions on that path bring for a group, sorted; looked through once, since
    that takes some hundredths of a second.
    """
    found = (
        Plugin(name=p.name, value=p.value, distribution=p.dist.name if p.dist else "?")
        for p in entry_points(group=group)
    )
    return tuple(sorted(found, key=lambda plugin: (plugin.name, plugin.origin)))


PARTS = {
    "simcounsel.commands": {
        "clinic": "therapies",
        "corpus": "corpus",
        "export": "corpus",
        "library.course": "therapies",
        "library.import": "therapies",
        "library.skills": "therapies",
        "library.translate": "borrowed",
        "practice": "practice",
        "study.bench": "bench",
        "study.evidence": "bots",
        "study.rate-page": "studies",
        "study.safety": "bots",
        "study.why": "bots",
        "synthesize": "corpus",
        "trial": "trial",
    },
    "simcounsel.listeners": {"danger": "danger"},
    "simcounsel.policies": {"course": "therapies", "single": "therapies", "staged": "therapies"},
    "simcounsel.minds": {
        "bot": "bots",
        "concordia": "borrowed",
        "patienthub": "borrowed",
        "safety_client": "bots",
        "safety_friend": "bots",
    },
    "simcounsel.providers": {"bot": "bots", "embedded": "embedded", "local": "local"},
}
"""Which of our guests brings what, by group: for the sentence where one is missing."""


def missing_part(group: str, name: str) -> str | None:
    """Why there is nothing of that name, where a guest of ours would bring it; None for others."""
    part = PARTS[group].get(name)
    if part is None:
        return None
    return (
        f"`{name.replace('.', ' ')}` belongs to simcounsel.{part}, which is not installed"
        " here; install all of simcounsel (`pip install -e .` in its folder)"
    )
