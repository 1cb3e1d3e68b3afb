"""What the parts of a world say against each other, each with its place in the file."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.specs.file_text import Lines
from simcounsel.specs.persona_file import stand_in
from simcounsel.specs.practice import locale_problem
from simcounsel.specs.problems import At, Problem, Unread, suggest, unread_in, without
from simcounsel.specs.world import World

Found = tuple[At, str]
NAMING = frozenset({"who", "between"})
"""Keys that name residents."""


def at_odds(world: World, path: Path, lines: Lines) -> list[Problem]:
    """What the parts of a world say against each other, with file and line."""
    return [
        Problem(path, lines, at, f"{'.'.join(map(str, at))}: {what}")
        for at, what in world_problems(world)
    ]


def at_odds_beside(
    data: dict[str, Any], path: Path, lines: Lines, problems: Iterable[str]
) -> list[Problem]:
    """The same of a world that cannot be read, with its problems left out, as far as that goes: so
    that nobody has to repair a file to hear of its next mistake.
    """
    broken = [one.at for one in problems if isinstance(one, Problem) and one.file == path]
    data = deepcopy(data)
    nameless = False
    for index, resident in enumerate(data.get("residents") or ()):
        if isinstance(resident, dict) and isinstance(unread := resident.get("persona"), Unread):
            nameless |= "name" not in unread.fields
            resident["persona"] = stand_in(unread)
            broken = [at for at in broken if at != ("residents", index, "persona")]
    broken += unread_in(data)
    for at in broken:
        if at[0] == "measurements":  # nothing else refers to one
            without(data, ("measurements",))
        elif isinstance(at[-1], str):  # without an item of a list the others would move
            without(data, at)
    try:
        found = at_odds(World.model_validate(data), path, lines)
    except (ValidationError, AttributeError, TypeError, ValueError):
        return []
    if nameless:  # a name that nobody has may be theirs
        found = [one for one in found if not NAMING & {*one.at}]
    return [one for one in found if not any(one.at[: len(at)] == at for at in broken)]


def world_problems(world: World) -> list[Found]:
    """Each problem with its place in the file; empty when the world holds together."""
    locale = locale_problem(world.safety.locale)
    return [
        *_place_problems(world),
        *_resident_problems(world),
        *_appointment_problems(world),
        *_pair_problems(world),
        *_measurement_problems(world),
        *_skipping_problems(world),
        *([(("safety", "locale"), locale)] if locale else []),
        *_prompt_problems(world),
    ]


def _prompt_problems(world: World) -> Iterator[Found]:
    if world.prompts and not world.prompts.speaks(world.language):
        yield (
            ("prompts",),
            (
                f"the set {world.prompts.name!r} has no prompt in the language of this world,"
                f" {world.language!r}; add some in a folder {world.language!r} in it"
            ),
        )


def _place_problems(world: World) -> Iterator[Found]:
    seen: set[str] = set()
    for at, place in world.every_place():
        if place.name in seen:
            yield (*at, "name"), f"a second place is named {place.name!r}; names must differ"
        seen.add(place.name)


def _resident_problems(world: World) -> Iterator[Found]:
    by_name = {place.name: place for _, place in world.every_place()}
    leaves = [name for name, place in by_name.items() if not place.places]
    seen: set[str] = set()
    for index, resident in enumerate(world.residents):
        at: tuple[str | int, ...] = ("residents", index)
        if resident.name in seen:
            yield (
                (*at, "name"),
                f"a second resident is named {resident.name!r}; give one another `name:`",
            )
        seen.add(resident.name)
        if resident.home not in by_name:
            yield (
                (*at, "home"),
                (
                    f"no place {resident.home!r} in this world;"
                    f" {suggest(resident.home, list(by_name))}"
                ),
            )
        if resident.starts_in not in by_name:
            yield (
                (*at, "starts_in"),
                (
                    f"no place {resident.starts_in!r} in this world;"
                    f" {suggest(resident.starts_in, leaves)}"
                ),
            )
        elif resident.starts_in not in leaves:
            inner = ", ".join(p.name for p in by_name[resident.starts_in].places)
            yield (
                (*at, "starts_in"),
                f"{resident.starts_in!r} holds other places; name one of them: {inner}",
            )
    if not world.present():
        yield (
            ("condition",),
            (
                f"{world.condition!r} leaves nobody in this world; add a client, or use condition:"
                " everyone"
            ),
        )


def _appointment_problems(world: World) -> Iterator[Found]:
    leaves = [place.name for _, place in world.every_place() if not place.places]
    names = [r.name for r in world.residents]
    taken: dict[tuple[str, int], int] = {}
    for index, appointment in enumerate(world.appointments):
        at: tuple[str | int, ...] = ("appointments", index)
        for who in appointment.who:
            if who not in names:
                yield (*at, "who"), f"no resident {who!r} in this world; {suggest(who, names)}"
            for minute in appointment.begins():
                if taken.setdefault((who, minute), index) != index:
                    yield (*at, "at"), f"{who} has another appointment then; move one of them"
        if appointment.who[0] == appointment.who[1]:
            yield (*at, "who"), "an appointment is between two different people"
        if appointment.place not in leaves:
            yield (
                (*at, "place"),
                (
                    f"no place {appointment.place!r} in this world;"
                    f" {suggest(appointment.place, leaves)}"
                ),
            )
        start = world.start.hour * 60 + world.start.minute
        if any((minute - start) % world.tick_minutes for minute in appointment.begins()):
            yield (
                (*at, "at"),
                (
                    f"{appointment.at!r} falls between two ticks of {world.tick_minutes} minutes;"
                    " move it to one"
                ),
            )


def _pair_problems(world: World) -> Iterator[Found]:
    names = [r.name for r in world.residents]
    seen: set[frozenset[str]] = set()
    for index, relationship in enumerate(world.relationships):
        at: tuple[str | int, ...] = ("relationships", index, "between")
        for who in relationship.between:
            if who not in names:
                yield at, f"no resident {who!r} in this world; {suggest(who, names)}"
        pair = frozenset(relationship.between)
        if len(pair) == 1:
            yield at, "a relationship is between two different people"
        if pair in seen:
            yield at, f"{' and '.join(sorted(pair))} are here a second time; remove one"
        seen.add(pair)


def _measurement_problems(world: World) -> Iterator[Found]:
    names = [r.name for r in world.residents]
    for index, measurement in enumerate(world.measurements):
        at: tuple[str | int, ...] = ("measurements", index)
        for who in measurement.who:
            if who not in names:
                yield (*at, "who"), f"no resident {who!r} in this world; {suggest(who, names)}"
        if not measurement.who and not any(one.role == "client" for one in world.residents):
            yield at, "nobody is a client here; say `who` is asked"
        if (measurement.tick or 0) >= world.ticks:
            yield (
                (*at, "when"),
                f"{measurement.when!r} is never run; the ticks are 0 to {world.ticks - 1}",
            )
        if measurement.scale is None and measurement.instrument.endswith((".yaml", ".yml")):
            yield (
                (*at, "instrument"),
                (
                    f"{measurement.instrument!r}: a scale's file is named in the world's own file;"
                    " name a shipped instrument here"
                ),
            )


def _skipping_problems(world: World) -> Iterator[Found]:
    if world.days == "lived":
        return
    last = world.appointed()[-1:]
    if not last:
        yield (
            ("days",),
            (
                "only appointments are run and there is none from the start on; add one, or use"
                " days: lived"
            ),
        )
    elif world.ticks != last[0] + 1:
        yield (
            ("ticks",),
            (
                f"{world.ticks}: with days: skipped a world ends with its last appointment; write"
                f" ticks: {last[0] + 1}"
            ),
        )
