"""A training's losses as they come, to a program that draws them; `accelerate` speaks to it."""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from training.errors import TrainingError

REPORTERS = ("none", "tensorboard", "wandb", "mlflow")
"""As Transformers names them under `report_to`."""
Report = Callable[..., None]
"""report(step, loss=..., held_out_loss=...): what is None is left out."""


@contextmanager
def reporting(to: str, out: Path) -> Iterator[Report]:
    """Losses go to that program under the name of the training's folder; for `none` nowhere. For
    tensorboard they lie beside that folder, in `tensorboard/`. TrainingError for an unknown one,
    and for one that is not installed.
    """
    if to not in REPORTERS:
        raise TrainingError(f"--report-to {to}: no such program; take {', '.join(REPORTERS)}")
    if to == "none":
        yield lambda step, **values: None
        return
    if importlib.util.find_spec(to) is None:
        raise TrainingError(f"--report-to {to}: the package is missing; pip install {to}")
    from accelerate import PartialState, tracking  # slow: torch

    PartialState()  # its loggers want that this was made
    tracker: Any = {
        "tensorboard": lambda: tracking.TensorBoardTracker(out.name, out.parent / "tensorboard"),
        "wandb": lambda: tracking.WandBTracker("simcounsel", name=out.name),
        "mlflow": lambda: tracking.MLflowTracker("simcounsel", run_name=out.name),
    }[to]()
    tracker.start()
    try:
        yield lambda step, **values: tracker.log(
            {key: value for key, value in values.items() if value is not None}, step=step
        )
    finally:
        tracker.finish()
