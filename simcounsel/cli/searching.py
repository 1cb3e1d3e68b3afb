"""`show --search`: what people remember that is near in meaning to some words."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import typer

from simcounsel.cli.weights import console_of, fetch_weights
from simcounsel.clock import date_text
from simcounsel.errors import RunError
from simcounsel.lab.places import world_runs
from simcounsel.measuring.meaning import MOST, MeaningSearch, Near, Nearest, need_chroma, vectors_of
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import open_checked

Found = tuple[Run, Nearest]


def nearest_lines(place: Path, words: str, who: str | None) -> Iterator[str]:
    """The memories of a run, or of all runs of worlds in a folder, that are nearest in meaning to
    the words. RunError when there is none, or nobody of that name.
    """
    need_chroma()
    runs = [_opened(folder) for folder in world_runs([place])]
    names = sorted({one.name for run in runs for one in run.world.residents})
    if who is not None and who not in names:
        raise RunError(f"{place}: no resident {who!r}; there are {', '.join(names)}")
    found: list[Found] = []
    with MeaningSearch() as meaning:
        for run in runs:
            fetch_weights({"embed": vectors_of(run)}, console_of(), quiet=True)
            found.append((run, meaning.search(run, words, who=who)))
    found.sort(key=lambda one: one[1].model)
    for model, same in groupby(found, key=lambda one: one[1].model):
        yield from _of_model(model, list(same))


def _opened(folder: Path) -> Run:
    run = open_checked(folder, damaged=True)
    for damage in run.damages:
        typer.echo(f"damaged: {damage}", err=True)
    return run


def _of_model(model: str, found: list[Found]) -> Iterator[str]:
    """The nearest of runs whose vectors can be compared, since one model made them."""
    several = len(found) > 1
    counted = sum(nearest.memories for _, nearest in found)
    among = f"{counted:,} memories" + (f" of {len(found)} runs" if several else "")
    note = next((f" ({nearest.note})" for _, nearest in found if nearest.note), "")
    yield f"nearest among {among}, by the vectors of {model}{note}"
    near = [(run, one) for run, nearest in found for one in nearest.found]
    near.sort(key=lambda one: -one[1].nearness)
    yield from (_line(run, one, several) for run, one in near[:MOST])


def _line(run: Run, near: Near, several: bool) -> str:
    when = date_text(near.minute, run.world.start)
    where = f"{run.name}  " if several else ""
    often = f" ({near.times} times)" if near.times > 1 else ""
    return f"{near.nearness:5.2f}  {where}{when}{often}  {', '.join(near.who)}: {near.text}"
