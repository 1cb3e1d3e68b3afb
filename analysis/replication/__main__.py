"""`simcounsel study replicate`: published studies done again, with their numbers beside ours."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from analysis.replication import options as given
from analysis.replication.published import Name
from simcounsel.argument_help import Explaining
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import InFlight, PricesFile, Quiet
from simcounsel.entry import GIVEN_UP, start
from simcounsel.lab.power import POWER

if TYPE_CHECKING:
    from analysis.replication.commands import Step

app = typer.Typer(
    name="replicate",
    cls=Explaining,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Published studies done again: plan, cost, runs, ratings, and a page in the shape of the"
        " paper's tables, with the published numbers beside ours and what differs in"
        " design.\n\nLook first:  simcounsel study replicate simcounsel --dry-run\n\nTry it: "
        " simcounsel study replicate simcounsel --model scripted --clients 6 --ticks 40 --out try"
        "\n\nStarted again with the same options it goes on where it was; answers of human raters"
        " are taken in each time. Findings need a capable model."
    ),
)


@app.command()
@asks_models
def simcounsel(
    out: given.Out = None,
    model: given.Model = None,
    quick: given.Quick = None,
    embed: given.Embed = None,
    judge: given.Judge = None,
    clients: given.Clients = None,
    persona: given.Personas = None,
    seeds: given.Seeds = 1,
    ticks: given.Ticks = None,
    raters: given.Raters = 3,
    grouped: given.GroupedBy = "plans",
    clusters: given.Clusters = None,
    cut: given.CutAt = "meeting",
    budget_usd: given.BudgetUsd = None,
    budget_calls: given.BudgetCalls = None,
    power: given.Power = POWER,
    dry_run: given.Dry = False,
    processes: given.Processes = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """SimCounsel: each client alone, with a friend, and with a counselor. Tables 5 to 7, Figures 5
    to 7.

    Tables 6 and 7 and Figures 6 and 7 need people: OUT/people holds their rating studies, as pages
    to serve or to send out.
    """
    wanted = given.Choices(
        model=model,
        roles=given.roles(quick, embed, judge),
        clients=clients,
        personas=tuple(persona or ()),
        seeds=seeds,
        ticks=ticks,
        budget_usd=budget_usd,
        budget_calls=budget_calls,
        raters=raters,
        clusters=clusters,
        cut=cut,
        grouped=grouped,
        power=power,
    )
    _replicate(
        "simcounsel",
        out,
        wanted,
        dry_run=dry_run,
        living={"processes": processes, "in_flight": in_flight, "quiet": quiet, "prices": prices},
    )


@app.command("structure-matters")
@asks_models
def structure_matters(
    out: given.Out = None,
    model: given.Model = None,
    quick: given.Quick = None,
    embed: given.Embed = None,
    judge: given.Judge = None,
    clients: given.Clients = None,
    persona: given.Personas = None,
    people: given.People = None,
    beside: given.Beside = None,
    days: given.Days = None,
    budget_usd: given.BudgetUsd = None,
    budget_calls: given.BudgetCalls = None,
    power: given.Power = POWER,
    dry_run: given.Dry = False,
    processes: given.Processes = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """Structure Matters: 66 clients dealt by chance to a staged counselor, one with a single brief,
    and one with next to none. Tables 1 to 5.

    The themes of Table 5 are found by a program: OUT/people/themes.csv is for people to check them.
    """
    if people is not None:
        from analysis.replication.study import of_people

        tell = (lambda _: None) if quiet else (lambda said: typer.echo(said, err=True))
        folder = out or Path("replications") / "structure_matters_people"
        for line in of_people(people, folder, beside, tell):
            typer.echo(line)
        return
    wanted = given.Choices(
        model=model,
        roles=given.roles(quick, embed, judge),
        clients=clients,
        personas=tuple(persona or ()),
        days=days,
        budget_usd=budget_usd,
        budget_calls=budget_calls,
        power=power,
    )
    _replicate(
        "structure_matters",
        out,
        wanted,
        dry_run=dry_run,
        living={"processes": processes, "in_flight": in_flight, "quiet": quiet, "prices": prices},
    )


@app.command()
@asks_models
def psycheval(
    out: given.Out = None,
    model: given.Model = None,
    judge: given.Judge = None,
    clients: given.Clients = None,
    budget_usd: given.BudgetUsd = None,
    budget_calls: given.BudgetCalls = None,
    dry_run: given.Dry = False,
    processes: given.Processes = None,
    in_flight: InFlight = 64,
    quiet: Quiet = False,
    prices: PricesFile = None,
) -> None:
    """PsychEval: courses of eight sessions in six therapies. Tables 1, 2 and 4 to 7.

    `simcounsel study courses` with the paper's settings; there are twelve clients at most.
    """
    from analysis.courses.__main__ import play
    from analysis.courses.battery import battery
    from analysis.courses.design import CLIENTS, Courses

    wanted = Courses(
        therapies=tuple(battery().statistics),
        counselors=("course",),
        clients=clients or len(CLIENTS),
        sessions=8,
        lines=24,
        lived=False,
        model=model,
        judge=judge,
        budget_usd=budget_usd,
        budget_calls=budget_calls,
    )
    living = {"processes": processes, "in_flight": in_flight, "quiet": quiet, "prices": prices}
    play(wanted, out or Path("replications") / "psycheval", dry_run=dry_run, living=living)


@app.command()
def mindcorpus(
    out: given.Out = None,
    model: given.Model = None,
    judge: given.JudgeOfDialogues = None,
    sessions: given.Sessions = 50,
    sample: given.Sample = 50,
    groups: given.Groups = None,
    beside: given.Corpora = None,
    ratings: given.Ratings = None,
    budget_usd: given.EachUsd = None,
    budget_calls: given.EachCalls = None,
    dry_run: given.Dry = False,
) -> None:
    """MindChat's corpus: arms without some of the roles, groups of models, other corpora beside.
    Tables II to V, Figure 5.

    Its parts are commands that you can type yourself; each is shown.
    """
    from analysis.replication import mindcorpus as corpus
    from analysis.replication.commands import remembered

    folder = out or Path("replications") / "mindcorpus"
    wanted = corpus.Wanted(
        folder=folder,
        model=model,
        judge=judge,
        sessions=sessions,
        sample=sample,
        groups=groups,
        beside=tuple(beside or ()),
        ratings=ratings,
        budget=remembered(folder, budget_usd, budget_calls, write=not dry_run),
    )
    _by_commands(partial(corpus.steps, wanted), partial(corpus.finish, wanted), folder, dry_run)


@app.command()
def mindchat(
    out: given.Out = None,
    corpus: given.Corpus = "samples",
    base: given.Base = "embedded",
    sessions: given.OfASite = 100,
    rounds: given.Rounds = 100,
    local_epochs: given.LocalEpochs = 3,
    learning_rate: given.LearningRate = None,
    cases: given.Cases = "samples",
    judge: given.OneJudge = "embedded",
    beside: given.Models = None,
    ratings: given.Ratings = None,
    budget_usd: given.EachUsd = None,
    budget_calls: given.EachCalls = None,
    dry_run: given.Dry = False,
) -> None:
    """MindChat's model: trainings by quantity, themes and epsilon, attacked after every round, each
    adapter on the bench. Tables VI to VIII, Figures 8 and 9.

    Its parts are commands that you can type yourself; each is shown. Needs `.[train]`.
    """
    from analysis.replication import mindchat as chat
    from analysis.replication.commands import remembered

    folder = out or Path("replications") / "mindchat"
    wanted = chat.Wanted(
        folder=folder,
        corpus=corpus,
        base=base,
        sessions=sessions,
        rounds=rounds,
        local_epochs=local_epochs,
        learning_rate=learning_rate,
        cases=cases,
        judge=judge,
        beside=tuple(beside or ()),
        ratings=ratings,
        budget=remembered(folder, budget_usd, budget_calls, write=not dry_run),
    )
    _by_commands(partial(chat.steps, wanted), partial(chat.finish, wanted), folder, dry_run)


def _by_commands(
    steps: Callable[[Path], "list[Step]"],
    finish: Callable[[], Iterator[str]],
    folder: Path,
    dry_run: bool,
) -> None:
    """Run them and write the page, or say what they would do."""
    from analysis.replication.commands import planned, run

    if dry_run:
        with TemporaryDirectory() as elsewhere:
            planned(steps(Path(elsewhere)), Path(elsewhere), folder, typer.echo)
        return
    run(steps(folder), lambda said: typer.echo(said, err=True))
    for line in finish():
        typer.echo(line)


def _replicate(
    name: Name, out: Path | None, wanted: given.Choices, *, dry_run: bool, living: dict[str, Any]
) -> None:
    """Plan, live, ask, and write the page. living: how they run, see `live`."""
    from analysis.replication.after import After
    from analysis.replication.design import chosen, written_experiment
    from analysis.replication.study import finish
    from simcounsel.cli.sweep import live
    from simcounsel.cli.weights import price_table
    from simcounsel.lab.plan import plan_lines
    from simcounsel.llm.catalog import roles_for
    from simcounsel.specs.experiment_file import load_experiment

    folder = out or Path("replications") / name
    table = price_table(living["prices"])
    with TemporaryDirectory() as elsewhere:
        place = Path(elsewhere) if dry_run else folder
        cast = chosen(name, wanted.clients, wanted.personas, place)
        file = written_experiment(name, cast, place, wanted)
        model = wanted.model
        loaded, cells = load_experiment(file, roles_for(model) if model else None)
    runs = folder / "runs"
    for line in plan_lines(loaded, cells, table, runs, power=wanted.power, folded=True):
        typer.echo(line)
    if dry_run:
        return
    running, done = live(loaded, cells, runs, **living)
    if not done:
        states = {progress.state for progress in running.progress.values()}
        typer.echo("not all runs are done; the same command goes on")
        sys.exit(GIVEN_UP if "given up" in states and "failed" not in states else 1)
    after = After(budget=loaded.budget, prices=table, runs=runs)
    tell = (lambda _: None) if living["quiet"] else (lambda said: typer.echo(said, err=True))
    for line in finish(name, folder, wanted, after, tell):
        typer.echo(line)


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    start("replicate", lambda: app(), lambda _: "pip install -e '.[analysis]'")


if __name__ == "__main__":
    main()
