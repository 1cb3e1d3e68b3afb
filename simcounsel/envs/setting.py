"""Who meets whom, when and where: the frame of an episode."""

from collections.abc import Sequence
from dataclasses import dataclass

from simcounsel.agents.mind import Scene
from simcounsel.clock import MINUTES_PER_DAY, minute_of_tick, minutes_of_day
from simcounsel.engine.encounters import SESSION_MINUTES
from simcounsel.errors import SpecError
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.problems import suggest
from simcounsel.specs.residents import Appointment, ResidentSpec
from simcounsel.specs.vocabulary import Role
from simcounsel.specs.world import World
from simcounsel.therapies.specs.case_folder import Case

USUAL_HOUR = "15:00"
"""When sessions are where the two have no appointment in the world."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """An episode's frame."""

    world: World
    client: ResidentSpec
    counselor: ResidentSpec
    outside: Role
    """Who is played from outside."""
    seed: int
    """Of everything that is drawn or asked in it."""
    sessions: int
    """How many there are."""
    days_apart: int
    """From one session to the next."""
    max_turns: int
    """Lines of a session in all."""
    policy: PolicySpec | str | None = None
    """Of the other side, if other than the world's."""
    notes: bool = False
    """Whether the side outside sums up each session."""
    times: tuple[int, ...] = ()
    """When each session is, in minutes since day 0, where they are by the calendar; (): one every
    `days_apart` days.
    """
    human: bool = False
    """Whether a person is outside; the log marks their lines so."""
    case: Case | None = None
    """Whose plan the counselor outside may follow, as far as the client has told what it rests
    on.
    """

    @property
    def inside(self) -> ResidentSpec:
        """Whose mind is simulated."""
        return self.client if self.outside == "counselor" else self.counselor

    @property
    def place(self) -> str:
        """Where the sessions are: as in the two's appointment, else a counseling center, else where
        the counselor is.
        """
        made = appointment(self.world, self.client, self.counselor)
        centers = (
            place.name
            for _, place in self.world.every_place()
            if place.kind == "counseling center" and not place.places
        )
        return made.place if made else next(centers, self.counselor.starts_in)

    def minute(self, session: int) -> int:
        """When a session (from 1) is, in minutes since day 0: the first as in the two's
        appointment, else at USUAL_HOUR.
        """
        if self.times:
            return self.times[session - 1]
        made = appointment(self.world, self.client, self.counselor)
        begin = minute_of_tick(0, self.world.start, self.world.tick_minutes)
        times = made.begins() if made else (minutes_of_day(USUAL_HOUR),)
        first = min(
            (minute for minute in times if minute >= begin),
            default=minutes_of_day(USUAL_HOUR) + MINUTES_PER_DAY,
        )
        return first + (session - 1) * self.days_apart * MINUTES_PER_DAY

    @property
    def minutes(self) -> int:
        """How long a session lasts: as in the two's appointment, or as usual."""
        made = appointment(self.world, self.client, self.counselor)
        return SESSION_MINUTES if made is None or made.minutes is None else made.minutes

    def tick(self, session: int) -> int:
        """In which tick of the world it would be; nothing is run between sessions."""
        begin = minute_of_tick(0, self.world.start, self.world.tick_minutes)
        return (self.minute(session) - begin) // self.world.tick_minutes

    def chat(self, session: int) -> str:
        """The conversation's id."""
        first, second = sorted((self.client.name, self.counselor.name))
        return f"{self.tick(session)}:{first}+{second}"

    def scene(self, session: int) -> Scene:
        """The world as it is at a session, for either of the two."""
        world = self.world
        return Scene(
            seed=self.seed,
            tick=self.tick(session),
            minute=self.minute(session),
            start=world.start,
            tick_minutes=world.tick_minutes,
            plan_slots=world.plan_slots,
            places=(),
            appointments=tuple(
                (self.minute(later), self.place, who)
                for later in range(session + 1, self.sessions + 1)
                for who in (self.client.name, self.counselor.name)
            ),
            language=world.language,
            locale=world.safety.locale,
        )


def appointment(world: World, client: ResidentSpec, counselor: ResidentSpec) -> Appointment | None:
    """The two's first appointment in the world; None when they have none."""
    return next(
        (one for one in world.appointments if set(one.who) == {client.name, counselor.name}), None
    )


def clients_of(world: World, wanted: str | Sequence[str] | None) -> tuple[ResidentSpec, ...]:
    """The clients of those names; all of the world if None. SpecError when one is not there or is
    no client.
    """
    known = {one.name: one for one in world.residents if one.role == "client"}
    names = (
        tuple(sorted(known))
        if wanted is None
        else (wanted,)
        if isinstance(wanted, str)
        else tuple(wanted)
    )
    wrong = next((name for name in names if name not in known), None)
    if wrong is not None:
        raise SpecError(
            [
                f"client: no client {wrong!r} in the world {world.name!r};"
                f" {suggest(wrong, sorted(known)) if known else 'it has none'}"
            ]
        )
    if not names:
        raise SpecError(
            [
                f"client: nobody to counsel: the world {world.name!r} has no client, or none was"
                " named"
            ]
        )
    return tuple(known[name] for name in names)


def counselor_of(world: World, client: ResidentSpec) -> ResidentSpec:
    """The counselor with whom the client has an appointment, else the first by name. SpecError when
    the world has none.
    """
    known = sorted(
        (one for one in world.residents if one.role == "counselor"), key=lambda one: one.name
    )
    if not known:
        raise SpecError(
            [
                f"world {world.name!r}: it has no counselor whose part could be played; add one"
                " under `residents:`"
            ]
        )
    return next((one for one in known if appointment(world, client, one)), known[0])


def turns_of(
    world: World, client: ResidentSpec, counselor: ResidentSpec, wanted: int | None
) -> int:
    """Lines of a session in all: as wanted, else as in the two's appointment, else as in the
    world.
    """
    made = appointment(world, client, counselor)
    return wanted or (made and made.max_turns) or world.conversation.max_turns
