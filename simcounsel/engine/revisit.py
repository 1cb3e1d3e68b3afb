"""One resident as of the end of a tick, read out of a run's log: for questions afterwards. Nothing
is written and no lock is taken, so a run that goes on can be asked as well.
"""

from simcounsel.agents.mind import Scene
from simcounsel.agents.past import Activity, Past
from simcounsel.agents.resident import Resident
from simcounsel.clock import minute_of_tick
from simcounsel.engine.observers import Observers
from simcounsel.errors import RunError
from simcounsel.events import Acted, Entry, Remembered
from simcounsel.prompts import replaced
from simcounsel.runs.conversation import Conversation
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.runs.sources import recorded_vectors
from simcounsel.specs.problems import suggest
from simcounsel.specs.residents import ResidentSpec
from simcounsel.specs.vocabulary import Role
from simcounsel.specs.world import World


def revisit(run: Run, who: str, tick: int | None = None) -> Past:
    """That resident at the end of `tick`; of the last complete one if None.

    RunError says what is allowed when the tick was not run, or nobody of that name lived there
    then.
    """
    done = run.ticks_done()
    if not done:
        raise RunError(
            f"{run.folder}: no tick is complete yet; wait for the first, or `simcounsel resume"
            f" {run.folder}`"
        )
    tick = done - 1 if tick is None else tick
    if not 0 <= tick < done:
        raise RunError(f"{run.folder}: tick {tick} was not run; choose one from 0 to {done - 1}")
    spec = _named(run.world, who, run)
    history = History.of(run)
    fold = _Fold(Resident(spec, run.world, recorded_vectors(run)), run.world)
    with replaced(run.world.other_prompts):
        for entry in history.log.entries(until_tick=tick + 1):
            fold.observe(entry)
    if spec.name not in fold.here:
        there = ", ".join(sorted(fold.here)) or "nobody"
        raise RunError(
            f"{run.folder}: {spec.name} did not live there at tick {tick}; there were {there}"
        )
    held = history.conversations(until_tick=tick + 1)
    return fold.result(tick, tuple(one for one in held if spec.name in one.who))


def _named(world: World, who: str, run: Run) -> ResidentSpec:
    """The resident of that name, or whose persona has that name; capitals do not matter."""
    for spec in world.residents:
        if who.casefold() in (spec.name.casefold(), spec.persona.name.casefold()):
            return spec
    raise RunError(
        f"{run.folder}: no resident {who!r};"
        f" {suggest(who, [spec.name for spec in world.residents])}"
    )


class _Fold:
    """What one resident observed of the log so far."""

    def __init__(self, resident: Resident, world: World) -> None:
        self._observers = Observers(world)
        self._resident = resident
        self._world = world
        self._remembered_at: dict[str, tuple[int, int]] = {}
        self._activities: list[Activity] = []

    @property
    def here(self) -> dict[str, Role]:
        """Who lives there now, and as what."""
        return self._observers.present

    def observe(self, entry: Entry) -> None:
        event, name = entry.event, self._resident.name
        match event:
            case Remembered() if event.who == name:
                self._remembered_at[event.memory.id] = (entry.tick, entry.minute)
            case Acted() if event.who == name:
                self._act(event, entry.minute)
        if name in self._observers.of(event):
            self._resident.observe(entry)

    def _act(self, event: Acted, minute: int) -> None:
        until = minute + self._world.tick_minutes
        last = self._activities[-1] if self._activities else None
        since = minute
        if last and (last.activity, last.place, last.until) == (
            event.activity,
            event.place,
            minute,
        ):
            since = self._activities.pop().minute
        self._activities.append(
            Activity(
                minute=since,
                until=until,
                activity=event.activity,
                kind=event.activity_kind,
                place=event.place,
            )
        )

    def result(self, tick: int, conversations: tuple[Conversation, ...]) -> Past:
        world, name = self._world, self._resident.name
        minute = minute_of_tick(tick + 1, world.start, world.tick_minutes)
        dates = (
            (at, a.place, other)
            for a in world.appointments
            for who, other in (a.who, a.who[::-1])
            if who == name
            for at in a.begins()
        )
        scene = Scene(
            seed=world.seed,
            tick=tick,
            minute=minute,
            start=world.start,
            language=world.language,
            tick_minutes=world.tick_minutes,
            plan_slots=world.plan_slots,
            places=(),
            appointments=tuple(
                sorted(date for date in dates if date[0] >= minute and date[2] in self.here)
            ),
        )
        return Past(
            resident=self._resident,
            scene=scene,
            remembered_at=self._remembered_at,
            activities=tuple(self._activities),
            conversations=conversations,
            others={other: role for other, role in self.here.items() if other != name},
        )
