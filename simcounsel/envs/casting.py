"""Whom an episode may be with: residents of a world, cases, or clients that a seed draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from simcounsel.envs.setting import clients_of, counselor_of
from simcounsel.errors import SpecError
from simcounsel.specs import shipped
from simcounsel.specs.drawing import drawn_persona
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.residents import ResidentSpec
from simcounsel.specs.world import World
from simcounsel.therapies.clinic import with_client
from simcounsel.therapies.specs.case_folder import Case, read_case_folder
from simcounsel.therapies.specs.client_files import in_terms_of

PEOPLE_SEED = 1
"""Of the clients who are drawn: their numbers are the same in every environment."""


@dataclass(frozen=True, kw_only=True)
class Cast:
    """A client, and the world in which a counselor meets them."""

    world: World
    client: ResidentSpec
    case: Case | None = None


class Casting:
    """All who may be met; `of` gives one by its number, from 0."""

    def __init__(
        self,
        world: World,
        client: str | Sequence[str] | None = None,
        cases: str | Sequence[str] | None = None,
        people: int = 0,
    ) -> None:
        """SpecError for a client or case that is not there, or where two of the three are given."""
        if sum(map(bool, (client, cases, people))) > 1:
            raise SpecError(["client, cases, people: name one of the three"])
        self._world, self._people = world, people
        self._cases = tuple(
            read_case_folder(Path(one))
            for one in ([cases] if isinstance(cases, str) else cases or ())
        )
        self._residents = () if self._cases or people else clients_of(world, client)

    def __len__(self) -> int:
        """How many there are."""
        return self._people or len(self._cases) or len(self._residents)

    def of(self, number: int) -> Cast:
        """One of them."""
        if self._people:
            return self._placed(person(number))
        if self._cases:
            case = self._cases[number]
            return self._placed(in_terms_of(case.client, case.school), case)
        return Cast(world=self._world, client=self._residents[number])

    def named(self, wanted: object) -> Cast:
        """The one of that name, or of that number among those who are drawn. SpecError when there
        is none.
        """
        if self._people:
            if isinstance(wanted, int) and 0 <= wanted < self._people:
                return self.of(wanted)
            raise SpecError([f"options: client {wanted!r}; a number from 0 to {self._people - 1}"])
        names = [cast.client.name for cast in map(self.of, range(len(self)))]
        if wanted not in names:
            raise SpecError(
                [f"options: no client {wanted!r} in this environment; there are {', '.join(names)}"]
            )
        return self.of(names.index(str(wanted)))

    def some(self) -> Sequence[Cast]:
        """Those who are there by name, or the first of those who are drawn: all have one frame."""
        return [self.of(number) for number in range(1 if self._people else len(self))]

    @cached_property
    def _seen(self) -> tuple[ResidentSpec, ResidentSpec]:
        client = clients_of(self._world, None)[0]
        return client, counselor_of(self._world, client)

    def _placed(self, persona: ClientPersona, case: Case | None = None) -> Cast:
        language: dict[str, Any] = {"language": case.language} if case else {}
        world = with_client(self._world.model_copy(update=language), *self._seen, persona)
        return Cast(world=world, client=world.residents[0], case=case)


def sessions_of(cast: Cast, wanted: int | None) -> int:
    """How many an episode has: as wanted, else as the case's plan has, else one."""
    plan = cast.case.plan if cast.case else None
    return wanted or (plan.length if plan else 1)


@lru_cache(maxsize=512)
def person(number: int) -> ClientPersona:
    """The drawn client of that number, from one of the written clients that come with simcounsel:
    another name, age, manner, strengths of beliefs, some situations and ways of coping left out.
    """
    files = _written()
    return drawn_persona(files[number % len(files)], number + 1, PEOPLE_SEED)


@lru_cache(maxsize=1)
def _written() -> tuple[Path, ...]:
    files = sorted(shipped.folder("personas").glob("*.yaml"))
    return tuple(one for one in files if isinstance(load_persona(one), ClientPersona))
