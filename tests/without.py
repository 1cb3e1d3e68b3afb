"""simcounsel as it is where guests are missing: `pytest -p tests.without`, with their names in SIMCOUNSEL_WITHOUT.

Their modules cannot be imported, and their entry points are not there, as if somebody had deleted their folders and their
lines in pyproject.toml.
"""

import importlib.metadata
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

GUESTS = (
    "danger",
    "embedded",
    "corpus",
    "bench",
    "borrowed",
    "bots",
    "cuts",
    "envs",
    "local",
    "practice",
    "studies",
    "therapies",
    "trial",
)
"""Folders of simcounsel/ that the core does without."""
missing = tuple(name for name in os.environ.get("SIMCOUNSEL_WITHOUT", "").split(",") if name)
_packages = tuple(f"simcounsel.{name}" for name in missing)


def _within(module: str) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in _packages)


class _Missing:
    """Finds no module of a missing guest, and lets nobody else find it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if _within(name):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def needs(*guests: str) -> pytest.MarkDecorator:
    """A test that wants these guests: it is skipped where one is missing."""
    gone = ", ".join(one for one in guests if one in missing)
    return pytest.mark.skipif(bool(gone), reason=f"without {gone}")


if missing:
    sys.meta_path.insert(0, _Missing())
    _all = importlib.metadata.entry_points

    def _others(group: str) -> importlib.metadata.EntryPoints:
        some = [one for one in _all(group=group) if not _within(one.value.split(":")[0])]
        return importlib.metadata.EntryPoints(some)

    importlib.metadata.entry_points = _others  # type: ignore[assignment]

if "danger" in missing:  # every world says so, as the error asks for
    from simcounsel.specs.practice import SafetySettings

    SafetySettings.model_fields["counselors"].default = "nothing"
    SafetySettings.model_rebuild(force=True)
