"""Three least-squares sites over Flower; what the test compares with is made of the same functions."""

import json
import time
from collections.abc import Iterable
from pathlib import Path

from flwr.app import Context, Message
from flwr.serverapp import Grid, ServerApp

from tests.training.federation.leastsquares import (
    DATA,
    SITE,
    SIZES,
    LeastSquares,
    plan_of,
    recipe,
    start,
)
from training.federation.flower.client import site_app
from training.federation.flower.server import ServerSide, serve
from training.federation.site import SiteSide
from training.federation.terms import Terms, terms_of
from training.federation.updates import Learned, Weights
from training.plan import TrainingPlan

SEED = 1
TIMEOUT_S = 30.0
DIES, DIES_IN = "south", 2


def agreed(context: Context) -> tuple[Terms, TrainingPlan | None]:
    """What server and sites each have from their recipe."""
    asked = context.run_config
    averaging = {"timeout_s": TIMEOUT_S, "min_sites": 1, "secure": bool(asked["secure"])}
    of = recipe(
        SITE if asked["private"] else None, rounds=int(asked["rounds"]), averaging=averaging
    )
    plan = plan_of(of)
    return terms_of(of, plan, SIZES), plan


class Killed(LeastSquares):
    """Says when it trains in the round in which it is to be killed, and waits for it."""

    mark: Path

    def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
        if (site, round) == (DIES, DIES_IN):
            self.mark.touch()
            time.sleep(600)
        return super().learn(site, weights, round, shift)


def bring_site(context: Context) -> SiteSide:
    learner = Killed(DATA)
    learner.mark = Path(str(context.run_config["folder"])) / "trains"
    return SiteSide(
        name=str(context.node_config["site"]),
        learner=learner,
        terms=agreed(context)[0],
        seed=SEED,
        frozen={},
    )


class Heard:
    """A grid, and a file of all that came over it to the server."""

    def __init__(self, grid: Grid, file: Path) -> None:
        self.get_node_ids, self.push_messages, self._pull, self.file = (
            grid.get_node_ids,
            grid.push_messages,
            grid.pull_messages,
            file,
        )

    def pull_messages(self, names: Iterable[str]) -> list[Message]:
        came = list(self._pull(names))
        with self.file.open("a", encoding="utf-8") as file:
            for message in came:
                said = (
                    {}
                    if message.has_error()
                    else {name: dict(record) for name, record in message.content.items()}
                )
                file.write(
                    json.dumps(
                        {"kind": message.metadata.message_type, "said": said}, default=bytes.hex
                    )
                    + "\n"
                )
        return came


server = ServerApp()


@server.main()
def main(grid: Grid, context: Context) -> None:
    terms, plan = agreed(context)
    folder = Path(str(context.run_config["folder"]))
    serve(
        Heard(grid, folder / "heard.jsonl"),
        ServerSide(
            start=start(),
            terms=terms,
            plan=plan,
            rounds=int(context.run_config["rounds"]),
            seed=SEED,
            folder=folder,
            wait_s=60,
            on_round=lambda report: _told(
                folder, f"{report.round} {','.join(report.answered or ())} {dict(report.failed)}"
            ),
            on_end=lambda outcome: _told(folder, f"end {outcome.stopped}"),
        ),
    )


def _told(folder: Path, line: str) -> None:
    with (folder / "said.txt").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


site = site_app(bring_site, lambda context: str(context.node_config["site"]))
