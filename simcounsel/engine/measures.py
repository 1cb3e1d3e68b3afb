"""A world's measurements: what is due at the end of a tick, and the asks that make it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simcounsel.agents.mind import Mind, Scene
from simcounsel.errors import SpecError
from simcounsel.events import Assessed, Entry, Measured
from simcounsel.llm.question import Ask
from simcounsel.policies.listening import in_answers
from simcounsel.specs.measurement import MeasurementSpec
from simcounsel.specs.world import World

if TYPE_CHECKING:  # loaded only where something is measured
    from simcounsel.instruments.kind import Counted
    from simcounsel.instruments.material import Talk
    from simcounsel.instruments.scale import Scale


@dataclass(frozen=True, kw_only=True)
class Due:
    """One measurement to be made now."""

    who: str
    spec: MeasurementSpec
    scale: "Scale | Counted"
    point: str
    talk: "Talk | None" = None
    """The conversation that it is about; None: the last by appointment, or else of all."""

    @property
    def instrument(self) -> str:
        """The instrument's name, as it is in the event."""
        return self.scale.id


class Measures:
    """What a world wants measured. SpecError when it names an instrument that there is not."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._scales = scales_of(world)
        if self._scales:
            from simcounsel.instruments.record import ObserverRecord

            self._record = ObserverRecord(world)

    def observe(self, entry: Entry) -> None:
        """Keep what an instrument may be asked about; nothing in a world without measurements."""
        if self._scales:
            self._record.observe(entry)

    def due(self, tick: int, minute: int, roles: Mapping[str, str]) -> Iterator[Due]:
        """What is measured at the end of the tick. roles: of those who live in the world, by
        name.
        """
        for spec, scale in self._scales:
            for who in spec.who or tuple(name for name, role in roles.items() if role == "client"):
                if who in roles:
                    for point, talk in self._moments(spec, who, tick, minute):
                        yield Due(who=who, spec=spec, scale=scale, point=point, talk=talk)

    def _moments(
        self, spec: MeasurementSpec, who: str, tick: int, minute: int
    ) -> "Iterator[tuple[str, Talk | None]]":
        """What the measurements of somebody at the end of this tick are called, and the
        conversation that each is about where it is not the last.
        """
        if spec.after_each_talk:
            for talk in self._record.talks_in(who, tick):
                yield self._record.point(who, talk), talk
            return
        point = spec.point(
            tick,
            minute,
            last_tick=self.world.ticks - 1,
            tick_minutes=self.world.tick_minutes,
            sessions=self._record.session_in(who, tick),
        )
        if point is not None:
            yield point, None

    def asks(
        self, due: Iterator[Due], mind_of: Callable[[str], tuple[Mind, Scene]]
    ) -> dict[str, Ask[Measured]]:
        """The asks, under keys that sort by name and instrument."""
        return {
            f"{one.who}\x1f{one.instrument}\x1f{number:04d}": self._ask(one, *mind_of(one.who))
            for number, one in enumerate(due)
        }

    def _ask(self, one: Due, mind: Mind, scene: Scene) -> Ask[Measured]:
        from simcounsel.instruments.kind import Counted
        from simcounsel.instruments.material import material_for
        from simcounsel.instruments.measuring import measure_seen, measure_self

        at_end = replace(scene, minute=scene.minute + scene.tick_minutes)
        if isinstance(one.scale, Counted):
            return self._count(one, one.scale)
        if one.scale.respondent == "self":
            seated = one.who in self._record.seated
            return measure_self(mind, at_end, one.scale, one.point, seated=seated)
        versions = tuple(self._record.versions.get(one.who, ()))
        talk = one.talk or self._record.last_talk(one.who)
        material = material_for(one.scale, self.world, one.who, talk, versions)
        return measure_seen(
            one.scale, one.who, material, one.point, self.world.seed, scene.tick, one.who, one.point
        )

    def _count(self, one: Due, counted: "Counted") -> Ask[Measured]:
        """Counted, not asked: an Ask without a question."""
        from simcounsel.instruments.material import blind_lines, blinding_for

        yield from ()
        talk = one.talk or self._record.last_talk(one.who)
        if talk is None:
            return counted.measured(one.who, one.point, (), (), "no conversation yet")
        other = next(name for name in talk.who if name != one.who)
        lines = blind_lines(blinding_for(self.world, one.who, other), one.who, talk.lines)
        return counted.measured(one.who, one.point, lines, (talk.chat,))


def danger_in(measured: Measured) -> tuple[Assessed, ...]:
    """What a self-report says of danger; nothing where others answered."""
    if measured.respondent != "self":
        return ()
    answers = {item.id: item.value for item in measured.items}
    return in_answers(measured.instrument, answers, measured.who)


def scales_of(world: World) -> "list[tuple[MeasurementSpec, Scale | Counted]]":
    """Each measurement with its instrument. SpecError for an instrument that
    there is not, or of one's own that bears the id of another.
    """
    if not world.measurements:
        return []
    from simcounsel.instruments.scale import find_instrument, taken

    for spec in world.measurements:
        if spec.scale is not None and taken(spec.scale):
            raise SpecError(
                [
                    f"{spec.instrument}: {spec.scale.id!r} is the id of another scale, which comes"
                    " with simcounsel; choose another"
                ]
            )
    return [(spec, spec.scale or find_instrument(spec.instrument)) for spec in world.measurements]
