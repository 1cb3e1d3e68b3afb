"""Which mind a resident has, by the name that the world gives."""

from collections.abc import Callable
from typing import cast

from simcounsel.agents.mind import Mind
from simcounsel.agents.resident import Resident
from simcounsel.errors import SpecError
from simcounsel.named_code import check_code
from simcounsel.registry import Plugin, Registry

MINDS: Registry[object] = Registry(
    "simcounsel.minds", "a mind", object, {"person": "simcounsel.agents.person:Person"}
)
"""Each makes a `Mind` from its resident: a class, or a function."""
DEFAULT_MIND = "person"


def mind_for(resident: Resident) -> Mind:
    """The resident's mind: of the registered name, or where the world says `package.module:name`,
    whatever lies there. SpecError when there is none, PluginError when it cannot be imported, or is
    code that the user did not allow.
    """
    return maker_of(resident.spec.mind)(resident)


def maker_of(name: str | None) -> Callable[[Resident], Mind]:
    """What makes minds of that name. Errors as `mind_for`."""
    name = name or DEFAULT_MIND
    if ":" in name:
        check_code(name)
        found: object = MINDS.load(Plugin(name=name, value=name, distribution="named in the world"))
    else:
        found = MINDS.get(name)
    if found is None:
        raise SpecError(
            [f"mind: no mind {name!r}; there are {MINDS.known()}, or write package.module:name"]
        )
    if not callable(found):
        raise SpecError(
            [f"mind: {name} is {type(found).__name__}; a mind is made by a class or a function"]
        )
    return cast(Callable[[Resident], Mind], found)
