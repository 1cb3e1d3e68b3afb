"""The scales that come with simcounsel, each an attribute of this module under its name, as a
registry names things: `simcounsel.instruments.shipped:phq9`.
"""

from functools import cache
from importlib.resources import files

from simcounsel.instruments.kind import ScaleFile

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
