"""A world of people that steps through its days: eight phases a tick, each asking all residents at
once.
"""

import gc
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import mesa
import numpy as np

from simcounsel.agents.mind import Lived, Mind, Scene
from simcounsel.agents.person import Person
from simcounsel.agents.resident import Resident
from simcounsel.clock import day_of, minute_of_tick
from simcounsel.engine.archive import Archive
from simcounsel.engine.bodies import Body
from simcounsel.engine.conversation import Side, Talked, converse, listening
from simcounsel.engine.encounters import ASLEEP, encounters, together
from simcounsel.engine.measures import Measures, raised_by
from simcounsel.engine.observers import Observers
from simcounsel.engine.opening import begin_run, models_for, recorded_vectors
from simcounsel.engine.places import GUEST_CLOSENESS, Places
from simcounsel.errors import RunError
from simcounsel.events import (
    Acted,
    Entry,
    Event,
    Joined,
    Left,
    Memory,
    Moved,
    Perceived,
    RelationChanged,
    Remembered,
    Sight,
    TickEnded,
    Warned,
)
from simcounsel.llm.catalog import vectors_for
from simcounsel.llm.driving import Outcome
from simcounsel.llm.question import Ask, ask, embedding
from simcounsel.llm.switchboard import Switchboard
from simcounsel.policies import policy_for
from simcounsel.runs.run import Run
from simcounsel.specs.vocabulary import Condition
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world


class Simulation(mesa.Model):
    """A Mesa model of a world.

        with Simulation(load_world("worlds/tiny.yaml")) as simulation:
            simulation.run()

    world: a World or the path of its file. model: the model for all that is not `embed`, in place
    of what the world names. seed, condition: in place of the world's. out: where the run's folder
    goes. run: go on with this run instead of beginning one. models: a ready Switchboard. minds:
    makes the mind of a resident. budget_usd, budget_calls: `run` stops at the end of the tick in
    which either is used up. on_event: called with every event of a tick that was written.
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
        minds: Callable[[Resident], Mind] = Person,
        in_flight: int = 64,
        budget_usd: float | None = None,
        budget_calls: int | None = None,
        on_event: Callable[[Entry], None] | None = None,
    ) -> None:
        world = _settled(world, model, seed, condition)
        super().__init__(seed=world.seed)
        self.world = world
        self.places = Places(world, self.random)
        self.measures = Measures(world)
        self.on_event = on_event
        self.tick = 0
        self._lived: int | None = None
        self.running: bool = True
        self.stopped_because: str | None = None
        self._budget = (budget_usd, budget_calls)
        self._minds = minds
        self._residents: dict[str, Body] = {}
        self._gone: dict[str, Resident] = {}
        self._welcome: dict[str, set[str]] = {}
        self._diary = _diary(world)
        self._vectors: dict[str, np.ndarray] = {}
        self._observers = Observers(world)
        self._drafts: dict[str, list[Memory]] = {}
        self._entries: list[Entry] = []
        self._seq = 0
        self.datacollector = mesa.DataCollector(
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
        self.record = run or begin_run(world, Path(out))
        done = self.record.begin_writing()
        try:
            self.models = models or models_for(self.record, in_flight=in_flight)
            self.models.recorder = self.record
            self.archive = Archive(self.record.folder / "memory")
            self.models.sideline = self.archive
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
        """Whether all the world's ticks have been lived."""
        return self.tick >= self.world.ticks

    def residents(self) -> tuple[Resident, ...]:
        """Everybody who lives here now, in name order."""
        return tuple(self._residents[name].resident for name in sorted(self._residents))

    def run(self, ticks: int | None = None) -> Run:
        """Live until the world's last tick, or `ticks` more, or the budget; return the run."""
        last = self.world.ticks if ticks is None else min(self.world.ticks, self.tick + ticks)
        # what is there stays until the end; to look through it again and again takes a tenth of a
        # run
        gc.freeze()
        try:
            while self.tick < last and self.stopped_because is None:
                self.step()
                self.stopped_because = self.stopped_because or self.models.over_budget(
                    *self._budget
                )
        finally:
            gc.unfreeze()
            self.close()
        return self.record

    def run_model(self) -> None:
        """Mesa's name for `run`."""
        self.run()

    def close(self) -> None:
        """Bring the memories to disk, end the models, let go of the folder. The run can be
        resumed.
        """
        if self.running:
            self.running = False
            try:
                self.archive.close()
            finally:
                self.models.close()
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
        self._arrive()
        for phase in self._phases():
            if phase.__name__[1:] not in self.world.without or phase.__name__ in (
                "_act",
                "_remember",
            ):
                phase()
        self._remember()
        self._measure()
        self.models.check_reached()
        self._write(TickEnded())
        self._commit()
        if self.finished:
            self.close()

    # the phases

    def _phases(self) -> tuple[Callable[[], None], ...]:
        """Those of a tick, in order. Where days are skipped nobody plans: who has an appointment
        goes there.
        """
        if self.world.days == "skipped":
            return (
                self._account,
                self._remember,
                self._gather,
                self._appraise,
                self._converse,
                self._remember,
                self._reflect,
            )
        return (
            self._plan,
            self._act,
            self._perceive,
            self._appraise,
            self._converse,
            self._remember,
            self._reflect,
            self._replan,
        )

    def _account(self) -> None:
        """Each client's memories of the days since the last tick that was lived."""
        before = (
            minute_of_tick(self._lived, self.world.start, self.world.tick_minutes)
            if self._lived is not None
            else self.minute
        )
        days = tuple(range(day_of(before) + 1, day_of(self.minute)))
        if days:
            clients = [
                name
                for name, body in self._residents.items()
                if body.resident.spec.role == "client"
            ]
            self._ask(
                {
                    name: self._residents[name].mind.account(self._scene(name), days)
                    for name in clients
                }
            )

    def _gather(self) -> None:
        """Who has an appointment now is at its place."""
        for name in sorted(self._residents):
            place = next(
                (place for minute, place, _ in self._diary.get(name, ()) if minute == self.minute),
                None,
            )
            if place is not None:
                if place != self._residents[name].resident.place:
                    self._write(
                        Moved(who=name, origin=self._residents[name].resident.place, place=place)
                    )
                self._write(
                    Acted(
                        who=name,
                        activity="keeps an appointment",
                        activity_kind="counseling",
                        place=place,
                    )
                )

    def _arrive(self) -> None:
        """Those whom the condition brings come, those whom it does not go. Who comes back
        remembers.
        """
        here = {spec.name: spec for spec in self.world.present()}
        for name in sorted(set(self._residents) - set(here)):
            self._write(Left(who=name))
        coming = [spec for name, spec in here.items() if name not in self._residents]
        new = [spec for spec in coming if spec.name not in self._gone]
        for spec in coming:
            self._write(Joined(who=spec.name, role=spec.role, home=spec.home, place=spec.starts_in))
        for relationship in self.world.relationships:
            for who, other in (relationship.between, relationship.between[::-1]):
                if who in here and any(spec.name in relationship.between for spec in new):
                    before = self._residents[who].resident.close_to(other)
                    self._write(
                        RelationChanged(
                            who=who,
                            other=other,
                            before=before,
                            after=relationship.score,
                            why="as the world begins",
                        )
                    )
        self._ask(
            {
                spec.name: self._residents[spec.name].mind.arrive(self._scene(spec.name))
                for spec in new
            }
        )
        self._remember()

    def _plan(self) -> None:
        self._ask(
            {
                name: body.mind.plan(self._scene(name))
                for name, body in self._residents.items()
                if self.minute not in body.resident.slots
            }
        )

    def _act(self) -> None:
        for name, body in sorted(self._residents.items()):
            resident = body.resident
            slot = resident.slots.get(self.minute)
            if slot is None:
                continue
            stays = slot.place == resident.place or slot.place not in {
                place.name for place in self._reachable(name)
            }
            place = resident.place if stays else slot.place
            if place != resident.place:
                self._write(Moved(who=name, origin=resident.place, place=place))
            self._write(
                Acted(
                    who=name, activity=slot.activity, activity_kind=slot.activity_kind, place=place
                )
            )

    def _perceive(self) -> None:
        seen = {
            place: tuple(
                Sight(name=name, activity=activity)
                for name in names
                if (activity := self._residents[name].resident.activity)
            )
            for place, names in together(self.residents()).items()
        }
        for name, body in sorted(self._residents.items()):
            others = tuple(sight for sight in seen[body.resident.place] if sight.name != name)
            if others != body.resident.sights and body.resident.activity_kind not in ASLEEP:
                self._write(Perceived(who=name, others=others))

    def _appraise(self) -> None:
        self._ask(
            {
                name: body.mind.appraise(self._scene(name))
                for name, body in self._residents.items()
                if body.resident.news
            }
        )

    def _converse(self) -> None:
        talks: dict[str, Ask[Talked]] = {}
        for started, max_turns in encounters(self.world, self.tick, self.minute, self.residents()):
            first, second = (self._side(name) for name in started.who)
            talks[started.chat] = converse(
                first, second, started, max_turns, listening(self.world.safety)
            )
        for outcome in self.models.ask(talks).values():
            self._warn(outcome)
            for event in outcome.value.events:
                self._write(event)
            for name, drafts in outcome.value.drafts.items():
                self._drafts.setdefault(name, []).extend(drafts)
            for name, poignancy in outcome.value.poignancy.items():
                if poignancy >= self.world.conversation.replan_from_poignancy:
                    self._residents[name].resident.replan_why = "a conversation that mattered"

    def _remember(self) -> None:
        """Lay down what was drafted, all with one request for vectors."""
        texts = tuple(
            sorted({memory.text for drafts in self._drafts.values() for memory in drafts})
        )
        if not texts:
            return
        request = embedding("remember", "everyone", texts)
        vectors = self.models.ask({"remember": ask(request)})["remember"].value.value
        self._vectors.update(zip(texts, vectors, strict=True))
        for name, drafts in sorted(self._drafts.items()):
            memory_of = self._residents[name].resident.memory
            for draft in drafts:
                self._write(
                    Remembered(
                        who=name, memory=draft.model_copy(update={"id": memory_of.next_id()})
                    )
                )
        self._drafts.clear()
        self._vectors.clear()

    def _reflect(self) -> None:
        due = {
            name: body.resident.memory.reflection_due()
            for name, body in self._residents.items()
            if body.resident.activity_kind not in ASLEEP
        }
        self._ask(
            {
                name: self._residents[name].mind.reflect(self._scene(name), why)
                for name, why in due.items()
                if why
            }
        )

    def _replan(self) -> None:
        self._ask(
            {
                name: body.mind.replan(self._scene(name), body.resident.replan_why)
                for name, body in self._residents.items()
                if body.resident.replan_why
            }
        )

    def _measure(self) -> None:
        """What the world wants measured at the end of this tick. It changes nobody."""
        due = self.measures.due(
            self.tick,
            self.minute,
            {name: body.resident.spec.role for name, body in sorted(self._residents.items())},
        )
        for outcome in self.models.ask(
            self.measures.asks(due, lambda name: (self._residents[name].mind, self._scene(name)))
        ).values():
            self._warn(outcome)
            self._write(outcome.value)
            if self.world.safety.counselors != "nothing":
                for raised in raised_by(outcome.value):
                    self._write(raised)

    # one resident's part

    def _side(self, name: str) -> Side:
        body = self._residents[name]
        return Side(mind=body.mind, scene=self._scene(name), policy=body.policy)

    def _reachable(self, name: str) -> tuple[Any, ...]:
        resident = self._residents[name].resident
        welcome = (
            (other, self._residents[other].resident)
            for other in self._welcome.get(name, ())
            if other in self._residents
        )
        hosts = frozenset(
            other
            for other, host in welcome
            if host.activity_kind not in ASLEEP
            and self.places.house_of(host.place) == host.spec.home
        )
        return self.places.reachable(name, resident.place, hosts)

    def _scene(self, name: str) -> Scene:
        return Scene(
            seed=self.world.seed,
            tick=self.tick,
            minute=self.minute,
            start=self.world.start,
            tick_minutes=self.world.tick_minutes,
            plan_slots=self.world.plan_slots,
            places=self._reachable(name),
            appointments=tuple(
                a
                for a in self._diary.get(name, ())
                if a[0] >= self.minute and a[2] in self._residents
            ),
            language=self.world.language,
            locale=self.world.safety.locale,
        )

    # asking, writing, observing

    def _ask(self, asks: dict[str, Ask[Lived]]) -> None:
        """Ask all at once, then apply the answers in name order."""
        for name, outcome in self.models.ask(asks).items():
            self._warn(outcome)
            for event in outcome.value.events:
                self._write(event)
            if outcome.value.drafts:
                self._drafts.setdefault(name, []).extend(outcome.value.drafts)

    def _warn(self, outcome: Outcome[Any]) -> None:
        for trouble in outcome.troubles:
            self._write(Warned(who=trouble.who, purpose=trouble.purpose, cause=trouble.cause))

    def _write(self, event: Event) -> None:
        entry = Entry(self._seq, self.tick, self.minute, event)
        self._seq += 1
        self._entries.append(entry)
        self._observe(entry)

    def _commit(self) -> None:
        """The tick is complete: to disk, then to whoever watches."""
        entries, self._entries = self._entries, []
        self.record.append([entry.line() for entry in entries])
        self._lived, self.tick = self.tick, self.world.next_tick(self.tick + 1)
        self.archive.tick_ended()
        self.datacollector.collect(self)
        if self.on_event:
            for entry in entries:
                self.on_event(entry)

    def _observe(self, entry: Entry) -> None:
        event = entry.event
        self.measures.observe(entry)
        observers = self._observers.of(event)
        match event:
            case Joined():
                self._join(event.who)
            case Left():
                body = self._residents.pop(event.who)
                self._gone[event.who] = body.resident
                body.remove()
        for name in observers:
            self._residents[name].resident.observe(entry)
        match event:
            case Remembered():
                store = self._residents[event.who].resident.memory
                vector = (store.long if event.memory.long_term else store.short).vector(
                    event.memory.id
                )
                self.archive.add(event.who, event.memory, entry, vector)
            case RelationChanged():
                welcome = self._welcome.setdefault(event.other, set())
                (welcome.add if event.after >= GUEST_CLOSENESS else welcome.discard)(event.who)
            case Joined() | Moved() | Acted():
                body = self._residents[event.who]
                body.cell = self.places.cell(body.resident.place)

    def _join(self, name: str) -> None:
        for welcome in self._welcome.values():
            welcome.discard(name)
        spec = next(spec for spec in self.world.residents if spec.name == name)
        resident = self._gone.pop(name, None) or Resident(spec, self.world, self._vectors)
        self._residents[name] = Body(
            self,
            self._minds(resident),
            policy_for(spec.role, spec.policy, self.world.language, self.world.safety),
        )

    def _replay(self, ticks: int) -> None:
        """Become what the log says: observe every event of the complete ticks."""
        if not ticks:
            return
        self._vectors.update(recorded_vectors(self.record))
        for entry in self.record.entries(until_tick=ticks):
            event = entry.event
            if isinstance(event, Remembered) and event.memory.text not in self._vectors:
                file = self.record.folder / "calls.jsonl"
                raise RunError(
                    f"{file}: the vector of {event.memory.id} is missing or damaged; without it the"
                    " run cannot go on"
                )
            self._observe(entry)
            self._seq = entry.seq + 1
        self._vectors.clear()
        self._lived, self.tick = ticks - 1, self.world.next_tick(ticks)
        self.archive.mark_known()


def _diary(world: World) -> dict[str, list[tuple[int, str, str]]]:
    """Each one's appointments as (minute, place, with whom), in order."""
    found: dict[str, list[tuple[int, str, str]]] = {}
    for a in world.appointments:
        for who, other in (a.who, a.who[::-1]):
            found.setdefault(who, []).extend((minute, a.place, other) for minute in a.minutes())
    return {name: sorted(own) for name, own in found.items()}


def _settled(
    world: World | str | Path, model: str | None, seed: int | None, condition: Condition | None
) -> World:
    """The world with what the caller wants otherwise."""
    if not isinstance(world, World):
        world = load_world(world)
    changes: dict[str, Any] = {}
    if model is not None:
        vectors = vectors_for(model)
        embed = {"embed": vectors} if vectors else {}
        changes["models"] = world.models.model_copy(
            update={"reason": model, "quick": None, "judge": None, **embed}
        )
    if seed is not None:
        changes["seed"] = seed
    if condition is not None:
        changes["condition"] = condition
    return world.model_copy(update=changes) if changes else world
