"""Pieces of Markdown."""

import inspect
import re
from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """A text on one line of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; '' where there are no rows."""
    lines = [f"| {' | '.join(cell(one) for one in row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines]) if lines else ""


def prose(text: str | None) -> str:
    """A docstring as paragraphs: double backticks and examples of the terminal stay readable."""
    kept = []
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text or "")):
        lines = part.split("\n")
        if (
            all(line.startswith("    ") for line in lines[1:]) and len(lines) > 1
        ) or part.startswith("    "):
            kept.append("```\n" + "\n".join(line.removeprefix("    ") for line in lines) + "\n```")
        else:
            kept.append(" ".join(line.strip() for line in lines).replace("<", "&lt;"))
    return "\n\n".join(one for one in kept if one)


def page(title: str, about: str, *parts: str) -> str:
    """A page; it says that it was made."""
    return "\n\n".join([f"# {title}", about, *(one for one in parts if one)])
