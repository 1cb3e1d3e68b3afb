"""A what-if: the same past, another future."""

import json
import os
from collections.abc import Callable, Collection, Mapping
from itertools import groupby
from pathlib import Path
from typing import IO, Any, TypeVar

from simcounsel.engine.opening import begin_run, check_models, unfinished_fallback
from simcounsel.errors import RunError, SpecError
from simcounsel.events import Entry, Forked
from simcounsel.llm.byhand import check_inherited
from simcounsel.runs.call_chain import CallChain
from simcounsel.runs.chain import Chain
from simcounsel.runs.folder import complete_ticks
from simcounsel.runs.manifest import Parent
from simcounsel.runs.record import Record
from simcounsel.runs.run import Run
from simcounsel.runs.sources import recordings
from simcounsel.specs.load import parse_spec
from simcounsel.specs.patching import patch
from simcounsel.specs.world import World
from simcounsel.specs.world_file import bring_policies, bring_prompts
from simcounsel.specs.world_problems import world_problems

R = TypeVar("R", bound=Record[Any])
CHANGED_ONLY_AT_START = ("start", "tick_minutes", "places", "language")


def fork(
    run: Run,
    at_tick: int,
    changes: dict[str, Any],
    out: Path,
    name: str | None = None,
    world: World | None = None,
) -> Run:
    """A new run that shares the ticks before `at_tick` with `run`, in a world changed from then on.

    world: that world, where it is made already; otherwise files that changes name are seen from the
    working folder.

    Go on with it by `Simulation(new.world, run=new)`. RunError when the tick was not run,
    SpecError when a change does not fit.
    """
    check_fork(run, at_tick, changes, CHANGED_ONLY_AT_START)
    world = world or changed_world(run.world, changes)
    past = list(run.entries(until_tick=at_tick))
    if (missed := world.next_tick(past[-1].tick + 1)) < at_tick:
        raise RunError(
            f"{run.folder}: as it is changed, tick {missed} would be run before --at {at_tick}; "
            f"fork --at {missed}, or leave days and appointments before as they were"
        )
    check_left(run, at_tick, world.ticks, world.ticks)
    check_inherited({*world.model_names().values()} & {*run.manifest.models.values()})
    check_models(world)
    return begun(
        run, past, at_tick, changes, lambda parent: begin_run(world, out, parent=parent, name=name)
    )


def check_fork(
    run: Record[Any], at_tick: int, changes: Collection[str], only_at_start: Collection[str]
) -> None:
    """RunError when a record has no such tick to be forked at, SpecError when a change is of what
    its past was made with.
    """
    done = run.ticks_done()
    if done:
        done = run.next_tick(done)
    if not 0 < at_tick <= done:
        raise RunError(
            f"{run.folder}: --at {at_tick} is not between 1 and {done}, the {run.kind.unit}s that"
            f" were {run.kind.done}"
        )
    for key in changes:
        if key.split(".")[0] in only_at_start:
            raise SpecError(
                [
                    f"--set {key}: the past was {run.kind.done} with another {key.split('.')[0]!r};"
                    f" begin a new {run.kind.noun} instead"
                ]
            )


def check_left(run: Record[Any], at_tick: int, latest: int, length: int) -> None:
    """RunError when nothing would come behind a fork. latest: the last tick at which it may be."""
    if at_tick > latest:
        raise RunError(
            f"{run.folder}: all {length} {run.kind.unit}s are before --at {at_tick}, so nothing"
            f" would be {run.kind.done} again; choose an earlier one"
        )


def begun(
    run: R, past: list[Entry], at_tick: int, changes: dict[str, Any], begin: Callable[[Parent], R]
) -> R:
    """A fork with its parent's past. begin: makes its folder. RunError when it cannot be
    written.
    """
    pairs = tuple((key, json.dumps(value, default=str)) for key, value in sorted(changes.items()))
    new = begin(Parent(run=run.name, at_tick=at_tick, changes=pairs, start_hash=run.start_hash))
    try:
        _copy_past(run, past, new, at_tick, pairs)
    except OSError as error:
        raise RunError(
            f"{new.folder}: cannot be written ({error.strerror}); free some space"
        ) from None
    return new


def changed_world(world: World, changes: Mapping[str, Any]) -> World:
    """A world with other values by key, as `--set` has them. SpecError for what does not fit."""
    data = world.model_dump(mode="json")
    for key, value in changes.items():
        patch(data, key, value)
    try:
        bring_policies(data, Path("--set"), {})
        bring_prompts(data, Path("--set"), {})
        made = parse_spec(data, World, Path("--set"), {})
    except SpecError as error:
        raise SpecError([one.replace("--set:1:", "--set", 1) for one in error.problems]) from None
    problems = world_problems(made)
    if problems:
        raise SpecError([f"--set {'.'.join(map(str, at))}: {what}" for at, what in problems])
    return made


def _copy_past(
    run: Record[Any],
    past: list[Entry],
    new: Record[Any],
    at_tick: int,
    changes: tuple[tuple[str, str], ...],
) -> None:
    """All recorded calls: marked as `copied`, and those from the tick on as `spare`, since the fork
    may or may not ask the same. Then the log up to the tick, with a `forked` event before the last
    `tick_ended`. It appears whole and last: a fork that has a log has all of its past, wherever a
    crash cut the copying short.
    """
    call_chain = CallChain()
    with (new.folder / "calls.jsonl").open("wb") as calls:
        for source in recordings(run):
            done = complete_ticks(source.folder)
            for call in source.calls():
                if unfinished_fallback(call, done):
                    continue
                spare = bool(call.get("spare")) or (call.get("tick") or 0) >= at_tick
                marked = call | {"copied": True} | ({"spare": True} if spare else {})
                calls.write(call_chain.line(marked))
        _to_disk(calls)
    *before, ended = past
    forked = Forked(changes=changes, start_hash=new.own_hash)
    mark = Entry(ended.seq, ended.tick, ended.minute, forked)
    last = Entry(ended.seq + 1, ended.tick, ended.minute, ended.event)
    part, chain = new.folder / "events.jsonl.part", Chain(new.start_hash)
    with part.open("wb") as file:
        for _, tick in groupby((*before, mark, last), key=lambda entry: entry.tick):
            file.write(chain.close(tuple(tick))[1])
        _to_disk(file)
    part.replace(new.folder / "events.jsonl")


def _to_disk(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())
