"""Several instruments under one name, such as `cbt`: a guest registers them."""

from typing import Any

from simcounsel.instruments.scale import INSTRUMENTS
from simcounsel.registry import Registry

SETS: Registry[dict[str, Any]] = Registry(
    "simcounsel.instrument_sets", "a table of instruments by the name of a set", dict, {}
)


def instruments_of(wanted: str) -> tuple[str, ...]:
    """The instruments of a set; else those that are named, with commas between them. Each once, and
    whoever looks for them says which of them there are not.
    """
    found: dict[str, None] = {}
    for name in filter(None, map(str.strip, wanted.split(","))):
        of_set = () if name in INSTRUMENTS else _of_set(name)
        found |= dict.fromkeys(of_set or (name,))
    return tuple(found)


def _of_set(name: str) -> tuple[str, ...]:
    sets = (SETS.load(plugin) for plugin in SETS.plugins())
    return next((tuple(one[name]) for one in sets if name in one), ())
