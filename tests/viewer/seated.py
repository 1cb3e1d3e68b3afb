"""Somebody in a seat who answers over HTTP, as a page does."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Simulation
from simcounsel.runs.run import Run
from simcounsel.viewer.human import Board
from simcounsel.viewer.turns import taking_part

Answer = Callable[[dict[str, Any]], dict[str, Any] | None]
Fields = dict[str, Any]


def speaks(turn: Fields) -> Fields:
    """A line at every turn."""
    return {"say": f"Line {turn['turn']}: it goes round in my head."}


def low(form: Fields) -> Fields:
    """The lowest answer to every item."""
    return {"answers": {one["id"]: one["low"] for one in form["items"]}}


@dataclass(kw_only=True)
class Seated:
    """What somebody in a seat was asked."""

    turns: list[Fields] = field(default_factory=list)
    forms: list[Fields] = field(default_factory=list)


def seated(
    run: Run,
    ticks: int | None = None,
    *,
    who: str = "Ines",
    line: Answer = speaks,
    form: Answer = low,
    seconds: float | None = 30,
) -> Seated:
    """Go on in a run with somebody in the seat. line, form: the answer to each; None: none."""
    board, models = Board(who=who, seconds=seconds), models_for(run)
    found, ended = Seated(), threading.Event()

    def page(address: str) -> None:
        while not ended.is_set():
            for where, answer, kept in (("turn", line, found.turns), ("form", form, found.forms)):
                asked = httpx.get(f"{address}api/seat/{where}", timeout=60).json()
                if asked and asked["turn"] not in [one["turn"] for one in kept]:
                    kept.append(asked)
                    if body := answer(asked):
                        reply = httpx.post(
                            f"{address}api/seat/{where}",
                            json={"turn": asked["turn"], **body},
                            timeout=60,
                        )
                        assert reply.status_code == 200, reply.text
            time.sleep(0.01)

    with taking_part(run.folder, models, board, 0) as address:
        thread = threading.Thread(target=page, args=(address,), daemon=True)
        thread.start()
        try:
            Simulation(run.world, run=run, models=models).run(ticks)
        finally:
            ended.set()
            thread.join()
    return found
