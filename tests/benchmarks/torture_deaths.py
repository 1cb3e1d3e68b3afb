"""A server that dies at each request of a run in turn; each run is resumed and compared with one in which it never died."""

import tempfile
from pathlib import Path

from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import ModelUnreachable
from simcounsel.llm.outage import Patience
from simcounsel.runs.run import Run
from simcounsel.specs.world import World
from tests.llm.server import FaultServer
from tests.stage import begun, changed, log, tiny

TICKS = 6


def deaths() -> str:
    """One line: at how many requests it died, and how many logs differ."""
    with FaultServer() as server, tempfile.TemporaryDirectory() as folder:
        model = f"{server.url}/m"
        models = tiny().models.model_copy(update={"reason": model, "embed": model})
        world = changed(tiny(), models=models, ticks=TICKS)
        whole = _lived(begun(Path(folder) / "whole", world))
        requests = len(server.bodies)
        differing = sum(
            _dying(server, world, Path(folder) / str(dies_at), dies_at) != log(whole)
            for dies_at in range(requests)
        )
    return f"deaths at each call of {TICKS} ticks: {requests} tried, {differing} differing logs"


def _dying(server: FaultServer, world: World, out: Path, dies_at: int) -> bytes:
    """The log of a run whose server dies at that request, and that is then resumed."""
    run = begun(out, world)
    last = len(server.bodies) + dies_at
    server.faults = lambda index: "drop" if index >= last else None
    try:
        _lived(run)
        return b"nobody noticed"
    except ModelUnreachable:
        server.faults = lambda index: None
        return log(_lived(run))


def _lived(run: Run) -> Run:
    opened = Run.open(run.folder)
    models = models_for(opened, patience=Patience(wait_s=0))
    return Simulation(opened.world, run=opened, models=models).run()


if __name__ == "__main__":
    print(deaths())
