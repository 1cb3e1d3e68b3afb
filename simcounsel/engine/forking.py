"""A what-if: the same past, another future."""

import json
import os
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from simcounsel.engine.opening import begin_run, check_models, unfinished_fallback
from simcounsel.errors import RunError, SpecError
from simcounsel.events import Entry, Forked
from simcounsel.llm.byhand import check_inherited
from simcounsel.runs.call_chain import CallChain
from simcounsel.runs.chain import Chain
from simcounsel.runs.folder import complete_ticks
from simcounsel.runs.manifest import Parent
from simcounsel.runs.run import Run
from simcounsel.runs.sources import recordings
from simcounsel.specs.kinds import WORDS
from simcounsel.specs.load import parse_spec
from simcounsel.specs.patching import patch
from simcounsel.specs.subject import Subject
from simcounsel.specs.synthesis import Synthesis
from simcounsel.specs.synthesis_file import changed
from simcounsel.specs.world import World
from simcounsel.specs.world_file import bring_policies, bring_prompts
from simcounsel.specs.world_problems import world_problems

CHANGED_ONLY_AT_START = (
    "start",
    "tick_minutes",
    "places",
    "situations",
    "wave",
    "strategies",
    "language",
)


def fork(
    run: Run,
    at_tick: int,
    changes: dict[str, Any],
    out: Path,
    name: str | None = None,
    about: Subject | None = None,
) -> Run:
    """A new run that shares the ticks (or waves) before `at_tick` with `run`, in a world, or with
    settings, changed from then on.

    about: that world or those settings, where they are made already; otherwise files that changes
    name are seen from the working folder.

    Go on with it by `Simulation(new.world, run=new)`, or `Workshop(new)`. RunError when the tick
    was not lived, SpecError when a change does not fit.
    """
    done = run.ticks_done()
    if done:
        done = run.about.next_tick(done)
    if not 0 < at_tick <= done:
        words = WORDS[run.about.kind]
        raise RunError(
            f"{run.folder}: --at {at_tick} is not between 1 and {done}, the {words.unit}s that were"
            f" {words.done}"
        )
    for key in changes:
        if key.split(".")[0] in CHANGED_ONLY_AT_START:
            raise SpecError(
                [
                    f"--set {key}: the past was lived with another {key.split('.')[0]!r}; begin a"
                    " new run instead"
                ]
            )
    about = about or _changed(run, changes)
    past = list(run.entries(until_tick=at_tick))
    if (missed := about.next_tick(past[-1].tick + 1)) < at_tick:
        raise RunError(
            f"{run.folder}: as it is changed, tick {missed} would be lived before --at {at_tick}; "
            f"fork --at {missed}, or leave days and appointments before as they were"
        )
    if at_tick > about.latest_fork:
        words = WORDS[about.kind]
        raise RunError(
            f"{run.folder}: all {about.length} {words.unit}s are before --at {at_tick}, so nothing"
            f" would be {words.done} anew; choose an earlier one"
        )
    check_inherited({*about.model_names().values()} & {*run.manifest.models.values()})
    check_models(about)
    pairs = tuple((key, json.dumps(value, default=str)) for key, value in sorted(changes.items()))
    new = begin_run(
        about,
        out,
        parent=Parent(run=run.name, at_tick=at_tick, changes=pairs, start_hash=run.start_hash),
        name=name,
    )
    try:
        _copy_past(run, past, new, at_tick, pairs)
    except OSError as error:
        raise RunError(
            f"{new.folder}: cannot be written ({error.strerror}); free some space"
        ) from None
    return new


def _changed(run: Run, changes: dict[str, Any]) -> Subject:
    return run.either(
        world=lambda lived: _changed_world(lived.world, changes),
        synthesis=lambda written: _changed_settings(written.synthesis, changes),
    )


def _changed_settings(settings: Synthesis, changes: dict[str, Any]) -> Subject:
    return changed(settings, changes)


def _changed_world(world: World, changes: dict[str, Any]) -> Subject:
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
    run: Run, past: list[Entry], new: Run, at_tick: int, changes: tuple[tuple[str, str], ...]
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
