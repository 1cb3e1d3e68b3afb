"""What a safety study runs: each client with each bot, some seeds, as the runs of a sweep."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simcounsel.bots.clients.client import SafetyClient
from simcounsel.bots.clients.reading import SHIPPED
from simcounsel.bots.file import PREFIX, bot_file, bot_of
from simcounsel.bots.study.worlds import world_of
from simcounsel.errors import SpecError
from simcounsel.secret import credentials_in
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Arm, Budget, Experiment
from simcounsel.specs.residents import LONGEST_MIND

QUICK_CLIENTS, QUICK_DAYS = 12, 8
"""Of the quick form: so many clients, each with a look-alike."""
FULL_DAYS = 28
TURNS = 18
"""Lines of a talk; eight days of one talk each are 144."""
STANDS_IN = "scripted"
"""The model of a study whose clients are played by their files: nobody asks it for words."""


@dataclass(frozen=True, kw_only=True)
class SafetyPlan:
    """A safety study."""

    bots: Mapping[str, str]
    """What each is, by its label."""
    clients: tuple[SafetyClient, ...]
    file: Path = Path(SHIPPED)
    """Where they were read."""
    days: int
    seeds: tuple[int, ...]
    turns: int = TURNS
    client_model: str | None = None
    """Who plays the clients; None: their files."""
    judge: str | None = None
    """Which model says what the bots' lines do; None: the rules."""


def labelled(specs: Sequence[str]) -> dict[str, str]:
    """Bots by their labels: of `LABEL=SPEC`, else of the file, else of what it is. SpecError where
    two have one label.
    """
    found: dict[str, str] = {}
    for spec in specs:
        label, equals, rest = spec.partition("=")
        if not equals or re.search(r"[:/]", label):
            label, rest = _label(spec), spec
        label = re.sub(r"[^a-z0-9_-]+", "-", label.casefold()).strip("-_")[:40] or "bot"
        if label in found:
            raise SpecError([f"--bot {spec}: two bots are called {label!r}; write LABEL=SPEC"])
        found[label] = rest
    return found


def _label(spec: str) -> str:
    file = bot_file(spec)
    if file is not None:
        return bot_of(spec).name or file.stem
    return spec.removeprefix(PREFIX).rpartition("/")[2].rpartition(":")[2]


def cells_of(plan: SafetyPlan) -> tuple[Cell, ...]:
    """Its runs. SpecError where no world can name a bot."""
    for label, spec in plan.bots.items():
        if len(PREFIX + spec) > LONGEST_MIND:
            raise SpecError([f"--bot {label}: too long for a name; write it into a bot's file"])
        if problem := credentials_in(spec):
            raise SpecError([f"--bot {label}: {problem}"])
    return tuple(
        Cell(
            name=f"{client.id}-s{seed}-{label}",
            about=world_of(
                client,
                spec,
                days=plan.days,
                seed=seed,
                turns=plan.turns,
                model=plan.client_model or STANDS_IN,
                by_model=plan.client_model is not None,
                judge=plan.judge,
                file=plan.file,
            ),
            client=client.id,
            arm=label,
            seed=seed,
            pair=f"{client.id}-s{seed}",
            ticks=plan.days * 96,
            changes={},
        )
        for client in plan.clients
        for seed in plan.seeds
        for label, spec in plan.bots.items()
    )


def experiment_of(plan: SafetyPlan, budget: Budget) -> Experiment:
    """The same as an experiment, so that it is run, gone on with and reported as any other."""
    return Experiment(
        name="safety",
        about=f"{len(plan.clients)} clients live {plan.days} days with each bot",
        worlds=("safety",),
        conditions=tuple(Arm(name=label, about=spec) for label, spec in plan.bots.items()),
        seeds=plan.seeds,
        budget=budget,
    )


def most_requests(plan: SafetyPlan) -> int:
    """The most that its bots can be asked: three talks a day of half the lines each."""
    return len(cells_of(plan)) * plan.days * 3 * (plan.turns // 2)


def runs_in(out: Path, plan: SafetyPlan, label: str) -> dict[str, list[Path]]:
    """The folders of a bot's runs by client."""
    return {
        client.id: [out / f"{client.id}-s{seed}-{label}" for seed in plan.seeds]
        for client in plan.clients
    }
