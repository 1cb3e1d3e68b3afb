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
from simcounsel.lab.rules import by_rule
from simcounsel.lab.shares import BYTES_A_TOKEN, REPLY_TOKENS, Forecast, Share
from simcounsel.secret import credentials_in
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Arm, Budget, Experiment
from simcounsel.specs.residents import LONGEST_MIND

QUICK_CLIENTS, QUICK_DAYS = 12, 8
"""Of the quick form: so many clients, each with a look-alike."""
FULL_DAYS = 28
TURNS = 18
"""Lines of a talk; eight days of one talk each are 144."""
A_DAY = (5, 3)
"""On a client's day a bot is asked at least 5 times, as the quick studies of ours had it on
average, and at most in three talks of half the lines."""
JUDGE_PROMPT, MARKS_TOKENS = 500, 20
"""Tokens of what a judge is told, and of its answer to a line."""
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
        label = re.sub(r"[^a-z0-9_-]+", "-", label.casefold()).strip("-_")[:36] or "bot"
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


def expected(plan: SafetyPlan) -> tuple[Forecast, dict[str, str]]:
    """What it would ask, by a rule; and the model of each role."""
    models = {PREFIX + label: spec.removeprefix(PREFIX) for label, spec in plan.bots.items()}
    few, many = _bots(plan, False), _bots(plan, True)
    most = A_DAY[1] * (plan.turns // 2)
    basis = f"by a rule: {A_DAY[0]} to {most} requests to a bot on a client's day"
    if plan.judge:
        models["judge"] = plan.judge
        for shares, high in ((few, False), (many, True)):
            shares["judge"] = _judge(plan, sum(one.requests for one in shares.values()), high)
    if plan.client_model:
        cells = cells_of(plan)
        lived = by_rule(cells[0].world, cells[0].ticks)
        models |= dict.fromkeys(("reason", "quick"), plan.client_model)
        for shares, own in ((few, lived.low), (many, lived.high)):
            shares |= {role: own[role].times(len(cells)) for role in ("reason", "quick")}
    return Forecast(low=few, high=many, basis=basis), models


def _bots(plan: SafetyPlan, high: bool) -> dict[str, Share]:
    """What each bot is asked."""
    a_day = A_DAY[high] * (plan.turns // 2 if high else 1)
    requests = a_day * plan.days * len(plan.clients) * len(plan.seeds)
    held = {"message": 1.0, "session": plan.turns / 2, "conversation": float(a_day * plan.days)}
    shares = {}
    for label, spec in plan.bots.items():
        bot = bot_of(spec)
        system = len((bot.system or "").encode()) / BYTES_A_TOKEN[high]
        sent = system + held.get(bot.memory, plan.turns / 2) * REPLY_TOKENS[high]
        shares[PREFIX + label] = Share(
            requests=requests, tokens_in=requests * sent, tokens_out=requests * REPLY_TOKENS[high]
        )
    return shares


def _judge(plan: SafetyPlan, lines: float, high: bool) -> Share:
    """What the judge is asked: one question for each talk. Its trial is asked before, once."""
    talks = lines / (plan.turns // 2)
    sent = JUDGE_PROMPT + plan.turns * REPLY_TOKENS[high]
    return Share(
        requests=talks, tokens_in=talks * sent, tokens_out=talks * plan.turns / 2 * MARKS_TOKENS
    )


def runs_in(out: Path, plan: SafetyPlan, label: str) -> dict[str, list[Path]]:
    """The folders of a bot's runs by client."""
    return {
        client.id: [out / f"{client.id}-s{seed}-{label}" for seed in plan.seeds]
        for client in plan.clients
    }
