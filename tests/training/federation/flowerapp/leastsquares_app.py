"""Three least-squares sites over Flower; what the test compares with is made of the same functions."""

import time
from pathlib import Path

from flwr.app import Context

from tests.training.federation.leastsquares import LeastSquares, start
from tests.training.federation.test_course import DATA, SITE, plan_of, recipe
from tests.training.federation.test_course import SIZES as SITES
from training.federation.flower.client import SiteSide, site_app
from training.federation.flower.server import ServerSide, server_app
from training.federation.terms import Terms, terms_of
from training.plan import Plan

SEED = 1
TIMEOUT_S = 20.0


def agreed(private: bool, rounds: int) -> tuple[Terms, Plan | None]:
    """What server and sites each have from their recipe."""
    of = recipe(SITE if private else None, rounds=rounds, averaging={"timeout_s": TIMEOUT_S, "min_sites": 1})
    plan = plan_of(of)
    return terms_of(of, plan, SITES), plan


class Slow(LeastSquares):
    """A training that takes long enough to be interrupted."""

    def learn(self, *given, **more):  # type: ignore[no-untyped-def]
        time.sleep(0.3)
        return super().learn(*given, **more)


def bring_site(context: Context) -> SiteSide:
    terms, _ = agreed(bool(context.run_config["private"]), int(context.run_config["rounds"]))
    return SiteSide(name=str(context.node_config["site"]), learner=Slow(DATA), terms=terms, seed=SEED, frozen={})


def bring_server(context: Context) -> ServerSide:
    rounds = int(context.run_config["rounds"])
    terms, plan = agreed(bool(context.run_config["private"]), rounds)
    folder = Path(str(context.run_config["folder"]))
    return ServerSide(
        start=start(), terms=terms, plan=plan, rounds=rounds, seed=SEED, folder=folder, wait_s=60,
        on_round=lambda report: _told(folder, f"{report.round} {','.join(report.answered or ())} {dict(report.failed)}"),
        on_end=lambda outcome: _told(folder, f"end {outcome.stopped}"),
    )


def _told(folder: Path, line: str) -> None:
    with (folder / "said.txt").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


site = site_app(bring_site, lambda context: str(context.node_config["site"]))
server = server_app(bring_server)
