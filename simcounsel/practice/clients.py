"""Who may be practiced with: the clients of a world, the written personas, the cases."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from simcounsel.envs.casting import Cast, Casting
from simcounsel.envs.setting import Setting, clients_of, counselor_of, turns_of
from simcounsel.errors import SpecError
from simcounsel.policies.listening import dangers_in_file
from simcounsel.specs import shipped
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.problems import suggest
from simcounsel.specs.world import World
from simcounsel.therapies.clinic import with_client
from simcounsel.therapies.specs.case_folder import cases_that_are_played, read_case_folder

STRONG = 75
"""The mean strength of beliefs and rules (0 to 100) from which on a client holds to them hard."""
KEEPS_BACK = re.compile(
    r"\bjok(?:es?|ing)\b|\bchanges the subject\b|\bsays (?:that )?(?:everything is fine|all good"
    r"|grand)\b|\btells nobody\b|\bso that nobody asks\b|玩笑|岔开|说没事|不告诉",
    re.IGNORECASE,
)
"""Ways of coping that keep others from asking."""
LINES = 40
"""Lines of a session in all, where the world does not say more."""


def difficulty(persona: ClientPersona, language: str) -> int:
    """From 1 to 3: 1, and one more for each of strong beliefs, ways of coping that keep others from
    asking (or little openness, of a drawn client), and danger in the file.
    """
    held = [one.strength for one in (*persona.core_beliefs, *persona.intermediate_beliefs)]
    held += [one.strength for one in persona.case if one.strength is not None]
    little = persona.drawn is not None and persona.drawn.openness == "little"
    points = (
        bool(held) and sum(held) / len(held) >= STRONG,
        little or any(map(KEEPS_BACK.search, persona.coping_strategies)),
        bool(dangers_in_file(persona, language)),
    )
    return min(3, 1 + sum(points))


def cast_of(world: World, named: str) -> Cast:
    """A client of the world, else a written persona or a case by its name, in the place of the
    world's client. SpecError when there is none of that name.
    """
    own = {one.name: one for one in clients_of(world, None)}
    if named in own:
        return Cast(world=world, client=own[named])
    if named in cases_that_are_played():
        return Casting(world, cases=named).of(0)
    persona = _written().get(named)
    if persona is None:
        known = sorted({*own, *_written(), *cases_that_are_played()})
        raise SpecError([f"client: no client {named!r}; {suggest(named, known)}"])
    seen = next(iter(own.values()))
    placed = with_client(world, seen, counselor_of(world, seen), persona)
    return Cast(world=placed, client=placed.residents[0])


def levels(world: World) -> Mapping[str, int]:
    """Every client by name with its difficulty: those of the world, then in English all written
    personas, and the cases in the world's language.
    """
    found = {one.name: one.persona for one in clients_of(world, None)}
    cases = {name: read_case_folder(Path(name)) for name in cases_that_are_played()}
    more = _written() if world.language == "en" else {}
    more = {name: one for name, one in more.items() if name not in found}
    more |= {name: one.client for name, one in cases.items() if one.language == world.language}
    return {
        name: difficulty(one, world.language)
        for name, one in {**found, **more}.items()
        if isinstance(one, ClientPersona)
    }


def setting_of(world: World, named: str, seed: int) -> Setting:
    """The frame of one session with a client; the seed makes it another one. SpecError as in
    `cast_of`.
    """
    cast = cast_of(world, named)
    counselor = counselor_of(cast.world, cast.client)
    return Setting(
        world=cast.world,
        client=cast.client,
        counselor=counselor,
        outside="counselor",
        seed=seed,
        sessions=1,
        days_apart=7,
        max_turns=max(LINES, turns_of(cast.world, cast.client, counselor, None)),
        human=True,
    )


@cache
def _written() -> Mapping[str, ClientPersona]:
    found = (load_persona(Path(file)) for file in sorted(shipped.folder("personas").glob("*.yaml")))
    return {one.name.split()[0]: one for one in found if isinstance(one, ClientPersona)}
