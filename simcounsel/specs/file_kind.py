"""Kinds of files that people write for guests of simcounsel (entry points simcounsel.files)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcounsel.registry import Registry
from simcounsel.specs.load import Lines


@dataclass(frozen=True, kw_only=True)
class FileKind:
    """A kind of file, known by its keys."""

    keys: tuple[str, ...]
    """A file of this kind holds them all, and files of other kinds do not."""
    noun: str
    """With its article, as in `a manual`."""
    check: Callable[[Path, dict[str, Any], Lines], None]
    """SpecError names every problem with its line."""
    graph: Callable[[Path], str] | None = None
    """The file as a Mermaid flowchart, where it can be drawn."""


FILE_KINDS: Registry[FileKind] = Registry("simcounsel.files", "a kind of file", FileKind, {})


def file_kinds() -> tuple[FileKind, ...]:
    """All that are installed, by name."""
    return tuple(FILE_KINDS.load(plugin) for plugin in FILE_KINDS.plugins())
