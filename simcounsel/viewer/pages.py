"""The page of a record, by its kind: that of a world has people and days."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.requests import Request

from simcounsel.record_kinds import other_kinds
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.viewer import parts

Fields = dict[str, Any]
Answer = Callable[[Request, History], Any]
STATIC = Path(str(files("simcounsel.viewer") / "static"))


@dataclass(frozen=True, kw_only=True)
class RecordPage:
    """What the site shows of a record."""

    name: str
    """Of its HTML, script and style among its static files."""
    static: Path
    """Where these lie."""
    summed: Callable[[Log], Fields]
    """A record in the list of runs."""
    everything: Callable[[History, int], tuple[Fields, list[str]]]
    """All that the page could ask for, by the path it asks with, and what was left out, in words;
    prompts and replies where they have more characters than that.
    """
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """What it asks for beside what every page does, by address."""
    apart: str | None = None
    """Why two cannot be laid side by side on one clock; None where they can."""


WORLD_PAGE = RecordPage(name="run", static=STATIC, summed=parts.summed, everything=parts.everything)


def page_of(log: Log) -> RecordPage:
    """The page that shows it."""
    found: RecordPage | None = log.kind.part("page")
    return found or WORLD_PAGE


def other_pages() -> Iterator[RecordPage]:
    """Those of other kinds than worlds."""
    return (page for kind in other_kinds() if (page := kind.part("page")))


def static_files() -> dict[str, Path]:
    """The files of all pages, by name."""
    folders = (STATIC, *(page.static for page in other_pages()))
    return {file.name: file for folder in reversed(folders) for file in folder.iterdir()}


def not_side_by_side(*logs: Log) -> str | None:
    """Why these runs cannot be compared on one clock; None when they can."""
    apart = [log for log in dict.fromkeys(logs) if page_of(log).apart is not None]
    if not apart:
        return None
    kind, names = apart[0].kind, " and ".join(log.name for log in apart)
    which = f"is a {kind.noun}" if len(apart) == 1 else f"are {kind.nouns}"
    return f"{names} {which} {page_of(apart[0]).apart}"
