"""`simcounsel train tune | federate | sites`."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.disk import writing
from training.recipe_file import load_recipe
from training.reporting import reporting
from training.shipped import named, offered, recipe, recipes

if TYPE_CHECKING:
    from training.federation.rounds import RoundReport

Config = Annotated[
    Path,
    typer.Argument(
        metavar="CONFIG",
        help=f"A recipe's file, or the name of one that is included: {', '.join(recipes())}.",
        callback=recipe,
        autocompletion=offered,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="The training's folder; trainings/NAME of the recipe if not given.",
    ),
]
ReportTo = Annotated[
    str,
    typer.Option(
        "--report-to",
        metavar="PROGRAM",
        help="Also tell losses to tensorboard, wandb (which may send them away) or mlflow.",
    ),
]


Corpus = Annotated[
    str, typer.Argument(metavar="CORPUS", help="A corpus file or folder, or the word `samples`.")
]
Number = Annotated[int, typer.Option("-n", min=1, max=10_000, help="How many sites.")]
By = Annotated[
    str, typer.Option("--by", help="even, theme, or size (shares from a Dirichlet distribution).")
]
Alpha = Annotated[
    float,
    typer.Option("--alpha", min=1e-3, help="Of the Dirichlet distribution; small: very unequal."),
]
Turns = Annotated[
    int | None,
    typer.Option(
        "--turns", min=2, help="Keep so many turns of each session, the first; for a quick try."
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Draws which client falls to which site.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(tune)
    app.command()(federate)
    app.command()(sites)


def tune(config: Config, out: Out = None, report_to: ReportTo = "none") -> None:
    """Fine-tune one base on all sessions, in one place. Ctrl-C stops after a step; the same command
    goes on.

    Example: simcounsel train tune smoke
    """
    from training.progress import bar
    from training.stopping import stoppable

    told, lines = load_recipe(config)
    where = out or Path("trainings") / config.stem
    with bar() as progress, stoppable() as asked, ExitStack() as stack:
        from training.learning import tune as tuning  # slow: torch
        from training.learning.base import device_of
        from training.learning.processes import Processes

        joined = Processes.joined(device_of(told.device))
        report = stack.enter_context(reporting(report_to if joined.first else "none", where))

        def show(now: tuning.TuneProgress) -> None:
            report(now.at, loss=now.loss, held_out_loss=now.held_out)
            if now.held_out is not None:
                progress.say(
                    f"after step {now.at:>5} of {now.steps}   held-out loss {now.held_out:.4f}"
                )
            loss = "" if now.loss is None else f"  loss {now.loss:.3f}"
            progress.show("training" + loss, now.at, now.steps)

        done = tuning.tune(told, config, lines, where, on_progress=show, stop=asked)
    if not done.first:  # of several processes one speaks
        raise typer.Exit(130 if done.adapter is None else 0)
    if done.adapter is None:
        typer.echo(
            f"stopped; go on with: simcounsel train tune {named(config)}"
            + (f" --out {out}" if out else "")
        )
        raise typer.Exit(130)
    _say_losses(done.before, done.after, done.adapter, told.learning.by_pairs)


def federate(config: Config, out: Out = None, report_to: ReportTo = "none") -> None:
    """Train at several sites in turn, without their sessions being together. Ctrl-C stops after a
    round; the same command goes on.

    Example: simcounsel train federate federated_smoke
    """
    from training.progress import bar

    told, lines = load_recipe(config)
    where = out or Path("trainings") / config.stem
    with bar() as progress, reporting(report_to, where) as tell:
        progress.say("reading the sessions and the base model")
        from training.learning.federated import run_federation  # slow: torch

        def show(report: "RoundReport", held_out: float | None) -> None:
            tell(report.round, held_out_loss=held_out)
            for line in round_lines(report, told.rounds, held_out):
                progress.say(line)

        def step(site: str, round: int, done: int, of: int) -> None:
            progress.show(f"round {round} of {told.rounds}, {site}", done, of)

        done = run_federation(told, config, lines, where, on_round=show, on_step=step)
    if done.stopped:
        typer.echo(
            f"stopped {done.stopped}; go on with: simcounsel train federate {named(config)}"
            + (f" --out {out}" if out else "")
        )
    if done.adapter is not None:
        _say_losses(done.before, done.after, done.adapter, told.learning.by_pairs)
    if done.stopped:
        raise typer.Exit(130)


def round_lines(report: "RoundReport", rounds: int, held_out: float | None) -> list[str]:
    """A round, and below it who was left out and what else there is to know."""
    more = [f"{site} left out: {why}" for site, why in report.failed.items()]
    more += [what for what in (report.void, *report.said) if what]
    return [round_line(report, rounds, held_out), *(f"         {line}" for line in more)]


def round_line(report: "RoundReport", rounds: int, held_out: float | None) -> str:
    """A round in one line."""
    answered = (
        f"{len(report.answered)} of {len(report.drawn)}"
        if report.answered is not None and report.drawn is not None
        else "some"
    )
    loss = f"   held-out loss {held_out:.4f}" if held_out is not None else ""
    return (
        f"round {report.round:>4} of {rounds}   {answered} sites answered  "
        f" {report.bytes_all / 1e6:.2f} MB   {report.seconds:.0f} s{loss}"
    )


def sites(
    corpus: Corpus,
    n: Number = 4,
    by: By = "even",
    alpha: Alpha = 1.0,
    seed: Seed = 1,
    turns: Turns = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Write each site's corpus into a file here."
        ),
    ] = None,
) -> None:
    """Deal a corpus to sites, always whole clients, and say who has what; with --out as files that
    stand for clinics.

    Example: simcounsel train sites samples -n 4 --by theme --out clinics
    """
    from simcounsel.corpus.reading import read_dialogues
    from training.dealing import deal
    from training.errors import TrainingError
    from training.recipe import Deal
    from training.sites import themes

    if by not in ("even", "theme", "size"):
        raise TrainingError(f"--by {by}: no such way to deal; take even, theme or size")
    sessions = [
        one.model_copy(update={"turns": one.turns[:turns]}) for one in read_dialogues(corpus)
    ]
    dealt = deal(sessions, Deal(sites=n, by=by, alpha=alpha), seed)  # type: ignore[arg-type]
    for name, here in dealt.items():
        typer.echo(
            f"{name}   {len(here):>6} sessions   {len({one.client for one in here}):>6} clients  "
            f" {themes(here)}"
        )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, here in dealt.items():
            with writing(out / f"{name}.jsonl") as put:
                for one in here:
                    put(one.model_dump_json(exclude_defaults=True) + "\n")
        typer.echo(
            f"wrote {n} files into {out}; in a recipe:\n"
            + "folders:\n"
            + "\n".join(f"  {name}: {out / name}.jsonl" for name in dealt)
        )


def _say_losses(before: float | None, after: float | None, adapter: Path, dpo: bool) -> None:
    if before is not None and after is not None:
        unit = "of a pair of lines, 0.6931 by chance" if dpo else "nats a token"
        typer.echo(
            f"held-out loss {before:.4f} before, {after:.4f} after ({unit}, mean over"
            " sessions of clients who were not trained on)"
        )
    typer.echo(f"wrote {adapter}")
