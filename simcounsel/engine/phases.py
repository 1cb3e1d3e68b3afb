"""The phases of a tick. Each asks all residents at once and applies the answers in name order."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from simcounsel.agents.appointments import kind_of
from simcounsel.agents.mind import Effects, Mind, Scene
from simcounsel.clock import day_of, minute_of_tick
from simcounsel.engine.aftermath import Talked
from simcounsel.engine.conversation import converse
from simcounsel.engine.encounters import ASLEEP, encounters, occupied, together
from simcounsel.engine.journal import Journal
from simcounsel.engine.measures import Measures, danger_in
from simcounsel.engine.places import Body
from simcounsel.engine.population import Population
from simcounsel.events import (
    Acted,
    Joined,
    Left,
    Moved,
    Perceived,
    RelationChanged,
    Remembered,
    Sight,
)
from simcounsel.llm.question import Ask, ask, embedding
from simcounsel.llm.switchboard import Switchboard
from simcounsel.prompts import phrase
from simcounsel.specs.world import World


class Phase(NamedTuple):
    """One step of a tick."""

    name: str
    live: Callable[[], None]
    can_be_left_out: bool = True
    """Whether a world may leave it out, as an ablation (`without`)."""


class Phases:
    """The phases of one tick after the other."""

    def __init__(
        self,
        world: World,
        population: Population,
        measures: Measures,
        models: Switchboard,
        journal: Journal,
    ) -> None:
        self._world = world
        self._population = population
        self._measures = measures
        self._models = models
        self._journal = journal
        self._tick = self._minute = 0
        self._last_tick: int | None = None

    def of_tick(self, tick: int, minute: int, last_tick: int | None) -> tuple[Phase, ...]:
        """Those of a tick, in order. Where days are skipped nobody plans: who has an appointment
        goes there. last_tick: the one that was run before; None for the first.
        """
        self._tick, self._minute, self._last_tick = tick, minute, last_tick
        arrive = Phase("arrive", self.arrive, can_be_left_out=False)
        remember = Phase("remember", self.remember, can_be_left_out=False)
        measure = Phase("measure", self.measure, can_be_left_out=False)
        own = (
            (
                Phase("account", self.account),
                remember,
                Phase("gather", self.gather),
                Phase("converse", self.converse),
                remember,
                Phase("reflect", self.reflect),
            )
            if self._world.days == "skipped"
            else (
                Phase("plan", self.plan),
                Phase("act", self.act, can_be_left_out=False),
                Phase("perceive", self.perceive),
                Phase("appraise", self.appraise),
                Phase("converse", self.converse),
                remember,
                Phase("reflect", self.reflect),
                Phase("replan", self.replan),
            )
        )
        lived = (
            one for one in own if not (one.can_be_left_out and one.name in self._world.without)
        )
        return (arrive, *lived, remember, measure)

    def arrive(self) -> None:
        """Those whom the condition brings come, those whom it does not go. Who comes back
        remembers; whose appointments that changes plans again.
        """
        arrived = arrive(self._world, self._population, self._journal, self._minute)
        self._ask(arrived.new, lambda mind, scene: mind.arrive(scene))
        if self._world.days == "lived" and "plan" not in self._world.without:
            why = phrase("lived", "agreed_anew", self._world.language)
            self._ask(arrived.agree_anew, lambda mind, scene: mind.replan(scene, why))
        self.remember()

    def account(self) -> None:
        """Each client's memories of the days since the last tick that was run."""
        world, last = self._world, self._last_tick
        before = (
            self._minute if last is None else minute_of_tick(last, world.start, world.tick_minutes)
        )
        days = tuple(range(day_of(before) + 1, day_of(self._minute)))
        if days:
            clients = self._names(lambda body: body.resident.spec.role == "client")
            self._ask(clients, lambda mind, scene: mind.account(scene, days))

    def gather(self) -> None:
        """Who has an appointment now is at its place."""
        for name, body in self._population:
            own = self._population.appointments.get(name, ())
            now = next((one for one in own if one[0] == self._minute), None)
            if now is not None:
                minute, place, other = now
                session = self._population.agreed[name][minute, other].session
                self._move(body, place)
                self._journal.write(
                    Acted(
                        who=name,
                        activity=phrase("lived", "keeps", self._world.language),
                        activity_kind=kind_of(session),
                        place=place,
                    )
                )

    def plan(self) -> None:
        """Who has no slot for this tick plans, unless a conversation still goes on."""
        engaged = self._occupied()
        due = self._names(
            lambda body: self._minute not in body.resident.slots and body.name not in engaged
        )
        self._ask(due, lambda mind, scene: mind.plan(scene))

    def act(self) -> None:
        """The body moves; the activity happens. Who is still in a conversation stays with it."""
        engaged = self._occupied()
        for name, body in self._population:
            if name in engaged:
                self._stay(body)
                continue
            slot = body.resident.slots.get(self._minute)
            if slot is None:
                continue
            place = slot.place
            if place != body.resident.place and place not in self._reachable(name):
                place = body.resident.place
            self._move(body, place)
            self._journal.write(
                Acted(
                    who=name,
                    activity=slot.activity,
                    seen=slot.seen,
                    activity_kind=slot.activity_kind,
                    place=place,
                )
            )

    def _occupied(self, minute: int | None = None) -> frozenset[str]:
        at = self._minute if minute is None else minute
        return occupied(self._population.residents(), at)

    def _stay(self, body: Body) -> None:
        """One more tick of the conversation that goes on."""
        doing = body.resident.talks.engaged_at(self._minute)
        assert doing is not None
        self._journal.write(
            Acted(
                who=body.name,
                activity=doing.activity,
                seen=doing.seen,
                activity_kind=doing.kind,
                place=body.resident.place,
            )
        )

    def _reachable(self, name: str) -> set[str]:
        return {place.name for place in self._population.reachable(name)}

    def _move(self, body: Body, place: str) -> None:
        if place != body.resident.place:
            self._journal.write(Moved(who=body.name, origin=body.resident.place, place=place))

    def perceive(self) -> None:
        """Who is awake, and not in a conversation, notices who shares the place, and what they
        do.
        """
        engaged = self._occupied()
        seen = {
            place: tuple(
                Sight(name=name, activity=resident.visible)
                for name in names
                if (resident := self._population.resident(name)).activity
            )
            for place, names in together(self._population.residents()).items()
        }
        for name, body in self._population:
            others = tuple(sight for sight in seen[body.resident.place] if sight.name != name)
            awake = body.resident.activity_kind not in ASLEEP and name not in engaged
            if others != body.resident.sights and awake:
                self._journal.write(Perceived(who=name, others=others))

    def appraise(self) -> None:
        """What begins and what is unexpected gets an emotion."""
        due = self._names(lambda body: bool(body.resident.begun or body.resident.news))
        self._ask(due, lambda mind, scene: mind.appraise(scene))

    def converse(self) -> None:
        """Two people in one place may talk; conversations in different places run at once."""
        talks: dict[str, Ask[Talked]] = {}
        residents = self._population.residents()
        for started, most, minutes in encounters(self._world, self._tick, self._minute, residents):
            one, two = started.who
            first, second = (
                self._population.side(
                    name, self._tick, self._minute, hears=other, embed=self._models.embed.name
                )
                for name, other in ((one, two), (two, one))
            )
            talks[started.chat] = converse(first, second, started, most, minutes)
        for outcome in self._models.ask(talks).values():
            self._journal.warn(outcome)
            for event in outcome.value.events:
                self._journal.write(event)
            for name, drafts in outcome.value.drafts.items():
                self._journal.keep(name, drafts)

    def remember(self) -> None:
        """Lay down what was drafted, all with one question for vectors."""
        drafts, vectors = self._journal.drafts, self._population.vectors
        texts = tuple(sorted({memory.text for own in drafts.values() for memory in own}))
        if not texts:
            return
        question = embedding("remember", "everyone", texts)
        reply = self._models.ask({"remember": ask(question)})["remember"].value
        vectors.update(zip(texts, reply.value, strict=True))
        for name, own in sorted(drafts.items()):
            memory_of = self._population.resident(name).memory
            for draft in own:
                memory = draft.model_copy(update={"id": memory_of.next_id()})
                self._journal.write(Remembered(who=name, memory=memory))
        drafts.clear()
        vectors.clear()

    def reflect(self) -> None:
        """Who is awake and has much that is new reflects."""
        why = {
            name: due
            for name, body in self._population.bodies.items()
            if body.resident.activity_kind not in ASLEEP
            and (due := body.resident.memory.reflection_due())
        }
        self._ask(why, lambda mind, scene: mind.reflect(scene, why[mind.resident.name]))

    def replan(self) -> None:
        """A changed persona or a conversation that mattered revises the rest of the day, from the
        next tick on: what was agreed for this one has happened. Nobody plans in the middle of a
        conversation: it waits for its end.
        """
        ahead = self._minute + self._world.tick_minutes
        if day_of(ahead) != day_of(self._minute):
            return  # a new day is planned anyway
        engaged = self._occupied(ahead)
        due = self._names(lambda body: bool(body.resident.replan_why) and body.name not in engaged)
        self._ask(
            due, lambda mind, scene: mind.replan(scene, mind.resident.replan_why or ""), ahead
        )

    def measure(self) -> None:
        """What the world wants measured at the end of this tick. It changes nobody."""
        due = self._measures.due(self._tick, self._minute, self._population.roles())
        asks = self._measures.asks(due, self._mind_and_scene)
        for outcome in self._models.ask(asks).values():
            self._journal.warn(outcome)
            self._journal.write(outcome.value)
            if self._world.safety.counselors != "nothing":
                for raised in danger_in(outcome.value):
                    self._journal.write(raised)

    def _names(self, which: Callable[[Body], bool]) -> list[str]:
        return [name for name, body in self._population.bodies.items() if which(body)]

    def _mind_and_scene(self, name: str, minute: int | None = None) -> tuple[Mind, Scene]:
        """minute: of the scene; None: now."""
        minute = self._minute if minute is None else minute
        scene = self._population.scene(name, self._tick, minute)
        return self._population.bodies[name].mind, scene

    def _ask(
        self,
        names: Iterable[str],
        what: Callable[[Mind, Scene], Ask[Effects]],
        minute: int | None = None,
    ) -> None:
        """Ask all at once, then apply the answers in name order. minute: as in
        `_mind_and_scene`.
        """
        asks = {name: what(*self._mind_and_scene(name, minute)) for name in names}
        for name, outcome in self._models.ask(asks).items():
            self._journal.take(name, outcome)


class Arrived(NamedTuple):
    """What came of it, by name."""

    new: tuple[str, ...]
    """Who is here for the first time."""
    agree_anew: tuple[str, ...]
    """Who was here already, has planned the day, and had or has an appointment today with one of
    those who came or went.
    """


def arrive(world: World, population: Population, journal: Journal, minute: int) -> Arrived:
    """Those whom the condition brings come, those whom it does not go."""
    here = {spec.name: spec for spec in world.present()}
    before = set(population.bodies)
    for name in sorted(before - set(here)):
        journal.write(Left(who=name))
    coming = [spec for name, spec in here.items() if name not in before]
    new = tuple(spec.name for spec in coming if spec.name not in population.gone)
    for spec in coming:
        journal.write(Joined(who=spec.name, role=spec.role, home=spec.home, place=spec.starts_in))
    _relate(world, population, journal, set(here), set(new))
    others = before ^ set(here)
    affected = (name for name in sorted(before & set(here)) if others)
    return Arrived(
        new, tuple(name for name in affected if _agreed(name, others, population, minute))
    )


def _relate(
    world: World, population: Population, journal: Journal, here: set[str], new: set[str]
) -> None:
    """How close those who are new and the others are as the world begins."""
    for relationship in world.relationships:
        for who, other in (relationship.between, relationship.between[::-1]):
            if who in here and new.intersection(relationship.between):
                journal.write(
                    RelationChanged(
                        who=who,
                        other=other,
                        before=population.resident(who).close_to(other),
                        after=relationship.score,
                        why="as the world begins",
                    )
                )


def _agreed(name: str, others: set[str], population: Population, minute: int) -> bool:
    today = day_of(minute)
    return population.resident(name).planned_day == today and any(
        at >= minute and day_of(at) == today and other in others
        for at, _, other in population.appointments.get(name, ())
    )
