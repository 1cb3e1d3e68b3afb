"""What a package registers as a policy: who makes it, for whom, and what it can be told."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from simcounsel.policies.policy import Policy
from simcounsel.specs.practice import Language
from simcounsel.specs.vocabulary import Role

S = TypeVar("S", bound=BaseModel)


class NoSettings(BaseModel):
    """Of a policy without settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, kw_only=True)
class PolicyKind(Generic[S]):
    """A policy by its name (entry points of the group simcounsel.policies)."""

    make: Callable[[S, Language], Policy]
    """Makes the policy from what a world tells it and the language of the world. SpecError when
    that cannot be run, or there is nothing in that language."""
    settings: type[S]
    """What it can be told, with defaults: a pydantic model, best one that forbids unknown keys. A
    world gives it as `policy: {name: mine, settings: {depth: 2}}`."""
    roles: frozenset[Role] = frozenset({"counselor", "layperson"})
    """Whose policy it can be."""
