"""What `replicate` takes, in the words of its --help."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from analysis.options import Cut
from simcounsel.cli.options import amount, number_of_requests
from simcounsel.lab.power import POWER
from simcounsel.specs import shipped

Grouped = Literal["plans", "acts"]
CUTS: tuple[Cut, ...] = ("meeting", "days", "halves", "session")


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the command line says of a study, apart from where it lies and how it is run."""

    model: str | None = None
    """Who answers for all residents; None: as the world has it."""
    roles: dict[str, str] = field(default_factory=dict)
    """By role (`quick`, `embed`, `judge`): who answers in place of `model`."""
    clients: int | None = None
    personas: tuple[Path, ...] = ()
    seeds: int = 1
    ticks: int | None = None
    days: int | None = None
    budget_usd: float | None = None
    """None: as remembered; infinite: no limit."""
    budget_calls: float | None = None
    raters: int = 0
    clusters: int | None = None
    """None: at the elbow."""
    cut: Cut = "meeting"
    grouped: Grouped = "plans"
    power: float = POWER

    @property
    def judge(self) -> str | None:
        """Who rates and names groups."""
        return self.roles.get("judge") or self.model


def roles(quick: str | None, embed: str | None, judge: str | None) -> dict[str, str]:
    """Those that are named."""
    named = {"quick": quick, "embed": embed, "judge": judge}
    return {role: model for role, model in named.items() if model is not None}


def one_of(allowed: tuple[str, ...]) -> Callable[[str], str]:
    """A reader of one of these words."""

    def read(text: str) -> str:
        if text not in allowed:
            raise typer.BadParameter(f"{text!r} is none of {', '.join(allowed)}")
        return text

    return read


Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="The study's folder; replications/NAME if not given."),
]
People = Annotated[
    Path | None,
    typer.Option(
        "--people", metavar="DIR", help="What `simcounsel trial export` wrote: people took part."
    ),
]
Beside = Annotated[
    Path | None,
    typer.Option(
        "--beside",
        metavar="FOLDER",
        help="With --people: a replication with simulated clients, to be set beside theirs.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", help="Who answers for all residents, such as openai:gpt-4o-mini."),
]
Quick = Annotated[
    str | None, typer.Option("--quick", help="Who answers small questions, such as the next move.")
]
Embed = Annotated[
    str | None,
    typer.Option("--embed", help="Who makes the vectors of memories; the world's if not given."),
]
Judge = Annotated[
    str | None,
    typer.Option("--judge", help="Who rates conversations and names groups; --model if not given."),
]
Clients = Annotated[
    int | None,
    typer.Option("--clients", min=1, help="So many; more than are written are drawn by seed."),
]
Personas = Annotated[
    list[Path] | None,
    typer.Option("--persona", help="A client's file, in place of ours; may be given again."),
]
Seeds = Annotated[
    int,
    typer.Option("--seeds", min=1, help="Runs of each client and condition, repeated measures."),
]
Ticks = Annotated[
    int | None,
    typer.Option("--ticks", min=1, help="A shorter run, for trying; the paper's length."),
]
Days = Annotated[
    int | None,
    typer.Option("--days", min=1, max=8, help="Fewer days with a meeting, to try it; else eight."),
]
BudgetUsd = Annotated[
    Any,
    typer.Option(
        "--budget-usd",
        metavar="USD",
        parser=amount,
        help=(
            "For the whole study: no request is sent that may cost more than what is left of this."
            " It is remembered; `none` lifts it."
        ),
    ),
]
BudgetCalls = Annotated[
    Any,
    typer.Option(
        "--budget-calls",
        metavar="N",
        parser=number_of_requests,
        help="For the whole study: at most so many requests. It is remembered; `none` lifts it.",
    ),
]
Raters = Annotated[
    int, typer.Option("--raters", min=1, help="Human raters for whom studies are made.")
]
Clusters = Annotated[
    int | None,
    typer.Option(
        "--clusters",
        min=2,
        max=30,
        help="This number of clusters in Figure 5; at the elbow if not given. The paper has 6.",
    ),
]
CutAt = Annotated[
    Any,
    typer.Option(
        "--cut",
        metavar="WHERE",
        parser=one_of(CUTS),
        help=(
            "What is before and what after in Figure 5: meeting (the first of a client, with"
            " anybody), days (the first and last 24 hours), halves, session (the first with a"
            " counselor)."
        ),
    ),
]
GroupedBy = Annotated[
    Any,
    typer.Option(
        "--grouped",
        metavar="WHAT",
        parser=one_of(get_args(Grouped)),
        help="What Figure 5 groups: plans, as the paper does, or acts.",
    ),
]
Power = Annotated[
    float,
    typer.Option(
        "--power",
        min=0.5,
        max=0.99,
        help="The power for which the plan says how many clients are needed; the paper has 0.95.",
    ),
]
Dry = Annotated[
    bool, typer.Option("--dry-run", help="Only print the plan, its estimate, and the power.")
]
Processes = Annotated[
    int | None, typer.Option("--processes", min=1, help="Runs at once; the number of cores.")
]
OneJudge = Annotated[
    str, typer.Option("--judge", help="Who scores the replies of all models on the bench.")
]
JudgeOfDialogues = Annotated[
    str | None, typer.Option("--judge", help="Who rates dialogues; --model if not given.")
]
Sessions = Annotated[
    int, typer.Option("--sessions", min=1, help="Dialogues in each arm, and in each group.")
]
Sample = Annotated[
    int, typer.Option("--sample", min=0, help="Dialogues of each that the judge rates; 0 for all.")
]
Groups = Annotated[
    Path | None,
    typer.Option(
        "--groups",
        metavar="FILE",
        help="An experiment with groups of models, for Table V: `corpus_groups` has the paper's.",
        callback=lambda path: path and shipped.found("experiments", path),
    ),
]
Corpora = Annotated[
    list[Path] | None,
    typer.Option(
        "--beside",
        metavar="CORPUS",
        help="Another corpus, such as SMILECHAT.json; may be given again.",
    ),
]
Ratings = Annotated[
    Path | None,
    typer.Option("--ratings", metavar="FILE", help="What people said, from rating pages."),
]
EachUsd = Annotated[
    Any,
    typer.Option(
        "--budget-usd",
        metavar="USD",
        parser=amount,
        help="For each of its commands that asks a model; it is remembered, `none` lifts it.",
    ),
]
EachCalls = Annotated[
    Any,
    typer.Option(
        "--budget-calls",
        metavar="N",
        parser=number_of_requests,
        help="For each of its commands that asks a model: at most so many requests.",
    ),
]
Corpus = Annotated[
    str, typer.Option("--corpus", help="What is learned from: a corpus file, folder, or `samples`.")
]
Base = Annotated[
    str,
    typer.Option(
        "--base",
        help="What is adapted: embedded, local:qwen2.5-0.5b, local:qwen2.5-1.5b, or any model of"
        " Hugging Face.",
    ),
]
OfASite = Annotated[int, typer.Option("--sessions", min=1, help="Sessions of each site, at most.")]
Rounds = Annotated[int, typer.Option("--rounds", min=1, help="Rounds of each training.")]
LocalEpochs = Annotated[
    int, typer.Option("--local-epochs", min=1, help="Passes over a site's sessions in a round.")
]
LearningRate = Annotated[
    float | None,
    typer.Option("--learning-rate", min=0, help="2e-3 for a small base, 5e-5 for others."),
]
Cases = Annotated[
    str,
    typer.Option(
        "--cases", metavar="FILE", help="The bench's cases, as of CPsyCounE; or `samples`."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--beside", metavar="MODEL", help="Another model for Table VI; may be given again."
    ),
]
