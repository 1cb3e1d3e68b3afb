"""A world of people that steps through its days: eight phases a tick, each asking all residents at
once.
"""

import gc
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import mesa

from simcounsel.agents.mind import Mind, mind_for
from simcounsel.agents.resident import Resident
from simcounsel.clock import minute_of_tick
from simcounsel.engine.fallbacks import FallbackCount
from simcounsel.engine.journal import Journal
from simcounsel.engine.measures import Measures
from simcounsel.engine.opening import begin_run, check_models, models_for
from simcounsel.engine.phases import Phases
from simcounsel.engine.places import Places
from simcounsel.engine.population import Population
from simcounsel.errors import RunError
from simcounsel.events import Entry, Remembered, TickEnded
from simcounsel.hosts import name_hosts
from simcounsel.llm.budget import budget_in
from simcounsel.llm.catalog import vectors_for
from simcounsel.llm.question import ask, embedding
from simcounsel.llm.switchboard import Switchboard
from simcounsel.prompts import replaced
from simcounsel.runs.run import Run
from simcounsel.runs.sources import recorded_vectors, replayed_by
from simcounsel.specs.vocabulary import Condition
from simcounsel.specs.world import World

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much may be asked."""

    in_flight: int = 64
    """Questions at once."""
    budget_usd: float | None = None
    """No request is sent that may cost more than what is left of it. What the run spent before
    counts. None: as it was given last, at first no limit; NO_LIMIT lifts it."""
    budget_calls: float | None = None
    """The same for requests."""


UNLIMITED = Limits()


class Simulation(mesa.Model):
    """A Mesa model of a world.

    with Simulation(load_world("worlds/tiny.yaml")) as simulation:
        simulation.run()
    """

    def __init__(
        self,
        world: World | str | Path,
        *,
        model: str | None = None,
        seed: int | None = None,
        condition: Condition | None = None,
        out: str | Path = "runs",
        run: Run | None = None,
        models: Switchboard | None = None,
        minds: Callable[[Resident], Mind] = mind_for,
        limits: Limits = UNLIMITED,
        on_event: Callable[[Entry], None] | None = None,
    ) -> None:
        """world: a World or the path of its file. model: the model for all that is not `embed`, in
        place of what the world names. seed, condition: in place of the world's. out: where the
        run's folder goes. run: go on with this run, in its own world, instead of beginning one.
        models: a ready Switchboard. minds: makes the mind of a resident, in place of what the world
        says. on_event: called with every event of a tick that was written. Errors as
        `check_models`, before a folder is made.
        """
        if run is None:
            world = _settled(world, model, seed, condition)
            if models is None:
                check_models(world)
            run = begin_run(world, Path(out))
        self.record = run
        world = run.world  # in which keys are hidden: so what is run is what the manifest says
        super().__init__(seed=world.seed)
        self.world = world
        self.places = Places(world, self.random)
        self.population = Population(world, self, self.places, minds)
        self.measures = Measures(world)
        self.on_event = on_event
        self.tick = 0
        self.running: bool = True
        self.stopped_because: str | None = None
        self._last_tick: int | None = None
        self._journal = Journal(self._observe)
        self.datacollector = _datacollector()
        done = self.record.begin_writing()
        try:
            self.models = models or models_for(self.record, in_flight=limits.in_flight)
            usd, calls = limits.budget_usd, limits.budget_calls
            budget = budget_in(self.record.folder, usd=usd, calls=calls)
            if budget.limited and not (models and models.budget.limited):
                from simcounsel.runs.aside import calls_aside

                self.models.limit(budget, chain(self.record.calls(), calls_aside(self.record)))
            self.models.recorder = self.record
            self.models.temperature = world.temperature
            self._phases = Phases(world, self.population, self.measures, self.models, self._journal)
            self._fallbacks = FallbackCount(self.record, world.fallbacks, done)
            with replaced(world.other_prompts):
                self._replay(done)
            self.datacollector.collect(self)
        except BaseException:
            self.record.end_writing()
            raise

    # what Mesa and its users ask for

    @property
    def minute(self) -> int:
        """When the coming tick begins, in minutes since day 0."""
        return minute_of_tick(self.tick, self.world.start, self.world.tick_minutes)

    @property
    def finished(self) -> bool:
        """Whether all the world's ticks have been run."""
        return self.tick >= self.world.ticks

    def residents(self) -> tuple[Resident, ...]:
        """Everybody who lives here now, in name order."""
        return self.population.residents()

    def run(self, ticks: int | None = None) -> Run:
        """Live until the world's last tick, or `ticks` more; return the run. GivenUp when a model
        does not answer, or the budget does not reach.
        """
        last = self.world.ticks if ticks is None else min(self.world.ticks, self.tick + ticks)
        try:
            with rare_garbage_search():
                from simcounsel import notebook

                told = notebook.line()
                while self.tick < last and self.stopped_because is None:
                    self.step()
                    told(f"{self.tick} of {last} ticks, {self.models.usage.line()}")
        finally:
            self.close()
        return self.record

    def run_model(self) -> None:
        """Mesa's name for `run`."""
        self.run()

    def close(self) -> None:
        """End the models, let go of the folder. The run can be resumed."""
        if self.running:
            self.running = False
            try:
                self.models.close()
            finally:
                self.record.end_writing()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def step(self) -> None:
        """Live one tick. It is written whole or, if anything breaks it off, not at all; after that
        only a new Simulation over the same run can go on."""
        self.models.begin_tick(self.tick)
        self._journal.begin(self.tick, self.minute)
        with replaced(self.world.other_prompts):
            for phase in self._phases.of_tick(self.tick, self.minute, self._last_tick):
                phase.live()
        self._check_fallbacks()
        self._journal.write(TickEnded())
        self._commit()
        if self.finished:
            self.close()

    # writing, observing

    def _commit(self) -> None:
        """The tick is complete: to disk, then to whoever watches."""
        entries = self.record.append(self._journal.end())
        self._fallbacks.written(entries, self._journal.asked)
        self._last_tick, self.tick = self.tick, self.world.next_tick(self.tick + 1)
        self.datacollector.collect(self)
        if self.on_event:
            for entry in entries:
                self.on_event(entry)

    def _check_fallbacks(self) -> None:
        """TooManyFallbacks. What is replayed was judged before."""
        if self.models.only_recorded:
            return
        self._fallbacks.check(self.tick, self._journal.entries, self._journal.asked)

    def _observe(self, entry: Entry) -> None:
        self.measures.observe(entry)
        self.population.observe(entry)

    def _replay(self, ticks: int) -> None:
        """Become what the log says: observe every event of the complete ticks."""
        if not ticks:
            return
        vectors = self.population.vectors
        vectors.update(recorded_vectors(self.record))
        for entry in self.record.entries(until_tick=ticks):
            event = entry.event
            if isinstance(event, Remembered) and event.memory.text not in vectors:
                vectors.update(recompute(self.record, self.models, vectors, ticks))
            self._observe(entry)
            self._fallbacks.observe(entry)
            self._journal.go_on_after(entry)
        vectors.clear()
        self._last_tick, self.tick = ticks - 1, self.world.next_tick(ticks)


GARBAGE_AFTER = (20_000, 20, 20)
"""Allocations before Python searches new objects for garbage, and how many such searches before
the older ones; usually (700, 10, 10)."""


@contextmanager
def rare_garbage_search() -> Iterator[None]:
    """What is there stays until the end, and most of what comes (events, memories) too: to search
    it for garbage again and again takes a fifth of a large run. Nothing is frozen: to thaw it again
    would thaw what the program that runs this had frozen.
    """
    before = gc.get_threshold()
    gc.set_threshold(*GARBAGE_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _datacollector() -> mesa.DataCollector:
    return mesa.DataCollector(
        model_reporters={"tick": "tick", "minute": "minute"},
        agent_reporters={
            "name": "name",
            "place": lambda b: b.resident.place,
            "activity": lambda b: b.resident.activity,
            "emotion": lambda b: b.resident.emotion,
            "intensity": lambda b: b.resident.intensity,
            "memories": lambda b: len(b.resident.memory),
        },
    )


def _settled(
    world: World | str | Path, model: str | None, seed: int | None, condition: Condition | None
) -> World:
    """The world with what the caller wants otherwise."""
    if isinstance(world, str | Path):
        from simcounsel.specs.world_file import load_world

        world = load_world(world)
    changes: dict[str, Any] = {}
    if model is not None:
        name_hosts([model])
        vectors = vectors_for(model)
        embed = {"embed": vectors} if vectors else {}
        world = world.with_one_model({"reason": model, "quick": None, "judge": None, **embed})
    if seed is not None:
        changes["seed"] = seed
    if condition is not None:
        changes["condition"] = condition
    return world.model_copy(update=changes) if changes else world


log = logging.getLogger(__name__)


def recompute(
    run: Run, models: Switchboard, vectors: "Mapping[str, np.ndarray]", until_tick: int
) -> "dict[str, np.ndarray]":
    """The vectors of what was laid down in ticks before `until_tick` and is not among `vectors`,
    asked for and recorded as they were when it was run. RunError in a replay, which has no model
    of its own.
    """
    found: dict[str, np.ndarray] = {}
    for tick, texts in _laid_down(run, until_tick):
        if all(text in vectors or text in found for text in texts):
            continue
        if (source := replayed_by(run)) is not None:
            raise RunError(
                f"{run.folder}: it replays {source}, whose calls.jsonl lacks the vector of"
                f" {texts[0]!r}; put that file back as it was, or `simcounsel resume {source}`"
            )
        models.begin_tick(tick)
        question = embedding("remember", "everyone", texts)
        reply = models.ask({"remember": ask(question)})["remember"].value
        found.update(zip(texts, reply.value, strict=True))
    if found:
        log.warning(
            "%s: the vectors of %d memories were lost; they were computed again by %s",
            run.folder / "calls.jsonl",
            len(found),
            models.embed.name,
        )
    return found


def _laid_down(run: Run, until_tick: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The texts whose vectors were asked for at once, each with their tick: what was laid down
    without anything else between.
    """
    entries = run.entries(until_tick=until_tick)
    for (tick, together), group in groupby(
        entries, key=lambda entry: (entry.tick, isinstance(entry.event, Remembered))
    ):
        if together:
            events = (entry.event for entry in group)
            texts = {event.memory.text for event in events if isinstance(event, Remembered)}
            yield tick, tuple(sorted(texts))
