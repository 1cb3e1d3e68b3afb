"""A federation between machines: the same rounds as in one process, over Flower.

The recipe is the same file everywhere. It counts the sites under `sites:` (name, sessions,
clients), since nobody sees another's data; each site's machine names its own corpus.
`training/flowerapp` is the app that `flwr run` starts; it takes both functions from here.

    server    --run-config 'recipe="FILE" folder="OUT"'
    a site    --node-config 'recipe="FILE" site="NAME" corpus="FILE"'

With privacy a site keeps a ledger of the rounds that it has answered, beside its corpus
(`CORPUS.ledger.json`) or where `ledger="FILE"` says.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from training.errors import TrainingError
from training.federation.all_rounds import FederationOutcome
from training.federation.flower.server import ServerSide
from training.federation.site import SiteSide
from training.federation.site_ledger import SiteLedger
from training.federation.state import ServerState
from training.federation.terms import Terms, terms_of
from training.learning.base import load_shapes, with_adapters
from training.learning.folder import ELSEWHERE, TrainingFolder, manifest_of
from training.learning.result import spent_of, write_adapter
from training.learning.site import Learners
from training.learning.steps import adapter_weights
from training.plan import TrainingPlan
from training.privacy import budget
from training.recipe import Recipe
from training.recipe_file import load_recipe
from training.sites import own, place


class Configured(Protocol):
    """What Flower hands to an app: the run's configuration and the node's."""

    @property
    def run_config(self) -> Mapping[str, Any]: ...

    @property
    def node_config(self) -> Mapping[str, Any]: ...


def site(context: Configured) -> SiteSide:
    """A site's side, loaded once in a process."""
    recipe, name, corpus = (
        _said(context.node_config, key, "--node-config") for key in ("recipe", "site", "corpus")
    )
    return _site(recipe, name, corpus, str(context.node_config.get("ledger") or ""))


@cache
def _site(recipe_file: str, name: str, corpus: str, ledger: str) -> SiteSide:
    recipe, plan, terms = agreed(Path(recipe_file))
    learners = Learners(
        recipe=recipe, sites=own(recipe, Path(recipe_file), name, corpus), plan=plan
    )
    frozen = {
        key: value
        for key, value in learners.first_weights().items()
        if terms.factors == "b" and "lora_A" in key
    }
    where = place(corpus, Path(recipe_file))
    file = Path(ledger) if ledger else SiteLedger.beside(where)
    return SiteSide(
        name=name,
        learner=learners,
        terms=terms,
        seed=recipe.seed,
        frozen=frozen,
        ledger=(
            SiteLedger.of(file, name, terms, plan) if plan and recipe.noise == "secure" else None
        ),
    )


def server(context: Configured) -> ServerSide:
    """The server's side: it has the base model's shapes, not its numbers, and no session."""
    file, out = (
        Path(_said(context.run_config, key, "--run-config")) for key in ("recipe", "folder")
    )
    recipe, plan, terms = agreed(file)
    base = load_shapes(recipe.base, recipe.learning)
    account = budget.make(plan) if plan else None
    folder = TrainingFolder.begin(
        out, manifest_of("federate", recipe, file, base.said(), ELSEWHERE, recipe.sites, account)
    )

    def end(outcome: FederationOutcome) -> None:
        folder.say("end", stopped=outcome.stopped)
        spent = spent_of(outcome, plan, recipe)
        write_adapter(
            folder,
            outcome.state.weights,
            {"rounds": outcome.state.round},
            spent=spent,
            shift=outcome.state.shift,
        )

    drawn = with_adapters(base, recipe.lora, seed=recipe.seed)
    start = ServerState(weights=adapter_weights(drawn))
    return ServerSide(
        start=start,
        terms=terms,
        plan=plan,
        rounds=recipe.rounds,
        seed=recipe.seed,
        folder=out,
        on_round=lambda report: folder.say("round", at=report.round, **asdict(report)),
        on_end=end,
    )


def agreed(file: Path) -> tuple[Recipe, TrainingPlan | None, Terms]:
    """What the server and every site make of the recipe, each for itself. TrainingError when it
    does not count its sites.
    """
    recipe, _ = load_recipe(file)
    if not recipe.sites or any(one.count != 1 for one in recipe.sites):
        raise TrainingError(
            f"{file}: between machines the sites are counted under `sites:`, one by one, with name,"
            " sessions and clients"
        )
    plan = recipe.plan()
    return recipe, plan, terms_of(recipe, plan, {one.name: one.sessions for one in recipe.sites})


def _said(config: Mapping[str, Any], key: str, option: str) -> str:
    if not config.get(key):
        raise TrainingError(f"{option} lacks {key}; see docs/training.md")
    return str(config[key])
