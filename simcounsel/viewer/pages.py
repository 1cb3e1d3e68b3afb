"""The page of a run, by its kind: a world has people and days, a synthesis sessions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.specs.kinds import Kind
from simcounsel.viewer import parts, syntheses

Fields = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Page:
    """What the site shows of a run."""

    name: str
    """Of its HTML, script and style among the static files."""
    summed: Callable[[Log], Fields]
    """A run in the list of runs."""
    everything: Callable[[History, int], tuple[Fields, list[str]]]
    """All that the page could ask for, by the path it asks with, and what was left out, in words;
    prompts and replies where they have more characters than that.
    """
    sessions: Callable[[History], Fields] | None
    """All sessions in a line each; None where there are people and days."""
    on_a_clock: bool
    """Whether two can be laid side by side, tick by tick."""


PAGES: Mapping[Kind, Page] = {
    "world": Page(
        name="run", summed=parts.summed, everything=parts.everything, sessions=None, on_a_clock=True
    ),
    "synthesis": Page(
        name="sessions",
        summed=syntheses.summed,
        everything=syntheses.everything,
        sessions=syntheses.overview,
        on_a_clock=False,
    ),
}


def page_of(log: Log) -> Page:
    """The page that shows it."""
    return PAGES[log.kind]


def not_side_by_side(*logs: Log) -> str | None:
    """Why these runs cannot be compared on one clock; None when they can."""
    names = [log.name for log in dict.fromkeys(logs) if not page_of(log).on_a_clock]
    if not names:
        return None
    which = (
        f"{names[0]} is a synthesis" if len(names) == 1 else f"{' and '.join(names)} are syntheses"
    )
    return (
        f"{which} of dialogues: nobody lives through days there, and there is no clock to lay two"
        " runs side by side on. Open each for itself; `simcounsel analyze corpus RUN RUN` compares"
        " corpora by judgment and in numbers."
    )
