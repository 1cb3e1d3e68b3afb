"""The scales that come with simcounsel, and those of one's own: by name, or by file."""

import difflib
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from simcounsel.errors import SpecError
from simcounsel.specs.load import line_of, load_spec
from simcounsel.specs.scale import Item, Scale

__all__ = ["Item", "Scale", "find_scale", "read_scale", "shipped_names", "unknown_instrument"]

TALK_MEASURES = "talk_measures"
"""Not a scale: counted from the talk itself, by `instruments.talk`."""


@cache
def shipped_names() -> tuple[str, ...]:
    """Names of the scales that come with simcounsel, in order."""
    folder = files("simcounsel.instruments").joinpath("scales")
    return tuple(
        sorted(
            file.name.removesuffix(".yaml")
            for file in folder.iterdir()
            if file.name.endswith(".yaml")
        )
    )


def shipped(name: str) -> Scale:
    """The scale of that name. SpecError when there is none."""
    if name not in shipped_names():
        raise SpecError([unknown_instrument(name)])
    return _as_shipped(name)


@cache
def _as_shipped(name: str) -> Scale:
    with as_file(files("simcounsel.instruments").joinpath("scales", f"{name}.yaml")) as path:
        return load_spec(path, Scale)[0]


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
    """Whether a scale bears the id of a shipped one and says something else: their measurements
    could not be told apart.
    """
    return scale.id == TALK_MEASURES or (
        scale.id in shipped_names() and scale != _as_shipped(scale.id)
    )


def find_scale(name_or_file: str) -> Scale:
    """A shipped scale by its name, or one's own by its file (ending in .yaml or .yml). SpecError
    when there is none.
    """
    if name_or_file.endswith((".yaml", ".yml")):
        return read_scale(Path(name_or_file))
    return shipped(name_or_file)


def unknown_instrument(name: str) -> str:
    """What to say about a name that no instrument has."""
    known = [*shipped_names(), TALK_MEASURES]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"no instrument {name!r}; " + (
        f"did you mean '{near[0]}'?"
        if near
        else f"there are {', '.join(known)}; or name a .yaml file"
    )
