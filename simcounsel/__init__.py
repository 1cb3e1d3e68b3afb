"""simcounsel: people with emotions, memories and homes, some of whom meet a counselor.

    from simcounsel import Simulation, load_world
    world = load_world("worlds/insomnia.yaml")
    Simulation(world).run()

The names below are imported when they are first used, so that `import simcounsel` stays cheap.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simcounsel.engine.simulation import Simulation
    from simcounsel.runs.run import Run
    from simcounsel.specs.world_file import load_world

__version__ = "0.1.0"
__all__ = ["Run", "Simulation", "__version__", "load_world"]

_HOMES = {
    "Simulation": "simcounsel.engine.simulation",
    "Run": "simcounsel.runs.run",
    "load_world": "simcounsel.specs.world_file",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simcounsel' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
