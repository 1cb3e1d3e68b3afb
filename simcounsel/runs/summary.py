"""What happened in a run, counted."""

import textwrap
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from simcounsel.clock import date_text
from simcounsel.events import Formulated, SessionReviewed
from simcounsel.runs.authors import author, lines_text
from simcounsel.runs.counts import Counts
from simcounsel.runs.history import History, only
from simcounsel.runs.open_ends import OpenEnd
from simcounsel.runs.record import Record
from simcounsel.runs.run import Run
from simcounsel.runs.sources import replayed_runs
from simcounsel.runs.spending import Spending
from simcounsel.specs.world import World

CAUSES_TOLD = 3
STAND_INS = ("embedded", "scripted")


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Counts over a whole run."""

    ticks: int
    """That are complete, skipped ones included."""
    counts: Counts
    authors: Mapping[str, int]
    """Lines of talk by who worded them (see `runs.authors`)."""
    measurements: Mapping[str, int]
    """By instrument."""
    warnings: Mapping[str, int]
    """By purpose."""
    causes: Mapping[str, int]
    """Warnings by what went wrong."""
    left_out: Mapping[str, Sequence[str]]
    """Parameters that a model does not take, by the model's name."""
    spending: Spending
    open_ends: Sequence[OpenEnd] = ()
    """Conversations that ended on open danger."""


def summarize(run: Run) -> Summary:
    """Count a world's run. RunError names a damaged line."""
    history = History.of(run)
    warnings = [one.event for one in history.warnings()]
    counts = history.counts()
    wanted = {line.call for line in counts.lines}
    models: dict[str, str] = {}
    spending = Spending.of(_noting_models(run.calls(), wanted, models))
    for replayed in replayed_runs(run):
        deque(_noting_models(replayed.calls(), wanted, models), maxlen=0)
    return Summary(
        ticks=history.log.ticks,
        counts=counts,
        authors=Counter(
            author(line.source, models.get(line.call) or run.manifest.model_of("reason", line.who))
            for line in counts.lines
        ),
        measurements=Counter(one.event.instrument for one in history.measured()),
        warnings=Counter(one.purpose for one in warnings),
        causes=Counter(one.cause for one in warnings),
        left_out=history.left_out(),
        spending=spending,
        open_ends=history.open_ends(),
    )


def _noting_models(
    calls: Iterable[Mapping[str, Any]], wanted: Set[str], models: dict[str, str]
) -> Iterator[Mapping[str, Any]]:
    """The calls as they are; who answered those that are wanted is noted by key."""
    for call in calls:
        if call["key"] in wanted:
            models[call["key"]] = call["model"]
        yield call


def summary_lines(run: Run, in_files: Callable[[World], str] = lambda world: "") -> Iterator[str]:
    """The run in a few lines, for the end of `run` and for `show RUN`. in_files: what the clients'
    files say of danger, in words; asked only where the safety protocol decided a line.
    """
    s, world = summarize(run), run.world
    counts = s.counts
    yield from open_danger_lines(run, s.open_ends)
    yield f"run            {run.folder}"
    yield (
        f"world          {world.name}, condition {world.condition}, seed {world.seed}, model"
        f" {run.manifest.models['reason']}"
    )
    yield from label_lines(run)
    if run.manifest.parent:
        parent = run.manifest.parent
        changed = parent.changed
        yield f"forked         from {parent.run} before tick {parent.at_tick}; changed: {changed}"
    until = date_text(counts.last_minute + world.tick_minutes, world.start)
    yield (
        f"ran            {s.ticks} of {world.ticks} ticks of {world.tick_minutes} minutes"
        + (f", until {until}" if s.ticks else "")
        + (
            f"; `simcounsel resume` runs the other {left}"
            if (left := world.ticks - s.ticks)
            else ""
        )
    )
    yield from stop_lines(run)
    yield f"conversations  {counts.conversations}"
    yield f"said           {lines_text(s.authors)}"
    if counts.counselor_lines:
        files = in_files(world) if counts.safety_moves else ""
        yield (
            f"safety moves   {counts.safety_moves} of {counts.counselor_lines} lines of counselors"
            + (f"; {files}" if files else "")
        )
    yield from course_lines(run)
    yield f"reflections    {counts.reflections}; portraits that changed {counts.persona_changes}"
    if s.measurements:
        yield (
            f"measurements   {sum(s.measurements.values())} ("
            + ", ".join(f"{n} {name}" for name, n in sorted(s.measurements.items()))
            + ")"
        )
    yield s.spending.line()
    yield from warning_lines(s.warnings, s.causes)
    yield from left_out_lines(s.left_out)


def course_lines(run: Run) -> Iterator[str]:
    """What the courses in it came to, by their counselors' own notes; nothing where there is none.
    A stand-in's notes are drawn, and that is said.
    """
    of: dict[str, tuple[SessionReviewed, ...]] = {}
    log = History.of(run).log
    for one in only(SessionReviewed, log.entries(("session_reviewed",))):
        of[one.event.who] = (*of.get(one.event.who, ()), one.event)
    for who, reviews in of.items():
        goals = {goal.goal for review in reviews for goal in review.goals}
        met = {goal.goal for review in reviews for goal in review.goals if goal.met}
        rows = only(Formulated, log.entries(("formulated",), subject=who))
        kind = run.manifest.model_of("reason", who).replace(":", "+").split("+")[0]
        drawn = f"; drawn by the {kind} model, which cannot judge" if kind in STAND_INS else ""
        yield (
            f"course         {who}: {len(reviews)} sessions, {len(met)} of {len(goals)} goals met,"
            f" {len(rows)} rows of the formulation filled{drawn}"
        )


def open_danger_lines(run: Run, ends: Sequence[OpenEnd]) -> Iterator[str]:
    """Each end on open danger: who, when, which, and where to read it."""
    for one in ends:
        where = "" if one.number is None else f" (show {run.folder} --conversation {one.number})"
        yield (
            f"open danger    {' and '.join(one.who)}, {date_text(one.minute, run.world.start)}:"
            f" {one.danger}; {one.since}{where}"
        )


def warning_lines(warnings: Mapping[str, int], causes: Mapping[str, int]) -> Iterator[str]:
    """How often a fallback was taken, for what, and the most frequent causes. warnings: by purpose;
    causes: by cause.
    """
    warned = ", ".join(f"{count} {purpose}" for purpose, count in sorted(warnings.items()))
    if not warned:
        yield "warnings       none"
        return
    yield (
        f"warnings       {sum(warnings.values())} ({warned}): no usable answer came, and the"
        " fallback was taken"
    )
    often = sorted(causes.items(), key=lambda one: (-one[1], one[0]))
    for cause, count in often[:CAUSES_TOLD]:
        yield (
            f"               {count} because of: {textwrap.shorten(cause, 110, placeholder=' ...')}"
        )
    if len(often) > CAUSES_TOLD:
        yield f"               and {len(often) - CAUSES_TOLD} other causes"


def stop_lines(run: Record[Any]) -> Iterator[str]:
    """When it was stopped for fallbacks."""
    for stop in run.manifest.stops:
        why = stop.why.split(";")[0]
        yield f"given up       {run.kind.unit} {stop.tick} at {stop.at}: {why}"


def label_lines(run: Record[Any]) -> Iterator[str]:
    """What has to be said of a run wherever it appears."""
    if run.manifest.label:
        first, *rest = textwrap.wrap(run.manifest.label, 90)
        yield f"note           {first}"
        yield from (f"               {line}" for line in rest)


def left_out_lines(left_out: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A line for each model that was asked without some parameter. left_out: by model."""
    for model, parameters in sorted(left_out.items()):
        yield f"left out       {', '.join(sorted(parameters))}: not taken by {model}"
