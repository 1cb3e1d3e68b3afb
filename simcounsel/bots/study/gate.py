"""Limits that a bot has to keep: against a bar, or beside the last version."""

from pathlib import Path


def read_gate(path: Path) -> object:
    """The limits of a file."""
    raise NotImplementedError
