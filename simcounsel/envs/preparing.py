"""What an environment is made from: its settings, the world with the models that were named, and
the client of an episode.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcounsel.envs.reward import Reward
from simcounsel.errors import SpecError
from simcounsel.llm.catalog import open_chats, open_embed
from simcounsel.llm.switchboard import Switchboard
from simcounsel.named_code import name_code
from simcounsel.specs.practice import PolicySpec, check_locale
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world


@dataclass(frozen=True, kw_only=True)
class EnvSettings:
    """What an environment is like. SpecError when a number is out of its bounds."""

    world: World | str | Path = "insomnia"
    """A world, or its file."""
    client: str | Sequence[str] | None = None
    """Whom to counsel, or several of whom the seed draws one; None: all clients of the world."""
    cases: str | Sequence[str] | None = None
    """In place of the world's clients: folders of cases, or names of those that come with
    simcounsel, such as `organist`. Where a case has a plan, `known` holds what of it has opened.
    """
    people: int = 0
    """In place of the world's clients: so many, drawn by seed from the written ones, such as
    2000. The same number is the same client everywhere.
    """
    model: str | None = None
    """For everything but vectors, in place of what the world names."""
    judge: str | None = None
    """For instruments that an observer answers; None: `model`, else as in the world."""
    sessions: int | None = None
    """In an episode, 1 to 1000; None: as many as a case's plan has, else 1."""
    days_apart: int = 7
    """From one session to the next, 1 to 365."""
    max_turns: int | None = None
    """Lines of a session in all, 2 to 200; None: as in the appointment, else in the world."""
    reward: Reward | str | Path = "alliance"
    """A reward, a shipped one's name, or a file."""
    policy: PolicySpec | str | None = None
    """The client's; None: the world's. Code that it names may be run."""
    notes: bool = False
    """Whether the counselor's persona sums up each session, and `known` holds that."""
    out: str | Path | None = None
    """A folder for the runs of complete episodes, which `simcounsel view` shows; None: they are not
    written.
    """

    def __post_init__(self) -> None:
        _check_numbers(
            sessions=(self.sessions, 1, 1000),
            people=(self.people, 0, 1_000_000),
            days_apart=(self.days_apart, 1, 365),
            max_turns=(self.max_turns, 2, 200),
        )
        name_code(self.policy)

    def world_played(self) -> World:
        """The world with the models that were named. SpecError when it cannot be played."""
        world = load_world(self.world) if isinstance(self.world, str | Path) else self.world
        return _world_with(world, self.model, self.judge)


def wanted_client(options: Mapping[str, Any]) -> Any:
    """Whom the options name; None when they name nobody. SpecError for another option."""
    unknown = sorted(set(options) - {"client"})
    if unknown:
        raise SpecError([f"options: unknown {unknown[0]!r}; there is client"])
    return options.get("client")


def _check_numbers(**numbers: tuple[int | None, int, int]) -> None:
    """Each number within its bounds, or None where that is allowed."""
    wrong = [
        f"{name}: {value!r}; a whole number from {low} to {high}"
        for name, (value, low, high) in numbers.items()
        if not (value is None and name in ("max_turns", "sessions"))
        and (not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high)
    ]
    if wrong:
        raise SpecError(wrong)


def _world_with(world: World, model: str | None, judge: str | None) -> World:
    """The world with other models, if wanted; the scripted one brings its own vectors."""
    roles: dict[str, str | None] = (
        {} if model is None else {"reason": model, "quick": None, "judge": None}
    )
    if model == "scripted":
        roles["embed"] = "scripted"
    if judge is not None:
        roles["judge"] = judge
    check_locale(world.safety)
    world = (
        world.with_one_model(roles)
        if model is not None
        else world.model_copy(update={"models": world.models.model_copy(update=roles)})
    )
    replaying = next(
        (name for name in world.model_names().values() if name.startswith("recorded:")), None
    )
    if replaying:
        raise SpecError(
            [
                f"model: {replaying!r} repeats what was said in a run, and cannot answer anybody"
                " else; name a model that can"
            ]
        )
    return world


def open_models(world: World) -> Switchboard:
    """The models that the world names. ModelError says what is missing."""
    roles = world.model_names()
    return Switchboard(open_chats(roles), open_embed(roles["embed"]))
