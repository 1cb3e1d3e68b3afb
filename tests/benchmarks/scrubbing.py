"""What hiding secrets costs a run: its share of the processor time.

    python -m tests.benchmarks.scrubbing [--ticks 96]

The run is that of the default world with the scripted model, which answers at once: with any other
model the share is smaller.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from simcounsel import events
from simcounsel.engine.simulation import Simulation
from simcounsel.llm import switchboard
from simcounsel.runs import call_chain
from simcounsel.specs.world_file import load_world
from tests.stage import ROOT, SCRIPTED

EXITS = ((events, "scrub"), (call_chain, "without_secrets"), (switchboard, "taken_in"))
"""Where a run hides secrets: in events, in calls, in answers."""


@contextmanager
def measured(spent: dict[str, float]) -> Iterator[None]:
    """Meanwhile the processor time at each exit is added up."""
    before = [(module, name, getattr(module, name)) for module, name in EXITS]

    def timed(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            begun = time.process_time()
            found = function(value)
            spent[name] = spent.get(name, 0.0) + time.process_time() - begun
            return found

        return run

    for module, name, function in before:
        setattr(module, name, timed(name, function))
    try:
        yield
    finally:
        for module, name, function in before:
            setattr(module, name, function)


def main(arguments: list[str] | None = None) -> None:
    """Live, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=96)
    told = parser.parse_args(arguments)
    world = load_world(ROOT / "worlds" / "insomnia.yaml").with_one_model(
        SCRIPTED | {"quick": None, "judge": None}
    )
    spent: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as out, measured(spent):
        begun = time.process_time()
        Simulation(world, out=out).run(told.ticks)
        whole = time.process_time() - begun
    print(f"{told.ticks} ticks, scripted   {whole:.2f} s of processor time")
    print(f"hiding secrets        {sum(spent.values()) / whole:.1%} of it:")
    for module, name in EXITS:
        print(f"    {module.__name__:<26} {spent.get(name, 0) / whole:.1%}")


if __name__ == "__main__":
    main()
