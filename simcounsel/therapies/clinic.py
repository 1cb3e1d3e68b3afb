"""A world turned into a clinic: one client, one counselor, the sessions of a course; the days
between are skipped.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from simcounsel.clock import minutes_of_day
from simcounsel.errors import SpecError
from simcounsel.specs.persona import AnyPersona, ClientPersona
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.problems import suggest
from simcounsel.specs.residents import Appointment, Place, ResidentSpec
from simcounsel.specs.world import World
from simcounsel.specs.world_problems import world_problems
from simcounsel.therapies.specs.client_files import in_terms_of
from simcounsel.therapies.specs.course import (
    FEWEST_SESSIONS,
    MOST_SESSIONS,
    USUAL_SESSIONS,
    CoursePlan,
)
from simcounsel.therapies.specs.therapy import Therapy

USUAL_LINES, USUAL_TIME, DAYS_BETWEEN = 24, "10:00", 7
MOST_HISTORY = 3_900
"""Characters of a client's history."""


def clinic_world(
    world: World,
    *,
    client: str | None = None,
    counselor: str | None = None,
    therapy: Therapy,
    sessions: int | None = None,
    plan: CoursePlan | None = None,
    lines: int = USUAL_LINES,
    every: int = DAYS_BETWEEN,
    settings: Mapping[str, int] | None = None,
    persona: ClientPersona | None = None,
) -> World:
    """The same world with nobody but the two in it, a session every so many days at the time and
    place of their first appointment (or at ten, where counseling takes place), a course on the one
    side and a client who changes on the other, with a file in the therapy's terms where there is
    one. settings: of the course's own policy. persona: who is the client in place of the world's
    own. SpecError when the world lacks one of the two.
    """
    seen, seeing = _pair(world, client, counselor)
    if persona is not None:
        world = with_client(world, seen, seeing, persona)
        seen = world.residents[0]
    if plan and plan.held:
        seen = _who_remembers(seen, plan)
        world = world.model_copy(update={"residents": (seen, seeing)})
    own = next((a for a in world.appointments if set(a.who) == {seen.name, seeing.name}), None)
    at, place = (own.at, own.place) if own else (USUAL_TIME, _counseling_place(world))
    count = _length(sessions, plan, therapy)
    start = world.start.replace(hour=0, minute=0) + timedelta(
        minutes=minutes_of_day(at) - world.tick_minutes
    )
    first = 0 if start.date() == world.start.date() else 1
    left = count - len(plan.held) if plan else count
    days = tuple(first + number * every for number in range(left))
    policies = {seen.name: None, seeing.name: _course(therapy, count, plan, settings)}
    changes: dict[str, Any] = {
        "name": f"{world.name[:48]} clinic",
        "start": start,
        "condition": "client_counselor",
        "days": "skipped",
        "residents": tuple(
            one.model_copy(
                update={"policy": policies[one.name], "persona": _in_terms(one.persona, therapy)}
            )
            for one in world.residents
            if one.name in policies
        ),
        "appointments": (
            Appointment(
                who=(seen.name, seeing.name), days=days, at=at, place=place, max_turns=lines
            ),
        ),
        "relationships": tuple(
            one for one in world.relationships if set(one.between) <= policies.keys()
        ),
        "measurements": tuple(one for one in world.measurements if set(one.who) <= policies.keys()),
    }
    clinic = world.model_copy(update=changes)
    clinic = clinic.model_copy(update={"ticks": clinic.appointed()[-1] + 1})
    problems = world_problems(clinic)
    if problems:
        raise SpecError(
            [f"{world.name}: {'.'.join(map(str, where))}: {what}" for where, what in problems]
        )
    return clinic


def _course(
    therapy: Therapy, count: int, plan: CoursePlan | None, settings: Mapping[str, int] | None
) -> PolicySpec:
    return PolicySpec.model_validate(
        {
            "name": "course",
            "therapy": therapy,
            "sessions": count,
            "plan": plan,
            "settings": dict(settings) if settings else None,
        }
    )


def _in_terms(persona: AnyPersona, therapy: Therapy) -> AnyPersona:
    return in_terms_of(persona, therapy) if isinstance(persona, ClientPersona) else persona


def with_client(
    world: World, seen: ResidentSpec, seeing: ResidentSpec, persona: ClientPersona
) -> World:
    """The world with another client in the home of its own, whom nobody knows yet."""
    name = persona.name.split()[0]
    if name == seeing.name:
        name = persona.name
    old = re.compile(rf"\b{re.escape(seen.name)}\b")

    def renamed(place: Place) -> Place:
        inner = tuple(renamed(one) for one in place.places)
        return place.model_copy(update={"name": old.sub(name, place.name), "places": inner})

    own = seen.model_copy(
        update={
            "name": name,
            "persona": persona,
            "home": old.sub(name, seen.home),
            "starts_in": old.sub(name, seen.starts_in),
        }
    )
    who = {seen.name: name}
    changes: dict[str, Any] = {
        "places": tuple(map(renamed, world.places)),
        "residents": (own, seeing),
        "relationships": (),
        "appointments": tuple(
            one.model_copy(update={"who": tuple(who.get(each, each) for each in one.who)})
            for one in world.appointments
        ),
        "measurements": tuple(
            one.model_copy(update={"who": tuple(who.get(each, each) for each in one.who)})
            for one in world.measurements
        ),
    }
    return world.model_copy(update=changes)


def _who_remembers(seen: ResidentSpec, plan: CoursePlan) -> ResidentSpec:
    """The client with the sessions that were held before as a part of its history."""
    told = [held.summary for held in plan.held if held.summary]
    history = "\n".join([seen.persona.history, *told])[:MOST_HISTORY]
    return seen.model_copy(update={"persona": seen.persona.model_copy(update={"history": history})})


def _length(sessions: int | None, plan: CoursePlan | None, therapy: Therapy) -> int:
    """How many sessions the course has: as the plan says, or as asked. SpecError when that is too
    few or too many, or when the plan says something else than what is asked.
    """
    count = plan.length if plan else sessions or USUAL_SESSIONS
    if not FEWEST_SESSIONS <= count <= MOST_SESSIONS:
        raise SpecError([f"--sessions {count}: a course has {FEWEST_SESSIONS} to {MOST_SESSIONS}"])
    if plan and (sessions or plan.length) != plan.length:
        raise SpecError(
            [
                f"--sessions {sessions}: the plan has {plan.length}; leave --sessions out, or"
                " change the plan"
            ]
        )
    if plan and plan.therapy != therapy.id:
        raise SpecError(
            [
                f"--therapy {therapy.id}: the plan is one of {plan.therapy}; leave --therapy out,"
                " or change the plan"
            ]
        )
    return count


def _pair(
    world: World, client: str | None, counselor: str | None
) -> tuple[ResidentSpec, ResidentSpec]:
    """Client and counselor: whoever is named, and of the others the first with an appointment with
    them, or the first there is.
    """
    clients, counselors = _named(world, "client", client), _named(world, "counselor", counselor)
    booked = [set(appointment.who) for appointment in world.appointments]
    pairs = [(one, other) for one in clients for other in counselors]
    found = [
        (booked.index({one.name, other.name}), (one, other))
        for one, other in pairs
        if {one.name, other.name} in booked
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else pairs[0]


def _named(world: World, role: str, name: str | None) -> list[ResidentSpec]:
    """The residents of that role; only the one of that name, if one is given. SpecError when there
    is none.
    """
    of_role = [one for one in world.residents if one.role == role]
    if not of_role:
        raise SpecError(
            [
                f"{world.name}: no {role} lives in this world; a clinic needs a client and a"
                " counselor"
            ]
        )
    found = [one for one in of_role if name is None or one.name.casefold() == name.casefold()]
    if not found:
        raise SpecError(
            [
                f"{world.name}: no {role} {name!r} in this world;"
                f" {suggest(str(name), [one.name for one in of_role])}"
            ]
        )
    return found


def _counseling_place(world: World) -> str:
    places = [place for _, place in world.every_place() if not place.places]
    return next(
        (place.name for place in places if place.kind == "counseling center"), places[0].name
    )
