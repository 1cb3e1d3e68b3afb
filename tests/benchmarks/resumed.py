"""For `training`: a tuning and a federation by DP-SGD, stopped and gone on with in another process, against the same without a stop.

The first process does both whole, and begins both again: the tuning stops after its first step, the federation is killed after its first
round. The second ends them. Both with one thread, since sums in another order have other last bits.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simcounsel.corpus.dialogues import Dialogue, Turn
from tests.benchmarks.private_steps import APART

KINDS = ("tuning", "federation")
KILLED = 9
MORE: dict[str, dict[str, Any]] = {
    "tuning": {"rounds": 1},
    "federation": {
        "rounds": 2,
        "averaging": {"rule": "fedadam", "server_learning_rate": 0.01, "send": "int8"},
    },
}
PRIVACY = {"unit": "session", "clip": 0.5, "delta": 1e-3, "noise_multiplier": 0.8}


def session(number: int) -> Dialogue:
    """Short, so that a step is short."""
    turns = (
        Turn(speaker="client", text=f"Night {number}, and I lay awake again until four."),
        Turn(speaker="counselor", text="What kept you awake?"),
    )
    return Dialogue(id=f"s{number}", client=f"client {number}", language="en", turns=turns)


def compared(base: str, folder: Path) -> Iterator[tuple[str, bool]]:
    """Each kind, and whether both adapters are the same to the bit."""
    names = {f"site {at}": f"{at}.jsonl" for at in range(3)}
    for at, name in enumerate(names.values()):
        rows = (session(2 * at + each).model_dump_json(exclude_defaults=True) for each in range(2))
        (folder / name).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    told = {
        "folders": names,
        "base": base,
        "batch_size": 1,
        "held_out": 0.0,
        "device": "cpu",
        "privacy": PRIVACY,
        "noise": "seeded",
        "public_data": True,
    }
    for kind in KINDS:
        (folder / f"{kind}.yaml").write_text(
            json.dumps({**told, **MORE[kind]}), encoding="utf-8"
        )  # JSON is YAML
    for begin, wanted in ((True, KILLED), (False, 0)):
        process = APART.Process(target=train, args=(folder,), kwargs={"begin": begin})
        process.start()
        process.join()
        if process.exitcode != wanted:
            raise RuntimeError(
                f"the process that {'begins' if begin else 'goes on'} ended with {process.exitcode}, not {wanted}; "
                "its error is above"
            )
    for kind in KINDS:
        whole, cut = (
            (folder / f"{kind}-{how}" / "adapter" / "adapter_model.safetensors").read_bytes()
            for how in ("whole", "cut")
        )
        yield kind, whole == cut


def train(folder: Path, *, begin: bool) -> None:
    """One of the two processes."""
    import torch

    from training.learning.federated import run_federation
    from training.learning.tune import tune
    from training.recipe_file import load_recipe

    torch.set_num_threads(1)
    (tuning, t_lines), (federation, f_lines) = (
        load_recipe(folder / f"{kind}.yaml") for kind in KINDS
    )
    files = [folder / f"{kind}.yaml" for kind in KINDS]
    if begin:
        tune(tuning, files[0], t_lines, folder / "tuning-whole")
        run_federation(federation, files[1], f_lines, folder / "federation-whole")
    cut = tune(tuning, files[0], t_lines, folder / "tuning-cut", stop=lambda: begin)
    if begin and cut.adapter is not None:
        raise RuntimeError("the tuning did not stop")

    def after(*_: object) -> None:
        if begin:
            os._exit(KILLED)

    run_federation(federation, files[1], f_lines, folder / "federation-cut", on_round=after)
