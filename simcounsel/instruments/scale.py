"""The scales that come with simcounsel, and those of one's own: by name, or by file.

Each included scale is an attribute of this module under its name, as a registry names things:
`simcounsel.instruments.scale:phq9`.
"""

import difflib
from functools import cache
from importlib.resources import files
from pathlib import Path

from simcounsel.errors import PluginError, SpecError
from simcounsel.instruments.kind import Counted, ScaleFile
from simcounsel.registry import Registry
from simcounsel.specs.items import Item
from simcounsel.specs.load import line_of, load_spec
from simcounsel.specs.scale import Scale

_FOLDER = files("simcounsel.instruments").joinpath("scales")


@cache
def shipped_names() -> tuple[str, ...]:
    """Names of the scales that come with simcounsel, in order."""
    return tuple(
        sorted(
            file.name.removesuffix(".yaml")
            for file in _FOLDER.iterdir()
            if file.name.endswith(".yaml")
        )
    )


def __getattr__(name: str) -> ScaleFile:
    if name not in shipped_names():
        raise AttributeError(f"no scale {name!r}")
    return ScaleFile(package="simcounsel.instruments", file=f"scales/{name}.yaml")


__all__ = [
    "Item",
    "Scale",
    "find_instrument",
    "find_scale",
    "read_scale",
    "shipped_names",
    "unknown_instrument",
]

TALK_MEASURES = "talk_measures"
"""Not a scale: counted from the talk itself, by `instruments.talk`."""
INSTRUMENTS: Registry[object] = Registry(
    "simcounsel.instruments",
    "an instrument",
    object,
    {
        **{name: f"simcounsel.instruments.scale:{name}" for name in shipped_names()},
        TALK_MEASURES: "simcounsel.instruments.talk:TALK",
    },
)
"""Each a `Scale`, a `ScaleFile` or a `Counted`."""


@cache
def _registered(name: str) -> Scale | Counted:
    """SpecError when there is none of that name, PluginError when it cannot be used."""
    found = INSTRUMENTS.get(name)
    if found is None:
        raise SpecError([unknown_instrument(name)])
    found = found.read() if isinstance(found, ScaleFile) else found
    if not isinstance(found, Scale | Counted) or found.id != name:
        raise PluginError(
            f"simcounsel.instruments: {name} is {type(found).__name__}"
            f" {getattr(found, 'id', '')!r}; an instrument is a Scale, a ScaleFile or a Counted,"
            " and its id is the name that it is registered by"
        )
    return found


def shipped(name: str) -> Scale:
    """The scale that is registered by that name. SpecError when there is none."""
    found = _registered(name)
    if isinstance(found, Counted):
        raise SpecError([f"{name} is no scale: it is counted from the talk, and nobody is asked"])
    return found


def read_scale(path: Path) -> Scale:
    """A scale from a file; SpecError names every problem in it with its line."""
    scale, lines = load_spec(path, Scale)
    if taken(scale):
        raise SpecError(
            [
                f"{path}:{line_of(lines, ('id',))}: {scale.id!r} is the id of another scale, which"
                " comes with simcounsel; choose another"
            ]
        )
    return scale


def taken(scale: Scale) -> bool:
    """Whether a scale bears the id of a registered instrument and says something else: their
    measurements could not be told apart.
    """
    return scale.id in INSTRUMENTS and scale != _registered(scale.id)


def find_scale(name_or_file: str) -> Scale:
    """A registered scale by its name, or one's own by its file (ending in .yaml or .yml). SpecError
    when there is none.
    """
    if name_or_file.endswith((".yaml", ".yml")):
        return read_scale(Path(name_or_file))
    return shipped(name_or_file)


def find_instrument(name_or_file: str) -> Scale | Counted:
    """As `find_scale`, or what is counted, such as `talk_measures`."""
    if name_or_file.endswith((".yaml", ".yml")):
        return read_scale(Path(name_or_file))
    return _registered(name_or_file)


def unknown_instrument(name: str) -> str:
    """What to say about a name that no instrument has."""
    known = INSTRUMENTS.names()
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"no instrument {name!r}; " + (
        f"did you mean '{near[0]}'?"
        if near
        else f"there are {INSTRUMENTS.known()}; or name a .yaml file"
    )
