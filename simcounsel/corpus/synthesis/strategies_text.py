"""The strategies of a synthesis in plain text and in YAML."""

from collections.abc import Iterator

import yaml

from simcounsel.corpus.synthesis.strategies import Strategies
from simcounsel.errors import RunError
from simcounsel.events import Extracted, TickEnded
from simcounsel.runs.run import Run


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count} times"


def strategies_at(run: Run, wave: int | None = None) -> Strategies:
    """What a wave (from 0) began with, what is given or dropped at its head included; at the end,
    if None. RunError when that wave was not reached.
    """
    done = run.ticks_done()
    if wave is not None and not 0 <= wave <= done:
        raise RunError(f"{run.folder}: wave {wave} was not reached; choose one from 0 to {done}")
    strategies = Strategies()
    for entry in run.entries(until_tick=done if wave is None else min(done, wave + 1)):
        if (
            wave is not None
            and entry.tick == wave
            and isinstance(entry.event, Extracted | TickEnded)
        ):
            break
        strategies.observe(entry)
    return strategies


def strategy_lines(run: Run, wave: int | None = None) -> Iterator[str]:
    """All strategies that were known then, each with its wave, its session and how often it was
    found.
    """
    known = strategies_at(run, wave).all()
    if not known:
        yield "no strategies" + ("" if wave is None else f" before wave {wave}")
    for one in known:
        origin = (
            "given from the beginning" if one.wave is None else f"wave {one.wave}, {one.session}"
        )
        yield (
            f"{one.id}  {one.text}  ({origin}; found"
            f" {times(one.found)}{'; dropped' if one.dropped else ''})"
        )


def strategies_yaml(run: Run, wave: int | None = None) -> str:
    """The strategies that a supporter would carry then, for `synthesize --strategies`."""
    texts = [one.text for one in strategies_at(run, wave).carried()]
    return yaml.safe_dump({"strategies": texts}, allow_unicode=True, sort_keys=False, width=140)
